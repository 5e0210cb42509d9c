"""The sections of the settings: every key, its default, its bounds and its meaning."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    Strict,
    field_serializer,
    model_validator,
)

from mail4agent_daemon.drain.settings import BoxSettings
from mail4agent_daemon.endpoints import DEFAULT_PORT
from mail4agent_daemon.model_endpoint import ModelUrlError, checked_url
from mail4agent_daemon.names import names_of
from mail4agent_daemon.sinks.settings import OutboxSettings, SinkSettings
from mail4agent_daemon.store_url import checked_store_url, without_password

#: The section with one table a sink, each of its kind's type.
SINKS = "sinks"


def parse_bind(bind: str) -> tuple[str | None, int]:
    """Split ``address:port``; ``none`` is no address. Raises ValueError."""
    if bind == "none":
        return None, 0
    host, colon, port = bind.rpartition(":")
    known = port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65_535
    if not (colon and host and known):
        raise ValueError("must be an address and a port, such as 127.0.0.1:18301, or none")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _bind(bind: str) -> str:
    parse_bind(bind)
    return bind


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    names_of(None, None, extra=names)
    return names


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ServerSettings(_Section):
    """Where and how to listen."""

    bind: Annotated[
        str,
        Field(
            max_length=255,
            description="address and port; port 0 takes a free one; none: the UNIX socket alone",
        ),
        AfterValidator(_bind),
    ] = f"127.0.0.1:{DEFAULT_PORT}"
    socket: Annotated[bool, Strict(), Field(description="listen on daemon.sock in the data folder too")] = (
        True
    )
    names: Annotated[
        tuple[str, ...],
        Field(max_length=64, description="further names, or name:port, that clients reach the daemon by"),
        AfterValidator(_names),
    ] = ()
    tls_cert: Annotated[
        Path | None,
        Field(description="PEM file with the certificate chain; from the data folder, when relative"),
    ] = None
    tls_key: Annotated[Path | None, Field(description="PEM file with its key, without a passphrase")] = None
    allow_cleartext: Annotated[
        bool, Strict(), Field(description="listen beyond this machine without TLS")
    ] = False


class IdentitySettings(_Section):
    """How callers are told apart."""

    attestation: Annotated[
        Literal["required", "preferred", "off"],
        Field(
            description="whether the process behind a connection is proved, for accounts without a policy"
            " of their own: required, preferred or off"
        ),
    ] = "preferred" if sys.platform == "linux" else "off"


class RetentionSettings(_Section):
    """How long settled mail is kept."""

    keep_days: Annotated[
        int,
        Strict(),
        Field(ge=0, le=36_500, description="days after everybody acknowledged it; 0 keeps it for ever"),
    ] = 180
    audit_days: Annotated[
        int,
        Strict(),
        Field(ge=0, le=36_500, description="days that the audit of operators is kept; 0 keeps it for ever"),
    ] = 365


def _tokens(what: str) -> Any:
    return Field(ge=0, le=1_000_000, description=what)


class LimitSettings(_Section):
    """How fast requests are taken. One costs a token, and one for each started 64 KiB of its body."""

    account_per_sec: Annotated[
        int, Strict(), _tokens("tokens that an account gets a second; 0: no limit")
    ] = 1_000
    account_burst: Annotated[int, Strict(), _tokens("tokens that an account may save; 0: no limit")] = 10_000
    connection_per_sec: Annotated[
        int, Strict(), _tokens("tokens that a connection gets a second; 0: no limit")
    ] = 500
    connection_burst: Annotated[int, Strict(), _tokens("tokens that a connection may save; 0: no limit")] = (
        5_000
    )
    wrong_secret_ms: Annotated[
        int,
        Strict(),
        Field(
            ge=0, le=2_000, description="how late a wrong secret is refused, doubling up to 2 s; 0: at once"
        ),
    ] = 100


class StoreSettings(_Section):
    """Where the mail is kept."""

    url: Annotated[
        str | None,
        Field(
            max_length=2_048,
            repr=False,
            description="a PostgreSQL database, postgresql://user@host/name, that several daemons may share;"
            " without it, a file in the data folder",
        ),
        AfterValidator(checked_store_url),
    ] = None

    @field_serializer("url")
    def _shown(self, url: str | None) -> str | None:
        return None if url is None else without_password(url)


class MailboxSettings(_Section):
    """The file mailboxes that the daemon shows."""

    root: Annotated[Path, Field(description="where they are; from the data folder, when relative")] = Path(
        "messages"
    )


class FrontdoorSettings(_Section):
    """The requests that strangers made."""

    root: Annotated[Path, Field(description="where they are; from the data folder, when relative")] = Path(
        "requests"
    )


class ModelSettings(_Section):
    """The model that reads the prose of requests; without an address none does."""

    base_url: Annotated[
        str | None,
        Field(
            max_length=2_048, description="an endpoint of chat completions, such as http://127.0.0.1:8080/v1"
        ),
    ] = None
    name: Annotated[
        str | None, Field(min_length=1, max_length=256, description="the model, as the endpoint calls it")
    ] = None
    key: Annotated[
        SecretStr | None, Field(description="the endpoint's key; by the environment alone, see key_file")
    ] = None
    key_file: Annotated[
        Path | None,
        Field(description="the file that holds the endpoint's key; from the data folder, when relative"),
    ] = None
    timeout_secs: Annotated[
        int, Strict(), Field(ge=1, le=3_600, description="seconds for a whole answer of the model")
    ] = 300
    allow_plain_http: Annotated[
        bool, Strict(), Field(description="send prose and key unencrypted to another machine")
    ] = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.base_url is None:
            return self
        try:
            checked_url(self.base_url, allow_plain_http=self.allow_plain_http)
        except ModelUrlError as failure:
            raise ValueError(f"base_url {failure}") from None
        if self.name is None:
            raise ValueError("base_url needs name, the model to ask")
        if self.key is not None and self.key_file is not None:
            raise ValueError("key and key_file must not both be given")
        return self


class LogSettings(_Section):
    """What is logged, and how."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="the least level that is written")
    ] = "info"
    format: Annotated[
        Literal["auto", "json", "text"], Field(description="auto: text on a terminal, JSON elsewhere")
    ] = "auto"


class Settings(_Section):
    """All sections."""

    server: ServerSettings = ServerSettings()
    identity: IdentitySettings = IdentitySettings()
    retention: RetentionSettings = RetentionSettings()
    store: StoreSettings = StoreSettings()
    mailbox: MailboxSettings = MailboxSettings()
    frontdoor: FrontdoorSettings = FrontdoorSettings()
    box: BoxSettings = BoxSettings()
    model: ModelSettings = ModelSettings()
    outbox: OutboxSettings = OutboxSettings()
    log: LogSettings = LogSettings()
    limits: LimitSettings = LimitSettings()
    sinks: dict[str, SinkSettings] = {}


def section_type(section: str) -> type[BaseModel]:
    """The type of a section that is there."""
    kind = Settings.model_fields[section].annotation
    assert isinstance(kind, type)
    assert issubclass(kind, BaseModel)
    return kind


def is_secret(section: str, key: str) -> bool:
    """Whether a setting is taken from the environment alone, and never shown."""
    return section_type(section).model_fields[key].annotation == SecretStr | None
