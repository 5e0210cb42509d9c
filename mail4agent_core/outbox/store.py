"""The drafts of one outbox: one file each in a folder, and copies of the files that they would send.

A read changes and makes nothing. What is acknowledged is on disk. Every write is made under the outbox's lock
(``.lock``, flock, the original's own), which is taken before what is acted on is read and is held for a look
at the folder, never for a person or a network. Nothing is deleted and nothing moves: an item's file is its
own record.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal, Self

from mail4agent_api.errors import (
    IdempotencyConflictError,
    MalformedError,
    StoreUnavailableError,
    TooLargeError,
    UnknownItemError,
)
from mail4agent_api.mail import Taint
from mail4agent_api.outbox import OutboxId, ToolName
from mail4agent_core.clock import Clock, SystemClock
from mail4agent_core.files import UNFINISHED, Folder
from mail4agent_core.taint import BOTH

from .canonical import canonical, checked_args
from .copies import PATH_MAX_BYTES, Copies, named_files
from .ids import next_id
from .item import OUTBOX_SCHEMA, NotAnItemError, OutboxItem, OutboxKind, Status, is_item_id
from .listing import ENDING, Listing, Rows
from .review import summarize
from .times import text_of

log = logging.getLogger(__name__)

#: Seconds that one waits for who holds the lock.
LOCK_SECS: Final = 10.0
#: Seconds that a look at the lock of an attempt may last.
_LOOKED_AT_SECS: Final = 1.0
_KEY_MAX_BYTES: Final = 128
#: The operation that a refusal of the disk names.
Operation = Literal[
    "outbox.stage", "outbox.list", "outbox.get", "outbox.withdraw", "outbox.supersede", "outbox.edit",
    "outbox.release", "outbox.reject", "outbox.settle", "outbox.tally",
]  # fmt: skip


class UnreadableItemError(Exception):
    """A file that should be an item cannot be read as one; the message names it."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"outbox item {name} {why}")
        self.name = name


class OutboxStore:
    """The drafts under a root. Close it, or use it in a ``with``.

    Every method may raise FolderError, for a root that is a link or another user's and for a lock that
    somebody holds too long, and StoreUnavailableError where the disk fails; nothing was changed then.
    """

    def __init__(self, root: Folder, clock: Clock, lock_secs: float = LOCK_SECS) -> None:
        self._root = root
        self.clock = clock
        self._lock_secs = lock_secs
        self.copies = Copies(root)
        self.listing = Listing(root)

    @classmethod
    def open(
        cls, root: Path, *, clock: Clock | None = None, lock_secs: float = LOCK_SECS, make: bool = True
    ) -> OutboxStore:
        """Open a root, which is made when it is not there.

        Raises FolderError, and FileNotFoundError where there is none and none is to be made.
        """
        return cls(Folder.opened(root, make=make), clock or SystemClock(), lock_secs)

    @classmethod
    def open_existing(cls, root: Path, *, clock: Clock | None = None) -> OutboxStore | None:
        """Open a root for reading, None where there is none: to look makes nothing. Raises FolderError."""
        try:
            return cls.open(root, clock=clock, make=False)
        except FileNotFoundError:
            return None

    @property
    def root(self) -> Path:
        """Where the drafts are."""
        return self._root.path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the root go."""
        self._root.close()

    # Staging

    def stage(  # noqa: PLR0917  # the order of the original
        self,
        tool: str,
        kind: OutboxKind,
        args: Any,
        taint: Taint | None,
        session_id: str | None,
        workspace: str | None,
        *,
        staged_by: str | None = None,
        idempotency_key: str | None = None,
        file_args: Iterable[str] = (),
        sink: str | None = None,
        roots: Sequence[Path] | None = None,
    ) -> OutboxItem:
        """As ``staged``, and returns the draft alone."""
        return self.staged(
            tool, kind, args, taint, session_id, workspace, staged_by=staged_by,
            idempotency_key=idempotency_key, file_args=file_args, sink=sink, roots=roots,
        )[0]  # fmt: skip

    def staged(  # noqa: PLR0917
        self,
        tool: str,
        kind: OutboxKind,
        args: Any,
        taint: Taint | None,
        session_id: str | None,
        workspace: str | None,
        *,
        staged_by: str | None = None,
        idempotency_key: str | None = None,
        file_args: Iterable[str] = (),
        sink: str | None = None,
        roots: Sequence[Path] | None = None,
    ) -> tuple[OutboxItem, bool]:
        """Write a draft, pending, and say whether it was there already. It is on disk when this returns.

        With an idempotency key the same content under the same key of the same session gives the draft that
        was staged first, decided or not. No taint counts as both legs. The files that ``file_args`` name are
        copied, from below ``roots`` where those are given; a publication always has some. Raises
        MalformedError, TooLargeError and, for other content under a key, IdempotencyConflictError.
        """
        file_args = tuple(file_args)
        name, found = str(ToolName(tool)), checked_args(args)
        if workspace is not None:
            _check_workspace(workspace)
        if idempotency_key is not None and not 0 < len(idempotency_key.encode()) <= _KEY_MAX_BYTES:
            raise MalformedError(field="idempotency_key", reason="must be 1 to 128 bytes")
        paths = named_files(found, file_args)
        if kind is OutboxKind.PUBLISH and file_args and not paths:
            raise MalformedError(field="args", reason="must name the files of a publication")
        with self.disk("outbox.stage"):
            files, unfinished = self.copies.take(workspace, paths, roots)
            try:
                with self.locked():
                    item = OutboxItem(
                        id="",
                        status=Status.PENDING,
                        tool=name,
                        kind=kind,
                        args_before=found,
                        args=found,
                        summary=summarize(name, found),
                        session_id=session_id,
                        workspace=workspace,
                        taint=BOTH if taint is None else taint,
                        created_at=text_of(self.clock.now_ms()),
                        schema=OUTBOX_SCHEMA,
                        idempotency_key=idempotency_key,
                        files=files,
                        staged_by=staged_by,
                        sink=sink,
                    )
                    return self._kept(item, unfinished)
            finally:
                self.copies.drop(unfinished)

    def _kept(self, item: OutboxItem, unfinished: str | None) -> tuple[OutboxItem, bool]:
        """Give a draft its id and its place, or find the one that it repeats. The caller holds the lock."""
        content = _content_of(item)
        owner = item.staged_by or item.session_id or ""
        earlier = self._keyed(owner, item.idempotency_key)
        if earlier is not None:
            known, said = earlier
            if said != content:
                raise IdempotencyConflictError(idempotency_key=item.idempotency_key or "")
            return known, True
        item = item.changed(id=next_id(self._names(), self.clock.now_ms(), secrets.token_hex(4)))
        # The files first, then the key, then the item: what a crash leaves of these is no draft, and the
        # retry makes one.
        self.copies.keep(unfinished, item.id)
        self._keep_key(owner, item.idempotency_key, item.id, content)
        try:
            self.write(item)
        except OSError:
            self._root.remove(f"{item.id}{ENDING}")
            raise
        return item, False

    def _names(self) -> list[str]:
        """The ids in use. What a writer that is gone left is removed; the caller holds the lock."""
        names = self._root.names()
        for name in names:
            if name.endswith(UNFINISHED):
                self._root.remove(name)
        return [name.removesuffix(ENDING) for name in names if name.endswith(ENDING)]

    def _keyed(self, owner: str, key: str | None) -> tuple[OutboxItem, str] | None:
        """The draft that a key was used for and what was staged; None for a key whose draft never was."""
        if key is None:
            return None
        try:
            with self._root.inner("keys", make=False) as keys:
                raw = keys.read(_key_name(owner, key), 256)
        except FileNotFoundError:
            return None
        id_, _, content = (raw or b"").decode("ascii", "replace").partition(" ")
        if not is_item_id(id_):
            return None
        item = self.item_exact(id_)
        return None if item is None else (item, content)

    def _keep_key(self, owner: str, key: str | None, id_: str, content: str) -> None:
        if key is not None:
            with self._root.inner("keys") as keys:
                keys.write(_key_name(owner, key), f"{id_} {content}".encode())

    # Looking

    def items(self) -> list[OutboxItem]:
        """Every item, oldest first. What cannot be read is left out, with a warning in the log."""
        return self.items_counting()[0]

    def items_strict(self) -> list[OutboxItem]:
        """Every item, for whoever writes down what it finds.

        Raises UnreadableItemError for a file that cannot be read.
        """
        with self.disk("outbox.list"):
            return [item for name in self.listing.names() if (item := self._read(name)) is not None]

    def items_counting(self) -> tuple[list[OutboxItem], int]:
        """Every item that can be read, oldest first, and how many files cannot."""
        out: list[OutboxItem] = []
        skipped = 0
        with self.disk("outbox.list"):
            for name in self.listing.names():
                try:
                    item = self._read(name)
                except UnreadableItemError as failure:
                    log.warning("%a is skipped", str(failure))
                    skipped += 1
                else:
                    out += [] if item is None else [item]
        return out, skipped

    def rows(self) -> Rows:
        """Every item as a list shows it, oldest first."""
        with self.disk("outbox.list"):
            return self.listing.rows()

    def item(self, prefix: str) -> OutboxItem:
        """The item with that id, or the only one whose id begins so.

        Raises MalformedError for what is no id and where several begin so, UnknownItemError,
        UnreadableItemError.
        """
        wanted = str(OutboxId(prefix))
        exact = self.item_exact(wanted)
        if exact is not None:
            return exact
        with self.disk("outbox.get"):
            found = [id_ for id_ in self.listing.ids() if id_.startswith(wanted)]
        if len(found) > 1:
            raise MalformedError(
                field="outbox id", reason=f"matches {len(found)} outbox items; give more of the id"
            )
        item = self.item_exact(found[0]) if found else None
        if item is None:
            raise UnknownItemError(id=wanted)
        return item

    def item_exact(self, id_: str) -> OutboxItem | None:
        """The item with that id, from its one file; None where there is none.

        Raises MalformedError for what is no id, before it becomes part of a path, and UnreadableItemError.
        """
        with self.disk("outbox.get"):
            return self._read(f"{OutboxId(id_)}{ENDING}")

    def existing(self, id_: str) -> OutboxItem:
        """As ``item_exact``. Raises UnknownItemError where there is none."""
        item = self.item_exact(id_)
        if item is None:
            raise UnknownItemError(id=id_)
        return item

    def _read(self, name: str) -> OutboxItem | None:
        try:
            return self.listing.read(name)
        except FileNotFoundError:
            return None
        except NotAnItemError as failure:
            raise UnreadableItemError(name, str(failure)) from None
        except OSError as failure:
            raise UnreadableItemError(name, f"cannot be read: {failure.strerror}") from None

    # For whoever decides

    @contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock of all writers. Raises FolderBusyError, naming who holds it."""
        with self._root.locked(wait_secs=self._lock_secs):
            yield

    def attempt_lock(self, id_: str) -> str:
        """The name of the lock that a release in flight holds."""
        return f".{id_}.release"

    @contextmanager
    def attempting(self, id_: str) -> Generator[None]:
        """Hold the lock that says that a release of a draft is in flight. It ends with its process.

        Raises FolderBusyError where another holds it.
        """
        # Whoever only looks whether it is held holds it for that look.
        with self._root.locked(self.attempt_lock(id_), wait_secs=_LOOKED_AT_SECS):
            yield

    def forget_attempts(self, id_: str) -> None:
        """Remove the lock of a draft that is decided. While it may be released again the file must stay: two
        could hold two files of one name.
        """
        self._root.remove(self.attempt_lock(id_))

    def in_flight(self, id_: str) -> bool:
        """Whether somebody is releasing a draft right now."""
        with suppress(OSError):
            return self._root.held(self.attempt_lock(id_))
        return False

    def write(self, item: OutboxItem) -> None:
        """Put an item in the place of what was there. The caller holds the lock. Raises OSError."""
        self._root.write(f"{item.id}{ENDING}", item.encoded())

    def now(self) -> str:
        """The time as a file has it."""
        return text_of(self.clock.now_ms())

    @contextmanager
    def disk(self, operation: Operation) -> Generator[None]:
        """Name the operation that a failing disk refuses."""
        try:
            yield
        except OSError as failure:
            log.warning("%s failed: %s", operation, failure.strerror)
            raise StoreUnavailableError(operation=operation) from None
        except UnreadableItemError as failure:
            log.warning("%s failed: %a", operation, str(failure))
            raise


def _check_workspace(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > PATH_MAX_BYTES:
        raise TooLargeError(field="workspace", limit=PATH_MAX_BYTES, actual=size)
    if not text or not text.isprintable():
        raise MalformedError(field="workspace", reason="must be a path without control characters")


def _content_of(item: OutboxItem) -> str:
    """What must be the same under the same key: all that the caller said. The taint is not: it only grows."""
    files = [[file.path, file.size, file.sha256] for file in item.files]
    said = [item.tool, str(item.kind), item.args_before, item.workspace, files]
    return hashlib.sha256(canonical(said)).hexdigest()


def _key_name(owner: str, key: str) -> str:
    return hashlib.sha256(canonical([owner, key])).hexdigest()
