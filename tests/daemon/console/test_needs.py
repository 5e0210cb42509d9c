"""The screen "Needs you"."""

from __future__ import annotations

import pytest

from tests.browser import serious

from .conftest import SIZES, Desk, Shoot


@pytest.mark.promise("console.screens-are-for-everybody")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_reads_in_every_width_and_colour(desk: Desk, shoot: Shoot, size: str, scheme: str) -> None:
    """No serious finding of axe, and nothing to scroll sideways."""
    desk.stage(subject="Quarter numbers for the board, as asked on Monday")
    desk.extracted(reads_like_instructions=True)
    with desk.page(size=size, scheme=scheme) as page:
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shoot(page, f"needs-{size}-{scheme}")
    desk.clear()
