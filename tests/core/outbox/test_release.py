"""A draft leaves once, and what is not known is said to be unknown."""

import errno
import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from mail4agent_api.errors import (
    DraftChangedError,
    MalformedError,
    NotPendingError,
    OutcomeUnknownError,
    RefusalError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_core import files
from mail4agent_core.clock import HandClock
from mail4agent_core.files import Folder
from mail4agent_core.outbox import Delivered, NotSent, OutboxItem, OutboxStore, Releases, Unknown

from .office import PERSON, Office, original, put


def test_a_look_at_an_attempt_does_not_stop_its_release(
    office: Office, store: OutboxStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks whether it is in flight holds its lock for that moment."""
    item = office.stage()
    with (store.root / store.attempt_lock(item.id)).open("w") as looked:
        fcntl.flock(looked, fcntl.LOCK_SH)
        monkeypatch.setattr(files, "time", SimpleNamespace(
            monotonic=lambda: 0.0, sleep=lambda _: fcntl.flock(looked, fcntl.LOCK_UN)))  # fmt: skip
        assert office.release(item).status == "sent"


@pytest.mark.promise("outbox.it-leaves-once")
def test_an_intent_is_on_disk_before_anything_leaves(office: Office, store: OutboxStore) -> None:
    """Who, of what, the how manieth, and when; and nobody else's program takes it for pending."""
    item = office.stage()
    outgoing = office.begin(item)
    found = store.existing(item.id)
    assert (found.status, found.attempts, outgoing.attempt) == ("releasing", 1, 1)
    assert found.release is not None
    assert (found.release.by, found.release.digest) == (PERSON, office.digest(item))
    sent = office.releases.finish(outgoing, Delivered("<1@x.org>"))
    assert (sent.status, sent.release, sent.sent_as) == ("sent", None, "<1@x.org>")


@pytest.mark.promise("outbox.it-leaves-once")
def test_a_crash_in_between_is_shown_and_never_released_again_by_itself(office: Office) -> None:
    """The process is gone, its lock with it: every decision but a person's own finding is refused."""
    item = office.stage()
    office.begin(item)
    office.releases.abandon(item.id)
    for decide in (office.begin, office.reject, lambda it: office.edit(it, {}), office.release):
        with pytest.raises(OutcomeUnknownError):
            decide(item)
    settled = office.releases.settle(item.id, sent=False, by="user:finder")
    assert (settled.status, settled.decided_by, settled.attempts) == ("pending", "user:finder", 1)
    assert office.release(item).attempts == 2


@pytest.mark.promise("outbox.it-leaves-once")
def test_what_a_person_found_to_have_left_is_sent(office: Office) -> None:
    """Settled, by name and time; a second finding has nothing to settle."""
    item = office.stage()
    office.releases.finish(office.begin(item), Unknown("the connection broke"))
    settled = office.releases.settle(item.id, sent=True, by="user:finder")
    assert (settled.status, settled.decided_by) == ("sent", "user:finder")
    assert settled.resolved_at is not None
    with pytest.raises(NotPendingError):
        office.releases.settle(item.id, sent=False, by=PERSON)


@pytest.mark.promise("outbox.it-leaves-once")
def test_nobody_settles_what_somebody_is_releasing(office: Office, store: OutboxStore) -> None:
    """In this process or another; the kernel tells who holds the attempt."""
    item = office.stage()
    outgoing = office.begin(item)
    with OutboxStore.open(store.root) as elsewhere:
        assert elsewhere.in_flight(item.id)
        with pytest.raises(NotPendingError):
            Releases(elsewhere).settle(item.id, sent=False, by=PERSON)
    office.releases.finish(outgoing, Delivered())
    assert not store.in_flight(item.id)


@pytest.mark.promise("outbox.a-failed-release-changes-nothing-but-the-error")
def test_a_failed_release_changes_the_error_and_the_count_alone(office: Office, store: OutboxStore) -> None:
    """The same draft, with the same digest, ready for the next attempt."""
    item = office.stage()
    digest = office.digest(item)
    for attempt in (1, 2, 3):
        failed = office.release(item, NotSent(f"no route\x1b[1m {attempt}"))
        assert (failed.attempts, failed.error) == (attempt, f"no route[1m {attempt}")
    expected = item.changed(attempts=3, error="no route[1m 3")
    assert store.existing(item.id) == expected
    assert office.digest(item) == digest


@pytest.mark.promise("outbox.two-reviewers-make-one-effect")
def test_of_many_who_release_at_once_one_does(office: Office, store: OutboxStore) -> None:
    """The others get a named refusal, and the draft leaves once."""
    for _ in range(10):
        item = office.stage()
        digest, start, left = office.digest(item), threading.Barrier(4), []

        def release(
            item: OutboxItem = item, digest: str = digest, start: Any = start, left: Any = left
        ) -> str:
            with OutboxStore.open(store.root) as own:
                releases = Releases(own)
                start.wait()
                try:
                    outgoing = releases.begin(item.id, digest, PERSON, None)
                except RefusalError as failure:
                    return failure.kind
                left.append(outgoing.idempotency_key)
                return releases.finish(outgoing, Delivered()).status

        with ThreadPoolExecutor(4) as pool:
            outcomes = sorted(future.result() for future in [pool.submit(release) for _ in range(4)])
        assert outcomes == ["not_pending"] * 3 + ["sent"]
        assert len(left) == 1


@pytest.mark.promise("outbox.two-reviewers-make-one-effect")
def test_an_edit_and_a_release_at_once_have_one_effect(office: Office, store: OutboxStore) -> None:
    """Either what was read leaves and the edit is refused, or it is edited and the release is."""
    for _ in range(20):
        item = office.stage()
        digest, start = office.digest(item), threading.Barrier(2)

        def decide(edit: bool, item: OutboxItem = item, digest: str = digest, start: Any = start) -> str:
            with OutboxStore.open(store.root) as own:
                other = Office(own)
                start.wait()
                try:
                    if edit:
                        other.decisions.edit(item.id, digest, {"to": "b@x.org"}, PERSON, None)
                        return "edited"
                    outgoing = other.releases.begin(item.id, digest, PERSON, None)
                    return f"sent {other.releases.finish(outgoing, Delivered()).args['to']}"
                except RefusalError as failure:
                    return failure.kind

        with ThreadPoolExecutor(2) as pool:
            outcomes = [pool.submit(decide, True), pool.submit(decide, False)]
            found = (outcomes[0].result(), outcomes[1].result())
        assert found in {("edited", "draft_changed"), ("not_pending", "sent a@x.org")}


@pytest.mark.promise("outbox.a-full-disk-sends-nothing")
def test_on_a_full_disk_nothing_leaves(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """The intent cannot be written, so no sink is called; the draft is as it was."""
    item = office.stage()
    before = office.path(item).read_bytes()
    with monkeypatch.context() as full:
        full.setattr(Folder, "write", _no_space)
        with pytest.raises(StoreUnavailableError):
            office.begin(item)
    assert office.path(item).read_bytes() == before
    assert not office.store.in_flight(item.id)
    assert office.release(item).status == "sent"


@pytest.mark.promise("outbox.a-full-disk-sends-nothing")
def test_a_disk_that_fills_during_a_release_leaves_a_doubt_that_is_shown(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It left and cannot be recorded: a person settles it, nothing sends it again."""
    item = office.stage()
    outgoing = office.begin(item)
    with monkeypatch.context() as full:
        full.setattr(Folder, "write", _no_space)
        with pytest.raises(StoreUnavailableError):
            office.releases.finish(outgoing, Delivered())
    with pytest.raises(OutcomeUnknownError):
        office.begin(item)
    assert office.releases.settle(item.id, sent=True, by=PERSON).status == "sent"


def _no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.promise("outbox.every-decision-names-who-and-when")
def test_every_decision_names_who_took_it_and_when(office: Office, clock: HandClock) -> None:
    """Release, reject, withdraw, supersede, edit and settle."""
    clock.step(60_000)
    successor = office.stage()
    decided = [
        office.release(office.stage()),
        office.reject(office.stage()),
        office.decisions.withdraw(office.stage().id, PERSON),
        office.decisions.supersede(office.stage().id, successor.id, PERSON),
        office.edit(office.stage(), {"to": "b@x.org"}),
    ]
    doubted = office.stage()
    office.releases.finish(office.begin(doubted), Unknown("broke"))
    decided.append(office.releases.settle(doubted.id, sent=True, by=PERSON))
    assert {item.decided_by for item in decided} == {PERSON}
    assert {item.decided_at for item in decided} == {"2023-11-14T22:14:20.000000+00:00"}


@pytest.mark.promise("outbox.every-decision-names-who-and-when")
@pytest.mark.parametrize("reason", ["", "  \n", "a\x1b[1m", "a\ud800"])
def test_a_rejection_without_a_reason_is_none(office: Office, reason: str) -> None:
    """It says why, in words that can be seen."""
    item = office.stage()
    with pytest.raises(MalformedError):
        office.reject(item, reason)
    assert office.reject(item, "Wrong person.\n\tAsk first.").reason == "Wrong person.\n\tAsk first."


def test_a_late_end_of_an_attempt_that_was_settled_is_refused(office: Office, store: OutboxStore) -> None:
    """A process that was taken for dead does not undo what a person decided."""
    item = office.stage()
    outgoing = office.begin(item)
    office.releases.abandon(item.id)
    office.releases.settle(item.id, sent=False, by=PERSON)
    before = office.path(item).read_bytes()
    with pytest.raises(NotPendingError):
        Releases(store).finish(outgoing, Delivered())
    assert office.path(item).read_bytes() == before


def test_a_late_end_of_an_attempt_says_nothing_of_the_next_one(office: Office, store: OutboxStore) -> None:
    """What the first one heard is not what became of the second, which goes on to its own end."""
    item = office.stage()
    first = office.begin(item)
    office.releases.abandon(item.id)
    office.releases.settle(item.id, sent=False, by=PERSON)
    second = office.begin(item)
    for late in (Releases(store), office.releases):
        with pytest.raises(NotPendingError):
            late.finish(first, Delivered())
        assert store.in_flight(item.id)
    assert office.releases.finish(second, NotSent("server unreachable")).status == "pending"


def test_an_item_that_is_not_there_is_unknown(office: Office) -> None:
    """By name, and without a file being made."""
    with pytest.raises(UnknownItemError):
        office.releases.begin("20990101T000000-deadbeef", "sha256:" + "0" * 64, PERSON, None)


def test_an_old_draft_leaves_once_and_becomes_one_of_todays_form(office: Office, store: OutboxStore) -> None:
    """A file of the original is released like any other, by the digest of what it says."""
    put(store.root, original(taint=..., kind=..., workspace=...))
    item = store.item("20260101")
    assert office.release(item).schema == 2


@pytest.mark.parametrize("args", [["x"], "x", None, 7])
def test_an_old_draft_whose_arguments_are_no_object_is_not_released(
    office: Office, store: OutboxStore, args: Any
) -> None:
    """There is nothing that a sink could be handed; it is shown, and may be rejected."""
    put(store.root, original(args=args, args_before=args))
    item = store.item("20260101")
    with pytest.raises(MalformedError):
        office.begin(item)
    assert not store.in_flight(item.id)
    assert office.reject(item).status == "rejected"


def test_copies_that_are_not_what_was_staged_do_not_leave(
    office: Office, store: OutboxStore, tmp_path: Any
) -> None:
    """Hashed again at the release: changed, cut, replaced by a link, or gone."""
    (tmp_path / "a.txt").write_text("as it was read")
    for spoil in (
        lambda copy: copy.write_text("something else"),
        lambda copy: copy.write_text("as it was rea"),
        lambda copy: (copy.unlink(), copy.symlink_to(tmp_path / "a.txt")),
        lambda copy: copy.unlink(),
    ):
        item = office.stage({"files": "a.txt"}, workspace=str(tmp_path), file_args=["files"])
        digest = office.digest(item)
        spoil(store.copies.path_of(item.id, item.files[0].sha256))
        with pytest.raises(DraftChangedError):
            office.releases.begin(item.id, digest, PERSON, None)
        assert store.existing(item.id).status == "pending"
