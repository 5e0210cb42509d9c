"""The HTTP door: paths, methods, credentials, content types, and what is judged before what."""

import json

import pytest

from mail4agent_api.operations import OPERATIONS, Operation

from .host.served import until
from .inside import Inside
from .running import Daemon

ROWS = [row for row in OPERATIONS.values() if row.authenticated]
CREDENTIAL = "Authorization"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_operation_needs_a_credential(daemon: Daemon, row: Operation) -> None:
    """Without one every row answers 401, and says how to show one, whatever the body is."""
    answer = daemon.ask("POST", row.path, b"{", {"Content-Type": "application/json"})
    assert (answer.status, answer.json) == (401, {"kind": "unauthenticated"})
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_operation_has_one_method(daemon: Daemon, row: Operation) -> None:
    """Any other one answers 405 and names it, with or without a credential."""
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = daemon.ask(method, row.path)
        assert (answer.status, answer.kind, answer.headers["allow"]) == (405, "method_not_allowed", "POST")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic {}",
        "{}",
        "Bearer {}x",
        "Bearer x{}",
        "Bearer {} {}",
        "Bearer" + "x" * 300,
        "Bearer " + "f" * 64,
        "Bearer {}, Bearer {}",
    ],
)
def test_what_is_no_known_secret_is_refused_in_one_way(daemon: Daemon, value: str) -> None:
    """No form of a wrong credential tells more than another."""
    headers = {CREDENTIAL: value.replace("{}", daemon.keys["ada"]), "Content-Type": "application/json"}
    answer = daemon.ask("POST", "/mail/whoami", b"{}", headers)
    assert (answer.status, answer.json) == (401, {"kind": "unauthenticated"})


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_scheme_is_written_in_any_case(daemon: Daemon, scheme: str) -> None:
    """As RFC 9110 says of schemes."""
    headers = {CREDENTIAL: f"{scheme} {daemon.keys['ada']}"}
    assert daemon.ask("POST", "/mail/whoami", b"", headers).json["address"]["participant"] == "ada"


def test_two_credentials_are_none(daemon: Daemon) -> None:
    """Which of two is meant is not for the daemon to choose."""
    secret = daemon.keys["ada"]
    head = f"POST /mail/whoami HTTP/1.1\r\nHost: localhost\r\n{CREDENTIAL}: Bearer {secret}\r\n" * 2
    raw = head.partition("\r\nPOST")[0] + f"\r\n{CREDENTIAL}: Bearer {secret}\r\nConnection: close\r\n\r\n"
    assert b'{"kind":"unauthenticated"}' in daemon.raw(raw.encode())


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/mail",
        "/mail/",
        "/mail/nothing",
        "/mail/send/",
        "//mail/send",
        "/MAIL/SEND",
        "/mail/%73end",
        "/mail/send%00",
        "/mail/../mail/send",
        "/admin",
        "/mcp/",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/" + "a" * 8000,
    ],
)
def test_a_path_is_taken_to_the_letter(daemon: Daemon, path: str) -> None:
    """What is not exactly the path of a row is unknown, for every method and with a good credential."""
    assert daemon.post(path, {}).json == {"kind": "unknown_path"}
    assert daemon.post(path, {}).status == 404
    assert daemon.get(path).json == {"kind": "unknown_path"}


@pytest.mark.parametrize(
    "path", ["/mail/whoami?a=b", "/mail/inbox?limit=5", "/health?x=1", "/metrics?name[]=a"]
)
def test_a_query_is_refused(daemon: Daemon, path: str) -> None:
    """A parameter that does not count must not look as if it did."""
    answer = daemon.post(path, {}) if "mail" in path else daemon.get(path)
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", "request")


@pytest.mark.parametrize("path", ["/health", "/metrics"])
def test_a_page_may_be_asked_for_by_its_head(daemon: Daemon, path: str) -> None:
    """HEAD gets what GET would, without the body; anything else gets 405."""
    answer = daemon.ask("HEAD", path)
    assert (answer.status, answer.body) == (200, b"")
    assert int(answer.headers["content-length"]) > 0
    other = daemon.ask("POST", path, b"{}")
    assert (other.status, other.headers["allow"]) == (405, "GET, HEAD")


TYPES = [
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonx",
    "application/json; charset=latin1",
]


@pytest.mark.parametrize("kind", TYPES)
def test_a_body_must_say_that_it_is_json(daemon: Daemon, kind: str) -> None:
    """A page of another site can make a browser send the others without asking; nothing is done for them."""
    before = len(daemon.inbox("ben"))
    message = {"to": {"kind": "direct", "participant": "ben"}, "subject": "s", "body": "b"}
    answer = daemon.post("/mail/send", message, "ada", **{"Content-Type": kind})
    assert (answer.status, answer.json) == (415, {"kind": "unsupported_media_type"})
    assert len(daemon.inbox("ben")) == before


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"']
)
def test_json_may_say_its_encoding(daemon: Daemon, kind: str) -> None:
    """There is one encoding, which a parameter may repeat."""
    assert daemon.post("/mail/unread", {"target": DIRECT}, "ada", **{"Content-Type": kind}).status == 200


DIRECT = {"kind": "direct", "participant": "ada"}


@pytest.mark.parametrize("path", ["/mail/whoami", "/mail/directory"])
@pytest.mark.parametrize("body", [None, b"", b"{}"])
@pytest.mark.parametrize("kind", ["application/json", "text/plain", None])
def test_what_asks_for_nothing_may_be_asked_by_an_empty_body(
    daemon: Daemon, path: str, body: bytes | None, kind: str | None
) -> None:
    """The original's clients send no body and no content type there."""
    headers = {CREDENTIAL: f"Bearer {daemon.keys['ada']}"} | ({"Content-Type": kind} if kind else {})
    assert daemon.ask("POST", path, body, headers).status == 200


@pytest.mark.promise("mail.capabilities-are-needed")
def test_the_missing_capability_is_named_before_the_body_is_read(daemon: Daemon) -> None:
    """Who may not call an operation learns what it would need, and nothing about its body."""
    daemon.add("mute", may_send=False)
    daemon.add("deaf", may_read=False)
    for account, path, need in (
        ("mute", "/mail/send", "mail:send"),
        ("mute", "/mail/send_many", "mail:send"),
        ("deaf", "/mail/inbox", "mail:read"),
        ("deaf", "/mail/ack", "mail:read"),
        ("ada", "/admin/participant", "mail:operator"),
    ):
        answer = daemon.post(path, b"no json", account)
        assert (answer.status, answer.json) == (403, {"kind": "permission_denied", "need": need})
    assert daemon.post("/mail/whoami", {}, "deaf").status == 200


@pytest.mark.promise("mail.capabilities-are-needed")
def test_an_operator_without_the_right_to_send_sends_nothing(daemon: Daemon) -> None:
    """mail:operator implies neither of the others for sending, but may read its own inbox."""
    daemon.add("warden", may_send=False, may_read=False, operator=True)
    message = {"to": DIRECT, "subject": "s", "body": "b"}
    assert daemon.post("/mail/send", message, "warden").json["need"] == "mail:send"
    assert daemon.post("/mail/inbox", {}, "warden").status == 200


def test_answers_are_compact_json_that_nobody_keeps(daemon: Daemon) -> None:
    """Mail must not lie in the cache of a proxy or a browser."""
    answer = daemon.post("/mail/whoami", {}, "ada")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    assert "server" not in answer.headers
    assert answer.body == json.dumps(answer.json, separators=(",", ":")).encode()


async def test_the_log_names_the_account_that_was_refused(inside: Inside) -> None:
    """Who tried what it may not do can be told from the log."""
    assert (await inside.post("/admin/retention", {}, "eve")).status == 403
    await until(lambda: inside.log[-1].get("route") == "/admin/retention")
    assert (inside.log[-1]["account"], inside.log[-1]["status"]) == ("eve", 403)
