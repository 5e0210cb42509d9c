"""What passes between the store and the extractor: the prose out, an extraction or a failure back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .extracted import Extraction
from .quarantine import Quarantined
from .record import Record

#: Bytes of a diagnosis that a record keeps.
DIAGNOSIS_MAX_BYTES = 512


class ExtractionError(Exception):
    """The quarantined pass made nothing that may be believed.

    The diagnosis is in fixed words: neither the prose nor what a model said is in it.
    """

    def __init__(self, diagnosis: str) -> None:
        super().__init__(diagnosis)
        self.diagnosis = diagnosis


@dataclass(frozen=True, slots=True)
class Unread:
    """A request whose prose nothing has read, taken for extraction.

    ``record`` is as it was when it was taken: what comes back is only kept while its state is still that.
    """

    record: Record
    prose: Quarantined


class Extractor(Protocol):
    """What makes an extraction. It has no tools, no history and no memory."""

    def __call__(self, prose: Quarantined) -> Extraction:
        """Read the prose. It may take minutes and runs in a thread. Raises ExtractionError."""
        ...
