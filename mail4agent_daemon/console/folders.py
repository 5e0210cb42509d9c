"""What other programs change in the folders that the console shows, seen by the folders' own times.

Every store there puts an item in its place by renaming, which its folder's time tells. A change within the
same tick of the kernel's clock as a look is missed; the streams' own look at everything finds it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Final

#: Between two looks while a page is open.
LOOK_SECS: Final = 0.2
#: The mailboxes that are looked at; of more, the root alone says that one came or went.
MAILBOXES_MAX: Final = 256

#: The folders of a seam, by name, and when each changed last.
_Folders = tuple[tuple[str, int], ...]
_Times = dict[str, _Folders]


class Folders:
    """The folders of the outbox, the front door and the mailboxes."""

    def __init__(self, *, outbox: Path, requests: Path, mailboxes: Path) -> None:
        self._roots = {"outbox": outbox, "frontdoor": requests}
        self._mailboxes = mailboxes
        self._known: _Times = {}

    def touched(self, seam: str) -> None:
        """An operation changed something of a seam, which is told: what its folder is now is no news."""
        if seam in self._roots:
            self._known[seam] = self._of(seam)

    async def watch(self, tell: Callable[[str], None]) -> None:
        """Tell each seam whose folder others changed, until cancelled."""
        self._known = await asyncio.to_thread(self._times)
        while True:
            await asyncio.sleep(LOOK_SECS)
            now = await asyncio.to_thread(self._times)
            for seam, times in now.items():
                if times != self._known[seam]:
                    tell(seam)
            self._known = now

    def _times(self) -> _Times:
        times = {seam: self._of(seam) for seam in self._roots}
        return {**times, "mailbox": (("", _time(self._mailboxes)), *self._of_mailboxes())}

    def _of(self, seam: str) -> _Folders:
        return (("", _time(self._roots[seam])),)

    def _of_mailboxes(self) -> list[tuple[str, int]]:
        try:
            with os.scandir(self._mailboxes) as found:
                names = [each.name for each in islice(found, MAILBOXES_MAX)]
        except OSError:
            return []
        return [(name, _time(self._mailboxes / name)) for name in names]


def _time(path: Path) -> int:
    """When a folder changed last, 0 for none: a link in the place of one is no folder of ours."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0
