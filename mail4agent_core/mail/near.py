"""Names that somebody may have meant."""

import difflib
from collections.abc import Iterable

#: How many are offered, and how alike a name must be, from 0 to 1.
NEAR_MAX = 3
ALIKE = 0.6


def near(name: str, candidates: Iterable[str], limit: int = NEAR_MAX) -> list[str]:
    """The candidates most like a name, the likest first; letter case does not count.

    One that begins as the name does is like it, however much longer it is: nobody types a session id in full.
    """
    folded: dict[str, list[str]] = {}
    for candidate in dict.fromkeys(candidates):
        folded.setdefault(candidate.lower(), []).append(candidate)
    wanted = name.lower()
    begun = sorted(each for each in folded if wanted and each.startswith(wanted) and each != wanted)
    alike = difflib.get_close_matches(wanted, folded, n=limit, cutoff=ALIKE)
    ordered = dict.fromkeys([*(each for each in alike if each == wanted), *begun[:limit], *alike])
    return [candidate for each in ordered for candidate in folded[each]][:limit]
