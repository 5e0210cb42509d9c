"""What other programs change in the folders that the console shows, seen by the folders' own times.

Every store there puts an item in its place by renaming, which its folder's time tells. A change within the
same tick of the kernel's clock as a look is missed; the streams' own look at everything finds it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

#: Between two looks while a page is open.
LOOK_SECS: Final = 0.3
#: The mailboxes that are looked at; of more, the root alone says that one came or went.
MAILBOXES_MAX: Final = 256


class Folders:
    """The folders of the outbox, the front door and the mailboxes."""

    def __init__(self, *, outbox: Path, requests: Path, mailboxes: Path) -> None:
        self._roots = {"outbox": outbox, "frontdoor": requests}
        self._mailboxes = mailboxes
        self._ours = set[str]()

    def touched(self, seam: str) -> None:
        """An operation changed something of a seam, and was told: the next change seen there is its own."""
        self._ours.add(seam)

    async def watch(self, tell: Callable[[str, bool], None]) -> None:
        """Tell each seam whose folder changed, and whether others did it, until cancelled."""
        known = await asyncio.to_thread(self._times)
        while True:
            await asyncio.sleep(LOOK_SECS)
            ours, self._ours = self._ours, set()
            now = await asyncio.to_thread(self._times)
            for seam, times in now.items():
                if times != known[seam]:
                    tell(seam, seam not in ours)
            known = now

    def _times(self) -> Mapping[str, tuple[tuple[str, int], ...]]:
        times = {seam: (("", _time(root)),) for seam, root in self._roots.items()}
        return {**times, "mailbox": (("", _time(self._mailboxes)), *self._of_mailboxes())}

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
