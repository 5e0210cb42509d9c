"""Patterns are read alike by every engine, match whole values, and take linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mail4agent_core.frontdoor.manifest.patterns import PatternError, matches, whole

GOOD = [
    ("[A-Z]{2}-[0-9]{4}", "NH-0301", "NH-03011"),
    ("^(?:a|b)+?$", "abba", "abc"),
    ("\\d{1,3}(?:\\.\\d{1,3}){3}", "10.0.0.1", "10.0.0"),
    ("[\\w.]+", "a_b.c", "a b"),
    ("[^\\]\\-]x", "ax", "-x"),
    ("[a\\&\\&b\\~c&^]+", "a&b~c^", "d"),
    ("\\$\\{x\\}", "${x}", "x"),
    ("a\\@b\\-c", "a@b-c", "abc"),
    ("cost\\$", "cost$", "cost"),
    (".{3}", "é😀x", "ab"),
    ("a|", "a", "b"),
]
BAD = [
    "(a)", "(?=a)", "(?P<x>a)", "(?i)a", "a**", "a++", "*a", "a{1001}", "a{3,2}", "a{x}",
    "[", "[]", "a)", "(?:a",
    "\\1", "\\b", "\\p{L}", "\\", "[[:alpha:]]",
    "[a--b]", "a$b", "}", "]", "[\\", "[z-a]", "\\u0041",
    "(?:(?:[a-z]{1000}){1000}){9}",
]  # fmt: skip


@pytest.mark.promise("frontdoor.patterns-are-linear")
@pytest.mark.parametrize(("pattern", "match", "other"), GOOD)
def test_a_pattern_matches_whole_values_in_both_engines(pattern: str, match: str, other: str) -> None:
    """Rust's engine and Python's give the same verdict on what was respelled."""
    made = whole(pattern)
    assert matches(made, match)
    assert re.search(made, match)
    assert not matches(made, other)
    assert not re.search(made, other)


@pytest.mark.promise("frontdoor.patterns-are-linear")
@pytest.mark.parametrize("pattern", BAD)
def test_a_pattern_outside_the_common_language_is_refused(pattern: str) -> None:
    """Groups that keep, look-arounds, flags, repeats of repeats and what would grow too large are named."""
    with pytest.raises(PatternError):
        whole(pattern)


@pytest.mark.promise("frontdoor.patterns-are-linear")
def test_a_pattern_that_would_never_end_elsewhere_ends() -> None:
    """The pattern over which a backtracking engine takes longer than anybody lives."""
    assert not matches(whole("(?:a+)+b"), "a" * 100_000)
    assert not matches(whole("(?:(?:a|a)*)*"), "a" * 20_000 + "b")


@given(
    st.text(alphabet="ab1-[]{}()|?*+.,\\^$&~dw:9", max_size=12), st.text(alphabet="ab1-&~.^dw9", max_size=6)
)
@settings(max_examples=150, deadline=None)
def test_any_text_is_refused_or_read_alike(pattern: str, value: str) -> None:
    """Whatever is written for a pattern, the two engines agree or it is refused."""
    try:
        made = whole(pattern)
    except PatternError:
        return
    assert matches(made, value) == (re.search(made, value) is not None)
