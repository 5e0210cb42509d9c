"""What the quarantined pass made of the prose, and the bounds that it must keep.

The words come from a model that read hostile text, so they are checked when they are made and again when a
run is told them: a file may have been written by a program with other bounds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Final, cast

from .codings import coded
from .dates import is_date
from .quotations import Written, is_unseen
from .types import Json
from .verdicts import Verdicts

TOPIC_MAX_CHARS: Final = 120
INSTITUTION_MAX_CHARS: Final = 120
DATES_MAX: Final = 8
DATE_MAX_CHARS: Final = 40
#: The words for how urgent the writer claims it is; the empty text stands for a text that says nothing.
URGENCIES: Final = ("none", "soon", "urgent")
_TEXTS: Final = ("reading", "topic", "urgency_claimed", "institution")
_VERDICTS: Final = Verdicts()
_DATE_SIGNS: Final = frozenset(" ,./:-")


class ExtractionFormError(ValueError):
    """A value has not the form of an extraction; the message names a member and quotes nothing."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The extraction of one request. Raw: ``faults`` says whether it may be believed."""

    #: The model's own account of the prose: for a person, never for a run.
    reading: str = ""
    topic: str = ""
    #: The writer's claim, never a decision; nothing sorts by it.
    urgency_claimed: str = ""
    #: As written.
    dates_mentioned: tuple[str, ...] = ()
    institution: str = ""
    #: A label that a person sees. It gates nothing.
    reads_like_instructions: bool = False

    @classmethod
    def parsed(cls, value: Json) -> Extraction:
        """The extraction that a parsed JSON object is; what it leaves out is empty.

        Raises ExtractionFormError for another value and for members of another type.
        """
        given = checked(value)
        return cls(
            given.get("reading", ""),
            given.get("topic", ""),
            given.get("urgency_claimed", ""),
            tuple(given.get("dates_mentioned", ())),
            given.get("institution", ""),
            given.get("reads_like_instructions", False),
        )

    def as_json(self) -> dict[str, Json]:
        """The object of the file, its members in the order in which a model is asked for them."""
        return {
            "reading": self.reading,
            "topic": self.topic,
            "urgency_claimed": self.urgency_claimed,
            "dates_mentioned": list(self.dates_mentioned),
            "institution": self.institution,
            "reads_like_instructions": self.reads_like_instructions,
        }


def checked(value: Json) -> Mapping[str, Json]:
    """The object of an extraction, in which each member that is there has its type. Raises as ``parsed``."""
    if not isinstance(value, dict):
        raise ExtractionFormError("an extraction is an object")
    given = cast("dict[str, Json]", value)
    for name in _TEXTS:
        if not isinstance(given.get(name, ""), str):
            raise ExtractionFormError(f"{name} is a text")
    dates = given.get("dates_mentioned", ())
    if dates != () and not isinstance(dates, list):
        raise ExtractionFormError("dates_mentioned is a list")
    for date in cast("Iterable[Json]", dates):
        if not isinstance(date, str):
            raise ExtractionFormError("a date is a text")
    if not isinstance(given.get("reads_like_instructions", False), bool):
        raise ExtractionFormError("reads_like_instructions is true or false")
    return given


def faults(extraction: Extraction, texts: Iterable[str]) -> list[str]:
    """What forbids telling a run this extraction of a request with these texts, in fixed words; none: may be.

    What is over a bound is a fault and is never cut: a cut can turn a sentence into its opposite.
    """
    found: list[str] = []
    if len(extraction.topic) > TOPIC_MAX_CHARS:
        found.append(f"the topic has more than {TOPIC_MAX_CHARS} characters")
    if len(extraction.institution) > INSTITUTION_MAX_CHARS:
        found.append(f"the institution has more than {INSTITUTION_MAX_CHARS} characters")
    if len(extraction.dates_mentioned) > DATES_MAX:
        found.append(f"there are more than {DATES_MAX} dates")
    if any(len(date) > DATE_MAX_CHARS for date in extraction.dates_mentioned):
        found.append(f"a date has more than {DATE_MAX_CHARS} characters")
    if not all(_plain_date(date) for date in extraction.dates_mentioned):
        found.append("a date holds more than letters, digits, spaces and , . / : -")
    elif not all(is_date(date) for date in extraction.dates_mentioned):
        found.append("a date holds more than numbers and English words of dates")
    if extraction.urgency_claimed not in {"", *URGENCIES}:
        found.append("the urgency is none of its three words")
    found += [
        f"the {name} has control characters"
        for name in ("topic", "institution")
        if any(unprintable(character) for character in getattr(extraction, name))
    ]
    found += [
        f"the {name} {fault}"
        for name in ("topic", "institution")
        for fault in coded(getattr(extraction, name))
    ]
    if not found:
        written = list(texts)
        made = (extraction.topic, extraction.institution, *extraction.dates_mentioned)
        found += _VERDICTS.of(made, written, lambda: tuple(_quotations(extraction, written)))
    return found


def unprintable(character: str) -> bool:
    """Whether a character is no visible part of a line: controls, separators, what reorders or hides text."""
    return unicodedata.category(character) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} or is_unseen(character)


def _plain_date(date: str) -> bool:
    return all(
        character in _DATE_SIGNS or (character.isalnum() and not is_unseen(character)) for character in date
    )


def _quotations(extraction: Extraction, texts: Iterable[str]) -> list[str]:
    written = Written(texts)
    dates = " ".join(extraction.dates_mentioned)
    made = {"topic": extraction.topic, "institution": extraction.institution}
    found = [f"the {name} quotes the prose" for name, words in made.items() if written.quoted_in(words)]
    if written.quoted_in_dates(dates):
        found.append("the dates quote the prose")
    if not found:
        found = [
            f"the {name} quotes the prose in a coding"
            for name, words in made.items()
            if written.coded_in(words)
        ]
    if not found and any(written.coded_in(" ".join(order)) for order in permutations(made.values())):
        found.append("the topic and the institution together quote the prose in a coding")
    if not found and any(
        written.quoted_in_dates(" ".join(order)) for order in permutations((*made.values(), dates))
    ):
        # A run reads them one after the other.
        found.append("the topic, the dates and the institution together quote the prose")
    return found
