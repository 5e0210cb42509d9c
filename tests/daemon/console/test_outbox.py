"""The screen "Outbox": every decision by keyboard, what changed since it was shown, and hostile texts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import serious
from tests.daemon.review.conftest import EMAIL

from .conftest import Desk

HOSTILE = (
    "<script>window.hit = 1</script>\n<svg onload='window.hit = 2'></svg>\n[a](javascript:window.hit=3)\n"
    "![x](http://127.0.0.1:1/spy)\n\u202etxt.exe\u202c and zero\u200bwidth\n" + "long" * 16_000
)


def entry(desk: Desk, id_: str) -> dict[str, str]:
    """What the outbox says of a draft."""
    return desk.office.get(id_)["entry"]


@pytest.mark.promise("console.what-was-shown-is-what-leaves")
@pytest.mark.parametrize("decision", ["Release as shown", "Reject"])
def test_a_draft_that_changed_after_it_was_shown_is_not_decided_from_the_old_page(
    desk: Desk, decision: str
) -> None:
    """The page names the digest that it showed."""
    before = len(desk.office.inbox.messages)
    id_ = desk.stage(subject="Will change")
    with desk.page(f"/outbox/{id_}") as page:
        draft = desk.office.get(id_)
        body = {"id": id_, "digest": draft["digest"], "args": {**EMAIL, "subject": "Changed"}}
        desk.office.daemon.do("outbox.edit", body, secret=desk.office.rosa)
        page.get_by_label("Why it is rejected").fill("No.")
        page.get_by_role("button", name=decision).click()
        expect(page.get_by_role("alert")).to_contain_text("changed after it was shown")
    assert entry(desk, id_)["status"] == "pending"
    assert len(desk.office.inbox.messages) == before
    desk.clear()


@pytest.mark.promise("console.a-batch-is-read-whole")
def test_a_batch_carries_out_each_decision_and_no_other(desk: Desk) -> None:
    """One is released, one rejected, one left, and one that changed meanwhile is told."""
    desk.clear()
    ids = [desk.stage(subject=f"Batch {number}") for number in range(4)]
    with desk.page("/decide") as page:
        for id_, what in zip(ids, ("release", "reject", "leave", "release"), strict=True):
            page.locator(f"#{what}-{id_}").check()
        page.locator(f"#reason-{ids[1]}").fill("Too many.")
        changed = {
            "id": ids[3],
            "digest": desk.office.get(ids[3])["digest"],
            "args": {**EMAIL, "subject": "X"},
        }
        desk.office.daemon.do("outbox.edit", changed, secret=desk.office.rosa)
        page.get_by_role("button", name="Carry out these decisions").click()
        expect(page.get_by_text("1 sent, 1 rejected.")).to_be_visible()
        expect(page.get_by_role("link", name=ids[3])).to_be_visible()
    assert [entry(desk, id_)["status"] for id_ in ids] == ["sent", "rejected", "pending", "pending"]
    desk.clear()


@pytest.mark.promise("console.doubts-are-settled-there")
def test_a_release_in_doubt_is_shown_and_settled(desk: Desk) -> None:
    """It says that nobody knows, and takes what the person found out."""
    id_ = desk.office.stage({"page": "index"}, "deploy")["id"]
    with desk.page(f"/outbox/{id_}") as page:
        page.get_by_role("button", name="Release as shown").click()
        expect(page.get_by_role("alert")).to_contain_text("nobody knows whether it left")
        page.goto(f"{desk.url}/outbox/{id_}")
        page.get_by_role("button", name="It was not sent").click()
        expect(page.get_by_text("Settled.", exact=True)).to_be_visible()
    assert entry(desk, id_)["status"] == "pending"
    desk.clear()


@pytest.mark.promise("console.hostile-texts-are-inert")
def test_a_hostile_draft_is_inert_and_readable(desk: Desk) -> None:
    """Nothing runs, nothing is fetched, hidden characters are numbers, and the page keeps its width."""
    id_ = desk.stage(subject="<b>bold</b>\u202egpj", body_markdown=HOSTILE)
    asked = list[str]()
    with desk.page(size="phone") as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{desk.url}/outbox/{id_}")
        expect(page.locator("pre").first).to_contain_text("<script>window.hit = 1</script>")
        expect(page.locator("pre").first).to_contain_text("\\u{202e}txt.exe")
        expect(page.locator("main")).to_contain_text("<b>bold</b>\\u{202e}gpj")
        assert page.evaluate("window.hit === undefined")
        assert page.locator("main script, main svg, main img, main a[href^=javascript]").count() == 0
        assert all(url.startswith(desk.url) for url in asked)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious(page) == []
    desk.clear()


@pytest.mark.promise("console.works-without-script")
def test_every_decision_works_without_script(desk: Desk) -> None:
    """Forms are forms."""
    ids = [desk.stage(subject=f"No script {number}") for number in range(2)]
    with desk.page(f"/outbox/{ids[0]}", script=False) as page:
        page.get_by_role("button", name="Release as shown").click()
        expect(page.get_by_text("Sent.", exact=True)).to_be_visible()
        page.goto(f"{desk.url}/outbox/{ids[1]}")
        page.get_by_label("Why it is rejected").fill("Plainly.")
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_text("Rejected.", exact=True)).to_be_visible()
    assert [entry(desk, id_)["status"] for id_ in ids] == ["sent", "rejected"]
