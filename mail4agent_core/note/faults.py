"""What the note seam refuses and what it cannot read.

A note that breaks the contract is refused with the contract's own refusals (``malformed``, ``too_large``).
These are the rest: they name the node, the record or the file, because the reader of the message is whoever
embeds the library on this machine. A door that answers strangers does not pass their words on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class NoteError(Exception):
    """The base of what this package raises besides the contract's refusals."""


class ReachesNobodyError(NoteError):
    """The note would reach nobody; ``why`` says what left it nowhere to go."""

    def __init__(self, node: str, why: str, *, by_its_fields: bool = False) -> None:
        super().__init__(f"refused: note: node '{node}': {why}")
        self.node = node
        self.why = why
        #: Whether the fields of the request alone decide it, whatever the run does.
        self.by_its_fields = by_its_fields


class EnvelopeRefusedError(NoteError):
    """One note of an envelope was refused, so none is recorded."""

    def __init__(self, index: int, read: Sequence[int], failure: Exception) -> None:
        super().__init__(str(failure))
        #: Which note was refused, and which ones a conversation had read by then.
        self.index = index
        self.read = tuple(read)
        self.failure = failure


class UnknownRunError(NoteError):
    """There is no run of this name, or what has the name is no run folder."""

    def __init__(self, run: str, why: str) -> None:
        super().__init__(f"refused: run '{run}': {why}")
        self.run = run


class UnknownNodeError(NoteError):
    """The run has no node of this id."""

    def __init__(self, node: str) -> None:
        super().__init__(f"refused: note: no node '{node}'")
        self.node = node


class InvalidError(NoteError):
    """What another program left cannot be read as what it says it is."""

    def __init__(self, message: str) -> None:
        super().__init__(f"invalid: {message}")


class UnreadableRecordError(InvalidError):
    """A record of the run's own that does not hold what its kind says, so the notes cannot be decided."""

    def __init__(self, kind: str, where: str, field: str, why: str) -> None:
        super().__init__(
            f"the run's record of the notes delivered to its nodes cannot be read: `{kind}` record {where} "
            f"carries a `{field}` that cannot be read ({why}), so which notes a dispatch is composed with "
            "cannot be decided from it"
        )
        self.kind = kind
        self.where = where
        self.field = field


class LedgerError(NoteError):
    """A file of the run could not be read or written."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path


class RunOwnedError(NoteError):
    """Another process drives the run."""

    def __init__(self, run: str, holder: str) -> None:
        super().__init__(f"refused: run '{run}' is driven by {holder}")
        self.holder = holder
