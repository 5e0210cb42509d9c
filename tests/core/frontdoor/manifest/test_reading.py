"""Manifests are read strictly, and only those whose parts fit together become forms."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError
from mail4agent_core.frontdoor.manifest import (
    MANIFEST_MAX_BYTES,
    Form,
    ManifestError,
    faults,
    read_manifest,
    submission_schema,
)

from .forms import CHOICES, EXAMPLES, field, form, manifest

ORIGINAL = b"""
id = "visit"
version = 1
title = "Visit the garden"
[[fields]]
name = "guests"
label = "How many"
kind = "integer"
[[fields]]
name = "purpose"
label = "Reason"
kind = "select"
options = [{ value = "tour", label = "A tour" }, { value = "other", label = "Other" }]
show_when = { field = "guests", op = "gt", value = 3 }
[[fields]]
name = "bus"
label = "You come by bus"
kind = "bool"
show_when = { field = "purpose", op = "in", value = ["tour"] }
[[fields]]
name = "plate"
label = "Its plate"
kind = "text"
max_length = 12
show_when = { field = "bus", op = "eq", value = true }
"""


@pytest.mark.promise("frontdoor.originals-manifests-are-read")
def test_a_manifest_of_the_original_is_read_as_it_is() -> None:
    """Conditions with numbers, truth values and lists as their value mean what they meant there."""
    visit = Form(read_manifest(ORIGINAL, "toml"))
    whole = {"guests": "12", "purpose": "tour", "bus": "on", "plate": "AB 1"}
    assert visit.validate(whole) == {"guests": 12, "purpose": "tour", "bus": True, "plate": "AB 1"}
    assert not visit.checked({"guests": 3, "purpose": "tour"}).valid


@pytest.mark.parametrize(
    "raw",
    [
        b"id = ",
        b"\xff",
        b'id = "a"\nid = "b"',
        b"fields = " + b"[" * 5_000,
        b"fields = " + b"[" * 20 + b"]" * 20,
        b"",
        b'id = "visit"\nversion = 1\ntitle = "t"\nfields = 2026-01-01',
        b'kind = "booking"',
    ],
    ids=["torn", "no UTF-8", "a key twice", "deep", "nested", "empty", "a date", "a booking"],
)
@pytest.mark.promise("frontdoor.manifests-are-strict")
def test_toml_that_is_no_manifest_is_refused(raw: bytes) -> None:
    """Whatever is wrong with the bytes, it is one refusal."""
    with pytest.raises(RefusalError):
        read_manifest(raw, "toml")


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"id": "a", "id": "b"}', b"[" * 10_000, b"null"])
@pytest.mark.promise("frontdoor.manifests-are-strict")
def test_json_that_is_no_manifest_is_refused(raw: bytes) -> None:
    """JSON is read as strictly as any of the contract."""
    with pytest.raises(MalformedError):
        read_manifest(raw, "json")


def test_a_manifest_past_its_greatest_size_is_not_parsed() -> None:
    """The bound is on the bytes, before anything is made of them."""
    with pytest.raises(TooLargeError):
        read_manifest(b" " * (MANIFEST_MAX_BYTES + 1), "toml")


@pytest.mark.promise("frontdoor.manifests-are-strict")
def test_a_booking_is_refused_by_name() -> None:
    """Its kind is the field that the refusal names."""
    raw = json.dumps({**manifest(field("text")), "kind": "booking"}).encode()
    with pytest.raises(MalformedError) as refused:
        read_manifest(raw, "json")
    assert refused.value.refusal.field == "kind"
    assert "bookings are not taken" in refused.value.refusal.reason


UNFIT: list[tuple[str, dict[str, Any]]] = [
    ("field one is there more than once", manifest(field("text"), field("bool"))),
    ("field _one must begin with a letter or a digit", manifest(field("text", "_one"))),
    (
        "acknowledgment one has the name of a field",
        manifest(field("text"), acknowledgments=[{"id": "one", "label": "x"}]),
    ),
    (
        "field one has a pattern that has a group that is not written (?:...)",
        manifest(field("text", pattern="(a)")),
    ),
    ("field one offers a value more than once", manifest(field("select", options=CHOICES * 2))),
    (
        "field one offers a value that begins or ends with a blank",
        manifest(field("select", options=[{"value": " a", "label": "A"}])),
    ),
    ("field one allows more choices than it offers", manifest(field("multi_select", max_choices=3))),
    ("field one has a bound that is no day of the calendar", manifest(field("date", min="2026-02-30"))),
    ("field one has a min after its max", manifest(field("date", min="2026-02-02", max="2026-02-01"))),
    ("field one has a min above its max", manifest(field("integer", min=2, max=1))),
    ("fields has more than 16 files", manifest(*(field("file", f"f{at}", max_bytes=1) for at in range(17)))),
    (
        "fields allows files of more than 33554432 bytes in all",
        manifest(*(field("file", f"f{at}", max_bytes=11_184_811) for at in range(3))),
    ),
    (
        "step a has the field two, which is not declared",
        manifest(field("text"), steps=[{"id": "a", "title": "A", "fields": ["one", "two"]}]),
    ),
    (
        "field two is on no step",
        manifest(field("text"), field("text", "two"), steps=[{"id": "a", "title": "A", "fields": ["one"]}]),
    ),
    (
        "field one is on more than one step",
        manifest(field("text"), steps=[{"id": "a", "title": "A", "fields": ["one", "one"]}]),
    ),
    (
        "field one is shown by two, which is no field and no acknowledgment",
        manifest(field("text", show_when={"field": "two", "op": "present"})),
    ),
    (
        "field one is shown by eq, which takes a value",
        manifest(field("text", show_when={"field": "two", "op": "eq"}), field("bool", "two")),
    ),
    (
        "field one is shown by in, which takes values",
        manifest(field("text", show_when={"field": "two", "op": "in", "value": "a"}), field("select", "two")),
    ),
    (
        "field one is shown by present, which takes no value",
        manifest(
            field("text", show_when={"field": "two", "op": "present", "value": "a"}), field("select", "two")
        ),
    ),
    (
        "field one is shown by gt of two, which never holds",
        manifest(field("text", show_when={"field": "two", "op": "gt", "value": "a"}), field("select", "two")),
    ),
    (
        "field one is shown by is_true of two, which never holds",
        manifest(field("text", show_when={"field": "two", "op": "is_true"}), field("select", "two")),
    ),
    (
        "field one is shown by eq of two, which never holds",
        manifest(field("text", show_when={"field": "two", "op": "eq", "value": "a"}), field("file", "two")),
    ),
    (
        "field one is shown by a value that two never has",
        manifest(
            field("text", show_when={"field": "two", "op": "eq", "value": "gone"}), field("select", "two")
        ),
    ),
    (
        "field one is shown by a value that two never has",
        manifest(
            field("text", show_when={"field": "two", "op": "lt", "value": "soon"}), field("date", "two")
        ),
    ),
    (
        "field one is shown by a value that two never has",
        manifest(
            field("text", show_when={"field": "two", "op": "lt", "value": "1.5"}), field("integer", "two")
        ),
    ),
    (
        "field one is shown by a value that two never has",
        manifest(field("text", show_when={"field": "two", "op": "eq", "value": "yes"}), field("bool", "two")),
    ),
    (
        "field one is shown by what it decides itself",
        manifest(field("bool", show_when={"field": "one", "op": "is_true"})),
    ),
    (
        "verification names one, which is no field of the kind email",
        manifest(field("text"), verification={"field": "one"}),
    ),
    (
        "verification names one, which may be left out; it must be required and always shown",
        manifest(field("email"), verification={"field": "one"}),
    ),
    (
        "confirmation body has a place for two, which is no field",
        manifest(field("text"), confirmation={"heading": "Thanks", "body": "To {two}."}),
    ),
]


@pytest.mark.promise("frontdoor.manifests-fit-together")
@pytest.mark.parametrize(("says", "value"), UNFIT)
def test_a_manifest_whose_parts_do_not_fit_says_which(says: str, value: dict[str, Any]) -> None:
    """It decodes, and makes no form; the fault names the part."""
    read = read_manifest(json.dumps(value).encode(), "json")
    assert [str(fault) for fault in faults(read)] == [says]
    with pytest.raises(ManifestError):
        Form(read)


def test_a_circle_of_conditions_is_found_across_steps() -> None:
    """A step that is shown by a field of a step that is shown by one of its own."""
    read = read_manifest(
        json.dumps(
            manifest(
                field("bool"),
                field("bool", "two"),
                steps=[
                    {"id": at, "title": at, "fields": [own], "show_when": {"field": other, "op": "is_true"}}
                    for at, own, other in (("a", "one", "two"), ("b", "two", "one"))
                ],
            )
        ).encode(),
        "json",
    )
    assert [fault.where for fault in faults(read)] == ["field one", "field two"]


@pytest.mark.promise("frontdoor.example-types-are-good")
@pytest.mark.parametrize("name", ["meeting", "speaking", "review", "support", "other"])
def test_an_example_is_a_form_that_can_be_answered(name: str) -> None:
    """Each example has an address that is proved, and a JSON Schema."""
    example = Form(read_manifest((EXAMPLES / f"{name}.toml").read_bytes(), "toml"))
    assert example.id == name
    assert example.reply_field is not None
    assert example.reply_field in submission_schema(example)["required"]


def test_the_port_has_what_the_quarantine_asks_of_a_type() -> None:
    """Id, version, fields with their kinds, acknowledgments in their order, and where an answer goes."""
    visit = form(
        field("email", required=True),
        field("file", "plan"),
        verification={"field": "one"},
        acknowledgments=[{"id": name, "label": name} for name in ("b", "a")],
    )
    assert (visit.id, visit.version, visit.reply_field) == ("visit", 1, "one")
    assert [each.kind for each in visit.fields] == ["email", "file"]
    assert visit.acknowledgments == ("b", "a")
