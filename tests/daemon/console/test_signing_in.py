"""Signing in to the console, by raw requests: what is let in, what is refused, and that nothing changed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from html import escape
from http.client import HTTPConnection
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlencode

import pytest

from mail4agent_daemon.console import sentences
from mail4agent_daemon.console.door import FORM_MAX_BYTES
from mail4agent_daemon.console.events import OF_AN_ACCOUNT_MAX
from tests.process import BOUND_SECS, DaemonProcess, served

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')
_STATIC = re.compile(r'(?:src|href)="(/console/static/[^"]+)"')


@dataclass
class Got:
    """An answer."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def cookie(self) -> str:
        """The cookie it sets."""
        return self.headers["set-cookie"].partition(";")[0]


@dataclass
class Door:
    """A daemon, and accounts in it."""

    daemon: DaemonProcess
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    def connect(self) -> HTTPConnection:
        """A connection."""
        return HTTPConnection("127.0.0.1", self.daemon.port, timeout=BOUND_SECS)

    @property
    def origin(self) -> str:
        """The daemon's own."""
        return f"http://127.0.0.1:{self.daemon.port}"

    def add(self, name: str, *grant: str) -> str:
        """Register an account with rights; its secret."""
        secret = self.daemon.register(name)
        self.daemon.do("admin.participant.permit", {"id": name, "grant": list(grant), "revoke": []})
        return secret

    def ask(self, method: str, path: str, raw: bytes | None = None, **headers: str) -> Got:
        """One request."""
        with closing(self.connect()) as connection:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, raw, {"Connection": "close", **named})
            answer = connection.getresponse()
            return Got(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read().decode(),
            )

    def get(self, path: str = "/console", cookie: str = "") -> Got:
        """A page."""
        return self.ask("GET", path, **({"Cookie": cookie} if cookie else {}))

    def post(self, path: str, form: dict[str, str], cookie: str = "", origin: str | None = "own") -> Got:
        """A form, as this daemon's own page sends it."""
        headers = {"Content_Type": "application/x-www-form-urlencoded"}
        if origin is not None:
            headers["Origin"] = self.origin if origin == "own" else origin
        if cookie:
            headers["Cookie"] = cookie
        return self.ask("POST", path, urlencode(form).encode(), **headers)

    def sign_in(self, secret: str) -> str:
        """Sign in; the cookie."""
        got = self.post("/console/signin", {"secret": secret})
        assert (got.status, got.headers["location"]) == (303, "/console")
        return got.cookie

    def token(self, cookie: str) -> str:
        """What the forms of a sign-in carry."""
        found = _CSRF.search(self.get(cookie=cookie).text)
        assert found is not None
        return found[1]

    def is_in(self, cookie: str) -> bool:
        """Whether a cookie means somebody."""
        return self.get(cookie=cookie).status == 200


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """One for a module."""
    home = tmp_path_factory.mktemp("console") / "home"
    home.mkdir(0o700)
    with served(home) as daemon:
        made = Door(daemon)
        made.secrets["rosa"] = made.add("rosa", "outbox:review", "frontdoor:review")
        yield made


@pytest.fixture
def rosa(door: Door) -> str:
    """Rosa's cookie of a new sign-in."""
    return door.sign_in(door.secrets["rosa"])


@pytest.mark.promise("console.sign-in-is-needed")
@pytest.mark.parametrize("path", ["/console", "/console/outbox", "/console/frontdoor", "/console/events"])
@pytest.mark.parametrize("cookie", ["", "m4a_console=", "m4a_console=of-nobody", 'm4a_console="\\777'])
def test_every_page_asks_whoever_is_not_signed_in(door: Door, path: str, cookie: str) -> None:
    """The page asks for a secret, and holds nothing else."""
    got = door.get(path, cookie)
    assert got.status == 401
    assert "The secret of your account" in got.text
    assert 'id="rail"' not in got.text


@pytest.mark.promise("console.sign-in-is-needed")
@pytest.mark.parametrize("secret", ["", "wrong", "zürich", "x" * 5_000])
def test_a_wrong_secret_signs_nobody_in(door: Door, secret: str) -> None:
    """The page says so, sets no cookie and does not repeat the secret."""
    got = door.post("/console/signin", {"secret": secret})
    assert got.status == 401
    assert escape(sentences.WRONG if secret else sentences.EMPTY) in got.text.replace("&#39;", "&#x27;")
    assert "set-cookie" not in got.headers
    assert not secret or f'"{secret}"' not in got.text


@pytest.mark.promise("console.sign-in-is-needed")
def test_an_account_without_the_right_is_shown_and_may_do_nothing(door: Door) -> None:
    """It signs in; a screen and a decision that need a right are refused, and name it."""
    cookie = door.sign_in(door.add("ines"))
    assert door.is_in(cookie)
    assert "This account reviews nothing" in door.get(cookie=cookie).text
    got = door.get("/console/outbox", cookie)
    assert got.status == 403
    assert "It lacks outbox:" in got.text


@pytest.mark.promise("console.sign-in-ends")
@pytest.mark.parametrize("how", ["rotate", "revoke"])
def test_a_secret_that_ended_ends_its_sign_ins_at_once(door: Door, how: str) -> None:
    """The next request of the cookie is refused."""
    cookie = door.sign_in(door.add(f"ada-{how}"))
    assert door.is_in(cookie)
    door.daemon.do(f"admin.participant.{how}", {"id": f"ada-{how}"})
    assert door.get(cookie=cookie).status == 401


@pytest.mark.promise("console.sign-in-ends")
def test_signing_out_ends_this_sign_in_or_every_one(door: Door) -> None:
    """First one, then those that are left; the browser forgets its cookie."""
    secret = door.add("noor")
    first, second, third = [door.sign_in(secret) for _ in range(3)]
    got = door.post("/console/signout", {"csrf": door.token(first)}, first)
    assert (got.status, "Max-Age=0" in got.headers["set-cookie"]) == (303, True)
    assert [door.is_in(each) for each in (first, second, third)] == [False, True, True]
    door.post("/console/signout", {"csrf": door.token(second), "everywhere": "yes"}, second)
    assert [door.is_in(each) for each in (second, third)] == [False, False]


@pytest.mark.promise("console.forms-are-ours")
@pytest.mark.parametrize("kind", ["missing", "empty", "wrong", "not-ascii", "other"])
def test_a_form_without_the_token_of_its_sign_in_changes_nothing(door: Door, rosa: str, kind: str) -> None:
    """The page says that the form is another's, and the sign-in stays."""
    other = door.token(door.sign_in(door.secrets["rosa"]))
    wrong = {"empty": "", "wrong": "0" * 64, "not-ascii": "é", "other": other}
    form = {} if kind == "missing" else {"csrf": wrong[kind]}
    got = door.post("/console/signout", form, rosa)
    assert (got.status, sentences.FORM in got.text) == (403, True)
    assert door.is_in(rosa)


@pytest.mark.promise("console.forms-are-ours")
@pytest.mark.parametrize(
    ("origin", "status"),
    [(None, 400), ("null", 403), ("https://evil.example", 403), ("http://127.0.0.1:1", 403)],
)
def test_a_form_from_elsewhere_changes_nothing(
    door: Door, rosa: str, origin: str | None, status: int
) -> None:
    """Neither a sign-out with the right token nor a sign-in with the right secret."""
    got = door.post("/console/signout", {"csrf": door.token(rosa)}, rosa, origin)
    assert (got.status, "Nothing was done" in got.text) == (status, True)
    assert door.is_in(rosa)
    got = door.post("/console/signin", {"secret": door.secrets["rosa"]}, origin=origin)
    assert (got.status, "set-cookie" in got.headers) == (status, False)


@pytest.mark.promise("console.cookie-is-guarded")
def test_the_cookie_is_for_this_console_and_no_script(door: Door) -> None:
    """HttpOnly, SameSite=Strict, the console's path, twelve hours."""
    got = door.post("/console/signin", {"secret": door.secrets["rosa"]})
    flags = got.headers["set-cookie"].split("; ")[1:]
    assert flags == ["Path=/console", "Max-Age=43200", "HttpOnly", "SameSite=Strict"]


@pytest.mark.promise("console.sign-in-leads-inside")
@pytest.mark.parametrize(
    ("asked", "led"),
    [
        ("/console/outbox?all=1", "/console/outbox?all=1"),
        ("//evil.example", "/console"),
        ("https://evil.example/console", "/console"),
        ("/console.evil.example", "/console"),
        ("/console@evil.example", "/console"),
        ("/console\\evil.example", "/console"),
        ("/console\r\nSet-Cookie: a=b", "/console"),
        ("/admin/inbox", "/console"),
    ],
)
def test_a_sign_in_leads_only_inside(door: Door, asked: str, led: str) -> None:
    """Whatever a form asks for, the browser stays in the console."""
    got = door.post("/console/signin", {"secret": door.secrets["rosa"], "next": asked})
    assert (got.status, got.headers["location"]) == (303, led)


@pytest.mark.promise("console.pages-are-guarded")
@pytest.mark.parametrize(
    "path", ["/console", "/console/enter", "/console/nowhere", "/console/outbox", "/console/static/none.js"]
)
def test_every_answer_carries_the_policy(door: Door, rosa: str, path: str) -> None:
    """No inline script, no third party, no frame, no guessing of types, and pages are not kept."""
    for cookie in ("", rosa):
        got = door.get(path, cookie)
        policy = got.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["referrer-policy"] == "same-origin"
        assert got.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", got.text)


@pytest.mark.promise("console.pages-are-guarded")
def test_a_form_is_bounded_and_of_one_kind(door: Door, rosa: str) -> None:
    """Too many bytes, too many fields, other kinds and broken escapes are refused; the sign-in stays."""
    form = {"Cookie": rosa, "Origin": door.origin, "Content_Type": "application/x-www-form-urlencoded"}
    got = door.ask("POST", "/console/signout", b"&".join([b"a=1"] * 3_000), **form)
    assert got.status == 400
    got = door.ask("POST", "/console/signout", b"csrf=%ff", **form)
    assert got.status == 400
    got = door.ask("POST", "/console/signout", b"{}", **{**form, "Content_Type": "application/json"})
    assert got.status == 400
    with closing(door.connect()) as connection:
        connection.putrequest("POST", "/console/signout")
        for name, value in form.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.putheader("Content-Length", str(FORM_MAX_BYTES + 1))
        connection.endheaders()
        assert connection.getresponse().status == 413
    assert door.is_in(rosa)


@pytest.mark.promise("console.streams-are-bounded")
def test_streams_are_capped_and_end_with_the_sign_in(door: Door) -> None:
    """One more than an account may have is refused; each that is open ends when the secret does."""
    cookie = door.sign_in(door.add("otto"))
    open_ = [door.connect() for _ in range(OF_AN_ACCOUNT_MAX)]
    try:
        answers = []
        for each in open_:
            each.request("GET", "/console/events", headers={"Cookie": cookie})
            answers.append(each.getresponse())
        assert [each.status for each in answers] == [200] * OF_AN_ACCOUNT_MAX
        assert door.get("/console/events", cookie).status == 503
        door.daemon.do("admin.participant.revoke", {"id": "otto"})
        for each in answers:
            assert each.read().startswith(b"data: ")
    finally:
        for each in open_:
            each.close()


@pytest.mark.promise("console.one-small-page")
def test_what_is_vendored_is_what_the_list_says(door: Door, rosa: str) -> None:
    """Each file has its hash, and the page with all it loads is at most 200 KB."""
    static = files("mail4agent_daemon.console").joinpath("static")
    vendored = json.loads(static.joinpath("vendored.json").read_bytes())
    for name, about in vendored["files"].items():
        assert hashlib.sha256(static.joinpath(name).read_bytes()).hexdigest() == about["sha256"]
    page = door.get(cookie=rosa).text
    loaded = set(_STATIC.findall(page))
    assert len(loaded) >= 4
    assert len(page) + sum(len(door.get(each).text) for each in loaded) <= 200_000


@pytest.mark.promise("console.sign-in-ends")
def test_a_stop_ends_every_stream_and_a_cookie_outlives_it(tmp_path: Path) -> None:
    """The daemon ends in order while a page is open, and knows its browser when it is back."""
    home = tmp_path / "home"
    home.mkdir(0o700)
    with served(home) as daemon:
        door = Door(daemon)
        cookie = door.sign_in(daemon.operator)
        with closing(door.connect()) as connection:
            connection.request("GET", "/console/events", headers={"Cookie": cookie})
            answer = connection.getresponse()
            assert daemon.stop() == 0
            assert answer.read().startswith(b"data: ")
        daemon.start()
        assert door.is_in(cookie)
