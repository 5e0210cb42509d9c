"""The settings in force, gathered from all sources, and the places that follow from them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import SecretStr, ValidationError

from mail4agent_daemon.model_endpoint import Endpoint, checked_url
from mail4agent_daemon.sinks.settings import KINDS, contradictions
from mail4agent_daemon.store_url import without_password

from .sections import SINKS, Settings
from .sources import SettingsError, flag_of, from_environment, from_file, value_of

CONFIG_NAME = "config.toml"
DATABASE_NAME = "mail.sqlite3"
SOCKET_NAME = "daemon.sock"
TYPES_NAME = "types"


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
    given = [*from_file(path, required=config is not None), *from_environment(environment)]
    given += [(name, value, flag_of(name)) for name, value in (flags or {}).items() if value is not None]
    for name, value, origin in given:
        section, _, key = name.partition(".")
        values.setdefault(section, {})[key] = value_of(section, key, value, origin)
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
    if place[0] == SINKS and len(place) > 3:
        # The third step is the sink's kind, by which its settings were chosen.
        key, known = place[3], ", ".join(KINDS[place[2]].model_fields)
        if error["type"] == "extra_forbidden":
            what = f"there is no setting {key!r} in {name}, whose kind is {place[2]}"
            return SettingsError(f"{origin}: {what}; there are {known}")
        name = f"{name}.{key}"
    elif place[0] == SINKS:
        name, what = f"{name}.kind", f"must be one of {', '.join(KINDS)}"
    return SettingsError(f"{origin}: {name} is not valid: {what}")
