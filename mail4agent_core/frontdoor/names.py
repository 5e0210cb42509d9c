"""Which files of the folder may hold the request of a number, known while the folder stays as it is.

Every program that puts a file into the folder, takes one away or renames one changes the folder's times, so
what was listed holds while they stand. Times are coarse: what changes right after a listing may leave them as
they were. A listing is therefore only kept where the folder was at rest for longer than its times tell apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from mail4agent_core.files import Folder

SUFFIX: Final = ".json"
#: Digits that a name begins with where the drain wrote it.
_DIGITS: Final = 10
_SECOND_NS: Final = 1_000_000_000
#: How long a folder must have been at rest: ten ticks of a kernel's slowest clock; and for times of whole
#: seconds, which are all that some file systems keep, more than the two seconds between two of them.
_FINE_NS: Final = 100_000_000
_WHOLE_NS: Final = 3 * _SECOND_NS

_Times = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Listed:
    times: _Times
    #: By the first digits of the name.
    numbered: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    #: Names that do not begin so: any of these may hold any number.
    odd: list[str] = field(default_factory=list[str])


class Names:
    """The names of one open folder. What it keeps is replaced whole: threads may share it."""

    def __init__(self, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._now_ns = now_ns
        self._kept: _Listed | None = None

    def of(self, folder: Folder, seq: int) -> list[str]:
        """The names of what may be the request of a number, every one. Raises OSError."""
        kept, times = self._kept, folder.times_ns()
        if kept is None or kept.times != times:
            # Looked at before the listing: what changes in between makes the next look list again.
            at_rest = self._now_ns() - max(times) > _rest(times)
            kept = _listed(folder, times)
            self._kept = kept if at_rest else None
        return [*kept.numbered.get(f"{seq:0{_DIGITS}}", ()), *kept.odd]


def named(folder: Folder) -> list[str]:
    """The names of what should be requests. Raises OSError."""
    return [name for name in folder.names() if name.endswith(SUFFIX) and not name.startswith(".")]


def numbered(name: str) -> int | None:
    """The number that a file's name begins with, if it does."""
    digits, dash, _ = name.partition("-")
    return int(digits) if dash and digits.isascii() and digits.isdigit() and len(digits) <= 16 else None


def _listed(folder: Folder, times: _Times) -> _Listed:
    made = _Listed(times)
    for name in named(folder):
        digits = name[:_DIGITS]
        if name[_DIGITS : _DIGITS + 1] == "-" and digits.isascii() and digits.isdigit():
            made.numbered.setdefault(digits, []).append(name)
        else:
            made.odd.append(name)
    return made


def _rest(times: _Times) -> int:
    return _FINE_NS if any(each % _SECOND_NS for each in times) else _WHOLE_NS
