"""Settings: defaults, then ``config.toml``, then ``M4A_<SECTION>__<KEY>`` in the environment, then flags; the later wins.

A key that is not known is refused by name, wherever it stands: a misspelt setting never passes silently.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .endpoints import DEFAULT_PORT

#: Names in the environment that are no settings of a section.
RESERVED = frozenset(("M4A_HOME", "M4A_URL", "M4A_TOKEN", "M4A_TOKEN_FILE"))
CONFIG_NAME = "config.toml"
_PREFIX = "M4A_"
_SEPARATOR = "__"
_CONFIG_MAX_BYTES = 1_048_576


class SettingsError(Exception):
    """The settings cannot be used; the message names the key, where it stands and what it may be."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ServerSettings(_Section):
    """Where and how to listen."""

    bind: Annotated[str, Field(max_length=255, description="address and port, such as 127.0.0.1:18301; port 0 takes a free one; none: the UNIX socket alone")] = (
        f"127.0.0.1:{DEFAULT_PORT}"
    )
    socket: Annotated[bool, Field(description="listen on the UNIX socket daemon.sock in the home too")] = True
    names: Annotated[tuple[str, ...], Field(max_length=64, description="further names (name or name:port) that clients reach the daemon by")] = ()
    tls_cert: Annotated[Path | None, Field(description="PEM file with the certificate chain")] = None
    tls_key: Annotated[Path | None, Field(description="PEM file with its key")] = None
    allow_cleartext: Annotated[bool, Field(description="listen beyond this machine without TLS")] = False


class StoreSettings(_Section):
    """Where mail is kept."""

    path: Annotated[Path | None, Field(description="the database; by default mail.sqlite3 in the home")] = None


class RetentionSettings(_Section):
    """How long settled mail is kept."""

    keep_days: Annotated[int, Field(ge=0, le=36_500, description="days after everybody acknowledged it; 0 keeps it for ever")] = 180


class LogSettings(_Section):
    """What is logged, and how."""

    level: Annotated[Literal["debug", "info", "warning", "error"], Field(description="the least level that is written")] = "info"
    format: Annotated[Literal["auto", "json", "text"], Field(description="auto: text on a terminal, JSON elsewhere")] = "auto"


class Settings(_Section):
    """All sections."""

    server: ServerSettings = ServerSettings()
    store: StoreSettings = StoreSettings()
    retention: RetentionSettings = RetentionSettings()
    log: LogSettings = LogSettings()


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings in force, and where each key that is not a default came from (``section.key`` -> file, name or flag)."""

    home: Path
    settings: Settings
    origins: Mapping[str, str]

    @property
    def database(self) -> Path:
        """The database's path."""
        path = self.settings.store.path
        return self.home / "mail.sqlite3" if path is None else self.home / path


def home_of(environment: Mapping[str, str], flag: Path | None = None) -> Path:
    """The data folder: the flag, ``M4A_HOME``, or the platform's data folder for mail4agent; absolute."""
    named = environment.get("M4A_HOME")
    chosen = flag if flag is not None else Path(named) if named else Path(platformdirs.user_data_dir("mail4agent"))
    return Path(os.path.abspath(chosen.expanduser()))  # noqa: PTH100  resolve() would follow a symbolic link, which the home must not be


def load(environment: Mapping[str, str], *, home: Path | None = None, config: Path | None = None, flags: Mapping[str, Any] | None = None) -> Effective:
    """Gather the settings. ``flags`` maps ``section.key`` to a value, None for flags that were not given. Raises SettingsError."""
    folder = home_of(environment, home)
    values: dict[str, dict[str, Any]] = {}
    origins: dict[str, str] = {}

    def put(section: str, key: str, value: Any, origin: str) -> None:
        if section not in Settings.model_fields:
            raise SettingsError(f"{origin}: there is no section {section!r}; there are {', '.join(Settings.model_fields)}")
        fields = _section_type(section).model_fields
        if key not in fields:
            raise SettingsError(f"{origin}: there is no setting {key!r} in {section}; there are {', '.join(fields)}")
        values.setdefault(section, {})[key] = value
        origins[f"{section}.{key}"] = origin

    path = folder / CONFIG_NAME if config is None else config
    for section, table in _toml(path, required=config is not None).items():
        if not isinstance(table, dict):
            raise SettingsError(f"{path}: {section!r} must be a section, written [{section}]")
        for key, value in table.items():
            put(section, key, value, str(path))
    for name, text in environment.items():
        if not name.startswith(_PREFIX) or name in RESERVED or _SEPARATOR not in name:
            continue
        section, _, key = name.removeprefix(_PREFIX).partition(_SEPARATOR)
        if section.lower() in Settings.model_fields:
            put(section.lower(), key.lower(), _from_text(section.lower(), key.lower(), text), name)
        elif section.lower() not in _OTHERS:
            raise SettingsError(f"{name}: there is no section {section.lower()!r}; there are {', '.join(Settings.model_fields)}")
    for name, value in (flags or {}).items():
        if value is not None:
            section, _, key = name.partition(".")
            put(section, key, value, f"--{key.replace('_', '-')}")
    try:
        return Effective(folder, Settings.model_validate(values), origins)
    except ValidationError as failure:
        error = failure.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(step) for step in error["loc"][:2])
        raise SettingsError(f"{origins.get(name, 'settings')}: {name} is not valid: {error['msg']}") from None


#: Sections that other parts of the product read by themselves.
_OTHERS = frozenset(("model", "bench"))


def _section_type(section: str) -> type[BaseModel]:
    kind = Settings.model_fields[section].annotation
    assert isinstance(kind, type) and issubclass(kind, BaseModel)
    return kind


def _toml(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(_CONFIG_MAX_BYTES + 1)
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise SettingsError(f"{path} is not valid TOML: {failure}") from failure


def _from_text(section: str, key: str, text: str) -> Any:
    """A list is written with commas; everything else pydantic reads from text."""
    field = _section_type(section).model_fields.get(key)
    if field is not None and field.annotation == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return None if text == "" and field is not None and field.default is None else text
