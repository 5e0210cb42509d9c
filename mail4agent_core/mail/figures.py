"""What a store's writer has done, for metrics."""

from dataclasses import dataclass


@dataclass(slots=True)
class Figures:
    """Counts since the store was opened."""

    commits: int = 0
    writes: int = 0
    faults: int = 0
