"""What a drain hands in, judged before anything is kept.

The drain holds the key to the box and nothing else, so nothing that it says decides what a run is told: the
local type decides whether a submission is valid, which of its values are prose and where an answer goes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from mail4agent_api.errors import MalformedError, TooLargeError

from .quarantine import FILE_TYPES, is_address, is_digest, is_name, is_time, is_type_id
from .record import Attachment, Record, UnreadableError
from .states import DRAINED
from .types import Json, RequestType, Types

VALUES_MAX: Final = 200
RECORD_MAX_BYTES: Final = 1 << 20
FILES_MAX: Final = 16
FILE_MAX_BYTES: Final = 16 * 1024 * 1024
#: What is only ever said at home: by the extractor, a run, a person, or when a submission is taken in.
OURS: Final = (
    "extraction", "extraction_error", "triage_session", "outbox", "note", "note_by_person", "box_seq",
    "box_epoch", "box_digest",
)  # fmt: skip
ENDINGS: Final = {"application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg"}
NO_TYPE: Final = "there is no local copy of the request type"
NOT_VALID: Final = "the values are not valid for the local request type"
DRAIN_SAID: Final = "the drain found the submission invalid"


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission of a box, with the bytes of its files by field."""

    box_epoch: str
    record: Record = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    #: The same for the same content under the same number of the same box, and for nothing else.
    digest: str

    @classmethod
    def of(cls, box_epoch: str, raw: Mapping[str, Json], files: Mapping[str, bytes]) -> Submission:
        """A submission whose parts fit together. Raises MalformedError, TooLargeError."""
        for name in OURS:
            # An empty object is an extraction too.
            if raw.get(name) not in (None, False, [], ""):
                raise MalformedError(field=name, reason="must be absent; it is only said at home")
        record = _parsed(raw)
        _bounded(record)
        if record.state != DRAINED:
            raise MalformedError(field="state", reason="must be drained")
        if not is_type_id(record.type_id):
            raise MalformedError(field="type_id", reason="must be the id of a request type")
        for name in ("created_at", "drained_at"):
            if not is_time(getattr(record, name)):
                raise MalformedError(field="time", reason=f"must be a time of RFC 3339 (at /record/{name})")
        _matching(record, files)
        return cls(box_epoch, record, files, _digest(record))


def _parsed(raw: Mapping[str, Json]) -> Record:
    try:
        return Record.parsed(dict(raw))
    except UnreadableError as failure:
        reason = str(failure)
    raise MalformedError(field="record", reason=reason)


def _bounded(record: Record) -> None:
    if len(record.values) > VALUES_MAX:
        raise TooLargeError(field="values", limit=VALUES_MAX, actual=len(record.values))
    try:
        size = len(json.dumps(record.raw, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        size = None
    if size is None:
        raise MalformedError(field="values", reason="must hold numbers that JSON has")
    if size > RECORD_MAX_BYTES:
        raise TooLargeError(field="record", limit=RECORD_MAX_BYTES, actual=size)


def _matching(record: Record, files: Mapping[str, bytes]) -> None:
    """The files are those that the record lists, byte for byte."""
    fields = [attachment.field for attachment in record.attachments]
    if len(fields) > FILES_MAX:
        raise TooLargeError(field="attachments", limit=FILES_MAX, actual=len(fields))
    if len(set(fields)) < len(fields) or not all(map(is_name, fields)):
        raise MalformedError(field="attachments", reason="must be one file a field")
    if set(fields) != set(files):
        raise MalformedError(field="files", reason="must be those that the record lists, one each")
    for attachment in record.attachments:
        raw = files[attachment.field]
        if len(raw) > FILE_MAX_BYTES:
            raise TooLargeError(field="size", limit=FILE_MAX_BYTES, actual=len(raw))
        if attachment.content_type not in FILE_TYPES or not is_digest(attachment.sha256):
            raise MalformedError(field="attachments", reason="must have a content type and a digest")
        if len(raw) != attachment.size:
            raise MalformedError(field="size", reason="must be the size of the bytes that came")
        if f"sha256:{hashlib.sha256(raw).hexdigest()}" != attachment.sha256:
            raise MalformedError(field="sha256", reason="must be the digest of the bytes that came")


def _digest(record: Record) -> str:
    content = {
        "type_id": record.type_id,
        "created_at": record.created_at,
        "values": record.values,
        "attachments": sorted([each.field, each.sha256, each.filename] for each in record.attachments),
    }
    raw = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"


def path_of(seq: int, attachment: Attachment) -> str:
    """Where a file rests, from the root: the name that the stranger gave is no part of it."""
    return f"attachments/{seq:010}/{attachment.field}.{ENDINGS[attachment.content_type]}"


def taken(submission: Submission, seq: int, types: Types) -> Record:
    """The record that a submission becomes under a number of home."""
    record = submission.record
    type_ = types(record.type_id, record.type_version)
    judged = _judged(record, type_)
    paths = {attachment.field: path_of(seq, attachment) for attachment in record.attachments}
    given = cast("list[dict[str, Json]]", record.raw.get("attachments") or [])
    listed = [{**each, "path": paths[each["field"]]} for each in given]
    return record.changed(
        seq=seq,
        state=DRAINED,
        **judged,
        attachments=listed,
        box_seq=record.seq,
        box_epoch=submission.box_epoch,
        box_digest=submission.digest,
    )


def _judged(record: Record, type_: RequestType | None) -> dict[str, Json]:
    if not record.valid:
        return _invalid(record, DRAIN_SAID)
    if type_ is None:
        return _invalid(record, NO_TYPE)
    machinery = {name: value for name, value in record.values.items() if name.startswith("_")}
    given = {name: value for name, value in record.values.items() if name not in machinery}
    for attachment in record.attachments:
        # The drain leaves the name out of the value, and the type wants one to judge.
        given[attachment.field] = {
            "filename": attachment.filename,
            "size": attachment.size,
            "sha256": attachment.sha256,
            "content_type": attachment.content_type,
        }
    coerced = type_.validate(given)
    if not isinstance(coerced, dict):
        return _invalid(record, NOT_VALID)
    reply_to = coerced.get(type_.reply_field) if type_.reply_field is not None else None
    if not (reply_to is None or (isinstance(reply_to, str) and is_address(reply_to))):
        return _invalid(record, NOT_VALID)
    for attachment in record.attachments:
        value = coerced.get(attachment.field)
        if isinstance(value, dict):
            coerced[attachment.field] = {
                key: each for key, each in cast("dict[str, Json]", value).items() if key != "filename"
            }
    free = [each.name for each in type_.fields if each.free_text and isinstance(coerced.get(each.name), str)]
    return {
        "valid": True,
        "invalid_reason": None,
        "values": {**coerced, **machinery},
        "free_text": [*free, *(name for name, value in machinery.items() if isinstance(value, str))],
        "reply_to": reply_to,
    }


def _invalid(record: Record, reason: str) -> dict[str, Json]:
    given = record.raw.get("invalid_reason")
    kept = given if reason == DRAIN_SAID and isinstance(given, str) else reason
    return {"valid": False, "invalid_reason": kept, "free_text": [], "reply_to": None}
