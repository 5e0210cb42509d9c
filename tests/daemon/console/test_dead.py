"""What died, on the console: counted at once, listed with what waits, tried again, ended."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import DEAD_FAILURES, PAUSE_MAX_MS
from mail4agent_core.mailbox import MailboxStore
from tests.core.mailbox.post import Post
from tests.daemon.host.served import BOUND_SECS, until
from tests.daemon.inside import Inside, inside

from .conftest import Desk

#: Nobody listens there.
URL = "http://127.0.0.1:9/"
IDS = "found => found.map(each => each.id)"


async def signed_in(daemon: Inside) -> str:
    """The cookie of an operator's sign-in."""
    form = urlencode({"secret": daemon.keys["operator"]}).encode()
    origin = f"http://localhost:{daemon.listeners.port}"
    head = (
        f"POST /console/signin HTTP/1.1\r\nHost: localhost:{daemon.listeners.port}\r\nOrigin: {origin}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(form)}\r\n\r\n"
    )
    wire = await daemon.connect()
    answer = await wire.ask(head.encode() + form)
    wire.close()
    assert answer.status == 303
    return dict(answer.headers)["set-cookie"].partition(";")[0]


class Stream:
    """What a page hears of its counts."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.text = ""

    async def hears(self, pattern: str) -> None:
        """Wait for a piece of text."""
        async with asyncio.timeout(BOUND_SECS):
            while not re.search(pattern, self.text):
                self.text += (await self._reader.read(65_536)).decode()
        self.text = ""


@pytest.mark.promise("doorbell.dead-is-shown", "console.counts-are-live")
async def test_a_doorbell_that_dies_is_counted_on_an_open_page_without_an_operation(tmp_path: Path) -> None:
    """Its fifth failure is told to the stream, which looks by itself every ten seconds only."""
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("ada", "ben")
        cookie = await signed_in(daemon)
        await daemon.post("/admin/listener", {"account": "ben", "url": URL})
        await daemon.send("ada", "ben")
        reader, writer = await asyncio.open_connection(daemon.listeners.host, daemon.listeners.port)
        try:
            head = f"GET /console/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
            writer.write(head.encode())
            stream = Stream(reader)
            await stream.hears('data-needs="0"')
            for times in range(1, DEAD_FAILURES + 1):
                await until(lambda times=times: failures(tmp_path / "home") == times)
                if times < DEAD_FAILURES:
                    daemon.clock.step(PAUSE_MAX_MS)
                    daemon.made.doorbells.look()
            async with asyncio.timeout(5):
                await stream.hears('data-needs="1"')
        finally:
            writer.close()


def failures(home: Path) -> int:
    """How often ben's listener failed in a row, as another reader of the file sees it."""
    with closing(sqlite3.connect(home / "mail.sqlite3")) as db:
        return db.execute("SELECT failures FROM listener").fetchone()[0]


def die(desk: Desk, *accounts: str) -> None:
    """Give accounts a listener as a day of failures leaves it."""
    for account in accounts:
        desk.office.daemon.do("admin.listener", {"account": account, "url": URL})
    with closing(sqlite3.connect(desk.office.daemon.home / "mail.sqlite3", timeout=10)) as db, db:
        db.execute(
            "UPDATE listener SET failures = 300, failure = 'refused', failing_since = 1764547200000,"
            " last_failed_at = 1764633600000, given_up = 2"
        )


def poison(desk: Desk) -> str:
    """Leave a message that five sessions let go; its id."""
    clock = HandClock()
    with MailboxStore.open(desk.office.daemon.home / "messages", clock=clock) as store:
        id_ = Post(store).sent("<script>window.hit = 1</script> poison")
        for attempt in range(5):
            store.claim("chat", f"s{attempt}", 1)
            clock.step(1_000)
        store.claim("chat", "s5", 1)
    return id_


@pytest.mark.promise("console.dead-letters-are-shown")
def test_what_died_stands_among_what_needs_a_person(desk: Desk) -> None:
    """A doorbell leads to what can be done about it, a letter to its text and the command that ends it."""
    grant = {"id": "rosa", "grant": ["mailbox:read"], "revoke": []}
    desk.office.daemon.do("admin.participant.permit", grant)
    die(desk, "ada", "rosa")
    id_ = poison(desk)
    with desk.page() as page:
        expect(page.locator('[data-count="needs"]')).to_have_text(re.compile("^3"))
        expect(page.get_by_text("2 given up").first).to_be_visible()
        assert page.locator("#list [id]").count() == len(set(page.eval_on_selector_all("#list [id]", IDS)))
        page.get_by_role("link", name="dead letter").click()
        expect(page.get_by_text(f"mail4agent msg dismiss {id_}")).to_be_visible()
        assert page.evaluate("window.hit === undefined")
        page.goto(desk.url)
        page.get_by_role("link", name=f"dead doorbell ada at {URL}").click()
        assert page.url.endswith("/health/doorbells#ada")
        expect(page.get_by_text("2 were given up").first).to_be_visible()
        expect(page.get_by_text("300 times in a row").first).to_be_visible()


@pytest.mark.promise("doorbell.dead-is-tried-again", "console.decisions-by-keyboard")
@pytest.mark.parametrize("script", [True, False])
def test_a_dead_doorbell_is_tried_again_or_ended_by_keyboard_alone(desk: Desk, script: bool) -> None:
    """Each leaves the list at once."""
    die(desk, "ada", "rosa")
    with desk.page("/health/doorbells", script=script) as page:
        page.get_by_role("button", name="Try again the doorbell of ada").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("It is tried again now")).to_be_visible()
        expect(page.get_by_role("heading", name="ada")).to_have_count(0)
        page.get_by_role("button", name="End the doorbell of rosa").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Ended.")).to_be_visible()
        expect(page.get_by_text("Every doorbell answered")).to_be_visible()
    found = desk.office.daemon.do("admin.listener.list", {"state": "all"})["listeners"]
    assert [each["listener"]["owner"]["participant"] for each in found] == ["ada"]


@pytest.mark.promise("console.dead-letters-are-shown")
def test_mailboxes_that_cannot_be_looked_at_hide_nothing_else(desk: Desk) -> None:
    """The list says so, and shows the doorbell."""
    die(desk, "ada")
    root = desk.office.daemon.home / "messages"
    aside = root.rename(root.with_name("aside")) if root.exists() else None
    root.symlink_to(desk.office.daemon.home)
    try:
        with desk.page() as page:
            expect(page.get_by_text("The mailboxes cannot be looked at")).to_be_visible()
            expect(page.get_by_role("link", name="dead doorbell").first).to_be_visible()
    finally:
        root.unlink()
        if aside is not None:
            aside.rename(root)
