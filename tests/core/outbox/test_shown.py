"""What is shown is what is there: on a screen, in an ear, and in what changed."""

import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mail4agent_core.outbox import (
    DraftView,
    diff_args,
    hidden,
    provider_ids,
    shown,
    shown_line,
    spoken,
    summarize,
)
from mail4agent_core.outbox.listing import Row
from mail4agent_core.outbox.spoken import spoken_value
from mail4agent_core.outbox.wire import PIECE_BYTES, draft_of, entry_of

from .office import Office, original, put

ARGS = st.dictionaries(
    st.sampled_from(["to", "subject", "body", "text", "ts", "x y", "é"]),
    st.sampled_from(["", "a", "a\nb", 1, None, True, [], ["a", "b"], ["a", 1], {"a": "b"}]),
    max_size=7,
)


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_every_control_and_format_character_is_shown_as_its_number() -> None:
    """All that Unicode calls control, format, line or paragraph separator, save line feed and tab."""
    wanted = {
        code for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Zl", "Zp", "Cs"} and chr(code) not in "\n\t"
    }  # fmt: skip
    assert [hex(code) for code in sorted(wanted) if shown(chr(code)) != f"\\u{{{code:x}}}"] == []
    assert shown("a\u202eb\u200b\n\tü€🙂") == "a\\u{202e}b\\u{200b}\n\tü€🙂"
    assert hidden("a\u202eb\u200b\n\tü") == 2


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
@pytest.mark.parametrize(
    "character", ["\u115f", "\u3164", "\uffa0", "\ufe0f", "\U000e0041", "\u034f", "\u00ad"]
)
def test_characters_without_a_shape_are_shown_too(character: str) -> None:
    """Fillers, variation selectors and tags carry what nobody sees."""
    assert hidden(f"a{character}b") == 1


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_a_line_shows_its_line_feeds() -> None:
    """A subject of two lines looks like none."""
    assert shown_line("a\nb\tc\u2028d") == "a\\u{a}b\\u{9}c\\u{2028}d"


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
@given(ARGS)
def test_no_argument_falls_between_the_three(args: dict[str, Any]) -> None:
    """Each name stands once, whatever its value is."""
    view = DraftView.of(args)
    names = [name for name, _ in (*view.headers, *view.other)] + [view.body_field] * (view.body is not None)
    assert sorted(filter(None, names)) == sorted(args)


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_a_draft_on_the_wire_is_whole_and_counts_what_is_hidden(office: Office, store: Any) -> None:
    """Long prose in pieces that fit, none of them inside a character."""
    body = "é\u202e" * 40_000
    item = office.stage({"to": "a@x.org", "body": body, "odd\u200b": [1, None]})
    draft = draft_of(item, office.digest(item), "smtp a:25", in_flight=False, intact=True)
    assert draft.view.body is not None
    assert "".join(draft.view.body.text) == body.replace("\u202e", "\\u{202e}")
    assert max(len(piece.encode()) for piece in draft.view.body.text) <= PIECE_BYTES
    assert draft.view.hidden == 40_001
    assert [(row.name, row.text) for row in draft.view.other] == [("odd\\u{200b}", ["[1,null]"])]
    assert draft.warnings == ["hidden_characters"]


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_every_doubt_is_a_warning_of_its_own(office: Office, store: Any) -> None:
    """Each leg of the taint, an edit, an earlier failure, an unknown outcome, files that changed, no sink."""
    put(store.root, original(taint=..., error="server unreachable", args={"body": "b"}))
    item = office.begin(store.item("20260101")).item_id
    found = store.existing(item)
    draft = draft_of(found, office.digest(found), None, in_flight=False, intact=False)
    assert draft.warnings == [
        "private", "untrusted", "edited", "no_sink", "outcome_unknown", "failed_before", "files_changed",
    ]  # fmt: skip
    assert draft.entry.outcome_unknown
    assert not entry_of(Row.of(found), in_flight=True).outcome_unknown


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_arguments_that_are_no_object_are_shown_as_they_are(office: Office, store: Any) -> None:
    """An original's file may say anything."""
    put(store.root, original(args=["b", 1], args_before="x"))
    item = store.item("20260101")
    draft = draft_of(item, office.digest(item), None, in_flight=False, intact=True)
    assert (draft.args, draft.args_before) == (None, None)
    assert [(row.name, row.text) for row in draft.view.other] == [("arguments", ['["b",1]'])]
    assert summarize("t", ["b", 1]) == 't ["b",1]'
    assert provider_ids(["b"]) == []


def test_a_recipient_that_is_no_text_is_in_the_summary() -> None:
    """Nobody is left out of the line that a list shows."""
    assert summarize("t", {"to": ["a@x.org", {"email": "b@x.org"}]}) == 't to a@x.org, {"email":"b@x.org"}'


def test_provider_ids_are_what_is_neither_header_nor_prose() -> None:
    """The thread that a draft answers, and not the account of every call."""
    args = {"account": "work", "thread_id": "t1", "body": "x", "text": "also", "n": 1, "blank": " "}
    assert provider_ids(args) == [("text", "also"), ("thread_id", "t1")]


@pytest.mark.promise("outbox.spoken-moments-have-year-and-offset")
@pytest.mark.parametrize(
    ("value", "heard"),
    [
        ("2026-08-28T14:00:00-04:00", "Friday August 28 at 2 PM, UTC minus 4"),
        ("2027-08-28T14:00:00-04:00", "Saturday August 28 at 2 PM, 2027, UTC minus 4"),
        ("2026-08-28T14:00:00+05:30", "Friday August 28 at 2 PM, UTC plus 5:30"),
        ("2026-08-28T00:05:00Z", "Friday August 28 at 12:05 AM, UTC"),
        ("2026-08-28T12:00:30", "Friday August 28 at 12:00:30 PM"),
        ("2026-08-28 16:00:00", "Friday August 28 at 4 PM"),
        ("2026-08-28T16:00", "Friday August 28 at 4 PM"),
        ("2025-01-02", "Thursday January 2, 2025"),
        ("2026-01-02", "Friday January 2"),
        ("2026-02-30", "2026-02-30"),
        ("2026-08-28T14:00:00.5Z", "2026-08-28T14:00:00.5Z"),
        ("2026-08-28T25:00:00", "2026-08-28T25:00:00"),
        ("2026-08-28 16:00", "2026-08-28 16:00"),
        ("\u0662026-08-28", "\u0662026-08-28"),
        ("20260828", "20260828"),
    ],
)
def test_a_moment_is_heard_with_its_year_and_its_offset(value: str, heard: str) -> None:
    """The year when it is another one; what is no moment, or cannot be said whole, as it is."""
    assert spoken_value(value, 2026) == heard


@pytest.mark.promise("outbox.spoken-moments-have-year-and-offset")
def test_without_a_known_year_the_year_is_always_heard() -> None:
    """Nobody is left to guess."""
    assert spoken(DraftView.of({"when": "2026-01-02"})).text() == "When: Friday January 2, 2026."
    assert spoken(DraftView.of({"body": " "})).lines == ("(empty)",)
    assert spoken(DraftView.of({"to": "a"})).chars() == len("To: a.") + 1


def test_a_difference_shows_repeats_and_moves() -> None:
    """A set of lines would miss both."""
    assert diff_args({"a": 1}, {"a": 1}) == "  (no textual change)\n"
    assert diff_args({"a": "x"}, {"a": "y"}) == '  -   "a": "x"\n  +   "a": "y"\n'
    assert diff_args({"to": ["a", "a"]}, {"to": ["a"]}) == '  -     "a",\n'
    assert diff_args({"to": ["a", "b"]}, {"to": ["b", "a"]}).count("\n") == 4
