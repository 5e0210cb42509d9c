"""File mailboxes and journals of runs that strangers' programs wrote, on the screens that show them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from mail4agent_core.clock import SystemClock
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.note.paths import RunPaths
from tests.browser import serious
from tests.core.mailbox.post import Post

from .conftest import HOSTILE, Desk, Town

pytestmark = [
    pytest.mark.promise("console.hostile-texts-are-inert"),
    pytest.mark.promise("console.strange-text-is-inert"),
]
_ACTING = "main script, main svg, main img, main [onload], main [onerror], main a[href^=javascript]"


@contextmanager
def _looked_at(desk: Desk) -> Iterator[Page]:
    """A page on a phone; at its end nothing ran and nothing was fetched from elsewhere."""
    asked = list[str]()
    with desk.page(size="phone") as page:
        page.on("request", lambda request: asked.append(request.url))
        yield page
        assert all(url.startswith(desk.url) for url in asked)


def _is_inert(page: Page) -> None:
    assert page.evaluate("window.acted === undefined")
    assert page.locator(_ACTING).count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_hostile_message_of_a_mailbox_is_inert_and_readable(desk: Desk, town: Town) -> None:
    """As text; what hides or turns is a number, and a line of 64 KiB is broken where the page ends."""
    with MailboxStore.open(desk.office.daemon.home / "messages", clock=SystemClock()) as store:
        ids = {name: Post(store).sent(body) for name, body in HOSTILE.items()}
    with _looked_at(desk) as page:
        page.goto(f"{desk.url}/mailboxes")
        expect(page.locator("[data-row]")).to_have_count(len(ids))
        _is_inert(page)
        for name, id_ in ids.items():
            page.goto(f"{desk.url}/mailboxes/{id_}")
            _is_inert(page)
            page.get_by_text("Source", exact=True).click()
            source = HOSTILE[name].replace("\u202e", "\\u{202e}").replace("\u202c", "\\u{202c}")
            expect(page.locator("details .plain")).to_have_text(source.replace("\u200b", "\\u{200b}"))
            _is_inert(page)
            if name == "turned":
                expect(page.locator("main .warning")).to_contain_text("3 characters")
        assert serious(page) == []


def test_a_hostile_journal_is_inert_and_readable(desk: Desk, town: Town) -> None:
    """Whichever member of a record it stands in, the name of a node among them."""
    paths = RunPaths.create(desk.office.daemon.home / "runs", "hostile")
    texts = list(HOSTILE.values())
    records: list[dict[str, object]] = [
        {
            "kind": "note-shown",
            "labels": {"node": text},
            "payload": {"party": text, "turn": text, "text": text},
        }
        for text in texts
    ]
    delivered = [
        {"kind": "note-delivered", "addressee": text, "reached": text, "text": text} for text in texts
    ]
    records.append({"kind": "edit-committed", "labels": {}, "payload": {"operations": delivered}})
    records.append({"kind": texts[0], "labels": {texts[1]: texts[2]}, "payload": {texts[0]: texts[3]}})
    head = {"v": 2, "ts": "2026-09-19T10:00:00.000Z", "stream": "x", "source": "pipeline"}
    paths.journal.write_text(
        "".join(json.dumps({**head, "seq": seq, **each}) + "\n" for seq, each in enumerate(records))
    )
    with _looked_at(desk) as page:
        page.goto(f"{desk.url}/runs")
        page.get_by_role("link", name="hostile").click()
        expect(page.locator("main details")).to_have_count(len(records))
        _is_inert(page)
        for each in page.get_by_text("The record", exact=True).all():
            each.click()
        _is_inert(page)
        main = page.locator("main")
        for text in (
            "<script>window.acted = 1</script>",
            "onerror=",
            "pay \\u{202e}elba\\u{202c} now\\u{200b}",
        ):
            expect(main).to_contain_text(text)
        assert serious(page) == []
        for name in page.locator("main h2 + ul a").all_inner_texts():
            link = page.get_by_role("link", name=name, exact=True)
            page.goto(desk.url.removesuffix("/console") + (link.get_attribute("href") or ""))
            _is_inert(page)
            page.go_back()
