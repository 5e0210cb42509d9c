"""Templates and files of the console, loaded once."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import PermissionDeniedError, RefusalError
from mail4agent_core.outbox.shown import hidden, shown, shown_line

from .reply import Reply
from .visit import PATH, Screen, Visit

_HERE: Final = Path(__file__).parent
_KINDS: Final = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}
_FOR_EVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
_HASH_DIGITS: Final = 16


class Pages:
    """Renders pages; ``statics`` are its files by their whole paths, each with the hash of what it holds."""

    def __init__(self, screens: Sequence[Screen]) -> None:
        self.screens = tuple(screens)
        #: Those of the seams that some count is of.
        self.seams = frozenset(seam for screen in self.screens for seam in screen.seams)
        self.statics: dict[str, Reply] = {}
        self._paths: dict[str, str] = {}
        for file in sorted((_HERE / "static").iterdir()):
            kind = _KINDS.get(file.suffix)
            if kind is not None:
                raw = file.read_bytes()
                digest = hashlib.sha256(raw).hexdigest()[:_HASH_DIGITS]
                path = f"{PATH}/static/{digest}/{file.name}"
                self._paths[file.name] = path
                self.statics[path] = Reply(200, raw, kind, (_FOR_EVER,))
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters.update(
            shown=shown, shown_line=shown_line, hidden=hidden, when=when, from_home=from_home, address=text_of
        )
        self._templates.globals.update(
            static=self._paths.__getitem__, screens=self.screens, home=PATH, said="", visit=None, tally={}
        )

    def render(self, template: str, **context: Any) -> str:
        """A page as text. ``csrf_field`` is the hidden field of every form."""
        csrf = context.get("csrf")
        field = Markup('<input type="hidden" name="csrf" value="{}">').format(csrf or "")
        return self._templates.get_template(template).render(csrf_field=field, **context)

    async def tally(self, visit: Visit) -> Mapping[str, int]:
        """How much waits on each screen that tells and that the account may see."""
        return self.told(await self.counts(visit))

    async def counts(self, visit: Visit, seams: frozenset[str] | None = None) -> dict[str, int | None]:
        """The count of each screen that tells, or of those of some seams; None where it cannot be counted."""
        counted = [
            screen
            for screen in self.screens
            if screen.count is not None and (seams is None or screen.seams & seams)
        ]
        found = await asyncio.gather(*(self._count(screen, visit) for screen in counted))
        return {screen.name: n for screen, n in zip(counted, found, strict=True)}

    @staticmethod
    def told(counts: Mapping[str, int | None]) -> dict[str, int]:
        """Counts without those that are none."""
        return {name: n for name, n in counts.items() if n is not None}

    @staticmethod
    async def _count(screen: Screen, visit: Visit) -> int | None:
        assert screen.count is not None
        try:
            return await screen.count(visit)
        except PermissionDeniedError:
            return None
        except RefusalError as refusal:
            if refusal.status == 401:
                raise
            # A screen that cannot be counted says why where it is looked at.
            return None


def when(at: object) -> Markup:
    """A time as an element, in UTC to the second: Unix milliseconds, or a time of the contract."""
    if at is None:
        return Markup("<span>unknown</span>")
    if isinstance(at, int):
        found = datetime.fromtimestamp(at / 1000, UTC)
    else:
        try:
            found = datetime.fromisoformat(str(at))
        except ValueError:
            # A file of another program's; what it says is all there is.
            return Markup("<span>{}</span>").format(shown_line(str(at)))
    if found.tzinfo is not None:
        found = found.astimezone(UTC)
    text = found.strftime("%Y-%m-%dT%H:%M:%S")
    return Markup('<time datetime="{}Z">{} UTC</time>').format(text, text.replace("T", " "))


def from_home(text: object) -> str:
    """A text in which the folder of the daemon's own user is ``~``, as a person writes it."""
    home = str(Path.home()).rstrip("/")
    # A folder of the same name further down a path is another one.
    return re.sub(rf"(?<![\w.~/-]){re.escape(home)}(?=/|\Z)", "~", str(text)) if home else str(text)
