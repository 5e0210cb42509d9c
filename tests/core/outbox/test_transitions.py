"""The table of steps, every pair of it, and that nothing else is ever taken."""

import itertools

import pytest

from mail4agent_api.errors import MalformedError, NotPendingError, OutcomeUnknownError, RefusalError
from mail4agent_core.outbox import STEPS, Intent, OutboxItem, OutboxStore, Status, Step
from mail4agent_core.outbox.release import after

from .office import PERSON, Office

SETTLE = {Step.SETTLE_SENT, Step.SETTLE_NOT_SENT}


def item(status: str) -> OutboxItem:
    """An item in that state."""
    return OutboxItem(
        id="x", status=status, tool="t", args_before={}, args={}, summary="t {}", created_at="now"
    )


def refusal(status: str, step: Step, *, in_flight: bool) -> type[RefusalError] | None:
    """What the design says of a pair, None for a step that is taken."""
    if status == "pending":
        return MalformedError if step in SETTLE or step.startswith("finish") else None
    if status == "releasing" and not in_flight:
        return None if step in SETTLE or step.startswith("finish") else OutcomeUnknownError
    if status == "releasing":
        return None if step.startswith("finish") else NotPendingError
    return NotPendingError


@pytest.mark.promise("outbox.transitions-are-a-table")
@pytest.mark.parametrize(
    ("status", "step", "in_flight"),
    list(itertools.product([*Status, "approved", ""], Step, [False, True])),
)
def test_every_pair_is_taken_or_refused_as_the_table_says(status: str, step: Step, in_flight: bool) -> None:
    """What is listed leads where it says; whatever is not is one named refusal."""
    wanted = refusal(status, step, in_flight=in_flight)
    if wanted is None:
        assert after(item(status), step, in_flight=in_flight) is STEPS[Status(status), step]
    else:
        with pytest.raises(wanted):
            after(item(status), step, in_flight=in_flight)


@pytest.mark.promise("outbox.transitions-are-a-table")
@pytest.mark.parametrize("status", [*Status, "approved"])
def test_a_refused_step_changes_no_byte(office: Office, store: OutboxStore, status: str) -> None:
    """Each decision on each state, through the engine: taken, or the file is as it was."""
    decisions = {
        Step.EDIT: lambda: office.edit(draft, {"to": "b@x.org"}),
        Step.REJECT: lambda: office.reject(draft),
        Step.WITHDRAW: lambda: office.decisions.withdraw(draft.id, PERSON),
        Step.SUPERSEDE: lambda: office.decisions.supersede(draft.id, other.id, PERSON),
        Step.BEGIN: lambda: office.begin(draft),
        Step.SETTLE_SENT: lambda: office.releases.settle(draft.id, sent=True, by=PERSON),
        Step.SETTLE_NOT_SENT: lambda: office.releases.settle(draft.id, sent=False, by=PERSON),
    }
    other = office.stage()
    for step, decide in decisions.items():
        draft = office.stage()
        intent = Intent(1, PERSON, "sha256:0", "now") if status == "releasing" else None
        store.write(draft.changed(status=status, release=intent))
        before = office.path(draft).read_bytes()
        if refusal(status, step, in_flight=False) is None:
            decide()
            assert store.existing(draft.id).status == STEPS[Status(status), step]
            office.releases.abandon(draft.id)
        else:
            with pytest.raises(RefusalError):
                decide()
            assert office.path(draft).read_bytes() == before
