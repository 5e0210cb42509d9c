"""What rots in the front door when nobody looks: for ``doctor``. It changes nothing.

A request that was never extracted counts too: it waits for somebody to start the extractor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from .listing import Entry, Listing
from .quarantine import instant
from .states import ANSWERED, CLOSED, DRAINED, EXTRACTION_FAILED, NEEDS_INFO, STATES, WAITING

#: What waits on a person for longer than this is worth saying.
WAITING_MAX_MS: Final = 72 * 3_600_000


@dataclass(frozen=True, slots=True)
class FrontdoorFinding:
    """One thing that a person has to look at; its text holds no stranger's word."""

    kind: Literal["invalid", "unreadable", "extraction_failed", "waiting", "duplicate", "unknown_state"]
    #: The number of the request, None for a file that has none.
    seq: int | None
    text: str


def findings(listing: Listing, now_ms: int) -> Iterator[FrontdoorFinding]:
    """Everything that is stuck, in the order of the numbers; ``now_ms`` in milliseconds since 1970."""
    for seq in sorted(listing.duplicates):
        yield FrontdoorFinding("duplicate", seq, f"two files have the number {seq}; keep one")
    for entry in listing.entries:
        yield from _stuck(entry, now_ms)
    for each in listing.unreadable:
        yield FrontdoorFinding("unreadable", None, f"a file of the requests {each.reason}")


def _stuck(entry: Entry, now_ms: int) -> Iterator[FrontdoorFinding]:
    if entry.state in {ANSWERED, CLOSED}:
        return
    if entry.state not in STATES:
        yield FrontdoorFinding(
            "unknown_state", entry.seq, f"request {entry.seq} has a state of no meaning here"
        )
    elif not entry.valid and entry.state != NEEDS_INFO:
        yield FrontdoorFinding(
            "invalid", entry.seq, f"request {entry.seq} is not valid; read it and close it"
        )
    elif entry.state == EXTRACTION_FAILED:
        yield FrontdoorFinding(
            "extraction_failed",
            entry.seq,
            f"request {entry.seq} could not be extracted; read it or try again",
        )
    elif entry.state in WAITING or entry.state == DRAINED:
        since = _instant(entry)
        if since is None or now_ms - since > WAITING_MAX_MS:
            yield FrontdoorFinding(
                "waiting",
                entry.seq,
                f"request {entry.seq} has waited in {entry.state} for more than 72 hours",
            )


def _instant(entry: Entry) -> int | None:
    """When a request arrived, in milliseconds; None where its times are none."""
    drained = instant(entry.drained_at)
    return instant(entry.created_at) if drained is None else drained
