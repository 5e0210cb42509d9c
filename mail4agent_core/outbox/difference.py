"""What a person changed in a draft, line by line."""

import json
from collections import Counter
from itertools import zip_longest
from typing import Any


def diff_args(before: Any, after: Any) -> str:
    """The lines that went and those that came, ``- `` and ``+ `` before each, in linear time.

    A line that stands there twice and once afterwards went once. Lines that only changed places are shown
    where they stood and where they stand.
    """
    old, new = _lines(before), _lines(after)
    gone, came = Counter(old) - Counter(new), Counter(new) - Counter(old)
    out = [f"  - {line}" for line in _taken(old, gone)] + [f"  + {line}" for line in _taken(new, came)]
    if not out and old != new:
        moved = [(a, b) for a, b in zip_longest(old, new) if a != b]
        out = [f"  - {a}" for a, _ in moved] + [f"  + {b}" for _, b in moved]
    return "\n".join(out or ["  (no textual change)"]) + "\n"


def _lines(value: Any) -> list[str]:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2).splitlines()


def _taken(lines: list[str], wanted: Counter[str]) -> list[str]:
    left = Counter(wanted)
    out: list[str] = []
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
            out.append(line)
    return out
