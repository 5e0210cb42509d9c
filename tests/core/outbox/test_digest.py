"""What was read is what leaves: the digest covers everything that would leave, and where it would go."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mail4agent_api.errors import DraftChangedError
from mail4agent_core.outbox import FileRecord, OutboxItem, OutboxKind, attempt_key, digest_of

from .office import PERSON, Office

pytestmark = pytest.mark.promise("outbox.what-was-read-is-what-leaves")

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
ARGS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), VALUES, max_size=4)
FILES = st.lists(
    st.builds(
        FileRecord, st.text("ab/", max_size=4), st.integers(0, 9), st.sampled_from(["0" * 64, "1" * 64])
    ),
    max_size=2,
).map(tuple)
ITEMS = st.builds(
    OutboxItem,
    id=st.just("x"),
    status=st.just("pending"),
    tool=st.sampled_from(["a", "b", "a\nb"]),
    args_before=st.just({}),
    args=ARGS,
    summary=st.just(""),
    created_at=st.just(""),
    kind=st.sampled_from(OutboxKind),
    workspace=st.none() | st.sampled_from(["/w", "/w/x"]),
    files=FILES,
    staged_by=st.none() | st.sampled_from(["alice", "alice/s-1"]),
)
SINKS = st.none() | st.sampled_from(["smtp a:25", "smtp b:25"])


def said(item: OutboxItem, sink: str | None) -> str:
    """What the digest must cover, by other means: 1, 1.0 and true are three values."""
    return repr([
        item.tool, str(item.kind), json.dumps(item.args, sort_keys=True), item.workspace, sink,
        item.staged_by, [(file.path, file.size, file.sha256) for file in item.files],
    ])  # fmt: skip


@given(ITEMS, ITEMS, SINKS, SINKS)
def test_two_drafts_have_one_digest_only_when_nothing_of_them_differs(
    one: OutboxItem, other: OutboxItem, sink: str | None, another: str | None
) -> None:
    """Any change of what would leave, or of where to, is another digest; the order of keys is none."""
    assert (digest_of(one, sink) == digest_of(other, another)) == (said(one, sink) == said(other, another))


@given(ITEMS, SINKS, st.data())
def test_any_single_change_changes_the_digest(
    item: OutboxItem, sink: str | None, data: st.DataObject
) -> None:
    """One member at a time, those of the arguments included."""
    args = data.draw(ARGS)
    changes: list[dict[str, Any]] = [
        {"tool": item.tool + "_"}, {"workspace": f"{item.workspace}/y"}, {"staged_by": "mallory"},
        {"files": (*item.files, FileRecord("c", 1, "2" * 64))}, {"args": args},
    ]  # fmt: skip
    for change in changes:
        changed = replace(item, **change)
        assert (digest_of(changed, sink) == digest_of(item, sink)) == (
            said(changed, sink) == said(item, sink)
        )
    assert digest_of(item, "smtp c:25") != digest_of(item, sink)


def test_the_digest_is_the_documented_bytes() -> None:
    """SHA-256 over keys in order, no spaces, nothing escaped that need not be."""
    item = OutboxItem(
        id="x", status="pending", tool="mail__send", args_before={}, args={"ü": "€", "a": [1, True, None]},
        summary="", created_at="", workspace="/w", staged_by="alice",
        files=(FileRecord("f", 3, "0" * 64),),
    )  # fmt: skip
    text = (
        '{"args":{"a":[1,true,null],"ü":"€"},"files":[{"path":"f","sha256":"' + "0" * 64 + '","size":3}],'
        '"kind":"message","sink":"smtp a:25","staged_by":"alice","tool":"mail__send","workspace":"/w"}'
    )
    assert digest_of(item, "smtp a:25") == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_the_key_of_a_draft_is_the_same_at_every_attempt_and_of_no_other(office: Office) -> None:
    """A far side recognises a repeat by it."""
    one, other = office.stage(), office.stage()
    assert attempt_key(one.id, office.digest(one)) == office.begin(one).idempotency_key
    assert attempt_key(one.id, office.digest(one)) != attempt_key(other.id, office.digest(other))


def test_a_decision_on_another_digest_is_refused_and_names_the_item_alone(office: Office) -> None:
    """Release, edit and reject; the new digest comes only with the whole draft."""
    item = office.stage()
    read = office.digest(item)
    office.edit(item, {"to": "b@x.org"})
    before = office.path(item).read_bytes()
    for decide in (
        lambda: office.releases.begin(item.id, read, PERSON, None),
        lambda: office.decisions.edit(item.id, read, {}, PERSON, None),
        lambda: office.decisions.reject(item.id, read, "No.", PERSON, None),
    ):
        with pytest.raises(DraftChangedError) as refused:
            decide()
        assert refused.value.refusal.model_dump() == {"kind": "draft_changed", "id": item.id}
    assert office.path(item).read_bytes() == before


def test_a_draft_that_would_go_elsewhere_by_now_is_not_the_one_that_was_read(office: Office) -> None:
    """The settings changed between the look and the release."""
    item = office.stage(sink="smtp a:25")
    read = office.digest(item, "smtp a:25")
    with pytest.raises(DraftChangedError):
        office.releases.begin(item.id, read, PERSON, "smtp b:25")


def test_a_value_that_only_compares_equal_counts_as_an_edit(office: Office) -> None:
    """True is not 1 to whoever receives it."""
    item = office.edit(office.stage({"all": 1}), {"all": True})
    assert item.edited()
