"""Counts and the list of what needs a person, which go on without a reload within a second of the event."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page

from mail4agent_core.outbox import OutboxKind, OutboxStore
from mail4agent_core.outbox.decisions import Decisions
from tests.core.frontdoor.records import original
from tests.daemon.review.conftest import EMAIL

from .conftest import Desk, Town, direct
from .keyboard import Keyboard
from .test_dead import poison

pytestmark = pytest.mark.promise("console.counts-are-live")
#: From the answer to the change on the page.
WITHIN_MS = 1_000
_COUNTS = """wanted => Object.entries(wanted).every(([name, count]) =>
  Number(document.querySelector(`[data-count=${name}]`)?.firstChild.data || 0) === count)"""
_LISTED = """([text, count]) => count ===
  [...document.querySelectorAll("#list li")].filter(each => each.textContent.includes(text)).length"""


class Counts:
    """What the rail of a page says, from before an event on."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._before = {
            name: int(found.first.evaluate("node => node.firstChild.data")) if found.count() else 0
            for name in ("needs", "outbox", "frontdoor", "mail")
            for found in [page.locator(f"[data-count={name}]")]
        }

    def become(self, **by: int) -> None:
        """Within a second these changed by so much, and no other."""
        wanted = {name: count + by.get(name, 0) for name, count in self._before.items()}
        self._page.wait_for_function(_COUNTS, arg=wanted, timeout=WITHIN_MS)
        needs = wanted["needs"]
        assert self._page.title().startswith(f"({needs}) ") if needs else self._page.title()[0] != "("
        self._before = wanted

    def listed(self, text: str, count: int = 1) -> None:
        """Within a second so many lines of the list hold a text."""
        self._page.wait_for_function(_LISTED, arg=[text, count], timeout=WITHIN_MS)


@contextmanager
def _watched(desk: Desk, path: str = "") -> Iterator[Page]:
    with desk.page() as page:
        with page.expect_response(re.compile("/console/events$")):
            page.goto(desk.url + path)
        page.evaluate("window.stays = true")
        yield page
        assert page.evaluate("window.stays"), "the page was loaded anew"


@pytest.fixture(scope="module")
def page(desk: Desk, town: Town) -> Iterator[Page]:
    """A page that is told how things are."""
    with _watched(desk) as page:
        yield page


def _reject(desk: Desk, id_: str) -> None:
    named = {"id": id_, "digest": desk.office.get(id_)["digest"]}
    body = {"drafts": [named], "reason": "Done."}
    desk.office.daemon.do("outbox.reject", body, secret=desk.office.rosa)


def test_a_draft_is_counted_when_it_comes_changes_and_is_decided(desk: Desk, page: Page) -> None:
    """The rail, the title and the list say so each time."""
    counts = Counts(page)
    id_ = desk.stage(subject="It just came")
    counts.become(needs=1, outbox=1)
    counts.listed("It just came")
    body = {
        "id": id_,
        "digest": desk.office.get(id_)["digest"],
        "args": {**EMAIL, "subject": "It changed"},
    }
    desk.office.daemon.do("outbox.edit", body, secret=desk.office.rosa)
    counts.listed("It changed")
    _reject(desk, id_)
    counts.become(needs=-1, outbox=-1)
    counts.listed("It changed", 0)


def test_a_request_is_counted_when_it_comes_and_is_closed(desk: Desk, page: Page) -> None:
    """As the drain brings it, and as a person decides."""
    daemon = desk.office.daemon
    carl = daemon.register("carl")
    daemon.do("admin.participant.permit", {"id": "carl", "grant": ["frontdoor:drain"], "revoke": []})
    counts = Counts(page)
    body = {"box_epoch": "e1", "record": original(seq=900)}
    seq = daemon.do("frontdoor.ingest", body, secret=carl)["seq"]
    counts.become(needs=1, frontdoor=1)
    counts.listed(f"request {seq} ")
    daemon.do("frontdoor.close", {"seq": seq, "reason": "Spam."}, secret=desk.office.rosa)
    counts.become(needs=-1, frontdoor=-1)
    counts.listed(f"request {seq} ", 0)


def test_mail_is_counted_when_it_comes_and_is_acknowledged(desk: Desk, town: Town, page: Page) -> None:
    """One's own unread mail, and nothing of others'."""
    daemon = desk.office.daemon
    counts = Counts(page)
    for to in ("bea", "rosa"):
        sent = {"to": direct(to), "subject": "Hello", "body": "You have mail."}
        id_ = daemon.do("mail.send", sent, secret=town.bea)["message_id"]
    counts.become(mail=1)
    daemon.do("mail.ack", {"message_id": id_}, secret=desk.office.rosa)
    counts.become(mail=-1)


def test_a_list_whose_number_stays_is_looked_at_again(desk: Desk, page: Page) -> None:
    """One draft goes while another comes: as many wait, and they are others."""
    old = desk.stage(subject="The old one")
    counts = Counts(page)
    counts.listed("The old one")
    body = {"id": old, "args": {**EMAIL, "subject": "The one in its place"}}
    desk.office.daemon.do("outbox.supersede", body, secret=desk.office.ada)
    counts.listed("The one in its place")
    counts.listed("The old one", 0)
    desk.clear()
    counts.listed("The one in its place", 0)


def test_the_focus_stays_with_its_line_and_passes_on_when_that_goes(desk: Desk, page: Page) -> None:
    """What is read is what Enter opens, also after a line above it went."""
    counts, keys = Counts(page), Keyboard(page)
    ids = [desk.stage(subject=f"Line {number}") for number in range(3)]
    counts.listed("Line 2")
    keys.press("j", "j")
    while "Line 1" not in keys.seen():
        keys.press("j")
    _reject(desk, ids[0])
    counts.listed("Line 0", 0)
    assert "Line 1" in keys.seen()
    _reject(desk, ids[1])
    counts.listed("Line 1", 0)
    assert "Line 2" in keys.seen()
    desk.clear()
    counts.become()


def test_a_place_in_the_rail_keeps_the_focus_while_counts_come(desk: Desk, page: Page) -> None:
    """Enter leads where the focus was."""
    counts, keys = Counts(page), Keyboard(page)
    page.locator("body").evaluate("() => document.activeElement.blur()")
    keys.reach("^Outbox", from_top=True)
    desk.stage(subject="While looking")
    counts.become(needs=1, outbox=1)
    assert keys.seen().startswith("Outbox 1")
    desk.clear()
    counts.become(needs=-1, outbox=-1)
    assert keys.seen() == "Outbox"


def test_what_another_program_puts_into_a_folder_is_counted_too(desk: Desk, page: Page) -> None:
    """A harness that stages with the library, a drain of the original, a session that lets a message go."""
    home = desk.office.daemon.home
    counts = Counts(page)
    with OutboxStore.open(home / "outbox") as outbox:
        id_ = outbox.stage("mail__send", OutboxKind.MESSAGE, dict(EMAIL), None, "sess-1", None).id
    counts.become(needs=1, outbox=1)
    with OutboxStore.open(home / "outbox") as outbox:
        Decisions(outbox).withdraw(id_, "sess-1")
    counts.become(needs=-1, outbox=-1)
    seq = desk.request()
    counts.become(needs=1, frontdoor=1)
    counts.listed(f"request {seq} ")
    poison(desk)
    counts.become(needs=1)


def test_looking_changes_no_folder(desk: Desk) -> None:
    """Or a page that is told of folders would wake itself for ever."""
    desk.stage()
    desk.request()
    poison(desk)
    home = desk.office.daemon.home
    folders = [home / name for name in ("outbox", "requests", "messages", "messages/chat")]
    before = [folder.stat().st_mtime_ns for folder in folders]
    for operation in ("outbox.list", "frontdoor.list", "mailbox.list"):
        desk.office.daemon.do(operation, {}, secret=desk.office.rosa)
    assert [folder.stat().st_mtime_ns for folder in folders] == before
