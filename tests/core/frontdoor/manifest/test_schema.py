"""The validator and the JSON Schema that it emits agree, on forms and values that nobody thought of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend

from mail4agent_core.frontdoor.manifest import Form, submission_schema

from .forms import CHOICES, field, form, measured


def _bound(later: bool) -> Any:
    def check(_validator: Any, bound: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and (instance < bound if later else instance > bound):
            yield ValidationError("is out of its bounds")

    return check


#: As the page on request types says: the two keywords for days are the only ones of their own.
Reader = extend(
    Draft202012Validator, {"formatMinimum": _bound(later=True), "formatMaximum": _bound(later=False)}
)
FORMATS = FormatChecker()
FORMATS.checkers = {"date": FORMATS.checkers["date"]}

days = st.dates(date(2020, 1, 1), date(2030, 1, 1)).map(date.isoformat)
numbers = st.integers(-50, 50)


def _ordered(key: str, low: Any, high: Any) -> dict[str, Any]:
    return dict(zip(("min", "max"), sorted((low, high)), strict=True)) if key else {}


fields = st.one_of(
    st.builds(
        lambda n, p: field("text", max_length=n, pattern=p),
        st.integers(1, 12),
        st.sampled_from([None, "[a-c]+", "\\d{1,3}", "^(?:x|y)?z$", "[^ ]+"]),
    ),
    st.builds(lambda n: field("long_text", max_length=n), st.integers(1, 20)),
    st.builds(lambda n: field("email", max_length=n), st.integers(6, 40)),
    st.builds(lambda n: field("url", max_length=n), st.integers(12, 40)),
    st.builds(lambda key, a, b: field("date", **_ordered(key, a, b)), st.sampled_from(["", "x"]), days, days),
    st.builds(
        lambda key, a, b: field("integer", **_ordered(key, a, b)),
        st.sampled_from(["", "x"]),
        numbers,
        numbers,
    ),
    st.just(field("select")),
    st.builds(lambda n: field("multi_select", max_choices=n), st.sampled_from([None, 1, 2])),
    st.just(field("bool")),
    st.builds(
        lambda kinds, n: field("file", accept=kinds, max_bytes=n),
        st.lists(st.sampled_from(["pdf", "png", "jpg", "jpeg"]), min_size=1, max_size=3),
        st.integers(1, 20),
    ),
)

texts = st.one_of(
    st.text(max_size=14),
    st.text(alphabet="abcxyz129 \t\n\r\u00a0\u2028\x1f", max_size=10),
    st.sampled_from(
        [
            "noor@example.net",
            "a@b.cd",
            "a@b",
            "https://example.org/",
            "http://a.b:80?q#f",
            "on",
            "no",
            "tour",
            "other",
            "2026-02-28",
            "2026-02-29",
            "x\n",
            "\nx",
            "xz",
            "007",
            "-3",
            "1e3",
        ]
    ),
)
values = st.one_of(
    texts,
    days,
    numbers,
    st.booleans(),
    st.none(),
    st.floats(-60, 60),
    st.sampled_from([2**53, 3.0, -2.0]),
    st.lists(st.sampled_from(["tour", "other", "gone"]), max_size=3),
    st.builds(
        lambda name, size, kind, extra: measured(filename=name, size=size, content_type=kind, **extra),
        st.sampled_from(["plan.pdf", "..", "a/b", "a\nb", ""]),
        st.integers(0, 25),
        st.sampled_from(["application/pdf", "image/png", "image/jpeg", "text/html"]),
        st.sampled_from([{}, {"attachment_id": "k3"}, {"attachment_id": "k\n"}, {"path": "x"}]),
    ),
)


def _valid(schema: dict[str, Any], submission: Any) -> bool:
    return Reader(schema, format_checker=FORMATS).is_valid(submission)


@pytest.mark.promise("frontdoor.schema-and-validator-agree")
@given(fields, st.booleans(), values)
@settings(max_examples=400, deadline=None)
def test_the_validator_and_its_schema_agree(declared: dict[str, Any], required: bool, value: Any) -> None:
    """What the validator keeps is valid under the schema, and what that takes is kept as it is."""
    visit = form({**declared, "required": required})
    schema = submission_schema(visit)
    for submission in ({"one": value}, {}):
        checked = visit.checked(submission)
        if checked.valid:
            assert _valid(schema, dict(checked.values))
            assert visit.validate(dict(checked.values)) == dict(checked.values)
        if _valid(schema, submission):
            assert checked.valid
            assert dict(checked.values) == submission


def test_the_schema_is_plain_2020_12_and_closed() -> None:
    """Any validator loads it: an id by type and version, no further member, acknowledgments that are true."""
    visit = form(
        field("text", required=True),
        field("select", "two", required=True, show_when={"field": "one", "op": "present"}),
        acknowledgments=[{"id": "rules", "label": "I keep to the rules."}],
    )
    schema = submission_schema(visit)
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:mail4agent:request:visit:v1"
    assert schema["required"] == ["one", "rules"]
    assert _valid(schema, {"one": "x", "rules": True})
    assert not _valid(schema, {"one": "x", "rules": False})
    assert not _valid(schema, {"one": "x", "rules": True, "more": 1})
    assert json.loads(json.dumps(schema)) == schema


def test_choices_are_those_of_the_manifest() -> None:
    """A select offers its values and no others."""
    visit: Form = form(field("select"))
    assert submission_schema(visit)["properties"]["one"]["enum"] == [each["value"] for each in CHOICES]
