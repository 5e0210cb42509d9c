"""Taking in what a drain brings: files first, then the record, then the acknowledgement.

A submission is known by its number in its box, and a box that was built anew counts from one again: home
gives its own numbers then. No record exists before all of its files do, and whatever stops the work in
between, the same submission can be brought again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from mail4agent_api.errors import AlreadyExistsError, MalformedError, UnknownItemError

from .listing import Entry, Listing
from .record import SEQ_MAX, Record
from .store import ATTACHMENTS, Frontdoor
from .submission import Submission, path_of, taken

#: A box's number past this is not taken over: a hostile one could use all numbers up with one submission.
OWN_MAX: Final = 9_999_999_999


@dataclass(frozen=True, slots=True)
class Receipt:
    """What may be acknowledged to the box."""

    #: The number that the request has at home.
    seq: int
    valid: bool
    #: Whether it was here already.
    repeated: bool


def ingest(store: Frontdoor, submission: Submission) -> Receipt:
    """Keep a submission, on disk before this returns.

    Raises AlreadyExistsError where the box gave its number to other content, StoreUnavailableError.
    """
    with store.locked("frontdoor.ingest"):
        listing = store.listing()
        held = _held(store, listing, submission)
        if held is not None:
            return Receipt(held.seq, held.valid, repeated=True)
        seq = _numbered(listing, submission)
        record = taken(submission, seq, store.types)
        if record.attachments:
            _put_files(store, submission, seq)
        store.put(record.file_name, record)
    return Receipt(seq, record.valid, repeated=False)


def _held(store: Frontdoor, listing: Listing, submission: Submission) -> Record | None:
    """The request that a submission is already; raises for other content under its number."""
    for entry in listing.entries:
        if (entry.box_epoch, entry.box_seq) == (submission.box_epoch, submission.record.seq):
            record = store.loaded(entry)
            if record.raw.get("box_digest") != submission.digest:
                raise AlreadyExistsError(id=str(record.seq))
            return record
    # The original's drain keeps no number of the box: it is known by what it brought.
    for entry in listing.of(submission.record.seq):
        if entry.box_epoch is None and _is_same(store, entry, submission):
            return store.loaded(entry)
    return None


def _is_same(store: Frontdoor, entry: Entry, submission: Submission) -> bool:
    try:
        theirs, ours = store.loaded(entry), submission.record
    except UnknownItemError:
        return False
    return (theirs.type_id, theirs.created_at, theirs.values) == (
        ours.type_id,
        ours.created_at,
        ours.values,
    ) and (
        [(each.field, each.sha256) for each in theirs.attachments]
        == [(each.field, each.sha256) for each in ours.attachments]
    )


def _numbered(listing: Listing, submission: Submission) -> int:
    """The box's own number while there is one box and it is free, else the next one of home."""
    highest = listing.highest()
    others = {entry.box_epoch for entry in listing.entries} - {None, submission.box_epoch}
    wanted = submission.record.seq
    if not others and wanted <= OWN_MAX and not listing.of(wanted) and not _named(listing, wanted):
        return wanted
    if highest >= SEQ_MAX:
        raise MalformedError(field="seq", reason="must leave a number for the next request")
    return highest + 1


def _named(listing: Listing, seq: int) -> bool:
    return any(each.name.startswith(f"{seq:010}-") for each in listing.unreadable)


def _put_files(store: Frontdoor, submission: Submission, seq: int) -> None:
    wanted = {
        PurePosixPath(path_of(seq, attachment)).name: attachment.field
        for attachment in submission.record.attachments
    }
    with (
        store.disk("frontdoor.ingest"),
        store.folder(ATTACHMENTS) as every,
        every.inner(f"{seq:010}") as folder,
    ):
        # What an ingest that was stopped left under this number belongs to no request.
        for name in set(folder.names()) - wanted.keys():
            folder.remove(name)
        for name, field in wanted.items():
            folder.write(name, submission.files[field], settle=False)
        folder.settle()
        every.settle()
