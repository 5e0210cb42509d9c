"""Requests as the contract shows them. A file may say anything where its program allowed it: what no value of
the contract can say is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from typing_extensions import TypeForm

from mail4agent_api import frontdoor as wire
from mail4agent_api.codec import decode_value
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Line

from .hand_over import Unread
from .ingest import Receipt
from .listing import Entry, Listing, Unreadable
from .quarantine import Reader, for_privileged_run, prose, typed_values
from .reconcile import Transition
from .record import Record
from .types import Json, RequestType, Types

T = TypeVar("T")

UNREADABLE_MAX = 64
MOVED_MAX = 256


def summary_of(entry: Entry, *, duplicate: bool, known: bool) -> wire.RequestSummary:
    """The line of a request. ``known``: its type is a local one; the name of another is a box's own words."""
    return wire.RequestSummary(
        seq=entry.seq,
        type_id=_said(wire.RequestTypeId, entry.type_id) if known else None,
        state=_said(wire.RequestState, entry.state),
        valid=entry.valid,
        topic=_said(wire.ExtractedLine, entry.topic),
        reads_like_instructions=entry.reads_like_instructions,
        received=_said(wire.RequestTime, entry.created_at),
        drained_at=_said(wire.RequestTime, entry.drained_at),
        attachments=entry.attachments,
        duplicate=duplicate,
    )


def list_of(listing: Listing, request: wire.FrontdoorListRequest, types: Types) -> wire.FrontdoorList:
    """A page of requests, and what is wrong in the folder."""
    wanted = [entry for entry in listing.entries if request.state is None or entry.state == request.state]
    page = [entry for entry in wanted if entry.seq > request.after][: request.limit]
    known = {id_ for id_ in {entry.type_id for entry in page} if types(id_, None) is not None}
    return wire.FrontdoorList(
        requests=[
            summary_of(entry, duplicate=entry.seq in listing.duplicates, known=entry.type_id in known)
            for entry in page
        ],
        total=len(wanted),
        unreadable=[_unreadable(each) for each in listing.unreadable[:UNREADABLE_MAX]],
        unreadable_total=len(listing.unreadable),
    )


def _unreadable(file: Unreadable) -> wire.UnreadableFile:
    return wire.UnreadableFile(
        name=_said(Line, file.name) or "a name that cannot be shown", reason=file.reason
    )


def item_of(record: Record, type_: RequestType | None) -> wire.FrontdoorItem:
    """A whole request for a person, prose and all."""
    texts: dict[str, list[str]] = {}
    for name, text in prose(record, type_).open(Reader.PERSON):
        texts.setdefault(name, []).append(text)
    return wire.FrontdoorItem(
        record=_open(wire.RequestFile, record.raw),
        fields=_open(wire.BriefFields, typed_values(record, type_)),
        prose=_open(wire.ProseTexts, texts),
        briefed=for_privileged_run(record, type_) is not None,
    )


def brief_of(record: Record, type_: RequestType) -> wire.FrontdoorBrief | None:
    """What a run is told of a request, None for one that it is told nothing of."""
    told = for_privileged_run(record, type_)
    if told is None:
        return None
    try:
        return decode_value(wire.FrontdoorBrief, told)
    except RefusalError:
        # Past a bound of the contract although within those of the boundary: closed.
        return None


def receipt_of(receipt: Receipt) -> wire.FrontdoorReceipt:
    """What may be acknowledged to the box."""
    return wire.FrontdoorReceipt(seq=receipt.seq, valid=receipt.valid, repeated=receipt.repeated)


def moved_of(before: Record, after: Record) -> wire.FrontdoorMoved:
    """A request and the states that it went between."""
    return decode_value(wire.FrontdoorMoved, {"seq": after.seq, "from": before.state, "to": after.state})


def extracted_of(unread: Unread, after: Record) -> wire.FrontdoorMoved:
    """What became of a request that was extracted."""
    return moved_of(unread.record, after)


def reconciled_of(moved: list[Transition]) -> wire.FrontdoorReconciled:
    """The requests whose drafts were decided."""
    return wire.FrontdoorReconciled(
        moved=[
            decode_value(wire.FrontdoorMoved, {"seq": each.seq, "from": each.from_, "to": each.to})
            for each in moved[:MOVED_MAX]
        ],
        total=len(moved),
    )


def submitted(record: wire.FrontdoorRecord) -> dict[str, Json]:
    """A drained record as an object: what it says, without what it leaves out."""
    return record.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _open(kind: TypeForm[T], value: Mapping[str, Any]) -> T:
    return decode_value(kind, dict(value))


def _said(kind: TypeForm[T], text: str | None) -> T | None:
    try:
        return None if text is None else decode_value(kind, text)
    except RefusalError:
        return None
