"""A daemon with drafts and requests, and a browser in which somebody is signed in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import chromium
from tests.core.frontdoor.records import extraction, original, placed
from tests.daemon.agent import agent
from tests.daemon.review.conftest import EMAIL, Office, account, opened

#: What rosa may do beside reviewing drafts.
RIGHTS = [
    *("frontdoor:review", "frontdoor:extract", "mail:operator"),
    *("mail:send", "mail:read", "mailbox:read", "note:read"),
]
SIZES = {"desktop": (1280, 900), "phone": (360, 740)}
#: Pixels of a page, from its top, that its picture shows: a draft with its decisions, on a phone too.
PICTURE_MAX = 2_200
#: Mail that strangers might write, by its subject.
HOSTILE = {
    "script": "<script>window.acted = 1</script>",
    "svg": "<svg onload='window.acted = 1'></svg><img src=x onerror='window.acted = 1'>",
    "link": "[press me](javascript:window.acted=1) ![p](http://127.0.0.1:9/p.png)",
    "turned": "pay \u202eelba\u202c now\u200b",
    "long": "x" * 65_536,
}
expect.set_options(timeout=10_000)


def direct(name: str) -> dict[str, str]:
    """An account's address."""
    return {"kind": "direct", "participant": name}


@dataclass
class Desk:
    """A daemon, its mail server, and a browser; rosa reviews, ada drafts."""

    office: Office
    browser: Browser
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def url(self) -> str:
        """Where the console is."""
        return f"http://127.0.0.1:{self.office.daemon.port}/console"

    @contextmanager
    def page(
        self,
        path: str = "",
        *,
        secret: str | None = None,
        size: str = "desktop",
        scheme: Any = "light",
        script: bool = True,
        signed: bool = True,
    ) -> Iterator[Page]:
        """A page of a browser of its own, signed in as rosa or with another secret."""
        width, height = SIZES[size]
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            java_script_enabled=script,
            # What fades in is judged as it stays.
            reduced_motion="reduce",
        )
        page = context.new_page()
        faults = list[str]()
        page.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        try:
            if signed:
                page.goto(self.url)
                page.get_by_label("The secret").fill(secret or self.office.rosa)
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("heading", level=1)).to_have_text("Needs you")
            if path or not signed:
                page.goto(self.url + path)
            yield page
            assert faults == []
        finally:
            context.close()

    def stage(self, args: dict[str, Any] | None = None, **changed: Any) -> str:
        """Draft an email; its id."""
        return self.office.stage({**(args or EMAIL), **changed})["id"]

    def request(self, **more: Any) -> int:
        """Put a request there; its number."""
        seq = next(self.numbers)
        placed(self.office.daemon.home / "requests", original(seq=seq, **more))
        return seq

    def extracted(self, **said: Any) -> int:
        """Put a request there that was read; its number."""
        return self.request(state="extracted", extraction=extraction(**said))

    def clear(self) -> None:
        """Reject every draft that waits."""
        waiting = self.office.daemon.do("outbox.list", {"limit": 256}, secret=self.office.rosa)["drafts"]
        named = [
            {"id": each["id"], "digest": self.office.get(each["id"])["digest"]}
            for each in waiting
            if each["status"] == "pending"
        ]
        if named:
            self.office.daemon.do(
                "outbox.reject", {"drafts": named, "reason": "Done."}, secret=self.office.rosa
            )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk for a module."""
    with opened(tmp_path_factory.mktemp("console")) as office, chromium() as browser:
        office.daemon.do("admin.participant.permit", {"id": "rosa", "grant": RIGHTS, "revoke": []})
        yield Desk(office, browser)


@dataclass(frozen=True)
class Town:
    """Who lives around the desk: bea writes to rosa, both are in the room ``hall``, and gus has a session."""

    bea: str
    #: The message of each hostile text.
    mail: dict[str, str]


@pytest.fixture(scope="module")
def town(desk: Desk) -> Iterator[Town]:
    """Mail of every kind for rosa, a session, a room and a run."""
    daemon = desk.office.daemon
    # The tests' own process calls as her, and a browser of a person's is below no session.
    bea = account(daemon, desk.office.folder, "bea", ["mail:send", "mail:read"])
    daemon.do("admin.room", {"id": "hall"})
    for name in ("rosa", "bea"):
        daemon.do("admin.room.member.add", {"room": "hall", "participant": name})
    daemon.open_run("bea")
    mail = {
        name: daemon.do("mail.send", {"to": direct("rosa"), "subject": name, "body": body}, secret=bea)
        for name, body in HOSTILE.items()
    }
    with agent(daemon.register("gus")) as gus:
        gus.connect(daemon.port)
        gus.ask("/mail/whoami")
        yield Town(bea, {name: answer["message_id"] for name, answer in mail.items()})


Shoot = Callable[[Page, str, str, str], None]


@pytest.fixture(scope="session")
def shoot() -> Shoot:
    """Keep a picture of a page where M4A_SCREENSHOTS names a folder: light desktops and dark phones."""
    folder = os.environ.get("M4A_SCREENSHOTS")

    def keep(page: Page, name: str, size: str, scheme: str) -> None:
        ending = {("desktop", "light"): "", ("phone", "dark"): "-phone"}.get((size, scheme))
        if folder and ending is not None:
            path = Path(folder)
            path.mkdir(parents=True, exist_ok=True)
            width, height = SIZES[size]
            long = page.evaluate("document.documentElement.scrollHeight")
            shown = {"x": 0, "y": 0, "width": width, "height": max(height, min(long, PICTURE_MAX))}
            page.screenshot(path=path / f"console-{name}{ending}.png", full_page=True, clip=shown)

    return keep
