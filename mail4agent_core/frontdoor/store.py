"""The folder of requests: one file each, changed under one lock, durable before it is acknowledged.

Only what stands in ``transitions`` moves a request, and only while the file still says what its mover read: a
write that comes late never undoes what a person decided meanwhile. The lock is held for the disk alone, never
for a model, a network or a person.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from mail4agent_api.errors import (
    MalformedError,
    NotPendingError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_core.files import UNFINISHED, Folder, FolderError

from .extracted import Extraction
from .hand_over import DIAGNOSIS_MAX_BYTES, ExtractionError, Unread
from .listing import Entry, Listing, Names, Remembered, found, listed, record_in
from .quarantine import prose
from .record import Record, UnreadableError
from .states import EXTRACTED, EXTRACTION_FAILED, STATES
from .transitions import Actor, extractable, may
from .types import Json, Types, no_types

log = logging.getLogger(__name__)

ATTACHMENTS: Final = "attachments"


class Frontdoor:
    """The requests under a root. Close it, or use it in a ``with``.

    Every method may raise StoreUnavailableError, for a disk that fails and a lock that somebody holds too
    long; nothing was changed then.
    """

    def __init__(self, root: Folder, types: Types = no_types, lock_secs: float = 10.0) -> None:
        self._root = root
        self._types = types
        self._lock_secs = lock_secs
        self._remembered: Remembered = {}
        self._names = Names()

    @classmethod
    def open(
        cls, root: Path, *, types: Types = no_types, make: bool = True, lock_secs: float = 10.0
    ) -> Frontdoor:
        """Open a root, private to its owner. Raises FolderError, and FileNotFoundError unless it is made."""
        return cls(Folder.opened(root, make=make), types, lock_secs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the folder go."""
        self._root.close()

    @property
    def root(self) -> Path:
        """Where the requests are."""
        return self._root.path

    @property
    def types(self) -> Types:
        """Where local request types are found."""
        return self._types

    def sweep(self) -> None:
        """Remove what writers that were killed left unfinished. Raises StoreUnavailableError."""
        with self.locked("frontdoor.write"), self.disk("frontdoor.write"):
            # Of our own form: the original's writers take no lock of ours.
            for name in self._root.names():
                if name.startswith(".") and name.endswith(UNFINISHED):
                    self._root.remove(name)

    def listing(self) -> Listing:
        """Every request, lowest number first, and every file that is none."""
        with self.disk("frontdoor.list"):
            return listed(self._root, self._remembered)

    def record(self, seq: int) -> Record:
        """One request.

        Raises UnknownItemError where there is none, MalformedError where two files have its number.
        """
        return self.loaded(self.entry(seq))

    def entry(self, seq: int) -> Entry:
        """The line of one request. Raises as ``record``."""
        with self.disk("frontdoor.get"):
            entries = found(self._root, seq, self._names, self._remembered)
        if not entries:
            raise UnknownItemError(id=str(seq))
        if len(entries) > 1:
            raise MalformedError(field="seq", reason="must be the number of one request; two files have it")
        return entries[0]

    def loaded(self, entry: Entry) -> Record:
        """The request of a line, as it is now. Raises UnknownItemError for a file that went or broke."""
        with self.disk("frontdoor.get"):
            try:
                record = record_in(self._root, entry.name)
                record.check_numbers()
            except (FileNotFoundError, UnreadableError):
                raise UnknownItemError(id=str(entry.seq)) from None
            return record

    def write(self, record: Record) -> None:
        """Put a record under its own name, in place of what is there."""
        with self.locked("frontdoor.write"):
            self.put(record.file_name, record)

    def put(self, name: str, record: Record) -> None:
        """Write a record's file. Whoever calls this holds the lock.

        Raises MalformedError for a record with a number that JSON has not.
        """
        try:
            raw = record.written()
        except ValueError:
            raw = None
        if raw is None:
            raise MalformedError(field="values", reason="must hold numbers that JSON has")
        with self.disk("frontdoor.write"):
            self._root.write(name, raw)

    def move(
        self,
        seq: int,
        actor: Actor,
        to: str | Callable[[Record], str],
        *,
        read: Record | str | None = None,
        **changes: Json,
    ) -> tuple[Record, Record]:
        """Move a request, and return it as it was and as it is.

        ``read`` is the state that its mover saw, or the whole record where what he does hangs on more of it:
        a state can come back. Without it, the state on disk counts. Raises NotPendingError, naming
        the state on disk, where the table forbids the move or the state is another by now.
        """
        with self.locked("frontdoor.write"):
            entry = self.entry(seq)
            before = self.loaded(entry)
            target = to if isinstance(to, str) else to(before)
            if not _is_as_read(before, read) or not may(actor, before.state, target):
                raise not_pending(before)
            after = before.changed(state=target, **changes)
            self.put(entry.name, after)
        return before, after

    def waiting_for_extraction(self, *, retry: bool = False, listing: Listing | None = None) -> list[int]:
        """The numbers of valid requests that the extractor may take, lowest first."""
        every = listing or self.listing()
        return [
            entry.seq
            for entry in every.entries
            if entry.valid and entry.seq not in every.duplicates and extractable(entry.state, retry=retry)
        ]

    def claim_for_extraction(self, seq: int, *, retry: bool = False) -> Unread:
        """Take a request's prose for the extractor; nothing is written.

        Raises as ``record``, and NotPendingError for a request that is invalid or not the extractor's, a
        failed one too unless ``retry``.
        """
        record = self.record(seq)
        if not record.valid or not extractable(record.state, retry=retry):
            raise not_pending(record)
        return Unread(record, prose(record, self._types(record.type_id, record.type_version)))

    def record_extraction(self, unread: Unread, made: Extraction | ExtractionError) -> Record:
        """Keep what came of an extraction, unless the request moved meanwhile.

        Raises NotPendingError where it did: a person's decision stands.
        """
        failed = isinstance(made, ExtractionError)
        changes: dict[str, Json] = (
            {"extraction": None, "extraction_error": _diagnosis(made)}
            if failed
            else {"extraction": made.as_json(), "extraction_error": None}
        )
        _, after = self.move(
            unread.record.seq,
            Actor.EXTRACTOR,
            EXTRACTION_FAILED if failed else EXTRACTED,
            read=unread.record.state,
            **changes,
        )
        return after

    @contextmanager
    def locked(self, operation: str) -> Generator[None]:
        """Hold the lock that every writer takes."""
        with self.disk(operation), self._root.locked(wait_secs=self._lock_secs):
            yield

    @contextmanager
    def disk(self, operation: str) -> Generator[None]:
        """Refuse in the contract's words what the disk refuses in its own."""
        try:
            yield
        except OSError as failure:
            log.warning("%s failed: %s", operation, failure.strerror)
        except FolderError:
            log.warning("%s failed: a folder or its lock could not be had", operation)
        else:
            return
        raise StoreUnavailableError(operation=operation)

    def folder(self, name: str, *, make: bool = True) -> Folder:
        """A folder inside the root. Raises FileNotFoundError, FolderError."""
        return self._root.inner(name, make=make)


def _is_as_read(record: Record, read: Record | str | None) -> bool:
    if isinstance(read, Record):
        return record.raw == read.raw
    return read is None or record.state == read


def not_pending(record: Record) -> NotPendingError:
    """The refusal of a move, which names the state that forbids it."""
    status = record.state if record.state in STATES else "unknown"
    return NotPendingError(id=str(record.seq), status=status if record.valid else f"{status}, invalid")


def _diagnosis(failure: ExtractionError) -> str:
    plain = "".join(c if c.isprintable() else " " for c in failure.diagnosis)
    return plain.encode("utf-8", "replace")[:DIAGNOSIS_MAX_BYTES].decode("utf-8", "ignore")
