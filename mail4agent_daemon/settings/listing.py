"""The settings in force, as a person reads them and as a program does."""

import json
from collections.abc import Iterator
from typing import Any

from .effective import Effective
from .sections import SINKS, is_secret, section_type


def toml_of(effective: Effective) -> str:
    """The settings in force as a ``config.toml``, each with its origin and its meaning.

    What is not set stands in a comment.
    """
    lines = [f"# data folder: {effective.home}  ({effective.origins.get('home', 'the default')})"]
    read = "read" if effective.config.exists() else "not there"
    lines += [f"# settings file: {effective.config}  ({read})", f"# database: {effective.store}"]
    everything = effective.settings.model_dump(mode="json")
    sinks = everything.pop(SINKS)
    for section, fields in everything.items():
        lines += ["", f"[{section}]"]
        for key, value in fields.items():
            origin = effective.origins.get(f"{section}.{key}", "default")
            meaning = section_type(section).model_fields[key].description
            # JSON's literals are TOML's, but for null. A secret is not shown, nor taken from a file.
            shown = None if is_secret(section, key) else value
            setting = f"# {key} =" if shown is None else f"{key} = {_literal(shown)}"
            lines.append(f"{setting}  # {origin}; {meaning}")
    for name, fields in sinks.items():
        lines += ["", f"[{SINKS}.{name}]  # {effective.origins.get(f'{SINKS}.{name}', 'default')}"]
        lines += [f"{key} = {_literal(value)}" for key, value in fields.items() if value is not None]
    return "\n".join(lines)


def settings_of(effective: Effective) -> Iterator[tuple[str, str | None, str]]:
    """The settings in force: ``section.key``, its value in TOML, its origin.

    One without a value is not set, or a secret.
    """
    everything = effective.settings.model_dump(mode="json")
    sinks = everything.pop(SINKS)
    for section, fields in everything.items():
        for key, value in fields.items():
            hidden = value is None or is_secret(section, key)
            origin = effective.origins.get(f"{section}.{key}", "default")
            yield f"{section}.{key}", None if hidden else _literal(value), origin
    for name, fields in sinks.items():
        origin = effective.origins.get(f"{SINKS}.{name}", "default")
        for key, value in fields.items():
            if value is not None:
                yield f"{SINKS}.{name}.{key}", _literal(value), origin


def _literal(value: Any) -> str:
    """A value in TOML: JSON's literals are TOML's, but for null and objects."""
    if isinstance(value, dict):
        pairs = (f"{_literal(key)} = {_literal(each)}" for key, each in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return json.dumps(value, ensure_ascii=False)
