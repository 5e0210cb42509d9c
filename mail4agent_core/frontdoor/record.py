"""One request as it lies in its file.

Two programs write these files and each knows keys that the other does not, so a record keeps the object that
it was read from: what is not changed comes out as it came in, in its order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mail4agent_api.codec import parse
from mail4agent_api.errors import RefusalError

from .extracted import Extraction
from .extracted import checked as check_extraction
from .types import Json

#: What is read of one file, in bytes; a larger one is unreadable.
FILE_MAX_BYTES: Final = 8 * 1024 * 1024
SEQ_MAX: Final = 2**53 - 1
#: Keys that the original leaves out rather than write as null or empty.
OMITTED_EMPTY: Final = (
    "invalid_reason", "reply_to", "extraction", "extraction_error", "triage_session", "outbox", "note",
    "attachments", "note_by_person",
)  # fmt: skip


_TEXTS: Final = ("type_id", "state", "created_at", "drained_at")
_NEEDED: Final = ("seq", *_TEXTS, "values")
_MAYBE_TEXTS: Final = ("reply_to", "triage_session", "note", "box_epoch")
_FLAGS: Final = ("valid", "note_by_person")
_MAYBE_NUMBERS: Final = ("type_version", "box_seq")


class UnreadableError(Exception):
    """A file is no record; the message says why in fixed words."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """One file that came with a request, as the drain recorded it."""

    field: str
    #: What the stranger called it: for a person's eyes, never a path.
    filename: str
    size: int
    sha256: str
    content_type: str
    #: Where the bytes are, from the root of the store.
    path: str


@dataclass(frozen=True, slots=True)
class Record:
    """One request. ``raw`` is the object of its file, with the stranger's words; ``repr`` leaves them out."""

    seq: int
    type_id: str = field(repr=False)
    state: str = field(repr=False)
    created_at: str = field(repr=False)
    drained_at: str = field(repr=False)
    valid: bool
    values: Mapping[str, Json] = field(repr=False)
    #: The names of the values that are prose; None where the file does not say.
    free_text: tuple[str, ...] | None = field(repr=False)
    reply_to: str | None = field(repr=False)
    extraction: Extraction | None = field(repr=False)
    triage_session: str | None = field(repr=False)
    outbox: tuple[str, ...] = field(repr=False)
    note: str | None = field(repr=False)
    #: Whether the note is a rejection's reason that a person wrote.
    note_by_person: bool
    attachments: tuple[Attachment, ...] = field(repr=False)
    type_version: int | None
    box_epoch: str | None = field(repr=False)
    box_seq: int | None
    raw: Mapping[str, Json] = field(repr=False, compare=False)

    @classmethod
    def parsed(cls, value: Json) -> Record:
        """The record that a parsed JSON object is. Raises UnreadableError."""
        return _made(checked(value))

    @classmethod
    def loaded(cls, raw: bytes) -> Record:
        """The record that a file's bytes are. Raises UnreadableError."""
        return _made(read(raw))

    @property
    def file_name(self) -> str:
        """``0000000012-meeting.json``, as the drain names it."""
        return f"{self.seq:010}-{self.type_id}.json"

    def changed(self, **changes: Json) -> Record:
        """The record with other members; what is None or empty is left out where the original does so."""
        return Record.parsed(_merged(self.raw, changes))

    def check_numbers(self) -> None:
        """Raise UnreadableError for a number that JSON has not: 1e400 is read as infinity.

        A list does not ask this: it shows no number of the values.
        """
        try:
            json.dumps(self.raw, allow_nan=False)
        except ValueError:
            raise UnreadableError("has a number that JSON has not") from None

    def written(self) -> bytes:
        """The bytes of its file. Raises ValueError for a number that JSON has not."""
        return json.dumps(self.raw, indent=2, ensure_ascii=False, allow_nan=False).encode()


def _merged(raw: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    out = dict(raw)
    for key, value in changes.items():
        if key in OMITTED_EMPTY and (value is None or value is False or value == []):
            out.pop(key, None)
        else:
            out[key] = value
    return out


def read(raw: bytes) -> Mapping[str, Json]:
    """The object that a record's file holds, as ``checked`` leaves it. Raises UnreadableError."""
    if len(raw) > FILE_MAX_BYTES:
        raise UnreadableError("is larger than what is read of a file")
    try:
        value = parse(raw)
    except RefusalError:
        value = None
    if value is None:
        raise UnreadableError("is not JSON, or was not written to its end")
    return checked(value)


def checked(value: Json) -> Mapping[str, Json]:
    """The object of a record, in which each member has its type. Raises UnreadableError.

    In one pass without an object for any part: a list does this to every file.
    """
    if not isinstance(value, dict):
        raise UnreadableError("is no object")
    raw = cast("dict[str, Json]", value)
    for name in _NEEDED:
        if name not in raw:
            raise UnreadableError(f"has no {name}")
    _seq(raw["seq"])
    if not isinstance(raw["values"], dict):
        raise UnreadableError("has values that are no object")
    get = raw.get
    for name in _TEXTS:
        if not isinstance(raw[name], str):
            raise UnreadableError(f"has a {name} that is no text")
    for name in _MAYBE_TEXTS:
        each = get(name)
        if each is not None and not isinstance(each, str):
            raise UnreadableError(f"has a {name} that is no text")
    for name in _FLAGS:
        if not isinstance(get(name, False), bool):
            raise UnreadableError(f"has a {name} that is neither true nor false")
    for name in _MAYBE_NUMBERS:
        if (each := get(name)) is not None:
            _seq(each)
    if (each := get("free_text")) is not None:
        _check_texts(each, "free_text")
    if "outbox" in raw:
        _check_texts(raw["outbox"], "outbox")
    if (each := get("extraction")) is not None:
        _check_extraction(each)
    if "attachments" in raw:
        for _ in _attachments(raw["attachments"]):
            pass
    return raw


def _made(raw: Mapping[str, Json]) -> Record:
    get = raw.get
    free, extraction = get("free_text"), get("extraction")
    return Record(
        seq=raw["seq"],
        type_id=raw["type_id"],
        state=raw["state"],
        created_at=raw["created_at"],
        drained_at=raw["drained_at"],
        valid=get("valid", False),
        values=raw["values"],
        free_text=None if free is None else tuple(free),
        reply_to=get("reply_to"),
        extraction=None if extraction is None else Extraction.parsed(extraction),
        triage_session=get("triage_session"),
        outbox=tuple(get("outbox", ())),
        note=get("note"),
        note_by_person=get("note_by_person", False),
        attachments=tuple(_attachments(get("attachments", []))),
        type_version=get("type_version"),
        box_epoch=get("box_epoch"),
        box_seq=get("box_seq"),
        raw=raw,
    )


def _seq(value: Json) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= SEQ_MAX:
        raise UnreadableError("has a seq that is no number of a request")


def _check_extraction(value: Json) -> None:
    try:
        check_extraction(value)
    except ValueError:
        # Without the context: what could not be read is a stranger's.
        raise UnreadableError("has an extraction of another form") from None


def _check_texts(value: Json, name: str) -> None:
    if not isinstance(value, list):
        raise UnreadableError(f"has a {name} that is no list")
    for each in cast("list[Json]", value):
        if not isinstance(each, str):
            raise UnreadableError(f"has a {name} that is no list of texts")


def _attachments(value: Json) -> Iterator[Attachment]:
    if not isinstance(value, list):
        raise UnreadableError("has attachments that are no list")
    for each in cast("list[Json]", value):
        if not isinstance(each, dict):
            raise UnreadableError("has an attachment that is no object")
        given = cast("dict[str, Json]", each)
        # Where the bytes are is not said before they are here.
        path = given.get("path")
        members: dict[str, Any] = {**given, "path": "" if path is None else path}
        names = ("field", "filename", "sha256", "content_type", "path")
        if not all(isinstance(members.get(name), str) for name in names):
            raise UnreadableError("has an attachment without its members")
        _seq(members.get("size"))
        yield Attachment(size=members["size"], **{name: members[name] for name in names})


def texts_within(value: Json) -> Iterator[str]:
    """Every text in a parsed value, names of members included."""
    waiting: list[Any] = [value]
    while waiting:
        node = waiting.pop()
        match node:
            case str():
                yield node
            case dict():
                waiting += [*cast("dict[str, Json]", node), *cast("dict[str, Json]", node).values()]
            case list():
                waiting += cast("list[Json]", node)
            case _:
                pass
