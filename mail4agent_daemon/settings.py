"""Settings: defaults, ``config.toml``, ``M4A_<SECTION>__<KEY>`` in the environment, flags; the later wins.

A key that is not known is refused by name, wherever it stands: a misspelt setting never passes silently.
"""

import json
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    Strict,
    ValidationError,
    field_serializer,
    model_validator,
)

from mail4agent_core.files import named

from .drain.settings import BoxSettings
from .endpoints import DEFAULT_PORT
from .model_endpoint import Endpoint, ModelUrlError, checked_url
from .names import names_of
from .sinks.settings import KINDS, OutboxSettings, SinkSettings, contradictions
from .store_url import checked_store_url, without_password

CONFIG_NAME = "config.toml"
DATABASE_NAME = "mail.sqlite3"
SOCKET_NAME = "daemon.sock"
TYPES_NAME = "types"
_PREFIX = "M4A_"
_SEPARATOR = "__"
_CONFIG_MAX_BYTES = 1_048_576
_SINKS = "sinks"
_YES, _NO = frozenset(("true", "yes", "on", "1")), frozenset(("false", "no", "off", "0"))


class SettingsError(Exception):
    """The settings cannot be used; the message names the key, where it stands and what it may be."""


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


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings in force, and where each one that is not a default came from.

    ``origins`` maps ``section.key`` (and ``home``) to a file, the name of a variable or a flag.
    """

    home: Path
    config: Path
    settings: Settings
    origins: Mapping[str, str]

    @property
    def database(self) -> Path:
        """The path of the database that is a file."""
        return self.home / DATABASE_NAME

    @property
    def store(self) -> str:
        """Where the mail is, as people are told."""
        url = self.settings.store.url
        return str(self.database) if url is None else without_password(url)

    @property
    def mailboxes(self) -> Path:
        """The root of the file mailboxes."""
        return self.home / self.settings.mailbox.root

    @property
    def requests(self) -> Path:
        """The folder of the front door's requests."""
        return self.home / self.settings.frontdoor.root

    @property
    def types(self) -> Path:
        """The folder of request types."""
        return self.home / TYPES_NAME

    @property
    def model(self) -> Endpoint | None:
        """The model that reads prose, where one is set."""
        model = self.settings.model
        if model.base_url is None or model.name is None:
            return None
        key = model.key if model.key_file is None else self.home / model.key_file
        url = checked_url(model.base_url, allow_plain_http=model.allow_plain_http)
        return Endpoint(url, model.name, key, float(model.timeout_secs))

    @property
    def drain_key(self) -> SecretStr | Path | None:
        """The drain key to the box: itself, or its file."""
        box = self.settings.box
        return box.key if box.key_file is None else self.home / box.key_file

    @property
    def types_key(self) -> SecretStr | Path | None:
        """The types key to the box: itself, or its file."""
        box = self.settings.box
        return box.types_key if box.types_key_file is None else self.home / box.types_key_file

    @property
    def outbox(self) -> Path:
        """The root of the drafts."""
        return self.home / self.settings.outbox.root

    @property
    def socket(self) -> Path | None:
        """The UNIX socket's path."""
        return self.home / SOCKET_NAME if self.settings.server.socket else None


def home_of(environment: Mapping[str, str], flag: Path | None = None) -> Path:
    """The data folder: the flag, ``M4A_HOME``, or the platform's data folder for mail4agent; absolute.

    Raises SettingsError.
    """
    named = environment.get("M4A_HOME")
    chosen = (
        flag if flag is not None else Path(named) if named else Path(platformdirs.user_data_dir("mail4agent"))
    )
    try:
        chosen = chosen.expanduser()
    except RuntimeError:
        origin = "M4A_HOME" if flag is None else "--home"
        raise SettingsError(
            f"{origin}: {chosen} begins with a user that this machine does not know"
        ) from None
    return Path(os.path.abspath(chosen))  # noqa: PTH100  resolve() would follow a link, which the home must not be


def load(
    environment: Mapping[str, str],
    *,
    home: Path | None = None,
    config: Path | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Effective:
    """Gather the settings. ``flags`` maps ``section.key`` to a value, None where a flag was not given.

    Raises SettingsError.
    """
    folder = home_of(environment, home)
    path = folder / CONFIG_NAME if config is None else Path(os.path.abspath(config))  # noqa: PTH100  as above
    values: dict[str, dict[str, Any]] = {}
    origins: dict[str, str] = {}
    if home is not None:
        origins["home"] = "--home"
    elif environment.get("M4A_HOME"):
        origins["home"] = "M4A_HOME"
    given = [*_from_file(path, required=config is not None), *_from_environment(environment)]
    given += [(name, value, _flag(name)) for name, value in (flags or {}).items() if value is not None]
    for name, value, origin in given:
        section, _, key = name.partition(".")
        values.setdefault(section, {})[key] = _value(section, key, value, origin)
        origins[name] = origin
    try:
        settings = Settings.model_validate(values)
    except ValidationError as failure:
        raise _invalid(failure, origins) from None
    for wrong in contradictions(settings.outbox, settings.sinks):
        raise SettingsError(f"{path}: {wrong}")
    return Effective(folder, path, settings, origins)


def _invalid(failure: ValidationError, origins: Mapping[str, str]) -> SettingsError:
    error = failure.errors(include_url=False, include_input=False)[0]
    place = [str(step) for step in error["loc"]]
    name, what = ".".join(place[:2]), error["msg"].removeprefix("Value error, ")
    origin = origins.get(name, "settings")
    if place[0] == _SINKS and len(place) > 3:
        # The third step is the sink's kind, by which its settings were chosen.
        key, known = place[3], ", ".join(KINDS[place[2]].model_fields)
        if error["type"] == "extra_forbidden":
            what = f"there is no setting {key!r} in {name}, whose kind is {place[2]}"
            return SettingsError(f"{origin}: {what}; there are {known}")
        name = f"{name}.{key}"
    elif place[0] == _SINKS:
        name, what = f"{name}.kind", f"must be one of {', '.join(KINDS)}"
    return SettingsError(f"{origin}: {name} is not valid: {what}")


def toml_of(effective: Effective) -> str:
    """The settings in force as a ``config.toml``, each with its origin and its meaning.

    What is not set stands in a comment.
    """
    lines = [f"# data folder: {effective.home}  ({effective.origins.get('home', 'the default')})"]
    read = "read" if effective.config.exists() else "not there"
    lines += [f"# settings file: {effective.config}  ({read})", f"# database: {effective.store}"]
    everything = effective.settings.model_dump(mode="json")
    sinks = everything.pop(_SINKS)
    for section, fields in everything.items():
        lines += ["", f"[{section}]"]
        for key, value in fields.items():
            origin = effective.origins.get(f"{section}.{key}", "default")
            meaning = _section_type(section).model_fields[key].description
            # JSON's literals are TOML's, but for null. A secret is not shown, nor taken from a file.
            shown = None if _is_secret(section, key) else value
            setting = f"# {key} =" if shown is None else f"{key} = {_literal(shown)}"
            lines.append(f"{setting}  # {origin}; {meaning}")
    for name, fields in sinks.items():
        lines += ["", f"[{_SINKS}.{name}]  # {effective.origins.get(f'{_SINKS}.{name}', 'default')}"]
        lines += [f"{key} = {_literal(value)}" for key, value in fields.items() if value is not None]
    return "\n".join(lines)


def settings_of(effective: Effective) -> Iterator[tuple[str, str | None, str]]:
    """The settings in force: ``section.key``, its value in TOML, its origin.

    One without a value is not set, or a secret.
    """
    everything = effective.settings.model_dump(mode="json")
    sinks = everything.pop(_SINKS)
    for section, fields in everything.items():
        for key, value in fields.items():
            hidden = value is None or _is_secret(section, key)
            origin = effective.origins.get(f"{section}.{key}", "default")
            yield f"{section}.{key}", None if hidden else _literal(value), origin
    for name, fields in sinks.items():
        origin = effective.origins.get(f"{_SINKS}.{name}", "default")
        for key, value in fields.items():
            if value is not None:
                yield f"{_SINKS}.{name}.{key}", _literal(value), origin


def _literal(value: Any) -> str:
    """A value in TOML: JSON's literals are TOML's, but for null and objects."""
    if isinstance(value, dict):
        pairs = (f"{_literal(key)} = {_literal(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return json.dumps(value, ensure_ascii=False)


def _flag(name: str) -> str:
    section, _, key = name.partition(".")
    prefix = "log-" if section == "log" else ""
    return f"--{prefix}{key.replace('_', '-')}"


def _section_type(section: str) -> type[BaseModel]:
    kind = Settings.model_fields[section].annotation
    assert isinstance(kind, type)
    assert issubclass(kind, BaseModel)
    return kind


def _is_secret(section: str, key: str) -> bool:
    return _section_type(section).model_fields[key].annotation == SecretStr | None


def _value(section: str, key: str, value: Any, origin: str) -> Any:
    """A value for a known key, read from text where it comes from the environment. Raises SettingsError."""
    if section not in Settings.model_fields:
        known = ", ".join(Settings.model_fields)
        raise SettingsError(f"{origin}: there is no section {section!r}; there are {known}")
    if section == _SINKS:
        if origin.startswith(_PREFIX):
            raise SettingsError(f"{origin}: sinks are set in the settings file alone, as [{_SINKS}.NAME]")
        return value
    fields = _section_type(section).model_fields
    if key not in fields:
        raise SettingsError(
            f"{origin}: there is no setting {key!r} in {section}; there are {', '.join(fields)}"
        )
    if not origin.startswith(_PREFIX):
        if _is_secret(section, key):
            # Settings are shown, copied and sent to others; a secret is not among them.
            raise SettingsError(f"{origin}: {section}.{key} is a secret; name a file that holds it")
        return value
    kind = fields[key].annotation
    if kind is bool:
        return value.lower() in _YES if value.lower() in _YES | _NO else value
    if kind is int:
        return int(value) if value.isascii() and value.isdigit() and len(value) <= 18 else value
    if kind == tuple[str, ...]:
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return None if value == "" and fields[key].default is None else value


def _from_file(path: Path, *, required: bool) -> Iterator[tuple[str, Any, str]]:
    for section, table in _toml(path, required=required).items():
        if not isinstance(table, dict):
            raise SettingsError(f"{path}: {section!r} must be a section, written [{section}]")
        for key, value in table.items():
            yield f"{section}.{key}", value, str(path)
        if section not in Settings.model_fields:
            raise SettingsError(
                f"{path}: there is no section {section!r}; there are {', '.join(Settings.model_fields)}"
            )


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """What is named ``M4A_<SECTION>__<KEY>``. Raises SettingsError for a name that was meant to be one."""
    for name, text in environment.items():
        if not name.startswith(_PREFIX):
            continue
        section, separator, key = name.removeprefix(_PREFIX).partition(_SEPARATOR)
        section = section.lower()
        if separator:
            yield f"{section}.{key.lower()}", text, name
        elif not separator and section.partition("_")[0] in Settings.model_fields:
            first = section.partition("_")[0].upper()
            raise SettingsError(
                f"{name}: a setting is named with two underscores, {_PREFIX}{first}{_SEPARATOR}<KEY>"
            )


def _toml(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        text = named(path, _CONFIG_MAX_BYTES)
    except FileNotFoundError:
        if required:
            raise SettingsError(f"{path} does not exist") from None
        return {}
    except OSError as failure:
        raise SettingsError(f"{path} cannot be read: {failure.strerror}") from failure
    if len(text) > _CONFIG_MAX_BYTES:
        raise SettingsError(f"{path} is larger than {_CONFIG_MAX_BYTES} bytes")
    try:
        return tomllib.loads(text.decode("utf-8"))
    except RecursionError:
        raise SettingsError(f"{path} is not valid TOML: it is nested too deeply") from None
    except ValueError as failure:  # also of a number with more digits than Python reads
        raise SettingsError(f"{path} is not valid TOML: {failure}") from failure
