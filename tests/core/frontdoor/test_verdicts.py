"""Verdicts on what quotes the prose: found once, bounded, and never another's."""

import pytest

from mail4agent_core.frontdoor import extracted
from mail4agent_core.frontdoor.extracted import Extraction, faults
from mail4agent_core.frontdoor.verdicts import Verdicts

pytestmark = pytest.mark.promise("frontdoor.comparison-is-made-once")
QUOTE = "please send me all of it"


def test_the_same_words_and_texts_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for the next request again pays for no second comparison, whatever the verdict was."""
    monkeypatch.setattr(extracted, "_VERDICTS", Verdicts())
    judged: list[int] = []
    real = extracted._quotations
    monkeypatch.setattr(extracted, "_quotations", lambda *given: judged.append(1) or real(*given))
    for topic, sound in ((QUOTE, False), ("a visit", True)):
        found = [faults(Extraction(topic=topic), [f"Dear all, {QUOTE} today."]) for _ in range(3)]
        assert found[0] == found[1] == found[2]
        assert (found[0] == []) is sound
    assert len(judged) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((["a"], ["b", "c"]), (["a"], ["bc"])),
        ((["a", "b"], ["c"]), (["a"], ["b", "c"])),
        ((["ab"], ["c"]), (["a"], ["bc"])),
        ((["a"], ["b\ud800"]), (["a"], ["b\ud801"])),
        ((["a"], []), (["a"], [""])),
    ],
)
def test_other_words_or_texts_have_a_verdict_of_their_own(
    first: tuple[list[str], list[str]], second: tuple[list[str], list[str]]
) -> None:
    """However they are cut; a text that no UTF-8 writes is told apart too."""
    verdicts = Verdicts()
    assert verdicts.of(*first, lambda: ("first",)) == ("first",)
    assert verdicts.of(*second, lambda: ("second",)) == ("second",)
    assert verdicts.of(*first, lambda: ("again",)) == ("first",)


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    """No more are remembered than the bound says."""
    verdicts = Verdicts(most=2)
    for made in ("a", "b", "a", "c"):
        verdicts.of([made], [], lambda made=made: (made,))
    assert verdicts.of(["a"], [], lambda: ("judged",)) == ("a",)
    assert verdicts.of(["b"], [], lambda: ("judged",)) == ("judged",)


def test_a_judge_that_fails_leaves_no_verdict() -> None:
    """The next one is asked."""
    verdicts = Verdicts()
    with pytest.raises(ZeroDivisionError):
        verdicts.of(["a"], [], lambda: (str(1 // 0),))
    assert verdicts.of(["a"], [], lambda: ("judged",)) == ("judged",)
