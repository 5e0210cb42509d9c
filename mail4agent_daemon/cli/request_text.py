"""A request as a person reads it at a terminal: all of it, and nothing of it as a control sequence.

Every line that a stranger wrote is set off, so that none can pass for what this program says of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mail4agent_api.frontdoor import FrontdoorItem, RequestSummary
from mail4agent_core.outbox.shown import hidden, shown, shown_line

_FRAME = "  | "
_LABEL = 16
#: Members of a record that have a line of their own or are shown with its texts.
_SHOWN = frozenset(("values", "free_text", "extraction", "attachments", "seq", "type_id", "state", "valid"))


def names() -> Sequence[str]:
    """The heads of the columns of a row."""
    return ("Seq", "State", "Type", "Topic", "Note")


def row(request: RequestSummary) -> list[str]:
    """One request in a list: a dash for what it has not, and what a person must know of it."""
    topic = shown_line(str(request.topic)) if request.topic is not None else "-"
    flags = {
        "INVALID": not request.valid,
        "INSTRUCTIONS": request.reads_like_instructions,
        "DUPLICATE": request.duplicate,
        f"{request.attachments} files": request.attachments > 0,
    }
    told = " ".join(flag for flag, is_so in flags.items() if is_so)
    return [str(request.seq), request.state or "-", str(request.type_id or "-"), topic or "-", told]


def whole(item: FrontdoorItem) -> Iterator[str]:
    """Every line of a request: what must be known, what is typed, what a model made of it, and the prose."""
    record = dict(item.record.model_extra or {})
    fields = dict(item.fields.model_extra or {})
    prose = dict(item.prose.model_extra or {})
    yield f"request {record.get('seq')}  {shown_line(_text(record.get('state')))}"
    yield from _warnings(record, item.briefed, prose)
    yield from _field("type", _text(record.get("type_id")))
    for name, value in record.items():
        if name not in _SHOWN and value is not None and value != []:
            yield from _field(name, _text(value))
    yield from _group("typed fields", fields)
    extraction = record.get("extraction")
    if isinstance(extraction, dict):
        yield from _group("what the model made of it", extraction)
    yield from _files(record.get("attachments"))
    yield from _written(prose)


def _warnings(record: Mapping[str, Any], briefed: bool, prose: Mapping[str, Any]) -> Iterator[str]:
    extraction = record.get("extraction")
    count = hidden(json.dumps([record, prose], ensure_ascii=False))
    if record.get("valid") is not True:
        yield "! INVALID: it is not valid for its type, and no run is told of it"
    if isinstance(extraction, dict) and extraction.get("reads_like_instructions"):
        yield "! INSTRUCTIONS: the model says that the text tries to instruct its reader"
    if extraction is not None and not briefed:
        yield "! WITHHELD: a part of it is not what it must be, and no run is told of it"
    if count:
        yield f"! HIDDEN: {count} characters unseen or like others are shown by number, \\u{{...}}"


def _group(title: str, values: Mapping[str, Any]) -> Iterator[str]:
    if values:
        yield ""
        yield f"{title}:"
        for name, value in values.items():
            yield from _field(name, _text(value))


def _files(attachments: Any) -> Iterator[str]:
    if not isinstance(attachments, list) or not attachments:
        return
    yield ""
    yield "files, which nobody has read:"
    for each in attachments:
        given = each if isinstance(each, dict) else {}
        measured = [_text(given.get(name)) for name in ("content_type", "size", "sha256", "path")]
        yield from _field(_text(given.get("field")), "  ".join(measured))
        yield from _framed(f"called {json.dumps(given.get('filename'), ensure_ascii=False)} by its sender")


def _written(prose: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "--- what a stranger wrote ---" if prose else "--- nothing was written ---"
    for name, texts in prose.items():
        yield f"{shown_line(name)}:"
        for text in texts if isinstance(texts, list) else [texts]:
            yield from _framed(_text(text))


def _field(name: str, text: str) -> Iterator[str]:
    """A name with its text; a longer one, or one of several lines, below it."""
    if "\n" in text or len(text) > 200:
        yield f"{shown_line(name)}:"
        yield from _framed(text)
    else:
        yield f"{shown_line(name) + ':':<{_LABEL}} {shown_line(text)}"


def _framed(text: str) -> Iterator[str]:
    for line in shown(text).split("\n"):
        yield f"{_FRAME}{line}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
