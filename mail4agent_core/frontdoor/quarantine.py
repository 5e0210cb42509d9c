"""The boundary: a run with tools is told the extraction and typed values, never the prose.

``for_privileged_run`` is a function and not a rule, and no argument of it adds the prose. What it passes is
named one by one and closed by default: a value of which nothing says that it is typed is prose. The prose
itself is ``Quarantined``, which is no text: it cannot be printed, joined, formatted or compared by mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Final, NoReturn

from .extracted import faults
from .record import Attachment, Record, texts_within
from .types import Json, RequestField, RequestType

#: A name of a form. One that begins with an underscore is machinery of the box, and nobody validated it.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_TYPE_ID = re.compile(r"[a-z0-9_-]{1,64}\Z")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})\Z"
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")
#: One bare address: no quotes, no display name, nothing that reads as a sentence.
_ADDRESS = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]"
    r"([A-Za-z0-9-]{0,61}[A-Za-z0-9])\Z"
)
ADDRESS_MAX_CHARS: Final = 254
FILE_TYPES: Final = frozenset(("application/pdf", "image/png", "image/jpeg"))


class Reader(Enum):
    """Who may open the quarantine. There is no third."""

    #: The screen in front of a person.
    PERSON = "a person's screen"
    #: The pass without tools, history or memory that makes the extraction.
    EXTRACTOR = "the extractor"


class Quarantined:
    """Texts of a stranger, each under the name of its value. Only a ``Reader`` opens it."""

    __slots__ = ("__texts",)

    def __init__(self, texts: Iterable[tuple[str, str]] = ()) -> None:
        self.__texts = tuple(texts)

    def open(self, reader: Reader) -> tuple[tuple[str, str], ...]:
        """The names and texts, for one of the two who may read them. Raises TypeError for anybody else."""
        if type(reader) is not Reader:
            raise TypeError("the quarantine opens for a reader of its own only")
        return self.__texts

    def __bool__(self) -> bool:
        return bool(self.__texts)

    def __repr__(self) -> str:
        return "<quarantined>"

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return "<quarantined>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("what is quarantined is not copied or pickled")


def prose(record: Record, type_: RequestType | None = None) -> Quarantined:
    """The prose of a record: the one way to it.

    The texts that the record names, and every further one that is not known to be typed: all of a record
    without a list, under machinery keys, and with a type all but the values that it allows.
    """
    return Quarantined(_prose(record, type_))


def _prose(record: Record, type_: RequestType | None) -> Iterator[tuple[str, str]]:
    typed = typed_values(record, type_)
    files = {attachment.field for attachment in record.attachments}
    listed = record.free_text or ()
    # In the order of the form, as the drain listed them.
    for name in (*listed, *(name for name in record.values if name not in listed)):
        if name in record.values and name not in typed and name not in files:
            value = record.values[name]
            for text in (value,) if isinstance(value, str) else texts_within(value):
                yield name, text


def typed_values(record: Record, type_: RequestType | None = None) -> dict[str, Json]:
    """The values that are neither prose nor files.

    With a type: those of declared fields that are no free text, where the value is one that the field allows.
    Without one: what the record does not list as prose, and no text at all where it has no list. An invalid
    record has none.
    """
    if not record.valid:
        return {}
    files = {attachment.field for attachment in record.attachments}
    free = record.free_text
    out: dict[str, Json] = {}
    if type_ is not None:
        for field in type_.fields:
            if field.name not in files and field.name not in (free or ()) and _passes(field, record.values):
                out[field.name] = record.values[field.name]
        for name in type_.acknowledgments:
            if _NAME.match(name) and record.values.get(name) is True:
                out[name] = True
        return out
    for name, value in record.values.items():
        listed = free is not None and name in free
        if _NAME.match(name) and not listed and name not in files and _is_typed(value, free is not None):
            out[name] = value
    return out


def _passes(field: RequestField, values: Mapping[str, Json]) -> bool:
    return (
        not field.free_text
        and field.kind != "file"
        and _NAME.match(field.name) is not None
        and field.name in values
        and _is_typed(values[field.name], True)
        and field.check(values[field.name])
    )


def _is_typed(value: Json, texts: bool) -> bool:
    """Whether a value may be one of a date, a number, a choice or choices; those of objects never are."""
    match value:
        case bool() | int():
            return True
        case str():
            return texts
        case list():
            return texts and all(isinstance(each, str) for each in value)  # pyright: ignore[reportUnknownVariableType]
        case _:
            return False


def for_privileged_run(record: Record, type_: RequestType | None = None) -> dict[str, Json] | None:
    """Everything that a run with tools may be told of a request, or None.

    None for a record that is invalid, not extracted, or of which a part that would pass is not what it must
    be. Nothing makes it return the prose, the extractor's reading, a file's name or where its bytes are. Who
    is told a brief has read what a stranger may have written: its taint says so, always.
    """
    extraction = record.extraction
    if extraction is None or not record.valid or not _vouched(record, type_):
        return None
    if faults(extraction, _strangers(record, type_)):
        return None
    measured = [_measured(attachment) for attachment in record.attachments]
    if not all(_NAME.match(each["field"]) for each in measured):
        return None
    return {
        "seq": record.seq,
        "type": record.type_id,
        "received": record.created_at,
        "reply_to": record.reply_to,
        "fields": typed_values(record, type_),
        "extracted": {
            "topic": extraction.topic,
            "urgency_claimed": extraction.urgency_claimed,
            "dates_mentioned": list(extraction.dates_mentioned),
            "institution": extraction.institution,
        },
        "attachments": measured,
        "note": record.note if record.note_by_person else None,
        "taint": {"private": False, "untrusted": True},
    }


def _vouched(record: Record, type_: RequestType | None) -> bool:
    """Whether each text that passes unread is of the form that it must have."""
    if type_ is not None:
        files = {field.name for field in type_.fields if field.kind == "file"}
        if record.type_id != type_.id or any(each.field not in files for each in record.attachments):
            return False
    return (
        _TYPE_ID.match(record.type_id) is not None
        and is_time(record.created_at)
        and (record.reply_to is None or is_address(record.reply_to))
        and all(_DIGEST.match(each.sha256) and each.content_type in FILE_TYPES for each in record.attachments)
    )


def _strangers(record: Record, type_: RequestType | None) -> list[str]:
    """What an extraction must not quote: the prose, and what a file was called."""
    return [
        *(text for _, text in _prose(record, type_)),
        *(attachment.filename for attachment in record.attachments),
    ]


def _measured(attachment: Attachment) -> dict[str, Json]:
    return {
        "field": attachment.field,
        "size": attachment.size,
        "content_type": attachment.content_type,
        "sha256": attachment.sha256,
    }


def instant(text: str) -> int | None:
    """The time of RFC 3339 that a text is, in milliseconds since 1970; None where there is no such time."""
    if _TIME.match(text) is None:
        return None
    # Of a fraction no digit: datetime takes six, and nothing here is that exact.
    zone = text[19:].lstrip(".0123456789")
    try:
        moment = datetime.fromisoformat(text[:19] + ("+00:00" if zone == "Z" else zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return int(moment.timestamp()) * 1000


def is_time(text: str) -> bool:
    """Whether a text is a time of RFC 3339 that there is."""
    return instant(text) is not None


def is_address(text: str) -> bool:
    """Whether a text is one bare email address."""
    return len(text) <= ADDRESS_MAX_CHARS and _ADDRESS.match(text) is not None


def is_digest(text: str) -> bool:
    """Whether a text is a digest as the drain writes it."""
    return _DIGEST.match(text) is not None


def is_name(text: str) -> bool:
    """Whether a text is a name of a field."""
    return _NAME.match(text) is not None


def is_type_id(text: str) -> bool:
    """Whether a text is the id of a request type."""
    return _TYPE_ID.match(text) is not None
