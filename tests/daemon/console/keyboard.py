"""A person at a page with a keyboard alone: no pointer, and nothing that a key does not reach."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Page, expect

#: Stops of one page that are walked over at most.
STOPS_MAX: Final = 120
#: Where the focus is: its name, and whether a person sees that it is there.
_STOP: Final = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const labels = [...(node.labels || [])].map((each) => each.textContent).join(" ");
  const said = labels || node.getAttribute("aria-label") || node.textContent || "";
  const box = node.getClientRects()[0] || { left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0 };
  const left = Math.max(box.left, 0), right = Math.min(box.right, innerWidth);
  const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  const style = getComputedStyle(node);
  return {
    name: said.replace(/\\s+/g, " ").trim(),
    within: right - left >= Math.min(box.width, 8) && bottom - top >= Math.min(box.height, 8)
      && box.right <= innerWidth + 1,
    uncovered: hit !== null && (node.contains(hit) || hit.contains(node)),
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
  };
}"""


class Keyboard:
    """The keys of one page; each place that the focus stops at must be seen."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type a text."""
        self.page.keyboard.type(text)

    def stop(self) -> dict[str, Any] | None:
        """Where the focus is; None where it is nowhere."""
        return self.page.evaluate(_STOP)

    def seen(self) -> str:
        """The name of what has the focus, which a person sees."""
        stop = self.stop()
        assert stop is not None, "the focus is nowhere"
        return self._seen(stop)

    def _seen(self, stop: dict[str, Any]) -> str:
        unseen = [name for name in ("within", "uncovered", "ring") if not stop[name]]
        assert not unseen, f"not {unseen} at {stop['name']!r} of {self.page.url}"
        return str(stop["name"])

    def reach(self, name: str, *, from_top: bool = False) -> None:
        """Go on by Tab until the focus is on something; on a fresh page by the link to its content."""
        passed: list[str] = []
        if not from_top and self.stop() is None:
            self.press("Tab")
            assert self.seen() == "Skip to the content"
            self.press("Enter")
        for _ in range(STOPS_MAX):
            self.press("Tab")
            stop = self.stop()
            passed.append("" if stop is None else self._seen(stop))
            if re.search(name, passed[-1]):
                return
        raise AssertionError(f"{name!r} is not reached at {self.page.url}: {passed}")

    def follow(self, key: str = "Enter") -> None:
        """Press a key that leads to another page, and wait for that."""
        with self.page.expect_navigation():
            self.press(key)

    def take(self, name: str, *, from_top: bool = False) -> None:
        """Reach a link or a button, and follow it."""
        self.reach(name, from_top=from_top)
        self.follow()

    def unfold(self, name: str) -> None:
        """Reach something that opens on the page itself, and open it."""
        self.reach(name)
        self.press("Enter")

    def paste(self, text: str) -> None:
        """Put a text where the focus is, at once."""
        self.page.keyboard.insert_text(text)

    def told(self, text: str) -> None:
        """The page says a text, which has the focus."""
        expect(self.page.get_by_text(text, exact=True)).to_be_focused()

    def screen(self, number: int, title: str) -> None:
        """Go to a screen by its number."""
        self.press("g")
        self.follow(str(number))
        expect(self.page.get_by_role("heading", level=1)).to_have_text(title)
