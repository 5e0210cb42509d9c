"""What the decisions on its drafts make of a request.

The outbox is the truth about a draft, the store the truth about a request, and neither writes into the other.
A rejection says "not this reply", never "not this request".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mail4agent_api.errors import RefusalError, StoreUnavailableError

from .drafts import REJECTED, SENT, SUPERSEDED, WITHDRAWN, DraftFate, Drafts
from .record import Record
from .states import ANSWERED, AWAITING_ME, EXTRACTED
from .store import Frontdoor
from .transitions import Actor

#: The note of a request whose drafts were rejected without a word.
REJECTED_NOTE = "the draft was rejected"
#: Drafts that stand in each other's place; more, or a ring of them, is nothing that the outbox makes.
_HOPS_MAX = 64


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state that a request goes to, and the note that it has then."""

    to: str
    note: str | None = None
    note_by_person: bool = False


@dataclass(frozen=True, slots=True)
class Transition:
    """One state change, for a caller that wants to say what it did."""

    seq: int
    from_: str
    to: str


def reconcile(store: Frontdoor, drafts: Drafts) -> list[Transition]:
    """Move every request whose drafts were decided; return what moved.

    A request that somebody else moves meanwhile, or that cannot be looked at, is left as it is. Raises
    StoreUnavailableError where the disk fails.
    """
    moved: list[Transition] = []
    for entry in store.listing().entries:
        if entry.state != AWAITING_ME or not entry.outbox:
            continue
        try:
            record = store.record(entry.seq)
            verdict = judged(record, drafts)
            if verdict is not None:
                store.move(
                    record.seq,
                    Actor.RECONCILER,
                    verdict.to,
                    read=record,
                    note=verdict.note,
                    note_by_person=verdict.note_by_person,
                )
                moved.append(Transition(record.seq, record.state, verdict.to))
        except StoreUnavailableError:
            raise
        except RefusalError:
            continue
    return moved


def judged(record: Record, drafts: Drafts) -> Verdict | None:
    """Where a request goes now; None where it stays: nothing is known of its drafts, or one is undecided."""
    if record.state != AWAITING_ME:
        return None
    found = [(own, fate) for draft_id in record.outbox for own, fate in _fates(draft_id, drafts)]
    if not found:
        return None
    # Those of the run that triaged it last: an earlier one's reply answered what the request was before.
    current = [fate for sessions, fate in found if record.triage_session in sessions]
    judged_on = current if current and record.triage_session is not None else [fate for _, fate in found]
    statuses = {fate.status for fate in judged_on} - {WITHDRAWN}
    if statuses - {SENT, REJECTED}:
        # A person in the middle of a review, a release in doubt, or a word of a later version.
        return None
    if SENT in statuses:
        # A rejected draft beside a sent one is somebody choosing which reply to send.
        return Verdict(ANSWERED)
    if not statuses:
        return Verdict(EXTRACTED)
    last = [fate for fate in judged_on if fate.status == REJECTED][-1]
    return Verdict(
        EXTRACTED, last.reason or REJECTED_NOTE, note_by_person=bool(last.reason) and last.reason_by_person
    )


def successors(draft_id: str, drafts: Drafts) -> list[str]:
    """The drafts that were put in a draft's place, each in that of the one before."""
    out: list[str] = []
    fate = drafts.look(draft_id)
    while fate is not None and fate.status == SUPERSEDED and len(out) < _HOPS_MAX:
        if fate.superseded_by is None or fate.superseded_by in out:
            break
        out.append(fate.superseded_by)
        fate = drafts.look(fate.superseded_by)
    return out


def _fates(draft_id: str, drafts: Drafts) -> Iterator[tuple[frozenset[str | None], DraftFate]]:
    """What became of a draft or of the one in its place, with the sessions that had a hand in it."""
    sessions: set[str | None] = set()
    seen: set[str] = set()
    fate = drafts.look(draft_id)
    while fate is not None:
        sessions.add(fate.session)
        if fate.status != SUPERSEDED:
            yield frozenset(sessions), fate
            return
        seen.add(draft_id)
        if fate.superseded_by is None or fate.superseded_by in seen or len(seen) > _HOPS_MAX:
            # Not what the outbox writes: for a person.
            yield frozenset(sessions), fate
            return
        draft_id = fate.superseded_by
        fate = drafts.look(draft_id)
