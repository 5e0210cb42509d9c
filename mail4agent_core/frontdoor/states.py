"""The states of a request: one row, and the row is the truth."""

from typing import Final

DRAINED: Final = "drained"
EXTRACTED: Final = "extracted"
EXTRACTION_FAILED: Final = "extraction_failed"
TRIAGED: Final = "triaged"
AWAITING_ME: Final = "awaiting_me"
NEEDS_INFO: Final = "needs_info"
ANSWERED: Final = "answered"
CLOSED: Final = "closed"

STATES: Final = (
    DRAINED,
    EXTRACTED,
    EXTRACTION_FAILED,
    TRIAGED,
    AWAITING_ME,
    NEEDS_INFO,
    ANSWERED,
    CLOSED,
)
#: What waits on the owner, and rots when nobody looks.
WAITING: Final = frozenset((EXTRACTED, TRIAGED, AWAITING_ME))
