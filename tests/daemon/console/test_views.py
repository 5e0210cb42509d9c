"""The screens Mail, Flow, Mailboxes, Runs and Health: by keyboard, in each width, with hostile mail."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .conftest import HOSTILE, Desk, Town, direct


@pytest.mark.promise("console.strange-text-is-inert")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mail_is_inert_and_readable(desk: Desk, town: Town, name: str) -> None:
    """Nothing runs, nothing is fetched, and hidden characters are told."""
    with desk.page() as page:
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{desk.url}/mail/message/{town.mail[name]}")
        expect(page.locator("article")).to_have_count(1)
        assert page.evaluate("window.acted") is None
        acting = "script, svg, img, [onload], [href^='javascript']"
        assert page.locator("article").locator(acting).count() == 0
        assert all(url.startswith(desk.url) for url in asked)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if name == "turned":
            expect(page.locator("article .warning")).to_contain_text("3 characters")
            expect(page.locator(".rendered")).to_contain_text("\\u{202e}")


@pytest.mark.promise("console.a-form-sends-once")
def test_a_form_that_is_posted_twice_sends_once(desk: Desk, town: Town) -> None:
    """As the account that is signed in; the page of the message is what both end at."""
    with desk.page("/mail/write") as page:
        form = {
            name: page.locator(f"main input[name={name}]").get_attribute("value") or ""
            for name in ("csrf", "key", "reply_to")
        }
        form |= {"to": "bea", "subject": "Once", "body": "one\ntwo"}
        send = """async form => (await fetch("/console/mail/write", {
          method: "POST", body: new URLSearchParams(form)})).url.split("?")[0]"""
        ends = {page.evaluate(send, form) for _ in range(2)}
        assert len(ends) == 1
        page.goto(f"{desk.url}/mail/sent")
        expect(page.get_by_role("link", name="Once")).to_have_count(1)
        expect(page.locator("main")).to_contain_text("rosa to bea")


def test_a_text_that_cannot_be_sent_is_shown_again(desk: Desk, town: Town) -> None:
    """With what is wrong, and all that was typed."""
    with desk.page("/mail/write?to=nobody-here") as page:
        page.get_by_label("Text").fill("kept")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_label("Text")).to_have_value("kept")


def test_acknowledging_is_offered_to_whom_a_message_is_for(desk: Desk, town: Town) -> None:
    """What rosa wrote to bea she may answer; what came to her or to her room she may acknowledge too."""
    daemon = desk.office.daemon
    hall = {"kind": "room", "room": "hall"}
    for to, offered in ((direct("bea"), 0), (hall, 1), (direct("rosa"), 1)):
        asked = {"to": to, "subject": "Whose", "body": "is it?"}
        id_ = daemon.do("mail.send", asked, secret=desk.office.rosa)["message_id"]
        with desk.page(f"/mail/message/{id_}") as page:
            expect(page.get_by_role("link", name="Answer Whose")).to_have_count(1)
            expect(page.get_by_role("button", name="Acknowledge Whose")).to_have_count(offered)


@pytest.mark.promise("identity.issued")
def test_what_was_issued_is_not_shown_as_proved(desk: Desk, town: Town) -> None:
    """A session of a credential has no process: its card says so, and a kernel's says which."""
    desk.office.daemon.do("mail.session", {}, secret=town.bea)
    for account, text in (("bea", "nothingits credential was issued"), ("gus", "pid")):
        with desk.page(f"/mail/accounts/{account}") as page:
            attested = page.locator("section.card", has_text="live").first.locator("dl").first
            expect(attested).to_contain_text(text)


def test_the_flow_has_the_same_numbers_in_table_and_picture(desk: Desk, town: Town) -> None:
    """Each pair of the table is a line of the picture that says its number."""
    with desk.page("/flow?span=day") as page:
        row = page.locator("tbody tr").filter(has_text="bea").first
        number = row.locator("td").nth(2).inner_text()
        assert int(number) >= len(HOSTILE)
        expect(page.locator("svg .stroke title").first).to_have_text(re.compile(f"bea to rosa: {number}$"))
        expect(page.get_by_role("img", name="Who wrote to whom in the last day")).to_be_visible()


def test_health_reads_the_whole_database_only_when_asked(desk: Desk, town: Town) -> None:
    """The link adds the finding of the database."""
    with desk.page("/health") as page:
        findings = page.locator("ul.rows li strong")
        assert "database" not in findings.all_inner_texts()
        page.get_by_role("link", name="Read the whole database too").click()
        expect(page.locator("ul.rows")).to_contain_text("database")
