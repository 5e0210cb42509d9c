"""What is wanted in which file of a client, and how it gets there."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import commands
from .clients import Client, Launch, Surroundings
from .documents import Format, IsOurs, Wish, granted
from .faults import ConnectError
from .hooks import HOOKS
from .records import FOLDER, Place, key_name

HOOK_SCRIPT = "mail4agent-hook"
#: What clients put something else in the place of, each in its own manner.
_EXPANDED = ("$", "{", "}")


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for."""

    client: Client
    account: str
    where: Surroundings
    home: Path
    url: str
    project: bool = False
    by_file: bool = False
    hooks: bool = True
    wake: bool = False
    replace: bool = False

    @property
    def key(self) -> Path:
        """The file that holds the account's secret."""
        return self.home / FOLDER / key_name(self.account)

    @property
    def scope(self) -> Path | None:
        """The project, or None for the person's own files."""
        return self.where.project if self.project else None

    @property
    def new_mode(self) -> int:
        """The mode of a file that is made: a person's own is private, a project's is everybody's."""
        return 0o644 if self.project else 0o600


@dataclass(frozen=True, slots=True)
class Target:
    """A file and what is wanted in it."""

    path: Path
    kind: Format
    wishes: tuple[Wish, ...]
    may_command: bool = False
    """Whether the client's own command could write it."""


def launch_of(request: Request) -> Launch:
    """How the client starts the server. Raises ConnectError."""
    script = _script("mail4agent")
    # Without -P the folder that the client stands in could bring a package of ours.
    module = ("-P", "-m", "mail4agent_daemon")
    command, first = (script, ()) if script is not None else (sys.executable, module)
    launch = Launch(command, (*first, "mcp-stdio"), environment_of(request))
    for text in (launch.command, *launch.args, *launch.env.values()):
        if any(sign in text for sign in _EXPANDED):
            raise ConnectError(
                "path_ambiguous", f"{text} holds a sign that clients replace ({' '.join(_EXPANDED)})"
            )
    return launch


def environment_of(request: Request) -> dict[str, str]:
    """What the server and the hooks are told: where the daemon is, and where the secret lies."""
    return {"M4A_TOKEN_FILE": str(request.key), "M4A_URL": request.url}


def targets_of(request: Request, launch: Launch) -> list[Target]:
    """The files and what is wanted in each. Raises ConnectError."""
    script = None
    if request.hooks and request.client.name in HOOKS:
        script = _script(HOOK_SCRIPT)
        if script is None:
            raise ConnectError(
                "script_missing", f"{HOOK_SCRIPT} is not installed; leave hooks out by --no-hooks"
            )
    return targets_with(request, launch, script)


def targets_with(request: Request, launch: Launch, hook_script: str | None) -> list[Target]:
    """As ``targets_of``, with the path of the script that hooks call; None: no hooks. Raises ConnectError."""
    client, where = request.client, request.where
    path = client.file(where, project=request.project)
    if path is None:
        raise ConnectError("client_missing", f"{client.title} has no file of its own in a project")
    server = Target(
        path, client.kind, (client.wish(launch),), commands.can_add(client, project=request.project)
    )
    hooks = HOOKS.get(client.name)
    if hooks is None or hook_script is None:
        return [server]
    wishes = tuple(hooks.wishes(hook_script, launch.env, wake=request.wake))
    file = hooks.file(where, project=request.project)
    if file == path:
        # One file has one writer.
        return [Target(path, client.kind, (*server.wishes, *wishes))]
    return [server, Target(file, "json", wishes)]


def shown(targets: Sequence[Target]) -> list[tuple[Path, str]]:
    """Each file as it would be if it held nothing else."""
    return [
        (each.path, granted(each.kind, "", each.wishes, lambda _: False, replace=False).text)
        for each in targets
    ]


def check_present(request: Request) -> None:
    """Raise ConnectError where nothing says that the client is used here, and no file was asked for."""
    client, where = request.client, request.where
    if request.by_file:
        return
    folder = client.folder(where)
    if shutil.which(client.program, path=where.environment.get("PATH")) is None and not folder.is_dir():
        raise ConnectError(
            "client_missing",
            f"{client.title} is not here: there is neither a program {client.program} nor {folder};"
            " --file writes its file all the same",
        )


def ours(key: Path) -> IsOurs:
    """Whether a value was written for an account: it names the file of its secret."""
    name = str(key)
    return lambda value: any(name in text for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def place_of(places: Sequence[Place], path: Path) -> Place | None:
    """The record of a file."""
    return next((each for each in places if each.path == path), None)


def _script(name: str) -> str | None:
    beside = Path(sysconfig.get_path("scripts")) / name
    if beside.is_file():
        return str(beside)
    return shutil.which(name)
