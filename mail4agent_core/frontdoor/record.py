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
from .types import Json

#: What is read of one file, in bytes; a larger one is unreadable.
FILE_MAX_BYTES: Final = 8 * 1024 * 1024
SEQ_MAX: Final = 2**53 - 1
#: Keys that the original leaves out rather than write as null or empty.
OMITTED_EMPTY: Final = (
    "invalid_reason", "reply_to", "extraction", "extraction_error", "triage_session", "outbox", "note",
    "attachments", "note_by_person",
)  # fmt: skip


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
        if not isinstance(value, dict):
            raise UnreadableError("is no object")
        return _read(cast("dict[str, Json]", value))

    @classmethod
    def loaded(cls, raw: bytes) -> Record:
        """The record that a file's bytes are. Raises UnreadableError."""
        if len(raw) > FILE_MAX_BYTES:
            raise UnreadableError("is larger than what is read of a file")
        try:
            value = parse(raw)
        except RefusalError:
            value = None
        if value is None:
            raise UnreadableError("is not JSON, or was not written to its end")
        return cls.parsed(value)

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


def _read(raw: Mapping[str, Json]) -> Record:
    for name in ("seq", "type_id", "state", "created_at", "drained_at", "values"):
        if name not in raw:
            raise UnreadableError(f"has no {name}")
    seq = _seq(raw["seq"])
    values = raw["values"]
    if not isinstance(values, dict):
        raise UnreadableError("has values that are no object")
    free = raw.get("free_text")
    return Record(
        seq=seq,
        type_id=_text(raw, "type_id"),
        state=_text(raw, "state"),
        created_at=_text(raw, "created_at"),
        drained_at=_text(raw, "drained_at"),
        valid=_flag(raw, "valid"),
        values=cast("dict[str, Json]", values),
        free_text=None if free is None else tuple(_texts(free, "free_text")),
        reply_to=_optional(raw, "reply_to"),
        extraction=_extraction(raw.get("extraction")),
        triage_session=_optional(raw, "triage_session"),
        outbox=tuple(_texts(raw.get("outbox", []), "outbox")),
        note=_optional(raw, "note"),
        note_by_person=_flag(raw, "note_by_person"),
        attachments=tuple(_attachments(raw.get("attachments", []))),
        type_version=_number(raw, "type_version"),
        box_epoch=_optional(raw, "box_epoch"),
        box_seq=_number(raw, "box_seq"),
        raw=raw,
    )


def _seq(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= SEQ_MAX:
        raise UnreadableError("has a seq that is no number of a request")
    return value


def _extraction(value: Json) -> Extraction | None:
    try:
        return None if value is None else Extraction.parsed(value)
    except ValueError:
        # Without the context: what could not be read is a stranger's.
        raise UnreadableError("has an extraction of another form") from None


def _number(raw: Mapping[str, Json], name: str) -> int | None:
    return None if raw.get(name) is None else _seq(raw[name])


def _text(raw: Mapping[str, Json], name: str) -> str:
    if not isinstance(raw[name], str):
        raise UnreadableError(f"has a {name} that is no text")
    return raw[name]


def _optional(raw: Mapping[str, Json], name: str) -> str | None:
    return None if raw.get(name) is None else _text(raw, name)


def _flag(raw: Mapping[str, Json], name: str) -> bool:
    value = raw.get(name, False)
    if not isinstance(value, bool):
        raise UnreadableError(f"has a {name} that is neither true nor false")
    return value


def _texts(value: Json, name: str) -> Iterator[str]:
    if not isinstance(value, list):
        raise UnreadableError(f"has a {name} that is no list")
    for each in cast("list[Json]", value):
        if not isinstance(each, str):
            raise UnreadableError(f"has a {name} that is no list of texts")
        yield each


def _attachments(value: Json) -> Iterator[Attachment]:
    if not isinstance(value, list):
        raise UnreadableError("has attachments that are no list")
    for each in cast("list[Json]", value):
        if not isinstance(each, dict):
            raise UnreadableError("has an attachment that is no object")
        given = cast("dict[str, Json]", each)
        # Where the bytes are is not said before they are here.
        members = {"path": "", **given}
        names = ("field", "filename", "sha256", "content_type", "path")
        if not all(isinstance(members.get(name), str) for name in names):
            raise UnreadableError("has an attachment without its members")
        yield Attachment(size=_seq(members.get("size")), **{name: members[name] for name in names})


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
