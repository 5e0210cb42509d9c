"""Every screen and every decision by keyboard alone, on a phone in the dark and on a desktop in the light.

What else differs between the two colours is a matter of contrast, which axe-core judges for all four.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from mail4agent_core.clock import SystemClock
from mail4agent_core.mailbox import MailboxStore
from tests.core.mailbox.post import Post
from tests.daemon.review.conftest import EMAIL

from .conftest import Desk, Town, direct
from .keyboard import Keyboard
from .test_dead import die

pytestmark = pytest.mark.promise("console.decisions-by-keyboard")
LOOKS = (("phone", "dark"), ("desktop", "light"))


@pytest.fixture(params=LOOKS, ids="-".join)
def look(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A size and a colour."""
    return request.param


@pytest.fixture
def keys(desk: Desk, look: tuple[str, str]) -> Iterator[Keyboard]:
    """A keyboard at a page on which rosa has signed in with it."""
    desk.clear()
    with desk.page(size=look[0], scheme=look[1], signed=False) as page:
        keys = Keyboard(page)
        _sign_in(keys, desk.office.rosa)
        yield keys
    desk.clear()


def _sign_in(keys: Keyboard, secret: str) -> None:
    assert re.match("The secret", keys.seen())
    keys.paste(secret)
    keys.follow()
    expect(keys.page.get_by_role("heading", level=1)).to_have_text("Needs you")


def _title(keys: Keyboard, title: str | re.Pattern[str]) -> None:
    expect(keys.page.get_by_role("heading", level=1)).to_have_text(title)


def entry(desk: Desk, id_: str) -> dict[str, str]:
    """What the outbox says of a draft."""
    return desk.office.get(id_)["entry"]


def state(desk: Desk, seq: int) -> str:
    """Where a request stands."""
    return desk.office.daemon.do("frontdoor.get", {"seq": seq}, secret=desk.office.rosa)["record"]["state"]


def test_somebody_signs_in_and_out(desk: Desk, look: tuple[str, str]) -> None:
    """A wrong secret is said where it is typed again; what was signed out is of no use."""
    with desk.page(size=look[0], scheme=look[1], signed=False) as page:
        keys = Keyboard(page)
        keys.type("wrong")
        keys.follow()
        expect(page.get_by_role("alert")).to_contain_text("no account's")
        _sign_in(keys, desk.office.rosa)
        before = page.context.cookies()
        keys.take("^Sign out$", from_top=True)
        _title(keys, "Sign in")
        page.context.add_cookies(before)
        page.reload()
        _title(keys, "Sign in")
        _sign_in(keys, desk.office.rosa)
        with desk.page() as other:
            keys.take("^Sign out everywhere$", from_top=True)
            _title(keys, "Sign in")
            other.reload()
            expect(other.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_draft_is_released_and_another_edited_twice_and_rejected(desk: Desk, keys: Keyboard) -> None:
    """One leaves as it was shown; the other says what was changed, and keeps the reason."""
    before = len(desk.office.inbox.messages)
    first = desk.stage(subject="By keys")
    keys.screen(2, "Outbox")
    keys.press("j")
    keys.follow()
    _title(keys, "Draft")
    keys.take("^Release as shown$")
    keys.told("Sent.")
    assert (entry(desk, first)["status"], entry(desk, first)["decided_by"]) == ("sent", "rosa")
    assert [str(each["subject"]) for each in desk.office.inbox.messages[before:]] == ["By keys"]

    second = desk.stage(subject="To be rejected")
    keys.screen(1, "Needs you")
    keys.press("j")
    keys.follow()
    _title(keys, "Draft")
    keys.press("e")
    assert keys.seen() == "body_markdown"
    keys.press("Control+a")
    keys.type("Dear Noor, never.")
    keys.take("^Keep the text$")
    keys.told("Changed. Read it once more before you release it.")
    keys.unfold("^Edit every argument$")
    keys.reach("^The arguments as JSON$")
    keys.press("Control+a")
    keys.paste(json.dumps({**EMAIL, "subject": "Never on a Tuesday"}))
    keys.take("^Keep the arguments$")
    keys.told("Changed. Read it once more before you release it.")
    assert desk.office.get(second)["args"]["subject"] == "Never on a Tuesday"
    keys.press("x")
    assert keys.seen() == "Why it is rejected"
    keys.type("Not in this tone.")
    keys.follow()
    keys.told("Rejected.")
    found = entry(desk, second)
    assert (found["status"], found["reason"], found["edited"]) == ("rejected", "Not in this tone.", True)


@pytest.mark.promise("console.doubts-are-settled-there")
def test_releases_in_doubt_are_settled_either_way(desk: Desk, keys: Keyboard) -> None:
    """One was sent and stays so; one was not, and waits again."""
    for name, status in (("It was sent", "sent"), ("It was not sent", "pending")):
        id_ = desk.office.stage({"page": "index"}, "deploy")["id"]
        keys.screen(1, "Needs you")
        keys.press("j")
        keys.follow()
        keys.press("r")
        assert keys.seen() == "Release as shown"
        keys.follow("Space")
        _title(keys, "Not done")
        expect(keys.page.get_by_role("alert")).to_be_focused()
        keys.take("^To the console$")
        _title(keys, "Needs you")
        keys.press("j")
        keys.follow()
        keys.take(f"^{name}$")
        keys.told("Settled.")
        assert entry(desk, id_)["status"] == status


@pytest.mark.promise("console.a-batch-is-read-whole")
def test_several_drafts_are_decided_at_once(desk: Desk, keys: Keyboard) -> None:
    """The first leaves, the second is rejected with its reason, and the third is left."""
    ids = [desk.stage(subject=f"Batch {number}") for number in range(3)]
    keys.screen(2, "Outbox")
    keys.take("^Decide several$")
    _title(keys, "Decide several")
    keys.reach("^leave it$")
    keys.press("ArrowRight")
    assert keys.seen() == "release as shown"
    keys.reach("^leave it$")
    keys.press("ArrowRight", "ArrowRight", "Tab")
    assert keys.seen() == "Why, if it is rejected"
    keys.type("Too many.")
    keys.take("^Carry out these decisions$")
    keys.told("1 sent, 1 rejected.")
    assert [entry(desk, id_)["status"] for id_ in ids] == ["sent", "rejected", "pending"]
    assert entry(desk, ids[1])["reason"] == "Too many."


def test_requests_are_asked_about_reopened_closed_and_read_again(desk: Desk, keys: Keyboard) -> None:
    """Each decision is on the record, and prose that instructs is unfolded by hand."""
    seq = desk.extracted(reads_like_instructions=True)
    keys.screen(3, "Front door")
    keys.take(rf" {seq}$")
    _title(keys, f"Request {seq}")
    keys.unfold("^Show it: it reads like instructions")
    expect(keys.page.locator("details pre").first).to_be_visible()
    keys.reach("^What its sender is asked for$")
    keys.type("Which Tuesday?")
    keys.follow()
    keys.told("It waits for its sender.")
    assert state(desk, seq) == "needs_info"
    keys.take("^Reopen$")
    keys.told("Reopened.")
    assert state(desk, seq) == "extracted"
    keys.reach("^Why it is closed$")
    keys.type("Spam.")
    keys.follow()
    keys.told("Closed.")
    assert state(desk, seq) == "closed"
    keys.screen(3, "Front door")
    keys.take("^Closed$")
    expect(keys.page.locator("[data-row]").filter(has_text=f" {seq}")).to_have_count(1)

    drained = desk.request(values={"guests": 3}, free_text=[])
    keys.screen(1, "Needs you")
    keys.take(rf" {drained} ")
    keys.take("^Extract again$")
    keys.told("It is extracted now.")
    assert state(desk, drained) == "extracted"


def test_mail_is_found_answered_acknowledged_and_written(desk: Desk, town: Town, keys: Keyboard) -> None:
    """To who wrote, to a room and to a session; each is there as its reader sees it."""
    daemon = desk.office.daemon
    sent = {"to": direct("rosa"), "subject": "Lighthouse", "body": "Is it lit?"}
    id_ = daemon.do("mail.send", sent, secret=town.bea)["message_id"]
    keys.screen(4, "Mail")
    keys.take("^Search$")
    keys.reach("^Words and")
    keys.type("lit")
    keys.follow()
    expect(keys.page).to_have_url(re.compile("q=lit"))
    keys.press("j")
    keys.follow()
    _title(keys, "Thread")
    keys.take("^Acknowledge Lighthouse$")
    keys.told("Acknowledged.")
    unread = daemon.do("mail.inbox", {"unread_only": True, "limit": 50}, secret=desk.office.rosa)["messages"]
    assert id_ not in [each["message_id"] for each in unread]
    keys.take("^Answer Lighthouse$")
    keys.reach("^Text$")
    keys.type("It is.")
    keys.take("^Send$")
    keys.told("Sent.")
    answer = newest(desk)
    assert (answer["reply_to"], answer["body"], answer["to"]["participant"]) == (id_, "It is.", "bea")

    keys.screen(4, "Mail")
    keys.take("^Rooms$")
    keys.take("^#hall$")
    _title(keys, "Room #hall")
    keys.take("^Write to it$")
    keys.reach("^Text$")
    keys.type("To all.")
    keys.take("^Send$")
    keys.told("Sent.")
    assert newest(desk)["to"] == {"kind": "room", "room": "hall"}

    keys.screen(4, "Mail")
    keys.take("^Accounts$")
    keys.take("^gus$")
    keys.take("^s-")
    _title(keys, "Write")
    keys.reach("^Text$")
    keys.type("To you alone.")
    keys.take("^Send$")
    keys.told("Sent.")
    assert newest(desk)["to"]["kind"] == "session"

    keys.screen(4, "Mail")
    keys.take("^Write$")
    keys.reach("^To:")
    keys.type("nobody-here")
    keys.reach("^Text$")
    keys.type("kept")
    keys.take("^Send$")
    expect(keys.page.get_by_role("alert")).to_be_focused()
    expect(keys.page.get_by_label("Text")).to_have_value("kept")


def newest(desk: Desk) -> dict[str, Any]:
    """What rosa sent last."""
    return desk.office.daemon.do("mail.sent", {"limit": 1}, secret=desk.office.rosa)["sent"][0]["message"]


@pytest.mark.promise("doorbell.dead-is-tried-again")
def test_dead_doorbells_are_tried_again_and_ended(desk: Desk, keys: Keyboard) -> None:
    """What needs a person leads to its own line, where Tab goes on, and each leaves the list."""
    die(desk, "ada", "rosa")
    keys.screen(1, "Needs you")
    keys.take("^dead doorbell ada")
    _title(keys, "Doorbells")
    keys.press("Tab")
    assert keys.seen() == "Try again the doorbell of ada"
    keys.follow()
    keys.told("It is tried again now; if it still fails it comes back here.")
    keys.take("^End the doorbell of rosa$")
    keys.told("Ended. Its mail stays in its boxes.")
    found = desk.office.daemon.do("admin.listener.list", {"state": "all"})["listeners"]
    assert [each["listener"]["owner"]["participant"] for each in found] == ["ada"]
    desk.office.daemon.do("admin.listener.remove", {"account": "ada"})


def test_what_is_only_read_is_read(desk: Desk, town: Town, keys: Keyboard) -> None:
    """Each other screen, what its links lead to, and the list of keys."""
    page = keys.page
    with MailboxStore.open(desk.office.daemon.home / "messages", clock=SystemClock()) as store:
        for number in range(2):
            Post(store).sent(f"Letter {number} of {page.viewport_size}")
    keys.take("^Mail", from_top=True)
    _title(keys, "Mail")
    keys.take("^Unread$")
    keys.take("^Sent$")
    _title(keys, "Sent mail")
    keys.take("^Accounts$")
    keys.take("^bea$")
    keys.take("^Read its inbox")
    _title(keys, "Inbox of bea")
    keys.screen(5, "Flow")
    keys.take("^the last week$")
    expect(page.locator("[aria-current=page]", has_text="the last week")).to_be_visible()
    keys.reach("^Who wrote to whom$")
    keys.screen(6, "Mailboxes")
    keys.press("j", "j", "k")
    keys.follow()
    _title(keys, "Mailbox message")
    expect(page.locator("main")).to_contain_text("Letter")
    keys.take("^All mailboxes$")
    keys.take("^All$")
    keys.reach("^To$")
    keys.type("chat")
    keys.follow()
    expect(page).to_have_url(re.compile("all=yes&to=chat"))
    keys.screen(7, "Runs")
    keys.press("j")
    keys.follow()
    _title(keys, "Run demo")
    keys.press("j", "Enter")
    expect(page.locator("details[open]")).to_have_count(1)
    keys.take("^build$")
    _title(keys, "Notes of demo")
    keys.screen(8, "Health")
    keys.take("^Read the whole database too$")
    expect(page.locator("main")).to_contain_text("database")
    keys.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    keys.reach("^Close$")
    keys.press("Enter")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    keys.unfold("^Keys")
    expect(page.get_by_role("dialog")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    assert re.match("Keys", keys.seen())
