"""A submission as a whole: every problem at once, in order, and fields that are shown by others' answers."""

from __future__ import annotations

from typing import Any

import pytest

from mail4agent_core.frontdoor.manifest import Form, Phase, Problem

from .forms import field, form

STORY = field(
    "long_text", "story", required=True, show_when={"field": "purpose", "op": "eq", "value": "other"}
)


def shown(condition: dict[str, Any], *others: dict[str, Any], **given: Any) -> Form:
    """A form whose field ``one`` is shown under a condition."""
    return form(*others, field("text", show_when=condition), **given)


@pytest.mark.promise("frontdoor.submissions-have-one-validator")
def test_all_problems_are_told_at_once_in_the_order_of_the_fields() -> None:
    """Missing, faulty, hidden and unknown fields and acknowledgments are all named, sorted."""
    visit = form(
        field("select", "purpose", required=True),
        field("integer", "guests"),
        STORY,
        field("date", "arrival", required=True),
        acknowledgments=[{"id": "rules", "label": "I keep to the rules."}],
    )
    found = visit.checked(
        {"purpose": "tour", "guests": "many", "story": "hidden", "passport": "x", "_slot": 1}
    )
    assert found.problems == (
        Problem("", "has a field that the form does not have"),
        Problem("arrival", "is required"),
        Problem("guests", "must be a whole number"),
        Problem("rules", "must be agreed to"),
        Problem("story", "is not asked for with these answers"),
    )
    assert visit.validate({"purpose": "tour"}) == (
        Problem("arrival", "is required"),
        Problem("rules", "must be agreed to"),
    )


@pytest.mark.promise("frontdoor.problems-quote-nothing-submitted")
def test_no_problem_quotes_what_was_submitted() -> None:
    """Neither the names nor the values that a stranger chose stand in what a person or a log is told."""
    visit = form(field("integer", "guests"), field("select", "purpose"))
    planted = {"IGNORE-ALL": "IGNORE-ALL", "guests": "IGNORE-ALL", "purpose": "IGNORE-ALL", "_IGNORE-ALL": 1}
    assert "IGNORE" not in repr(visit.checked(planted))


@pytest.mark.promise("frontdoor.conditions-read-coerced-values")
@pytest.mark.parametrize("ticked", ["on", "true", "1", "yes", True])
@pytest.mark.parametrize("phase", Phase)
def test_a_posted_checkbox_is_true(ticked: Any, phase: Phase) -> None:
    """is_true holds of a checkbox as a browser posts it, in both phases."""
    visit = shown({"field": "extra", "op": "is_true"}, field("bool", "extra"))
    assert visit.checked({"extra": ticked, "one": "shown"}, phase).valid
    assert not visit.checked({"extra": "off", "one": "hidden"}, phase).valid


HOLDS: list[tuple[str, dict[str, Any], Any, bool]] = [
    ("select", {"op": "eq", "value": "tour"}, "tour", True),
    ("select", {"op": "eq", "value": "tour"}, "other", False),
    ("select", {"op": "ne", "value": "tour"}, "other", True),
    ("select", {"op": "ne", "value": "tour"}, None, False),
    ("select", {"op": "in", "value": ["tour", "other"]}, "other", True),
    ("select", {"op": "not_in", "values": ["other"]}, "tour", True),
    ("select", {"op": "not_in", "values": ["other"]}, None, False),
    ("select", {"op": "present"}, "tour", True),
    ("select", {"op": "present"}, "", False),
    ("select", {"op": "absent"}, None, True),
    ("multi_select", {"op": "eq", "value": "tour"}, ["other", "tour"], True),
    ("multi_select", {"op": "in", "value": ["other"]}, "tour", False),
    ("multi_select", {"op": "not_in", "value": ["other"]}, ["tour"], True),
    ("integer", {"op": "eq", "value": 3}, " 3", True),
    ("integer", {"op": "gt", "value": 3}, "10", True),
    ("integer", {"op": "gt", "value": 3}, 3, False),
    ("integer", {"op": "gte", "value": "3"}, 3, True),
    ("integer", {"op": "lt", "value": -1}, -2, True),
    ("integer", {"op": "lte", "value": 3}, 4, False),
    ("integer", {"op": "in", "value": [1, 2]}, "2", True),
    ("date", {"op": "gte", "value": "2026-05-01"}, "2026-04-30", False),
    ("date", {"op": "lt", "value": "2026-05-01"}, " 2026-04-30 ", True),
    ("bool", {"op": "is_false"}, "off", True),
    ("bool", {"op": "is_false"}, None, False),
    ("bool", {"op": "eq", "value": True}, "on", True),
    ("text", {"op": "eq", "value": "Ada"}, " Ada ", True),
]


@pytest.mark.promise("frontdoor.conditions-read-coerced-values")
@pytest.mark.parametrize(("kind", "condition", "answer", "holds"), HOLDS)
def test_a_condition_holds_or_it_does_not(
    kind: str, condition: dict[str, Any], answer: Any, holds: bool
) -> None:
    """Conditions are total: what is missing makes one false, save where absence is asked for."""
    visit = shown({"field": "asked", **condition}, field(kind, "asked"))
    assert visit.checked({"asked": answer, "one": "here"}).valid is holds


def test_a_condition_may_read_an_acknowledgment() -> None:
    """What was agreed to is a value like another."""
    rules = [{"id": "rules", "label": "I keep to the rules."}]
    visit = shown({"field": "rules", "op": "is_true"}, acknowledgments=rules)
    assert visit.validate({"rules": "on", "one": "x"}) == {"rules": True, "one": "x"}


def test_what_hangs_on_a_hidden_field_is_hidden() -> None:
    """A field that is not shown counts as not filled in, over however many others."""
    visit = form(
        field("select", "a"),
        field("bool", "b", show_when={"field": "a", "op": "eq", "value": "other"}),
        field("text", "c", required=True, show_when={"field": "b", "op": "is_true"}),
    )
    assert visit.validate({"a": "other", "b": True, "c": "x"}) == {"a": "other", "b": True, "c": "x"}
    assert visit.validate({"a": "tour"}) == {"a": "tour"}
    found = visit.checked({"a": "tour", "b": "on", "c": "x"})
    assert [problem.field for problem in found.problems] == ["b", "c"]


def test_what_hangs_on_a_faulty_answer_is_not_blamed_too() -> None:
    """Whether a field is asked for is not known then, so only the faulty answer is a problem."""
    visit = form(field("select", "purpose", required=True), STORY)
    for submitted in ({"purpose": "gone"}, {"purpose": "gone", "story": "x"}):
        assert [problem.field for problem in visit.checked(submitted).problems] == ["purpose"]


def test_a_field_on_a_step_that_is_not_shown_is_not_asked_for() -> None:
    """The condition of a step is one of each of its fields."""
    visit = form(
        field("select", "purpose"),
        field("text", "city", required=True),
        steps=[
            {"id": "a", "title": "A", "fields": ["purpose"]},
            {
                "id": "b",
                "title": "B",
                "fields": ["city"],
                "show_when": {"field": "purpose", "op": "eq", "value": "tour"},
            },
        ],
    )
    assert visit.checked({"purpose": "other"}).valid
    assert not visit.checked({"purpose": "tour"}).valid


@pytest.mark.parametrize("submitted", [None, [], "text", 7, {f"k{at}": 1 for at in range(201)}])
def test_what_is_no_submission_has_one_problem(submitted: Any) -> None:
    """Anything but an object of at most 200 members is refused as a whole."""
    assert [problem.field for problem in form(field("text")).checked(submitted).problems] == [""]
