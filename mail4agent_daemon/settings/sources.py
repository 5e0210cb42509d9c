"""Where settings come from: the file, the environment, flags."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .sections import SINKS, Settings, is_secret, section_type

_PREFIX = "M4A_"
_SEPARATOR = "__"
_CONFIG_MAX_BYTES = 1_048_576
_YES, _NO = frozenset(("true", "yes", "on", "1")), frozenset(("false", "no", "off", "0"))


class SettingsError(Exception):
    """The settings cannot be used; the message names the key, where it stands and what it may be."""


def flag_of(name: str) -> str:
    """The flag of ``serve`` for ``section.key``."""
    section, _, key = name.partition(".")
    prefix = "log-" if section == "log" else ""
    return f"--{prefix}{key.replace('_', '-')}"


def value_of(section: str, key: str, value: Any, origin: str) -> Any:
    """A value for a known key, read from text where it comes from the environment. Raises SettingsError."""
    if section not in Settings.model_fields:
        known = ", ".join(Settings.model_fields)
        raise SettingsError(f"{origin}: there is no section {section!r}; there are {known}")
    if section == SINKS:
        if origin.startswith(_PREFIX):
            raise SettingsError(f"{origin}: sinks are set in the settings file alone, as [{SINKS}.NAME]")
        return value
    fields = section_type(section).model_fields
    if key not in fields:
        raise SettingsError(
            f"{origin}: there is no setting {key!r} in {section}; there are {', '.join(fields)}"
        )
    if not origin.startswith(_PREFIX):
        if is_secret(section, key):
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


def from_file(path: Path, *, required: bool) -> Iterator[tuple[str, Any, str]]:
    """``section.key``, its value and the file. Raises SettingsError for one that cannot be read."""
    for section, table in _toml(path, required=required).items():
        if not isinstance(table, dict):
            raise SettingsError(f"{path}: {section!r} must be a section, written [{section}]")
        for key, value in table.items():
            yield f"{section}.{key}", value, str(path)
        if section not in Settings.model_fields:
            raise SettingsError(
                f"{path}: there is no section {section!r}; there are {', '.join(Settings.model_fields)}"
            )


def from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
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
    # Here: who has no file to read needs no POSIX.
    from mail4agent_core.files import named

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
