"""The box as home drains it: one lease, rows in order past a number, files, and their deletion."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import (
    EpochChangedError,
    LeaseHeldError,
    LeaseLostError,
    UnknownPathError,
)
from mail4agent_api.frontdoor import RequestValues
from mail4agent_api.intake import (
    BoxAcked,
    BoxAckRequest,
    BoxAttachment,
    BoxLease,
    BoxLeaseRequest,
    BoxQueue,
    BoxQueueRequest,
    BoxReleased,
    BoxReleaseRequest,
    BoxRow,
)

from .database import Database

#: Contents of one page: a first row is always given, whatever its size.
PAGE_BYTES = 4_194_304


class Lease:
    """Who drains. It ends with the process: a drain takes it again then. ``now`` gives seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._holder: str | None = None
        self._until = 0.0

    def take(self, holder: str, secs: int) -> None:
        """Take or renew it. Raises LeaseHeldError."""
        self._refuse_others(holder)
        self._holder, self._until = holder, self._now() + secs

    def give_back(self, holder: str) -> bool:
        """Whether it was the holder's; it is nobody's then."""
        held = self._holder == holder and self._now() < self._until
        if held:
            self._holder = None
        return held

    def check(self, holder: str) -> None:
        """Raises LeaseHeldError, or LeaseLostError when it is nobody's."""
        self._refuse_others(holder)
        if self._holder != holder or self._now() >= self._until:
            raise LeaseLostError

    def _refuse_others(self, holder: str) -> None:
        left = self._until - self._now()
        if self._holder is not None and self._holder != holder and left > 0:
            raise LeaseHeldError(retry_after_secs=max(1, min(86_400, int(left) + 1)))


class Box:
    """The operations of a drain."""

    def __init__(self, database: Database, epoch: str, now: Callable[[], float]) -> None:
        self._database = database
        self._epoch = epoch
        self._lease = Lease(now)
        self._queued = asyncio.Event()
        self._closing = False

    def queued(self) -> None:
        """Tell who waits that a row came."""
        self._queued.set()
        self._queued = asyncio.Event()

    def close(self) -> None:
        """Let nobody wait any more."""
        self._closing = True
        self.queued()

    def lease(self, request: BoxLeaseRequest) -> BoxLease:
        """Take or renew the lease. Raises LeaseHeldError."""
        self._lease.take(request.holder, request.secs)
        return BoxLease(epoch=self._epoch, secs=request.secs)

    def release(self, request: BoxReleaseRequest) -> BoxReleased:
        """Give the lease back."""
        return BoxReleased(released=self._lease.give_back(request.holder))

    async def queue(self, request: BoxQueueRequest) -> BoxQueue:
        """Rows past a number; waits for the first.

        Raises LeaseHeldError, LeaseLostError, EpochChangedError.
        """
        self._admit(request.holder, request.epoch)
        deadline = asyncio.get_running_loop().time() + request.wait_secs
        while True:
            # Before the look: a row that is committed after it still ends the wait.
            queued = self._queued
            rows = await self._database.run(_page(request.after, request.limit))
            if rows or self._closing or not request.wait_secs:
                break
            try:
                async with asyncio.timeout_at(deadline):
                    await queued.wait()
            except TimeoutError:
                break
            # The lease may have passed on meanwhile.
            self._lease.check(request.holder)
        return BoxQueue(epoch=self._epoch, rows=rows, last=rows[-1].seq if rows else request.after)

    async def ack(self, request: BoxAckRequest) -> BoxAcked:
        """Delete rows with their files. Raises LeaseHeldError, LeaseLostError, EpochChangedError."""
        self._admit(request.holder, request.epoch)
        seqs = sorted(set(request.seqs))

        def run(db: sqlite3.Connection) -> int:
            marks = ",".join("?" * len(seqs))
            return db.execute(f"DELETE FROM queue WHERE seq IN ({marks})", seqs).rowcount  # noqa: S608  marks alone

        deleted = await self._database.run(run, scrub=True)
        return BoxAcked(deleted=deleted)

    async def blob(self, blob: str) -> bytes:
        """The bytes of a file. Raises UnknownPathError."""

        def run(db: sqlite3.Connection) -> bytes | None:
            found = db.execute("SELECT bytes FROM blob WHERE id = ?", (blob,)).fetchone()
            return None if found is None else bytes(found[0])

        content = await self._database.run(run)
        if content is None:
            raise UnknownPathError
        return content

    def _admit(self, holder: str, epoch: str | None) -> None:
        self._lease.check(holder)
        if epoch is not None and epoch != self._epoch:
            raise EpochChangedError


def _page(after: int, limit: int) -> Callable[[sqlite3.Connection], list[BoxRow]]:
    def run(db: sqlite3.Connection) -> list[BoxRow]:
        rows: list[BoxRow] = []
        size = 0
        found = db.execute(
            "SELECT seq, type_id, type_version, contents, created_ms FROM queue WHERE seq > ?"
            " ORDER BY seq LIMIT ?",
            (min(after, 2**63 - 1), limit),
        )
        for seq, type_id, version, contents, created_ms in found:
            size += len(contents)
            if rows and size > PAGE_BYTES:
                break
            rows.append(
                BoxRow(
                    seq=seq,
                    type_id=type_id,
                    type_version=version,
                    created_at=_time(created_ms),
                    values=decode_value(RequestValues, json.loads(contents)),
                    attachments=_attachments(db, seq),
                )
            )
        return rows

    return run


def _attachments(db: sqlite3.Connection, seq: int) -> list[BoxAttachment]:
    found = db.execute(
        "SELECT field, filename, size, sha256, content_type, id FROM blob WHERE seq = ? ORDER BY field",
        (seq,),
    ).fetchall()
    names = ("field", "filename", "size", "sha256", "content_type", "blob")
    return [BoxAttachment.model_validate(dict(zip(names, row, strict=True))) for row in found]


def _time(ms: int) -> str:
    """RFC 3339, to the second."""
    return datetime.fromtimestamp(ms // 1_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
