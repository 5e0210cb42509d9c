"""The screen "Needs you", and the counts that go on without a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import serious

from .conftest import SIZES, Desk, Shoot


@pytest.mark.promise("console.counts-are-live")
def test_a_draft_that_comes_is_told_in_the_rail_and_the_title_without_a_reload(desk: Desk) -> None:
    """The numbers change within a second of the staging, and the line stands in the list."""
    with desk.page() as page:
        expect(page.locator("#rail")).to_have_attribute("data-htmx-powered", "true")
        page.evaluate("window.stays = true")
        id_ = desk.stage(subject="It just came")
        expect(page.locator('[data-count="needs"]')).to_be_visible(timeout=2_000)
        expect(page.get_by_role("link", name="It just came")).to_be_visible(timeout=2_000)
        assert page.title().startswith("(")
        assert page.evaluate("window.stays")
        assert page.get_by_role("link", name="It just came").get_attribute("href") == f"/console/outbox/{id_}"
    desk.clear()


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
