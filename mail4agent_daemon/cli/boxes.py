"""The box that the settings name, for verbs that ask it, and one way to say that it did not answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import typer

from mail4agent_core.files import FolderBusyError, FolderError
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import Mail

if TYPE_CHECKING:
    from mail4agent_daemon.drain.box import BoxClient
    from mail4agent_daemon.settings import Effective


def effective() -> Effective:
    """The settings of the data folder. Raises SettingsError."""
    from mail4agent_daemon.settings import load

    return load(os.environ)


def box_for_drain(settings: Effective) -> BoxClient:
    """The box under the drain key. Raises BoxError."""
    from mail4agent_daemon.drain.box import BoxClient, key_of

    return BoxClient(_url(settings), key_of(settings.drain_key))


def box_for_types(settings: Effective) -> BoxClient:
    """The box under the types key. Raises BoxError."""
    from mail4agent_daemon.drain.box import BoxClient, key_of

    return BoxClient(_url(settings), key_of(settings.types_key))


def _url(settings: Effective) -> str:
    from mail4agent_daemon.drain.box import BoxKeyError

    if settings.settings.box.url is None:
        raise BoxKeyError("no box is set; give box.url in the settings, or M4A_BOX__URL")
    return settings.settings.box.url


def told(function: Callable[..., Any]) -> Callable[..., Any]:
    """What ends a verb besides a refusal of the daemon, in words for a person or as one object."""

    @wraps(function)
    def run(mail: Mail, **given: Any) -> Any:
        from mail4agent_daemon.drain.box import BoxError
        from mail4agent_daemon.settings import SettingsError

        try:
            return function(mail, **given)
        except SettingsError as failure:
            say(mail, "setting_invalid", str(failure))
            return Exit.USAGE
        except BoxError as failure:
            return failed(mail, failure)
        except FolderError as failure:
            kind = "drain_busy" if isinstance(failure, FolderBusyError) else "folder_unusable"
            say(mail, kind, str(failure))
            return Exit.REFUSED

    return run


def failed(mail: Mail, failure: Exception) -> Exit:
    """Say what the box did not do; ``failure`` is a BoxError."""
    from mail4agent_api.errors import UnauthenticatedError
    from mail4agent_daemon.drain.box import BoxKeyError, BoxRefusedError

    match failure:
        case BoxRefusedError():
            status = mail.failed(failure.refusal)
            if isinstance(failure.refusal, UnauthenticatedError):
                mail.note("It was the box that refused: look at the keys of the section [box].")
            return status
        case BoxKeyError():
            say(mail, failure.kind, str(failure))
            return Exit.UNAUTHENTICATED
        case _:
            say(mail, "box_unreachable", str(failure))
            return Exit.UNREACHABLE


def say(mail: Mail, kind: str, reason: str) -> None:
    """A failure on standard error, for a person or for programs."""
    if mail.as_json:
        typer.echo(json_text(json.dumps({"kind": kind, "reason": reason}).encode()), err=True)
    else:
        typer.echo(f"mail4agent: {visible(reason)}", err=True)
