"""What was found once of words and the texts that they were held against, remembered under a digest of both.

The comparison of a long prose takes a second, and who asks for the next request asks for it again. It is a
function of its texts alone, so that a verdict never goes out of date.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

#: Verdicts that are remembered; the one that was asked for longest ago goes first.
VERDICTS_MAX: Final = 1_024

Verdict = tuple[str, ...]


class Verdicts:
    """Remembers at most so many. Threads may share it."""

    def __init__(self, most: int = VERDICTS_MAX) -> None:
        self._most = most
        self._known: OrderedDict[bytes, Verdict] = OrderedDict()
        self._lock = Lock()

    def of(self, made: Sequence[str], texts: Sequence[str], judge: Callable[[], Verdict]) -> Verdict:
        """The verdict on what was made of texts; ``judge`` finds it where it is not known."""
        digest = _digest(made, texts)
        with self._lock:
            known = self._known.get(digest)
            if known is not None:
                self._known.move_to_end(digest)
                return known
        # Outside the lock: others ask meanwhile, and the same found twice is the same.
        found = judge()
        with self._lock:
            self._known[digest] = found
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return found


def _digest(*sides: Sequence[str]) -> bytes:
    """Each side with its number of texts, each text with its length, so that no two are hashed alike."""
    hashed = hashlib.sha256()
    for side in sides:
        hashed.update(len(side).to_bytes(8, "big"))
        for text in side:
            raw = text.encode("utf-8", "surrogatepass")
            hashed.update(len(raw).to_bytes(8, "big"))
            hashed.update(raw)
    return hashed.digest()
