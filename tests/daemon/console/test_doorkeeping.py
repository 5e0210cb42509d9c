"""Who is let through the door of the console: late refusals, TLS, clocks, bounds, agents above a browser."""

from __future__ import annotations

import asyncio
import re
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mail4agent_daemon.console import sentences
from mail4agent_daemon.console.events import OF_AN_ACCOUNT_MAX, STREAMS_MAX
from mail4agent_daemon.console.signed_in import LASTS_MS
from mail4agent_daemon.delays import Delays
from tests.daemon.agent import agent
from tests.daemon.host.served import BOUND_SECS, Answer, Wire, until
from tests.daemon.inside import Inside, inside
from tests.daemon.sinks.certificates import certificate
from tests.daemon.test_delays import HandLater

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')
_SETTINGS = '[outbox.tools]\nmessage_send = "own"\n[sinks.own]\nkind = "mail"\n'
_MESSAGE = {"to": "rosa", "subject": "s", "body": "b"}
#: Posts a form below whoever runs it, and prints what came.
_POST = """
import sys, urllib.error, urllib.request
url, body, *headers = sys.argv[1:]
asked = urllib.request.Request(url, body.encode(), dict(each.split("=", 1) for each in headers))
try:
    answer = urllib.request.build_opener().open(asked)
except urllib.error.HTTPError as refused:
    answer = refused
print(answer.status, answer.read().decode())
"""


@dataclass
class House:
    """A daemon on the test's own loop and clock; rosa reviews what ada drafts, ines may do neither."""

    daemon: Inside
    scheme: str = "http"
    context: ssl.SSLContext | None = None

    @property
    def origin(self) -> str:
        """The daemon's own."""
        return f"{self.scheme}://localhost:{self.daemon.listeners.port}"

    async def connect(self) -> Wire:
        """One connection."""
        if self.context is None:
            return await self.daemon.connect()
        port = self.daemon.listeners.port
        streams = await asyncio.open_connection(
            "127.0.0.1", port, ssl=self.context, server_hostname="localhost"
        )
        self.daemon.wires.append(Wire(*streams))
        return self.daemon.wires[-1]

    def head(self, method: str, path: str, cookie: str, origin: str | None) -> str:
        """The head of a request, without its end."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost:{self.daemon.listeners.port}\r\n"
        head += f"Cookie: {cookie}\r\n" if cookie else ""
        return head + (f"Origin: {origin}\r\n" if origin else "")

    def form(self, path: str, fields: dict[str, str], cookie: str = "", origin: str | None = "own") -> bytes:
        """A posted form."""
        body = urlencode(fields)
        origin = self.origin if origin == "own" else origin
        head = self.head("POST", path, cookie, origin)
        head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n{body}".encode()

    async def post(
        self, path: str, fields: dict[str, str], cookie: str = "", origin: str | None = "own"
    ) -> Answer:
        """Post a form on a connection of its own."""
        return await (await self.connect()).ask(self.form(path, fields, cookie, origin))

    async def get(self, path: str, cookie: str) -> Answer:
        """A page."""
        return await (await self.connect()).ask(f"{self.head('GET', path, cookie, None)}\r\n".encode())

    async def sign_in(self, account: str) -> str:
        """The cookie of a new sign-in."""
        return (await self.signed_in(account)).partition(";")[0]

    async def signed_in(self, account: str) -> str:
        """The cookie of a new sign-in, with what it is for."""
        answer = await self.post("/console/signin", {"secret": self.daemon.keys[account]})
        assert answer.status == 303
        return answer.header("set-cookie") or ""

    async def token(self, cookie: str) -> str:
        """What the forms of a sign-in carry."""
        found = _CSRF.search((await self.get("/console", cookie)).body.decode())
        assert found is not None
        return found[1]

    async def stream(self, cookie: str) -> tuple[Wire, int]:
        """Begin a stream of counts; the status of it."""
        wire = await self.connect()
        await wire.send(f"{self.head('GET', '/console/events', cookie, None)}\r\n".encode())
        async with asyncio.timeout(BOUND_SECS):
            head = await wire.reader.readuntil(b"\r\n\r\n")
        return wire, int(head.split(b" ")[1])

    async def stage(self) -> dict[str, str]:
        """Draft something as ada; what a decision about it carries."""
        asked = {"tool": "message_send", "args": _MESSAGE}
        answer = await self.daemon.post("/outbox/stage", asked, "ada")
        assert answer.status == 200, answer.json
        draft = (await self.daemon.post("/outbox/get", {"id": answer.json["id"]}, "rosa")).json
        return {"id": draft["entry"]["id"], "digest": draft["digest"]}

    async def status(self, id_: str) -> str:
        """How a draft stands."""
        return (await self.daemon.post("/outbox/get", {"id": id_}, "rosa")).json["entry"]["status"]


@asynccontextmanager
async def a_house(folder: Path, *, tls: bool = False) -> AsyncIterator[House]:
    """One for the length of the block."""
    settings, context = {}, None
    if tls:
        made = certificate(folder)
        settings = {"server.tls_cert": str(made.cert), "server.tls_key": str(made.key)}
        context = made.client
    home = folder / "home"
    home.mkdir(0o700)
    (home / "config.toml").write_text(_SETTINGS)
    async with inside(home, settings=settings) as daemon:
        house = House(daemon, "https" if tls else "http", context)
        if not tls:
            await daemon.add("ada", "rosa", "ines", attestation="off")
            for account, right in (("ada", "outbox:stage"), ("rosa", "outbox:review")):
                granted = {"id": account, "grant": [right], "revoke": []}
                assert (await daemon.post("/admin/participant/permit", granted)).status == 200
        yield house


def said(answer: Answer) -> str:
    """The text of a page."""
    return unescape(answer.body.decode())


@pytest.mark.promise("console.cookie-is-guarded")
async def test_over_tls_the_cookie_is_for_tls_alone(tmp_path: Path) -> None:
    """It is Secure there, and signs in."""
    async with a_house(tmp_path, tls=True) as house:
        given = await house.signed_in("operator")
        flags = ["Path=/console", "Max-Age=43200", "HttpOnly", "SameSite=Strict", "Secure"]
        assert given.split("; ")[1:] == flags
        assert (await house.get("/console", given.partition(";")[0])).status == 200


@pytest.mark.promise("limits.a-wrong-secret-is-refused-late")
@pytest.mark.promise("console.sign-in-is-needed")
async def test_a_wrong_secret_is_refused_late_here_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each further one on its connection for twice as long; nobody else waits."""
    later = HandLater()
    monkeypatch.setattr(Delays.__init__, "__defaults__", (later,))
    async with a_house(tmp_path) as house:
        wire = await house.connect()
        for number in range(2):
            await wire.send(house.form("/console/signin", {"secret": "wrong"}))
            await until(lambda number=number: len(later.timers) > number)
            assert await house.sign_in("rosa")
            later.timers[number].call()
            answer = await wire.answer()
            assert (answer.status, sentences.WRONG in said(answer)) == (401, True)
            assert answer.header("set-cookie") is None
        first, second = (timer.secs for timer in later.timers)
        assert 0 < first == second / 2


@pytest.mark.promise("console.forms-are-ours")
@pytest.mark.promise("console.sign-in-ends")
async def test_whoever_is_not_let_through_is_told_why_and_decides_nothing(tmp_path: Path) -> None:
    """Signed out, expired, another account, with no token or another's, from elsewhere or nowhere."""
    async with a_house(tmp_path) as house:
        old = await house.sign_in("rosa")
        old_token = await house.token(old)
        house.daemon.clock.step(LASTS_MS - 1)
        assert (await house.get("/console", old)).status == 200
        rosa, ines = await house.sign_in("rosa"), await house.sign_in("ines")
        house.daemon.clock.step(1)
        token, of_ines = await house.token(rosa), await house.token(ines)
        draft = await house.stage()
        own, nobody = "own", None
        tried = [
            ("", token, own, 401, sentences.SIGNED_OUT),
            (old, old_token, own, 401, sentences.SIGNED_OUT),
            (ines, of_ines, own, 403, "It lacks outbox:review"),
            (rosa, "", own, 403, sentences.FORM),
            (rosa, of_ines, own, 403, sentences.FORM),
            (rosa, token, "https://elsewhere.example", 403, "from a page that is not this daemon's"),
            (rosa, token, nobody, 400, "Nothing was done"),
        ]
        for cookie, csrf, origin, status, why in tried:
            for path in (f"/console/outbox/{draft['id']}/reject", "/console/decide"):
                fields = {"csrf": csrf, "digest": draft["digest"], "reason": "No."}
                if path == "/console/decide":
                    id_ = draft["id"]
                    fields |= {
                        f"do-{id_}": "reject",
                        f"digest-{id_}": draft["digest"],
                        f"reason-{id_}": "No.",
                    }
                answer = await house.post(path, {k: v for k, v in fields.items() if v}, cookie, origin)
                # A batch is carried out one by one, and says of each why it was not.
                told = 200 if path == "/console/decide" and cookie == ines else status
                assert (answer.status, why in said(answer)) == (told, True), (path, why, said(answer))
                assert "<h1>" in said(answer)
                assert await house.status(draft["id"]) == "pending"
        fields = {"csrf": token, "digest": draft["digest"], "reason": "No."}
        assert (await house.post(f"/console/outbox/{draft['id']}/reject", fields, rosa)).status == 303
        assert await house.status(draft["id"]) == "rejected"


@pytest.mark.promise("console.code-signs-in-once")
@pytest.mark.promise("console.below-an-agent-nothing-is-decided")
async def test_below_an_agent_no_code_is_given_and_nothing_decided(tmp_path: Path) -> None:
    """With the right secret, the right cookie and the right form; the page says why."""
    async with a_house(tmp_path) as house:
        cookie = await house.sign_in("rosa")
        draft = await house.stage()
        fields = {"csrf": await house.token(cookie), "digest": draft["digest"], "reason": "No."}
        headers = [f"Cookie={cookie}", f"Origin={house.origin}"]
        with agent(house.daemon.keys["rosa"], argv=("claude",)) as claude:

            async def posted(path: str, body: str, *more: str) -> str:
                argv = [sys.executable, "-c", _POST, house.origin + path, body, *more]
                ran = await asyncio.to_thread(claude.tell, "run", argv=argv, environment={})
                assert ran["status"] == 0, ran
                return unescape(ran["out"])

            secret = f"Authorization=Bearer {house.daemon.keys['rosa']}"
            refused = await posted("/console/code", "{}", secret, "Content-Type=application/json")
            assert refused.startswith("400 ")
            assert "below no agent" in refused
            page = await posted(f"/console/outbox/{draft['id']}/reject", urlencode(fields), *headers)
            assert page.startswith("403 ")
            assert sentences.AGENT in page
            assert "the agent program claude" in page
            read = await posted("/console/nowhere", urlencode(fields), *headers)
            assert read.startswith("404 ")
        assert await house.status(draft["id"]) == "pending"


@pytest.mark.promise("console.streams-are-bounded")
async def test_streams_are_bounded_for_all_together(tmp_path: Path) -> None:
    """One too many is told to come again; a place that is given up is free."""
    async with a_house(tmp_path) as house:
        accounts = ["operator", "ada", "rosa", "ines"]
        cookies = [await house.sign_in(each) for each in accounts]
        wanted = STREAMS_MAX // OF_AN_ACCOUNT_MAX
        assert wanted < len(cookies)
        begun = [await house.stream(each) for each in cookies[:wanted] for _ in range(OF_AN_ACCOUNT_MAX)]
        assert {status for _, status in begun} == {200}
        answer = await house.get("/console/events", cookies[-1])
        assert (answer.status, "The daemon is busy" in said(answer)) == (503, True)
        begun[0][0].close()
        _, status = await house.stream(cookies[-1])
        while status != 200:
            _, status = await house.stream(cookies[-1])


@pytest.mark.promise("console.sign-in-ends")
@pytest.mark.parametrize("how", ["everywhere", "clock"])
async def test_a_stream_ends_with_its_sign_in(tmp_path: Path, how: str) -> None:
    """When its account is signed out of every browser, and once twelve hours are over."""
    async with a_house(tmp_path) as house:
        there = await house.sign_in("rosa")
        wire, status = await house.stream(there)
        assert status == 200
        if how == "everywhere":
            here = await house.sign_in("rosa")
            fields = {"csrf": await house.token(here), "everywhere": "yes"}
            assert (await house.post("/console/signout", fields, here)).status == 303
        else:
            house.daemon.clock.step(LASTS_MS)
            await house.stage()
        async with asyncio.timeout(BOUND_SECS):
            told = await wire.reader.readuntil(b"0\r\n\r\n")
        assert told.count(b"data: <ul") == 1


@pytest.mark.promise("console.sign-in-ends")
async def test_no_stream_begins_for_a_secret_that_has_ended(tmp_path: Path) -> None:
    """The sign-in stands and its secret does not: a page that asks again is told so, and asks no more."""
    async with a_house(tmp_path) as house:
        cookie = await house.sign_in("ada")
        assert (await house.daemon.post("/admin/participant/revoke", {"id": "ada"})).status == 200
        assert (await house.get("/console/events", cookie)).status == 401
