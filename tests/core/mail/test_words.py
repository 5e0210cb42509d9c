"""What search takes for a word."""

import unicodedata

import pytest

from mail4agent_core.mail import words
from mail4agent_core.mail.words import words_of


def test_marks_and_case_do_not_count():
    """A word is found however its accents were written."""
    assert words_of("Caf\u00e9 CAFE\u0301") == ("cafe", "cafe")


def test_a_text_of_nothing_but_marks_is_normalised_in_pieces(monkeypatch: pytest.MonkeyPatch):
    """Sorting marks takes a time that grows with the square of their run; no run is long."""
    sizes: list[int] = []

    def normalize(form: str, text: str) -> str:
        sizes.append(len(text))
        return text

    monkeypatch.setattr(words.unicodedata, "normalize", normalize)
    words_of("\u0301" * 16_384 + "\u0316" * 16_384)
    assert max(sizes) <= 160


@pytest.mark.parametrize("word", ["\u05d1\u05b0\u05bc", "\u0e01\u0e33", "a\u0323\u0302" * 50, "\uac01" * 300])
def test_pieces_give_what_the_whole_gives(word: str):
    """A cut does not part a letter from its marks."""
    text = "x" * 126 + word
    assert words._decomposed(text) == unicodedata.normalize("NFKD", text)
