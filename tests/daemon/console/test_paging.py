"""Every list that pages: its links lead through all of it, and each thing stands on one page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page

from mail4agent_core.clock import SystemClock
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.run import NoteRun
from tests.daemon.review.conftest import account

from .conftest import Desk, direct

pytestmark = pytest.mark.promise("console.lists-are-read-to-their-end")
PAGES_MAX = 6
_ROWS = """rows => rows.map(row => {
  const link = row.matches("a") ? row : row.querySelector("a");
  return link ? link.getAttribute("href") : row.id || row.parentElement.querySelector("time").dateTime;
})"""


@dataclass(frozen=True)
class List:
    """A list: where it is, what its link to the next page says, how many there are, and on how many pages."""

    path: str
    link: str
    count: int
    pages: int
    rows: str = "main [data-row]"


@pytest.fixture(scope="module")
def lists(desk: Desk) -> dict[str, List]:
    """One more of everything than stands on one page, or two."""
    daemon, office = desk.office.daemon, desk.office
    bea = account(daemon, office.folder, "bea", ["mail:send", "mail:read"])
    daemon.do("admin.room", {"id": "r-000"})
    for number in range(101):
        daemon.do("admin.participant", {"id": f"a-{number:03}", "may_read": True})
        daemon.do("admin.room.member.add", {"room": "r-000", "participant": f"a-{number:03}"})
        daemon.do("admin.room", {"id": f"r-{number + 1:03}"})
    mail = [{"to": direct("rosa"), "subject": "Lantern", "body": f"Number {n}."} for n in range(51)]
    daemon.do("mail.send_many", {"messages": mail}, secret=bea)
    sent = [{"to": direct("bea"), "subject": "Back", "body": f"Number {n}."} for n in range(51)]
    first = daemon.do("mail.send_many", {"messages": sent}, secret=office.rosa)["outcomes"][0]["message_id"]
    replies = [{"to": direct("rosa"), "subject": "Re", "body": "b", "reply_to": first} for _ in range(20)]
    daemon.do("mail.send_many", {"messages": replies}, secret=bea)
    for number in range(51):
        desk.stage(subject=f"Draft {number}")
        desk.extracted()
    for number in range(101):
        paths = RunPaths.create(daemon.home / "runs", f"run-{number:03}")
        paths.journal.write_text("")
    run = NoteRun(RunPaths.create(daemon.home / "runs", "long"), SystemClock())
    run.begin(["build"])
    for _ in range(50):
        run.dispatch("build")
    accounts = len(daemon.do("mail.directory", {}, secret=office.rosa)["participants"])
    return {
        "drafts": List("/outbox", "Further ones", 51, 2),
        "batch": List("/decide", "Leave these, and see further ones", 51, 6, "main h2[id]"),
        "requests": List("/frontdoor", "Further ones", 51, 2),
        "of a state": List("/frontdoor?state=extracted", "Further ones", 51, 2),
        "inbox": List("/mail", "Older", 71, 3),
        "unread": List("/mail?unread=yes", "Older", 71, 3),
        "sent": List("/mail/sent", "Older", 51, 3),
        "found": List("/mail/search?q=lantern", "Older", 51, 3),
        "thread": List(f"/mail/message/{first}", "Newer", 21, 2),
        "accounts": List("/mail/accounts", "More", accounts, 2),
        "inbox of another": List("/mail/accounts/bea/inbox", "Newer", 51, 4),
        "rooms": List("/mail/rooms", "More", 102, 2),
        "members": List("/mail/rooms/r-000", "More members", 101, 2, "main ul:not(.tabs) a"),
        "runs": List("/runs", "More", 102, 2),
        "records": List("/runs/long", "Later records", 51, 3, "main details"),
    }


def test_each_list_is_led_through_to_its_end(desk: Desk, lists: dict[str, List]) -> None:
    """Nothing twice, nothing left out, and the last page has no link further."""
    with desk.page() as page:
        # What is looked at is links; a stream of counts for each page has no part in it.
        page.route("**/console/events", lambda route: route.abort())
        for name, each in lists.items():
            found, pages = walked(page, desk, each)
            assert (len(found), pages) == (each.count, each.pages), name
            again = [row for row, times in Counter(found).items() if times > 1]
            assert name == "records" or again == [], name


def walked(page: Page, desk: Desk, each: List) -> tuple[list[Any], int]:
    """The rows of every page, and how many pages there were."""
    found: list[Any] = []
    page.goto(desk.url + each.path)
    for number in range(1, PAGES_MAX + 2):
        found += page.locator(each.rows).evaluate_all(_ROWS)
        link = page.get_by_role("link", name=each.link, exact=True)
        if not link.count():
            return found, number
        link.click()
    raise AssertionError(f"{each.path} has no end")
