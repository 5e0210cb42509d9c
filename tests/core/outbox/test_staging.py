"""Staging, retried; taking back; and editing what was opened."""

from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import (
    DraftChangedError,
    IdempotencyConflictError,
    MalformedError,
    NotPendingError,
    RefusalError,
    TooLargeError,
    UnknownItemError,
)
from mail4agent_api.mail import Taint
from mail4agent_core.outbox import OutboxKind, OutboxRoute, OutboxStore, staged_taint
from mail4agent_core.outbox.item import decoded
from mail4agent_core.taint import BOTH, CLEAN

from .office import PERSON, Office, original, put

ALICE = "alice/s-0123456789abcdef"


@pytest.mark.promise("outbox.staging-can-be-retried")
def test_a_retry_under_its_key_gives_the_first_draft(
    office: Office, store: OutboxStore, tmp_path: Path
) -> None:
    """Decided or not, with its files, and whatever the conversation read since."""
    (tmp_path / "a.txt").write_text("a")
    more: dict[str, Any] = {
        "workspace": str(tmp_path), "file_args": ["files"], "idempotency_key": "k", "staged_by": ALICE,
    }  # fmt: skip
    first = office.stage({"files": "a.txt"}, **more)
    office.edit(first, {"files": []})
    office.reject(first)
    again = office.stage({"files": "a.txt"}, taint=BOTH, **more)
    assert (again.id, again.status) == (first.id, "rejected")
    assert [path.name for path in (store.root / "files").iterdir()] == [first.id]
    assert len(store.items()) == 1


@pytest.mark.promise("outbox.staging-can-be-retried")
def test_other_content_under_a_key_is_refused_and_another_sessions_key_is_another(
    office: Office, store: OutboxStore, tmp_path: Path
) -> None:
    """Arguments, tool, workspace and the bytes of a file each count; a key is a session's own."""
    (tmp_path / "a.txt").write_text("a")
    more: dict[str, Any] = {"idempotency_key": "k", "staged_by": ALICE, "file_args": ["files"]}
    args, workspace = {"files": "a.txt"}, str(tmp_path)
    office.stage(args, workspace=workspace, **more)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.txt").write_text("a")
    for change in (
        {"args": {**args, "to": "b@x.org"}}, {"tool": "mail__post"}, {"workspace": f"{workspace}/b"},
        {"kind": OutboxKind.PUBLISH},
    ):  # fmt: skip
        with pytest.raises(IdempotencyConflictError):
            office.stage(**{"args": args, "workspace": workspace, **more, **change})
    (tmp_path / "a.txt").write_text("changed")
    with pytest.raises(IdempotencyConflictError):
        office.stage(args, workspace=workspace, **more)
    assert len(store.items()) == 1
    office.stage({}, idempotency_key="k", staged_by="alice/s-fedcba9876543210")
    assert len(store.items()) == 2


@pytest.mark.promise("outbox.staging-can-be-retried")
def test_a_key_whose_draft_never_was_is_free(office: Office, store: OutboxStore) -> None:
    """A crash between the key and the draft: the retry makes it."""
    first = office.stage(idempotency_key="k", staged_by=ALICE)
    office.path(first).unlink()
    second = office.stage({"to": "other@x.org"}, idempotency_key="k", staged_by=ALICE)
    assert [item.id for item in store.items()] == [second.id]


@pytest.mark.promise("outbox.a-run-takes-back-its-own")
def test_a_run_withdraws_and_replaces_its_own_while_nobody_decided(
    office: Office, store: OutboxStore
) -> None:
    """Both keep the file, and the one says which stands in its place."""
    one, other = office.stage(staged_by=ALICE), office.stage(staged_by=ALICE)
    better = office.stage({"to": "b@x.org"}, staged_by=ALICE)
    assert office.decisions.withdraw(one.id, ALICE, "alice", "Not needed.").reason == "Not needed."
    replaced = office.decisions.supersede(other.id, better.id, ALICE, "alice")
    assert (replaced.status, replaced.superseded_by) == ("superseded", better.id)
    assert office.decisions.supersede(other.id, better.id, ALICE, "alice") == replaced
    assert [item.status for item in store.items()] == ["withdrawn", "superseded", "pending"]
    for item in (one, other):
        with pytest.raises(NotPendingError):
            office.decisions.withdraw(item.id, ALICE, "alice")


@pytest.mark.promise("outbox.a-run-takes-back-its-own")
def test_a_draft_that_is_over_takes_the_place_of_none(office: Office, store: OutboxStore) -> None:
    """Two that stand for each other would leave nothing to read."""
    one, other, gone = (office.stage(staged_by=ALICE) for _ in range(3))
    office.decisions.supersede(one.id, other.id, ALICE, "alice")
    office.decisions.withdraw(gone.id, ALICE, "alice")
    for successor in (one, gone):
        with pytest.raises(NotPendingError):
            office.decisions.supersede(other.id, successor.id, ALICE, "alice")
    assert store.existing(other.id).status == "pending"


@pytest.mark.promise("outbox.a-run-takes-back-its-own")
def test_anothers_draft_is_not_there_to_take_back(office: Office) -> None:
    """Not even whether it exists is said."""
    item, successor = office.stage(staged_by="bob"), office.stage(staged_by=ALICE)
    with pytest.raises(UnknownItemError):
        office.decisions.withdraw(item.id, ALICE, "alice")
    with pytest.raises(UnknownItemError):
        office.decisions.supersede(item.id, successor.id, ALICE, "alice")
    with pytest.raises(MalformedError):
        office.decisions.supersede(successor.id, successor.id, ALICE, "alice")


@pytest.mark.promise("outbox.missing-taint-is-both-legs")
@pytest.mark.parametrize(
    "taint", [..., None, {}, {"private": False}, {"private": 0, "untrusted": 0}, "clean", [False, False],
              {"private": False, "untrusted": False, "more": 1}],
)  # fmt: skip
def test_a_file_whose_taint_is_not_whole_is_fully_tainted(store: OutboxStore, taint: Any) -> None:
    """The original's default reads as clean; here what was not recorded is feared."""
    path = put(store.root, original(taint=taint))
    assert decoded(path.read_bytes()).taint == BOTH
    assert decoded(put(store.root, original()).read_bytes()).taint == CLEAN


@pytest.mark.promise("outbox.missing-taint-is-both-legs")
def test_a_draft_that_no_harness_stamped_has_both_legs_and_a_brief_arms_untrusted(office: Office) -> None:
    """Whatever the harness says of the rest."""
    assert office.stage(taint=None).taint == BOTH
    assert staged_taint(None, briefed=False) == BOTH
    assert staged_taint(CLEAN, briefed=False) == CLEAN
    assert staged_taint(CLEAN, briefed=True) == Taint(private=False, untrusted=True)


@pytest.mark.promise("outbox.an-edit-is-of-what-was-opened")
def test_an_edit_of_what_changed_since_is_refused_and_loses_nothing(
    office: Office, store: OutboxStore
) -> None:
    """Two editors opened the same draft: the second is told, the first one's words stand."""
    item = office.stage()
    opened = office.digest(item)
    office.decisions.edit(item.id, opened, {"to": "first@x.org"}, PERSON, None)
    with pytest.raises(DraftChangedError):
        office.decisions.edit(item.id, opened, {"to": "second@x.org"}, PERSON, None)
    found = store.existing(item.id)
    assert (found.args, found.args_before) == ({"to": "first@x.org"}, {"to": "a@x.org"})
    assert found.summary == "mail__send to first@x.org"


@pytest.mark.promise("outbox.an-edit-is-of-what-was-opened")
def test_a_publication_is_not_edited(office: Office) -> None:
    """It is edited at its source, and staged again."""
    item = office.stage({"bundle": "site"}, kind=OutboxKind.PUBLISH)
    with pytest.raises(MalformedError):
        office.edit(item, {"bundle": "other"})


@pytest.mark.parametrize(
    "args",
    [[], "x", None, 7, True, {1: 2}, {"a": {1: 2}}, {"a": {1, 2}}, {"a": float("nan")}, {"a": float("inf")},
     {"a": 10**5000}, {"a": "\ud800"}, {"": 1}, {"n" * 257: 1}],
)  # fmt: skip
def test_arguments_that_are_no_object_of_json_values_are_refused(
    office: Office, store: OutboxStore, args: Any
) -> None:
    """At staging and in an edit; nothing is written."""
    item = office.stage({"to": "a@x.org"})
    before = office.path(item).read_bytes()
    with pytest.raises(MalformedError):
        store.stage("t", OutboxKind.MESSAGE, args, CLEAN, None, None)
    with pytest.raises(MalformedError):
        office.decisions.edit(item.id, office.digest(item), args, PERSON, None)
    assert office.path(item).read_bytes() == before
    assert len(store.items()) == 1


def nested(depth: int) -> dict[str, Any]:
    """Objects in objects, so many in all."""
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def test_the_bounds_of_arguments_hold_to_the_byte(office: Office) -> None:
    """262,144 bytes of canonical JSON, 64 names, 32 levels, and not one more."""
    overhead = len('{"a":""}')
    office.stage({"a": "x" * (262_144 - overhead)})
    office.stage({str(name): 0 for name in range(64)})
    office.stage(nested(32))
    for args in ({"a": "x" * (262_145 - overhead)}, {str(name): 0 for name in range(65)}):
        with pytest.raises(TooLargeError):
            office.stage(args)
    for depth in (33, 100_000):
        with pytest.raises(MalformedError):
            office.stage(nested(depth))


@pytest.mark.parametrize(
    "change",
    [{"tool": ""}, {"tool": "a b"}, {"tool": "x" * 129}, {"workspace": "p" * 4_097}, {"workspace": "a\nb"},
     {"workspace": ""}, {"idempotency_key": ""}, {"idempotency_key": "k" * 129}],
)  # fmt: skip
def test_what_is_no_name_and_no_path_is_refused(
    office: Office, store: OutboxStore, change: dict[str, Any]
) -> None:
    """Before anything is written."""
    with pytest.raises(RefusalError):
        office.stage(**change)
    assert [path.suffix for path in store.root.iterdir() if path.suffix == ".json"] == []


def test_a_route_warns_of_names_that_stage_nothing_and_calls_that_leave_unstaged(store: OutboxStore) -> None:
    """At the start: an unknown tool, a publication that is not routed, a tool without a sink."""
    route = OutboxRoute(store, ["mail__send", "web__put"], ["site__publish"])
    assert route.routes("mail__send")
    assert not route.routes("site__publish")
    assert (route.routed(), route.publishes()) == (["mail__send", "web__put"], ["site__publish"])
    said = route.warnings(["mail__send", "site__publish"], ["mail__send"])
    assert [line.split(";")[0] for line in said] == [
        "outbox: no tool is named web__put",
        "outbox: site__publish is a publication but is not routed",
        "outbox: web__put is routed but has no sink",
    ]
    assert route.session_id() is None
    route.set_session_id("s1")
    assert route.session_id() == "s1"


def test_ids_stand_in_the_order_of_staging_whatever_the_clock_does(office: Office, clock: Any) -> None:
    """Also within a millisecond, and when the clock steps back by a day."""
    ids = [office.stage().id for _ in range(3)]
    clock.step(-86_400_000)
    ids += [office.stage().id for _ in range(3)]
    clock.step(200_000_000)
    ids.append(office.stage().id)
    assert ids == sorted(ids)
    assert len(set(ids)) == 7
