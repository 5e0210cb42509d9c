"""What ``doctor`` says of the front door: requests that rot, types that are none, a model that cannot be
asked.

It asks nobody, changes nothing, and no word of a stranger is in what it says.
"""

import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from mail4agent_api.errors import RefusalError
from mail4agent_core.files import FolderError
from mail4agent_core.frontdoor.extraction import ProviderError
from mail4agent_core.frontdoor.findings import findings
from mail4agent_core.frontdoor.listing import Listing
from mail4agent_core.frontdoor.manifest import Form, TypeFolder, UnreadableType
from mail4agent_core.frontdoor.quarantine import instant
from mail4agent_core.frontdoor.states import DRAINED
from mail4agent_core.frontdoor.store import Frontdoor

from .drain.state import last_drain
from .settings import Effective

#: Of each kind so many are named one by one.
NAMED_MAX: Final = 10
#: A home that has not looked into its box for longer has no drain that runs.
DRAINED_MAX_MS: Final = 24 * 3_600_000
State = Literal["good", "note", "bad"]
#: What was looked at, how it is, and the words for a person.
Said = tuple[str, State, str]
_BAD = frozenset(("extraction_failed", "unreadable", "duplicate"))


def examined(effective: Effective) -> Iterator[Said]:
    """Everything about the front door; nothing where there are neither requests nor types nor a model."""
    listing, unusable = _listing(effective.requests)
    if unusable is not None:
        yield "requests", "bad", unusable
    if listing is not None:
        yield from _requests(listing)
    yield from _types(effective.types, listing)
    yield from _model(effective, listing)
    yield from _box(effective)


def _listing(root: Path) -> tuple[Listing | None, str | None]:
    try:
        with Frontdoor.open(root, make=False) as store:
            return store.listing(), None
    except FileNotFoundError:
        return None, None
    except FolderError as failure:
        return None, str(failure)
    except RefusalError:
        return None, f"{root} cannot be read"


def _requests(listing: Listing) -> Iterator[Said]:
    found = list(findings(listing, int(time.time() * 1000)))
    for each in found[:NAMED_MAX]:
        yield "requests", "bad" if each.kind in _BAD else "note", each.text
    if len(found) > NAMED_MAX:
        yield "requests", "note", f"{len(found) - NAMED_MAX} more; see mail4agent frontdoor list"
    if not found:
        yield "requests", "good", f"none of {len(listing.entries)} requests is stuck"


def _types(root: Path, listing: Listing | None) -> Iterator[Said]:
    try:
        every = TypeFolder(root).every()
    except FolderError as failure:
        yield "types", "bad", str(failure)
        return
    broken = [each for each in every if isinstance(each, UnreadableType)]
    for each in broken[:NAMED_MAX]:
        yield (
            "types",
            "bad",
            f"{each.name} is no type: {each.reasons[0]}; see mail4agent frontdoor types check",
        )
    if len(broken) > NAMED_MAX:
        yield "types", "bad", f"{len(broken) - NAMED_MAX} more files are no types"
    forms = [each for each in every if isinstance(each, Form)]
    for form in forms:
        if form.reply_field is None:
            yield "types", "note", f"{form.id} proves no address, so that nobody can be answered"
    if listing is not None and listing.entries and not forms:
        yield "types", "bad", f"there are requests and no usable type in {root}: no run is told of any"
    elif forms and not broken:
        yield "types", "good", f"{len(forms)} request types can be used"


def _model(effective: Effective, listing: Listing | None) -> Iterator[Said]:
    endpoint = effective.model
    if endpoint is None:
        waiting = 0 if listing is None else sum(entry.state == DRAINED for entry in listing.entries)
        if waiting:
            yield "model", "note", f"{waiting} requests wait for a model; set model.base_url and model.name"
        return
    # Loaded where a model is set: it brings a client of HTTP.
    from .model import key_of

    try:
        key_of(endpoint.key)
    except ProviderError as failure:
        yield "model", "bad", failure.diagnosis
        return
    if isinstance(endpoint.key, Path) and stat.S_IMODE(endpoint.key.stat().st_mode) & 0o077:
        yield "model", "bad", f"{endpoint.key} is open to others; make its mode 600"
        return
    yield "model", "good", f"{endpoint.name} at {endpoint.base} is set; nobody was asked"


def _box(effective: Effective) -> Iterator[Said]:
    if effective.settings.box.url is None:
        return
    # Loaded where a box is set: it brings a client of HTTP.
    from .drain.box import BoxKeyError, key_of

    key = effective.drain_key
    try:
        key_of(key)
    except BoxKeyError as failure:
        yield "box", "bad", str(failure)
    else:
        if isinstance(key, Path) and stat.S_IMODE(key.stat().st_mode) & 0o077:
            yield "box", "bad", f"{key} is open to others; make its mode 600"
    last = last_drain(effective.home)
    at = None if last is None else instant(last.at)
    if last is None or at is None:
        yield "box", "note", "home has never drained the box; run mail4agent frontdoor drain"
        return
    hours = (int(time.time() * 1000) - at) // 3_600_000
    if hours * 3_600_000 >= DRAINED_MAX_MS:
        yield "box", "bad", f"home last drained the box {hours} hours ago; is its drain running?"
    else:
        yield "box", "good", f"home last drained the box at {last.at}"
    if last.left:
        yield "box", "note", f"{last.left} rows stayed in the box; the drain says why"
