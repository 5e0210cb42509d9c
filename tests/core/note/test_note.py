"""What a note and its criterion may say."""

from __future__ import annotations

import pytest

from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError
from mail4agent_core.note.faults import ReachesNobodyError
from mail4agent_core.note.note import CRITERION_MAX_BYTES, TEXT_MAX_BYTES, Note, criterion_of, text_of
from mail4agent_core.note.reach import Reach
from mail4agent_core.note.requests import Request
from mail4agent_core.note.words import Deliver

#: Criteria that the original takes and refuses, by the rule that refuses. `test_original.py` puts each to it.
TAKEN = [
    "the suite passes", "asgiven", "as has given", "given as", "nonverbatim", "verbatims",
    "the exact phrases", "exact words", "uses 1.2", "v4.2.", "V4.17.21", "x1.2.3", "_1.2.3", "v1.2.x",
    "v 1.2", "=1.", "1..2.3", "just do", "`unjust x`", "`just`", "`Just x`", "cargo test", "`git`",
    "`Git push`", "`_git push`", "\u0661.\u0662.\u0663", "lands on trunk", "the pr  is merged",
]  # fmt: skip
REFUSED = {
    "deploy": ["the deployment guide is current", "Redeploy works", "is Published", "PR is merged",
               "lands on maintenance", "\u0130 deploy"],
    "other prose": ["as described in the issue", "AS, DESCRIBED", "exactly as stated",
                    "matching the wording below", "per the above", "the wording, above",
                    "of the shape set out",
                    "as set out", "as_given", "set  out as set  out"],
    "literal text": ["verbatim copy", "word-for-word match", "word for word", "the exact phrase X",
                     "the exact words"],
    "version": ["uses 1.2.3", "v1.2 ok", "1.2.3.", "-1.2.3", ">=1.2", ">= 1.2", ">\t1.2", "= 1.2", "!1.2",
                "~ 3.4", "version 1.2.3-beta", "1.2.3a", "a.1.2.3", "10.0.0.1", "v1.2-rc", "v1.2_",
                "> = 1.2"],
    "just recipe": ["`just test` ok", "`x` just do"],
    "chain": ["a && b"],
    "command": ["`cargo test`", "`x-git push`", "`x` git push", "`a` `b` pytest x", "`npm run x"],
}  # fmt: skip


@pytest.mark.promise("note.a-criterion-keeps-eight-rules")
@pytest.mark.parametrize("text", TAKEN)
def test_a_criterion_that_can_be_judged_is_taken(text: str) -> None:
    """What the original takes is taken."""
    assert criterion_of(text) == text


@pytest.mark.promise("note.a-criterion-keeps-eight-rules")
@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in REFUSED.items() for text in texts]
)
def test_a_criterion_that_breaks_a_rule_is_refused_by_that_rule(rule: str, text: str) -> None:
    """The refusal names the field and says what is wrong, without the caller's words."""
    with pytest.raises(MalformedError) as refused:
        criterion_of(text)
    assert refused.value.refusal.field == "criterion"
    assert rule in refused.value.refusal.reason or rule == "deploy"


@pytest.mark.promise("note.a-criterion-keeps-eight-rules")
def test_a_blank_criterion_is_refused() -> None:
    """The first rule of the eight."""
    with pytest.raises(MalformedError, match="malformed"):
        criterion_of(" \u2003 ")


@pytest.mark.promise("note.texts-are-bounded-after-trimming")
@pytest.mark.parametrize(
    ("check", "field", "limit"),
    [(text_of, "text", TEXT_MAX_BYTES), (criterion_of, "criterion", CRITERION_MAX_BYTES)],
)
def test_a_text_is_measured_in_bytes_after_trimming(check: object, field: str, limit: int) -> None:
    """At the bound it is taken, one byte past it is refused with both numbers."""
    assert callable(check)
    assert check("\n " + "é" * (limit // 2) + "\u3000") == "é" * (limit // 2)
    with pytest.raises(TooLargeError) as refused:
        check("é" * (limit // 2) + "a")
    assert (refused.value.refusal.field, refused.value.refusal.limit, refused.value.refusal.actual) == (
        field,
        limit,
        limit + 1,
    )


@pytest.mark.promise("note.texts-are-bounded-after-trimming")
@pytest.mark.parametrize(
    ("addressee", "text", "field"),
    [
        ("worker", " \t\n", "text"),
        ("worker", "a\0b", "text"),
        ("worker", "\ud800", "text"),
        ("judge", "a", "addressee"),
        ("", "a", "addressee"),
    ],
)
def test_a_note_that_says_nothing_or_addresses_nobody_is_refused(
    addressee: str, text: str, field: str
) -> None:
    """Each refusal names its field."""
    with pytest.raises(MalformedError) as refused:
        Note.of(addressee, text)
    assert refused.value.refusal.field == field


def test_trimming_is_that_of_unicode_and_keeps_the_inside() -> None:
    """A unit separator is a text; line feeds inside stay."""
    assert Note.of("both", "\u001f").text == "\u001f"
    assert Note.of("both", "\u2028 a\n\n b \u0085").text == "a\n\n b"


@pytest.mark.promise("note.next-without-persist-is-refused-first")
def test_of_the_four_combinations_one_reaches_nobody() -> None:
    """Three pairs of the two axes are what they say, and the fourth is refused from the fields alone."""
    reaches = {
        (deliver, persist): Reach.of("build", deliver, persist=persist)
        for deliver, persist in (("live", False), ("live", True), ("next", True))
    }
    assert {pair: (r.attempts_a_live_turn, r.composes_forward) for pair, r in reaches.items()} == {
        ("live", False): (True, False),
        ("live", True): (True, True),
        ("next", True): (False, True),
    }
    with pytest.raises(ReachesNobodyError, match="note: node 'build': `deliver: next`"):
        Request.of("build", Note.of("worker", "a"), deliver=Deliver.NEXT, persist=False)


@pytest.mark.parametrize("node", ["", "a\0b", "x" * 8_193, "\ud800"])
def test_a_node_that_cannot_be_named_is_refused(node: str) -> None:
    """Empty, null, past its bound, or no Unicode."""
    with pytest.raises(RefusalError):
        Request.of(node, Note.of("worker", "a"))
