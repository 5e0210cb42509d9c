"""One change of one file of a client: prepared, then done; until then nothing is seen of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from . import client_files, commands
from .client_files import ClientFile, Prepared
from .clients import Launch
from .documents import Change, IsOurs, TakenError, Wish, digest, granted, is_granted, parsed, withdrawn
from .faults import ConnectError, DocumentError
from .plan import Request, Target
from .records import Place


@dataclass(slots=True)
class Task:
    """What is to happen to a file."""

    path: Path
    place: Place | None
    """What the record will say; None: nothing, the file is let go."""
    ready: Prepared | None = None
    """What takes the file's place; None: it stays, or the client's own command changes it."""
    command: str | None = None
    """The client's program, when its own command is to be called."""
    is_there: bool = False
    """Whether the client's command finds an entry of ours, which must go first."""
    was: Place | None = None
    """What the record said, when the client's command is to take ours out."""

    @property
    def changes(self) -> bool:
        """Whether anything is to be done."""
        return self.ready is not None or self.command is not None


def added(request: Request, target: Target, old: Place | None, is_ours: IsOurs) -> Task:
    """Put what is wanted into a file. Raises ConnectError, and then nothing was changed."""
    file = client_files.read(target.path, new_mode=request.new_mode)
    document = _document(file, target)
    called = None
    if (
        target.may_command
        and not (request.by_file or request.replace)
        and (old is None or old.by == "command")
    ):
        called = commands.program(request.client, request.where.environment)
    if called is not None:
        return _by_command(target, old or _before_command(request, target, file), is_ours, document, called)
    change, place = _changed(request, target, old, is_ours, file)
    if change == file.text and file.raw is not None:
        return Task(target.path, place)
    ready = client_files.prepared(file, change.encode("utf-8", "surrogatepass"))
    if not place.made_folders:
        place = replace(place, made_folders=tuple(ready.made_folders))
    return Task(target.path, place, ready)


def _before_command(request: Request, target: Target, file: ClientFile) -> Place:
    """The record of a file that the client's own command is to change, before it does."""
    return Place(
        target.path,
        target.kind,
        request.scope,
        "command",
        target.wishes,
        was_there=file.raw is not None,
        made_folders=tuple(client_files.missing(file.target)),
    )


def _by_command(
    target: Target, old: Place, is_ours: IsOurs, document: dict[str, object], called: str
) -> Task:
    place = replace(old, wishes=target.wishes)
    (wish,) = target.wishes
    if is_granted(document, wish):
        return Task(target.path, place)
    found = document.get(wish.path[0])
    entry = found.get(wish.path[1]) if isinstance(found, dict) else None
    if entry is not None and not is_ours(entry):
        raise _taken(target.path, ".".join(wish.path))
    return Task(target.path, place, command=called, is_there=entry is not None)


def _changed(
    request: Request, target: Target, old: Place | None, is_ours: IsOurs, file: ClientFile
) -> tuple[str, Place]:
    """The file's text as it is to be, and what takes that back."""
    text, wishes = file.text, target.wishes
    if old is not None and not is_ours(_document(file, target)):
        # Nothing of ours is there: a person took it out, or the run that should have put it in was stopped.
        folders = old.made_folders
        old = None
    else:
        folders = () if old is None else old.made_folders
    is_untouched = old is not None and old.splices is not None and old.digest == digest(text)
    if is_untouched and old is not None and old.wishes == wishes:
        return text, old
    try:
        if is_untouched and old is not None and old.splices is not None:
            base = withdrawn(target.kind, text, old.wishes, is_ours, exact=old.splices)
            change = granted(target.kind, base, wishes, is_ours, replace=request.replace)
        else:
            base = text if old is None else _without_stale(target, text, old, is_ours)
            change = granted(target.kind, base, wishes, is_ours, replace=request.replace)
    except DocumentError as fault:
        raise _invalid(file.path, fault) from None
    except TakenError as fault:
        raise _taken(file.path, str(fault)) from None
    if change.text == text and old is not None and old.wishes == wishes:
        # Touched by a person, who left ours alone.
        return text, old
    can_return = old is None or is_untouched
    place = Place(
        path=target.path,
        kind=target.kind,
        project=request.scope,
        by="file",
        wishes=wishes,
        made=change.made if can_return else _kept(old, wishes, change),
        replaced=change.replaced,
        splices=change.splices if can_return else None,
        digest=digest(change.text),
        was_there=file.raw is not None if old is None else old.was_there,
        made_folders=folders,
    )
    return change.text, place


def _without_stale(target: Target, text: str, old: Place, is_ours: IsOurs) -> str:
    """Take out what is wanted no more from a file that was touched."""
    paths = {each.path for each in target.wishes if not each.is_element}
    stale = [each for each in old.wishes if each not in target.wishes and each.path not in paths]
    return withdrawn(target.kind, text, stale, is_ours)


def _kept(old: Place | None, wishes: Sequence[Wish], change: Change) -> tuple[int, ...]:
    """How many containers were made for each wish, now or the first time."""
    first = {} if old is None else {each.path: made for each, made in zip(old.wishes, old.made, strict=False)}
    return tuple(max(made, first.get(each.path, 0)) for each, made in zip(wishes, change.made, strict=True))


def removed(request: Request, place: Place, is_ours: IsOurs) -> Task:
    """Take back what was done to a file. Raises ConnectError, and then nothing was changed."""
    file = client_files.read(place.path, new_mode=request.new_mode)
    if file.raw is None:
        return Task(place.path, None)
    text = file.text
    try:
        document = parsed(place.kind, text)
        called = commands.program(request.client, request.where.environment)
        if place.by == "command" and called is not None and not request.by_file:
            found = document.get(place.wishes[0].path[0])
            entry = found.get(place.wishes[0].path[1]) if isinstance(found, dict) else None
            is_there = entry is not None and is_ours(entry)
            command = called if is_there else None
            return Task(place.path, None, command=command, is_there=is_there, was=place)
        exact = place.splices if place.digest == digest(text) else None
        left = withdrawn(
            place.kind,
            text,
            place.wishes,
            is_ours,
            made=place.made,
            replaced=place.replaced,
            exact=exact,
        )
    except DocumentError as fault:
        raise _invalid(file.path, fault) from None
    if _is_bare(place, left):
        return Task(place.path, None, client_files.prepared(file, None))
    if left == text:
        return Task(place.path, None)
    return Task(place.path, None, client_files.prepared(file, left.encode("utf-8", "surrogatepass")))


def done(request: Request, task: Task, launch: Launch | None) -> None:
    """Do what was prepared. Raises ConnectError."""
    if task.ready is not None:
        task.ready.put()
    if task.command is None:
        return
    environment = request.where.environment
    if task.is_there:
        commands.removed(request.client, task.command, request.scope, environment)
        _remove_bare(request, task.was)
    if launch is not None and task.place is not None:
        commands.added(request.client, task.command, launch, request.scope, environment)
        if not _is_written(request, task.path, task.place):
            raise ConnectError(
                "client_failed",
                f"{request.client.title}'s own command left {task.path} without what it was asked for;"
                " --file writes the file instead",
            )


def _is_written(request: Request, path: Path, place: Place) -> bool:
    """Whether a client's command did what it was asked for; it may leave anything behind."""
    try:
        document = parsed(place.kind, client_files.read(path, new_mode=request.new_mode).text)
    except (ConnectError, DocumentError):
        return False
    return is_granted(document, place.wishes[0])


def undone(request: Request, task: Task) -> None:
    """Take back what was done a moment ago, as far as nobody came between."""
    with suppress(ConnectError):
        if task.ready is not None:
            file = client_files.read(task.path, new_mode=request.new_mode)
            if file.raw == task.ready.raw:
                client_files.prepared(file, task.ready.file.raw).put()
                client_files.remove_empty(task.ready.made_folders)
        if task.command is not None:
            commands.removed(request.client, task.command, request.scope, request.where.environment)
            _remove_bare(request, task.place)
            if task.place is not None:
                client_files.remove_empty(list(task.place.made_folders))


def _is_bare(place: Place, text: str) -> bool:
    """Whether a file that was not there before ours has nothing in it, or the empty section of ours."""
    section = place.wishes[0].path[0]
    bare = {"", "{}", f'{{"{section}":{{}}}}', f"[{section}]"}
    return not place.was_there and "".join(text.split()) in bare


def _remove_bare(request: Request, place: Place | None) -> None:
    """Remove what the client's command leaves of a file that it made for ours. Raises ConnectError."""
    if place is None:
        return
    file = client_files.read(place.path, new_mode=request.new_mode)
    if file.raw is not None and _is_bare(place, file.text):
        client_files.prepared(file, None).put()


def _document(file: ClientFile, target: Target) -> dict[str, object]:
    try:
        return parsed(target.kind, file.text)
    except DocumentError as fault:
        raise _invalid(file.path, fault) from None


def _invalid(path: Path, fault: DocumentError) -> ConnectError:
    return ConnectError("document_invalid", f"{path} cannot be used: {fault}; nothing was changed")


def _taken(path: Path, name: str) -> ConnectError:
    return ConnectError(
        "entry_taken",
        f"{path} holds a {name} that connect did not write; --replace puts ours in its place",
    )
