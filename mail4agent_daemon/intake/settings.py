"""``intake.toml`` in the data folder of the box: where it listens, how it mails, whom it believes, how much.

No secret stands in it: keys are there as digests, and a password of a mail server is in a private file.
"""

import ipaddress
import os
import re
import secrets
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

from mail4agent_core.files import named
from mail4agent_core.ids import digest_of
from mail4agent_daemon.settings import parse_bind
from mail4agent_daemon.sinks.settings import SmtpSinkSettings

NAME = "intake.toml"
_MAX_BYTES = 1_048_576
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_PREFIX = "sha256:"


class IntakeSettingsError(Exception):
    """The settings cannot be used; the message names the key and what it may be."""


def _url(text: str) -> str:
    parts = urlsplit(text)
    local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if (
        not (parts.scheme == "https" or (parts.scheme == "http" and local))
        or not parts.hostname
        or parts.path not in {"", "/"}
        or "@" in parts.netloc
        or parts.query
        or parts.fragment
        or not (text.isascii() and text.isprintable())
    ):
        raise ValueError("must be https://HOST, without a path; http:// only for this machine")
    return text.rstrip("/")


def _bind(text: str) -> str:
    host, _ = parse_bind(text)
    if host is None:
        raise ValueError("must be an address and a port")
    return text


def _digest(text: str) -> str:
    if _DIGEST.fullmatch(text) is None:
        raise ValueError("must be sha256: and 64 hexadecimal digits; frontdoor serve --init makes them")
    return text


def _network(text: str) -> str:
    ipaddress.ip_network(text)
    return text


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class KeySettings(_Section):
    """The digests of the two keys."""

    drain: Annotated[str, AfterValidator(_digest)]
    types: Annotated[str, AfterValidator(_digest)]


class MailSettings(_Section):
    """The server that takes the mails with the links, and whom they are from."""

    host: Annotated[str, Field(min_length=1, max_length=253)]
    from_address: Annotated[str, Field(min_length=3, max_length=512)]
    tls: Annotated[str, Field(pattern="^(starttls|implicit|none)$")] = "starttls"
    port: Annotated[int, Strict(), Field(ge=1, le=65_535)] | None = None
    username: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    password_file: Path | None = None
    ca_file: Path | None = None
    timeout_secs: Annotated[float, Field(gt=0, le=110)] = 60.0

    def sink(self) -> SmtpSinkSettings:
        """The same, as the sink for email has it."""
        return SmtpSinkSettings.model_validate({"kind": "smtp", **self.model_dump()})


Count = Annotated[int, Strict(), Field(ge=0, le=1_000_000_000)]


class BudgetSettings(_Section):
    """How much is taken. 0 is no limit, except for the bounds of the box itself."""

    requests_per_minute: Count = 240
    """Of one address (IPv4) or /64 (IPv6), whatever is asked."""
    submissions_per_hour: Count = 20
    """Of one address or /64."""
    network_submissions_per_hour: Count = 100
    """Of one /24 or /64."""
    mails_per_recipient_per_day: Count = 3
    submissions_per_day: Count = 2_000
    """Of everybody together."""
    upload_bytes_per_network_per_day: Count = 67_108_864
    wrong_keys_per_hour: Count = 60
    """Of one address or /64, at the box."""
    waiting_max: Annotated[int, Strict(), Field(ge=1, le=1_000_000)] = 20_000
    """Submissions in the box, confirmed or not."""
    free_bytes_min: Annotated[int, Strict(), Field(ge=0)] = 1_073_741_824
    """Room on the disk below which nothing is taken."""


class IntakeSettings(_Section):
    """All of the file."""

    public_url: Annotated[str, Field(max_length=255), AfterValidator(_url)]
    bind: Annotated[str, Field(max_length=255), AfterValidator(_bind)] = "127.0.0.1:18310"
    trusted_proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    """Addresses or networks whose X-Forwarded-For is believed."""
    language: Annotated[str, Field(pattern="^[a-z]{2}(-[A-Z]{2})?$")] = "en"
    """The language that the forms are written in."""
    keys: KeySettings
    smtp: MailSettings
    budgets: BudgetSettings = BudgetSettings()


@dataclass(frozen=True, slots=True)
class Keys:
    """The two keys, in the clear: shown once, kept by home alone."""

    drain: str
    types: str


def read_settings(folder: Path) -> IntakeSettings:
    """The settings of the box in ``folder``. Raises IntakeSettingsError."""
    path = folder / NAME
    try:
        raw = named(path, _MAX_BYTES)
        if len(raw) > _MAX_BYTES:
            raise IntakeSettingsError(f"{path} is too large")
        given = tomllib.loads(raw.decode("utf-8"))
    except FileNotFoundError:
        raise IntakeSettingsError(f"{path} is not there; make it with: frontdoor serve --init") from None
    except OSError as fault:
        raise IntakeSettingsError(f"{path} cannot be read: {fault.strerror}") from None
    except (ValueError, RecursionError):
        raise IntakeSettingsError(f"{path} is no TOML in UTF-8") from None
    try:
        return IntakeSettings.model_validate(given)
    except ValidationError as fault:
        raise IntakeSettingsError("; ".join(_said(path, error) for error in fault.errors())) from None


def _said(path: Path, error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{path}: {where}: {error['msg'].removeprefix('Value error, ')}"


def made_settings(folder: Path, public_url: str) -> Keys:
    """Write the first settings of a box and give its keys. Raises IntakeSettingsError; overwrites nothing."""
    try:
        url = _url(public_url)
    except ValueError as fault:
        raise IntakeSettingsError(f"public_url {fault}") from None
    keys = Keys(secrets.token_hex(32), secrets.token_hex(32))
    host = urlsplit(url).hostname
    text = (
        f'public_url = "{url}"\nbind = "127.0.0.1:18310"\n'
        'trusted_proxies = ["127.0.0.1"]  # the one that speaks TLS in front of it\n\n'
        f'[keys]\ndrain = "{kept(keys.drain)}"\ntypes = "{kept(keys.types)}"\n\n'
        f'[smtp]\nhost = "localhost"\ntls = "none"\nfrom_address = "forms@{host}"\n\n[budgets]\n'
    )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(folder / NAME, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(text)
    except FileExistsError:
        raise IntakeSettingsError(f"{folder / NAME} is there already; it is not overwritten") from None
    except OSError as fault:
        raise IntakeSettingsError(f"{folder / NAME} cannot be written: {fault.strerror}") from None
    return keys


def kept(key: str) -> str:
    """What the settings keep of a key."""
    return _PREFIX + digest_of(key).hex()


def digest_in(text: str) -> bytes:
    """The digest that the settings keep, as bytes."""
    return bytes.fromhex(text.removeprefix(_PREFIX))
