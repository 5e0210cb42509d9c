"""What a dispatch is composed with: which notes it carries, which it spends, and how its task reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .reach import ReachedWord
from .recorded import RecordedNote
from .standing import Standing, payload_of
from .words import CARRIED_KEY, HEADING, SPENT_KEY, Party

_BECAME = {
    ReachedWord.QUEUED: "queued for the next turn of an earlier dispatch",
    ReachedWord.WORKER: "read by an earlier dispatch's worker",
    ReachedWord.SUPERVISOR: "read by an earlier dispatch's supervisor",
    ReachedWord.JUDGED_WITH: "judged with by an earlier dispatch",
    ReachedWord.CARRIED: "carried; no turn has read it",
}


@dataclass(frozen=True, slots=True)
class Composition:
    """The notes of one dispatch."""

    #: In its task.
    carried: tuple[RecordedNote, ...] = ()
    #: Read by an earlier dispatch and not in this one: a manager who still means them sends them again.
    spent: tuple[RecordedNote, ...] = ()

    def payload(self) -> dict[str, Any]:
        """The keys of a ``node-dispatched``; an empty one is left out."""
        lists = {CARRIED_KEY: self.carried, SPENT_KEY: self.spent}
        return {key: payload_of(notes) for key, notes in lists.items() if notes}


def composed(
    standing: Standing,
    owed: Sequence[RecordedNote],
    *,
    continuation: bool = False,
    superseded: Iterable[Standing] = (),
) -> Composition:
    """Compose a dispatch from the union of both folds.

    A continuation of the same work carries all that stands; a fresh dispatch carries what no conversation has
    read, and spends the rest, with all that stands for the nodes it supersedes.
    """
    carried = list(standing.notes() if continuation else standing.carried())
    for note in owed:
        if not any(note is each or note.is_same(each) for each in carried):
            carried.append(note)
    spent = [] if continuation else list(standing.read())
    spent += [note for other in superseded for note in other.notes()]
    return Composition(
        tuple(carried), tuple(note for note in spent if not any(note.is_same(each) for each in carried))
    )


def section(notes: Sequence[RecordedNote]) -> str:
    """The section of a task that says the notes; nothing for none.

    A note's text is quoted line by line, so that none of it can pass for a heading of the task.
    """
    if not notes:
        return ""
    lines = [
        HEADING,
        "",
        "What a manager decided while this node ran. Where it and the task above disagree, this holds.",
    ]
    for number, note in enumerate(notes, 1):
        lines += ["", f"{number}. For the {_whom(note)} ({_BECAME[note.reached.word]}):", ""]
        lines += [f"   > {line}".rstrip() for line in note.text.splitlines()]
        if note.criterion is not None:
            lines += ["", f"   Criterion: {' '.join(note.criterion.split())}"]
    return "\n".join([*lines, ""])


def _whom(note: RecordedNote) -> str:
    return f"{Party.WORKER} and the {Party.SUPERVISOR}" if note.addressee == "both" else note.addressee.value
