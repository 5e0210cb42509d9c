"""The writes that share a commit, and carrying out their statements."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mail4agent_api.errors import RefusalError
from mail4agent_core.clock import Clock

from .connection import Database
from .faults import OutcomeUnknownError

#: What stores messages, and what says which of them a hook has announced.
POST, TELL = "post", "tell"


@dataclass(slots=True)
class Transaction:
    """What a write works with. It becomes durable as a whole or not at all."""

    db: Database
    clock: Clock
    last_pos: int
    #: The number of its row in ``change``, if it has one.
    change: int = 0
    #: Text addresses to tell once the commit is durable.
    changed: set[str] = field(default_factory=set[str])
    #: How many messages were stored.
    posted: int = 0
    #: Whether it leaves a row in ``change`` also when there is nobody to tell.
    marked: bool = False
    #: Whether the commit was asked for: if the connection is lost from then on, it may have been done.
    committing: bool = False

    @property
    def told(self) -> bool:
        """Whether it leaves a row in ``change``."""
        return self.marked or bool(self.changed)


#: Carries out writes of a kind together: what was asked for by each, and the answers in that order.
Kind = Callable[[Transaction, Sequence[Any]], Sequence[Any]]


@dataclass(slots=True)
class Job:
    """A write that waits for a commit, and who waits for it."""

    operation: str
    kind: Kind | None
    asked: Any
    answer: asyncio.Future[Any]
    #: Whether it may refuse after it has written.
    undoable: bool
    weight: int

    @property
    def repeatable(self) -> bool:
        """Whether doing it twice is as doing it once, so that it may be called not done though it was."""
        return not (self.undoable or self.operation in {POST, TELL})


#: A write with what it returned, or why it was refused.
Answer = tuple[Job, Any, RefusalError | OutcomeUnknownError | None]


def carried_out(transaction: Transaction, batch: list[Job]) -> list[Answer]:
    """Those of no kind first, one by one and in order: what takes a right away comes before what uses it."""
    answers = [_run(transaction, job) for job in batch if job.kind is None]
    kinds: dict[Kind, list[Job]] = {}
    for job in batch:
        if job.kind is not None:
            kinds.setdefault(job.kind, []).append(job)
    for kind, jobs in kinds.items():
        results = kind(transaction, [job.asked for job in jobs])
        for job, result in zip(jobs, results, strict=True):
            refused = isinstance(result, RefusalError)
            answers.append((job, None, result) if refused else (job, result, None))
    return answers


def _run(transaction: Transaction, job: Job) -> Answer:
    if not job.undoable:
        try:
            return job, job.asked(transaction), None
        except RefusalError as refusal:
            return job, None, refusal.with_traceback(None)
    db, changed = transaction.db, set(transaction.changed)
    db.command("SAVEPOINT job")
    try:
        result = job.asked(transaction)
    except RefusalError as refusal:
        db.command("ROLLBACK TO SAVEPOINT job")
        db.command("RELEASE SAVEPOINT job")
        transaction.changed = changed
        return job, None, refusal.with_traceback(None)
    db.command("RELEASE SAVEPOINT job")
    return job, result, None
