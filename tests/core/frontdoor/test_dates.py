"""What an extraction may tell a run as a date."""

import pytest

from mail4agent_core.frontdoor.dates import is_date
from mail4agent_core.frontdoor.extracted import Extraction, faults


@pytest.mark.parametrize(
    "text",
    ["next Tuesday", "5. Oct 2026, 14:00/15:00", "2026-10-05T10:00Z", "early in May", "2nd week of June"],
)
def test_dates_as_people_write_them_are_dates(text: str) -> None:
    """In numbers, names of days and months, and the words between them."""
    assert is_date(text)


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
@pytest.mark.parametrize(
    "text", ["Xyzzy", "Monday Xyzzy", "5Xyzzy", "next-xyzzy", "\u0661", "2026-10-05 frotz"]
)
def test_one_word_that_a_stranger_chose_makes_a_text_no_date(text: str) -> None:
    """However few they are: a list of dates could carry one each."""
    assert not is_date(text)
    assert faults(Extraction(dates_mentioned=(text,)), [text])
