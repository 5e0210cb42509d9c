"""Drafts of a real outbox, as the front door sees them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.frontdoor.drafts import UNDECIDED, DraftFate
from mail4agent_core.frontdoor.outbox_drafts import OutboxDrafts
from mail4agent_core.frontdoor.reconcile import reconcile
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.outbox.item import OutboxItem, OutboxKind, Status
from mail4agent_core.outbox.store import OutboxStore
from mail4agent_core.taint import CLEAN

from .records import awaiting

pytestmark = pytest.mark.promise("frontdoor.re-triage-knows-why")


@pytest.fixture
def drafts(tmp_path: Path) -> Iterator[OutboxDrafts]:
    """A look at an outbox that is not there yet."""
    looking = OutboxDrafts(tmp_path / "outbox", HandClock())
    yield looking
    looking.close()


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[OutboxStore]:
    """The outbox."""
    with OutboxStore.open(tmp_path / "outbox", clock=HandClock()) as opened:
        yield opened


def staged(outbox: OutboxStore) -> OutboxItem:
    """A draft of a run."""
    return outbox.staged(
        "mail__send",
        OutboxKind.MESSAGE,
        {"to": "ada@example.org"},
        CLEAN,
        "sess-1",
        None,
        staged_by="run/sess-1",
    )[0]


def test_looking_makes_no_outbox_and_finds_no_draft(drafts: OutboxDrafts, tmp_path: Path) -> None:
    """Whatever is asked for."""
    assert [drafts.look(id_) for id_ in ("20260808T194158-1a2b3c4d", "../x", "")] == [None] * 3
    assert list(tmp_path.iterdir()) == []


def test_a_draft_is_seen_with_who_staged_it(drafts: OutboxDrafts, outbox: OutboxStore) -> None:
    """Undecided until somebody decides."""
    fate = drafts.look(staged(outbox).id)
    assert fate == DraftFate("pending", session="sess-1", staged_by="run/sess-1")
    assert fate.status in UNDECIDED
    assert drafts.look("../x") is None


def test_a_rejection_here_is_a_persons_and_one_of_the_original_nobodys(
    drafts: OutboxDrafts, outbox: OutboxStore
) -> None:
    """Only the former's reason is told a run."""
    item = staged(outbox)
    outbox.write(item.changed(status=Status.REJECTED, reason="too formal", decided_by="rae"))
    fate = drafts.look(item.id)
    assert fate is not None
    assert (fate.reason, fate.reason_by_person) == ("too formal", True)
    outbox.write(item.changed(status=Status.REJECTED, reason="too formal"))
    fate = drafts.look(item.id)
    assert fate is not None
    assert not fate.reason_by_person


def test_a_draft_whose_file_cannot_be_read_is_in_doubt(
    drafts: OutboxDrafts, outbox: OutboxStore, tmp_path: Path
) -> None:
    """Its request waits for a person."""
    item = staged(outbox)
    (tmp_path / "outbox" / f"{item.id}.json").write_bytes(b"{")
    assert drafts.look(item.id) == DraftFate("unknown")


def test_an_outbox_that_is_a_link_is_refused(drafts: OutboxDrafts, tmp_path: Path) -> None:
    """Nothing is known then, and nothing moves."""
    (tmp_path / "there").mkdir()
    (tmp_path / "outbox").symlink_to(tmp_path / "there")
    with pytest.raises(StoreUnavailableError):
        drafts.look("20260808T194158-1a2b3c4d")


def test_decisions_on_real_drafts_move_their_request(
    store: Frontdoor, drafts: OutboxDrafts, outbox: OutboxStore
) -> None:
    """A draft in the place of a superseded one counts for it."""
    first, second = staged(outbox), staged(outbox)
    store.write(awaiting(1, first.id))
    outbox.write(first.changed(status=Status.SUPERSEDED, superseded_by=second.id))
    assert reconcile(store, drafts) == []
    outbox.write(second.changed(status=Status.SENT))
    assert [each.to for each in reconcile(store, drafts)] == ["answered"]
