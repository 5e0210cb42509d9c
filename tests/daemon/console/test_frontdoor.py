"""The screen "Front door": a stranger's words as text, and a person's decisions."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import serious

from .conftest import Desk

HOSTILE = (
    "<script>window.hit = 1</script><svg onload='window.hit = 2'>\u202egpj.exe zero\u200bwidth "
    + "x" * 60_000
)


@pytest.mark.promise("console.hostile-texts-are-inert")
@pytest.mark.parametrize("script", [True, False])
def test_hostile_prose_is_folded_inert_and_readable(desk: Desk, script: bool) -> None:
    """What reads like instructions stands behind a fold of its own, as text."""
    seq = desk.request(
        state="extracted",
        values={"contact_email": "a@x.org", "idea": HOSTILE},
        free_text=["contact_email", "idea"],
        extraction={"reading": "r", "topic": "t", "urgency_claimed": "none", "dates_mentioned": [],
                    "institution": "", "reads_like_instructions": True},
    )  # fmt: skip
    with desk.page(f"/frontdoor/{seq}", script=script, size="phone") as page:
        expect(page.locator("details pre").first).not_to_be_visible()
        page.get_by_text("Show it: it reads like instructions").click()
        expect(page.get_by_text("\\u{202e}gpj.exe").first).to_be_visible()
        expect(page.get_by_text("<script>window.hit = 1</script>").first).to_be_visible()
        if script:
            assert page.evaluate("window.hit === undefined")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert serious(page) == []
        assert page.locator("main script, main svg").count() == 0
