"""Names that somebody may have meant."""

import pytest

from mail4agent_core.mail.near import near

NAMES = ["alice", "bob", "Bobby", "#ops", "s-7f3a0000c1d2e3f4"]


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("bbo", ["bob"]),
        ("BOB", ["bob", "Bobby"]),
        ("alcie", ["alice"]),
        ("#opps", ["#ops"]),
        ("s-7f3a", ["s-7f3a0000c1d2e3f4"]),
        ("zzzz", []),
        ("", []),
    ],
)
def test_a_slip_finds_the_name_that_was_meant(wrong: str, meant: list[str]):
    """Letters exchanged, doubled or in the other case, and the beginning of a long name."""
    assert near(wrong, NAMES) == meant


def test_no_more_are_offered_than_asked_for():
    """However many begin alike."""
    assert near("a", [f"a{n}" for n in range(100)], limit=2) == ["a0", "a1"]
