"""A stranger's words, planted wherever a submission holds a text, are told no run, no refusal and no log."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mail4agent_api import frontdoor as wire
from mail4agent_api.codec import decode_value, encode
from mail4agent_api.errors import RefusalError
from mail4agent_core.frontdoor.extracted import Extraction, faults
from mail4agent_core.frontdoor.hand_over import ExtractionError
from mail4agent_core.frontdoor.ingest import ingest
from mail4agent_core.frontdoor.listing import Entry
from mail4agent_core.frontdoor.quarantine import Quarantined, Reader, for_privileged_run
from mail4agent_core.frontdoor.record import Record, UnreadableError
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.frontdoor.submission import Submission
from mail4agent_core.frontdoor.wire import brief_of

from .records import PDF, Meeting, attachment, extraction, original, types

WORDS = ("Xyzzy", "plugh", "frotz", "blorb", "rezrov", "nitfol")
#: The planted words as a text, a name, an address, a time and a line that looks harmless.
PLANTED = st.sampled_from(
    (
        " ".join(WORDS), "_".join(WORDS).lower(), f"_{'_'.join(WORDS).lower()}", "-".join(WORDS).lower(),
        f"{' '.join(WORDS)} <a@example.org>", f'"{" ".join(WORDS)}"@example.org', f"2026-10-05 {WORDS[0]}",
        "\n".join(WORDS), f"{' '.join(WORDS).upper()}!", "\u202e".join(WORDS), f"talk\u200b{' '.join(WORDS)}",
    )
)  # fmt: skip
#: Those that hold all of the words in their order.
QUOTATIONS = st.sampled_from(
    (" ".join(WORDS), "-".join(WORDS), "\u202e".join(WORDS), "".join(WORDS), f"a talk: {' '.join(WORDS)}")
)
VALUES = st.recursive(
    st.one_of(PLANTED, PLANTED, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(PLANTED, inner, max_size=3)),
    max_leaves=6,
)
FIELDS = [field.name for field in Meeting.fields]
NAMES = st.one_of(st.sampled_from(FIELDS), PLANTED, PLANTED.map("_{}".format))
#: Members that the drain writes, each of which may be planted with a text.
MEMBERS = ("type_id", "created_at", "drained_at", "reply_to", "invalid_reason", "state", "type_version")


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """A record with planted words in every sort of place."""
    value = original(
        values=draw(st.dictionaries(NAMES, VALUES, max_size=8)),
        free_text=draw(st.one_of(st.just(...), st.lists(NAMES, max_size=4))),
    )
    if draw(st.booleans()):
        listed = attachment(
            field=draw(st.one_of(st.just("cv"), PLANTED)),
            filename=draw(PLANTED),
            id=draw(PLANTED),
            path=draw(PLANTED),
        )
        if draw(st.integers(0, 3)) == 0:
            listed[draw(st.sampled_from(("sha256", "content_type")))] = draw(PLANTED)
        value["attachments"] = [listed]
    for name in draw(st.sets(st.sampled_from(MEMBERS), max_size=2)):
        if draw(st.integers(0, 2)) == 0:
            value[name] = draw(PLANTED)
    return {**value, **draw(st.dictionaries(PLANTED, VALUES, max_size=2))}


def tells(said: Any) -> bool:
    """Whether something that was said has a planted word."""
    text = (said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)).casefold()
    return any(word.casefold() in text for word in WORDS)


def echoed(prose: Quarantined) -> Extraction | ExtractionError:
    """What a model that does as the prose says would make of it, judged as it is where it was made."""
    text = " ".join(text for _, text in prose.open(Reader.EXTRACTOR))
    made = Extraction(text, text[:120], text[:16], tuple(text.split()[:1]), text[-120:])
    found = faults(made, (each for _, each in prose.open(Reader.EXTRACTOR)))
    return ExtractionError("; ".join(found)) if found else made


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
@settings(max_examples=150, deadline=None)
@given(records(), st.dictionaries(st.sampled_from(("topic", "institution", "urgency_claimed")), QUOTATIONS))
def test_no_planted_word_is_in_a_brief_of_any_file(value: dict[str, Any], made: dict[str, str]) -> None:
    """Whatever the file says of itself, with the local type, and whatever its extraction quotes."""
    values = {**value["values"], "purpose_detail": " ".join(WORDS)}
    said: list[Any] = []
    try:
        held = Record.parsed(
            {**value, "values": values, "valid": True, "extraction": extraction(reading="r", **made)}
        )
        said += [repr(held), repr(Entry.of("x", held.raw)), for_privileged_run(held, Meeting())]
    except UnreadableError as failure:
        said.append(str(failure))
    assert not tells(said)


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
@settings(max_examples=40, deadline=None)
@given(records())
def test_no_planted_word_comes_out_of_the_way_from_the_drain_to_the_run(value: dict[str, Any]) -> None:
    """Not in an acknowledgement, a refusal, a brief or a log line, with a model that repeats the prose."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda line: lines.append(line.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mail4agent_core").addHandler(handler)
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            Frontdoor.open(Path(folder) / "r", types=types) as store,
        ):
            said = _way(store, value)
    finally:
        logging.getLogger("mail4agent_core").removeHandler(handler)
    assert not tells(said)
    assert not tells(lines)


def _way(store: Frontdoor, value: dict[str, Any]) -> list[Any]:
    """All that is said of a submission on its way."""
    said: list[Any] = []
    try:
        decode_value(wire.FrontdoorIngestRequest, {"box_epoch": "e1", "record": value})
    except RefusalError as refused:
        said.append(refused.refusal.model_dump())
    try:
        files = {each["field"]: PDF for each in value.get("attachments", [])}
        receipt = ingest(store, Submission.of("e1", value, files))
        said.append([receipt.seq, receipt.valid, receipt.repeated])
        unread = store.claim_for_extraction(receipt.seq)
        made = echoed(unread.prose)
        said.append(made.diagnosis if isinstance(made, ExtractionError) else {})
        record = store.record_extraction(unread, made)
        brief = brief_of(record, Meeting())
        said.append(None if brief is None else json.loads(encode(brief)))
    except RefusalError as refused:
        said.append(refused.refusal.model_dump())
    return said
