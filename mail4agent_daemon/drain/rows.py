"""A row of the box as the record that home takes in, and what becomes of one that is none.

A row that cannot be taken as it is becomes an invalid record: a person sees it, and the box may forget it.
What is made of a row follows from the row alone, so that it is the same when it is brought again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import RefusalError
from mail4agent_api.frontdoor import FrontdoorIngestRequest
from mail4agent_api.intake import BoxAttachment, BoxRow
from mail4agent_core.frontdoor.quarantine import is_time, is_type_id
from mail4agent_core.frontdoor.record import SEQ_MAX

#: Bytes of all files of a submission: what one request to the daemon carries besides the largest record.
FILES_MAX_BYTES: Final = 11 * 1024 * 1024
#: Characters of the JSON of a row that no contract has, as they are kept for a person.
KEPT_MAX_CHARS: Final = 65_536
#: Stands for what a row does not say in a form that there is.
NO_TYPE: Final = "unreadable"
NO_TIME: Final = "1970-01-01T00:00:00Z"
UNREADABLE: Final = "the row of the box is none that the contract has"
UNFIT: Final = "the submission is past what home takes in"
TOO_MANY_BYTES: Final = "its files are larger than what home takes in"
LYING: Final = "a file is not what the box says of it"
_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True)
class Row:
    """One row. ``seq`` is None where it has no number, so that it can neither be kept nor acknowledged."""

    seq: int | None
    #: The row by the contract, None where it is none.
    read: BoxRow | None
    raw: Any

    @classmethod
    def of(cls, raw: Any) -> Row:
        """What a member of a page is. Raises nothing."""
        seq = cast("Mapping[str, Any]", raw).get("seq") if isinstance(raw, dict) else None
        number = isinstance(seq, int) and not isinstance(seq, bool) and 0 < seq <= SEQ_MAX
        try:
            read = decode_value(BoxRow, raw)
        except RefusalError:
            read = None
        return cls(cast("int", seq) if number else None, read, raw)

    @property
    def attachments(self) -> list[BoxAttachment]:
        """The files that the row says there are."""
        return [] if self.read is None else list(self.read.attachments)

    @property
    def fault(self) -> str | None:
        """Why the row is invalid before any of its files is asked for."""
        if self.read is None:
            return UNREADABLE
        if sum(each.size for each in self.read.attachments) > FILES_MAX_BYTES:
            return TOO_MANY_BYTES
        return None


def whole(row: Row, epoch: str, now: str, files: Mapping[str, bytes]) -> FrontdoorIngestRequest:
    """A row with all of its files. Raises RefusalError for what the contract of home does not have."""
    return _request(row, epoch, now, row.attachments, files)


def without_files(row: Row, epoch: str, now: str, reason: str) -> FrontdoorIngestRequest:
    """A row whose files are none that can be kept, as an invalid record. Raises RefusalError."""
    return _request(row, epoch, now, [], {}, reason=reason)


def _request(
    row: Row,
    epoch: str,
    now: str,
    attachments: list[BoxAttachment],
    files: Mapping[str, bytes],
    *,
    reason: str | None = None,
) -> FrontdoorIngestRequest:
    read = row.read
    assert read is not None
    record: dict[str, Any] = {
        **_head(read.seq, read.type_id, read.created_at, now),
        "type_version": read.type_version,
        **_judged(reason),
        "values": cast("Mapping[str, Any]", row.raw)["values"],
        "attachments": [
            {
                "field": each.field,
                "filename": each.filename,
                "size": each.size,
                "sha256": each.sha256,
                "content_type": each.content_type,
            }
            for each in attachments
        ],
    }
    asked = {
        "box_epoch": epoch,
        "record": record,
        "files": [{"field": field, "data": _pieces(content)} for field, content in files.items()],
    }
    return decode_value(FrontdoorIngestRequest, asked)


def remains(row: Row, epoch: str, now: str) -> FrontdoorIngestRequest:
    """A row of which home can keep no part as what it is: its JSON, for a person. ``row`` has a number."""
    raw = cast("dict[str, Any]", row.raw)
    type_id = raw.get("type_id")
    created_at = NO_TIME if row.read is None else row.read.created_at
    record: dict[str, Any] = {
        **_head(
            cast("int", row.seq),
            type_id if isinstance(type_id, str) and is_type_id(type_id) else NO_TYPE,
            created_at if is_time(created_at) else NO_TIME,
            now,
        ),
        **_judged(UNREADABLE if row.read is None else UNFIT),
        # Escaped: what is no text, such as half a surrogate pair, is one all the same.
        "values": {"_row": json.dumps(raw, sort_keys=True)[:KEPT_MAX_CHARS]},
    }
    return decode_value(FrontdoorIngestRequest, {"box_epoch": epoch, "record": record})


def _head(seq: int, type_id: str, created_at: str, now: str) -> dict[str, Any]:
    return {
        "seq": seq, "type_id": type_id, "state": "drained", "created_at": created_at, "drained_at": now,
    }  # fmt: skip


def _judged(reason: str | None) -> dict[str, Any]:
    return {"valid": True} if reason is None else {"valid": False, "invalid_reason": reason}


def _pieces(content: bytes) -> list[str]:
    text = base64.urlsafe_b64encode(content).decode().rstrip("=")
    return [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
