"""What rots when nobody looks."""

from datetime import UTC, datetime

import pytest

from mail4agent_core.frontdoor.findings import findings
from mail4agent_core.frontdoor.quarantine import is_time
from mail4agent_core.frontdoor.store import Frontdoor

from .records import PROSE, extraction, original, placed, record

pytestmark = pytest.mark.promise("frontdoor.nothing-rots-silently")
ARRIVED_MS = int(datetime(2026, 8, 6, 1, tzinfo=UTC).timestamp() * 1000)
HOUR_MS = 3_600_000


def found(store: Frontdoor, hours: float) -> list[tuple[str, int | None]]:
    """What is found so many hours after the requests arrived."""
    every = list(findings(store.listing(), ARRIVED_MS + int(hours * HOUR_MS)))
    assert PROSE not in str(every)
    return [(each.kind, each.seq) for each in every]


def test_what_is_stuck_is_found_whatever_its_age(store: Frontdoor) -> None:
    """Invalid, failed, doubled, of an unknown state, unreadable."""
    store.write(record(seq=1, valid=False))
    store.write(record(seq=2, state="extraction_failed"))
    store.write(record(seq=3))
    placed(store.root, original(seq=3, type_id="other"))
    store.write(record(seq=4, state="booked"))
    placed(store.root, b"{", name="0000000005-half.json")
    assert found(store, 0) == [
        ("duplicate", 3), ("invalid", 1), ("extraction_failed", 2), ("unknown_state", 4),
        ("unreadable", None),
    ]  # fmt: skip


@pytest.mark.parametrize("state", ["drained", "extracted", "triaged", "awaiting_me"])
def test_what_waits_on_a_person_is_found_after_72_hours(store: Frontdoor, state: str) -> None:
    """Not before."""
    store.write(record(state=state, extraction=extraction()))
    assert found(store, 72) == []
    assert found(store, 72.001) == [("waiting", 1)]


def test_the_time_of_arrival_is_the_drains_and_else_the_senders(store: Frontdoor) -> None:
    """A request whose times are none has waited too long."""
    store.write(record(seq=1, state="extracted", drained_at="later", created_at="2026-08-06T02:00:00+01:00"))
    store.write(record(seq=2, state="extracted", drained_at="later", created_at="once"))
    assert found(store, 71) == [("waiting", 2)]
    assert found(store, 73) == [("waiting", 1), ("waiting", 2)]


@pytest.mark.parametrize("state", ["needs_info", "answered", "closed"])
def test_what_waits_on_nobody_here_is_not_found(store: Frontdoor, state: str) -> None:
    """However old, and valid or not where a person settled it."""
    store.write(record(state=state))
    store.write(record(seq=2, state=state, valid=False))
    assert found(store, 9_999) == []


@pytest.mark.promise("frontdoor.nothing-rots-silently")
@pytest.mark.parametrize(
    "time",
    [
        "2026-08-06T00:00:00+99:99",
        "2026-08-06T00:00:00.5+24:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_a_time_that_there_is_not_stops_no_look(store: Frontdoor, time: str) -> None:
    """A box may name any offset."""
    store.write(record(state="extracted", drained_at=time, created_at=time))
    assert found(store, 0) == [("waiting", 1)]
    assert not is_time(time)
