"""Letters that pass for others: shown as numbers in what a person reviews, and counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mail4agent_core.outbox import DraftView, hidden, shown
from mail4agent_core.outbox.wire import draft_of

from .office import Office

ALIKE = {
    "p\u0430ypal": "p\\u{430}ypal",
    "\u0421an you": "\\u{421}an you",
    "a_\u0440\u0430ypal": "a_\\u{440}\\u{430}ypal",
    "\u0440\u0430\u0301ypal": "\\u{440}\\u{430}\u0301ypal",
    "https://\u0430\u0440\u0440\u04cf\u0435.com/x": "https://\\u{430}\\u{440}\\u{440}\\u{4cf}\\u{435}.com/x",
    "\u0441\u043e@example.org": "\\u{441}\\u{43e}@example.org",
    "g\u0131thub.com": "g\\u{131}thub.com",
    "\u039f\u039aay": "\\u{39f}\\u{39a}ay",
    "bank@example\u3002com": "bank@example\\u{3002}com",
    "example.com\u2215evil.org": "example.com\\u{2215}evil.org",
    "\ua4d1aypal": "\\u{a4d1}aypal",
    "\ua4d0\ua4f3.com": "\\u{a4d0}\\u{a4f3}.com",
    "\u2c9fpenly": "\\u{2c9f}penly",
    "paypa\u217c": "paypa\\u{217c}",
    "\ua731ecure.com, githu\u0185.com": "\\u{a731}ecure.com, githu\\u{185}.com",
}


@pytest.mark.promise("outbox.letters-that-pass-for-others-are-shown")
@pytest.mark.parametrize(("text", "seen"), ALIKE.items(), ids=ascii)
def test_a_letter_that_passes_for_a_latin_one_is_shown_as_its_number(text: str, seen: str) -> None:
    """In a word of several alphabets, in a host or an address; and signs like those of an address."""
    assert shown(text) == seen
    assert hidden(text) == seen.count("\\u{")


@pytest.mark.parametrize(
    "text",
    [
        "\u041f\u0440\u0438\u0432\u0435\u0442, \u044d\u0442\u043e IT-\u043e\u0442\u0434\u0435\u043b",
        "info@\u043f\u043e\u0447\u0442\u0430.\u0440\u0444",
        "\u043e\u0442\u0447\u0451\u0442.pdf",
        "\u041c\u043e\u0441\u043a\u0432\u0430.txt",
        "\u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1",
        "USB\u30b1\u30fc\u30d6\u30eb T\u30b7\u30e3\u30c4, \u7248\u672cA",
        "10 k\u03a9, TGF\u03b2, 3 \u03bcm",
        "caf\u00e9.fr, na\u00efve, \u0141\u00f3d\u017a",
        "\ua4e1\ua4f2\ua4e2\ua4f4, \u2c9f\u2ca9\u2c81, \u2163 and \u2173.",
        "1\u20442 and 3\uff1a4",
    ],
    ids=ascii,
)
def test_words_of_one_alphabet_and_usual_mixtures_are_left_alone(text: str) -> None:
    """Who writes another alphabet than the Latin one reads what was written."""
    assert (shown(text), hidden(text)) == (text, 0)


@pytest.mark.promise("outbox.letters-that-pass-for-others-are-shown")
def test_a_draft_to_a_look_alike_address_warns(office: Office) -> None:
    """The reviewer sees the numbers in the header, and the warning that counts them."""
    item = office.stage({"to": "boss@\u0430\u0440\u0440\u04cf\u0435.com", "body": "hello"})
    draft = draft_of(item, office.digest(item), "mail", in_flight=False, intact=True)
    assert [row.text for row in draft.view.headers] == [["boss@\\u{430}\\u{440}\\u{440}\\u{4cf}\\u{435}.com"]]
    assert "hidden_characters" in draft.warnings
    assert (draft.view.hidden, DraftView.of({"to": "boss@apple.com"}).hidden()) == (5, 0)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.text(
        st.sampled_from("ab\u0430\u0440\u044f\u03b1\u03bb.@-_/ \u0301\u0131\u3002\u4e00\u200b"), max_size=40
    )
)
def test_every_number_is_counted(text: str) -> None:
    """Whatever was written, there are as many numbers as are counted, and nothing is lost."""
    seen = shown(text)
    assert seen.count("\\u{") == hidden(text)
    assert len(seen) >= len(text)
