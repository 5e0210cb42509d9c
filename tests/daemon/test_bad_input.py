"""Hostile and broken input at the door: each gets a clear named error, and changes nothing."""

import base64
import hashlib
import json
from typing import Any

import pytest

from .inside import Daemons
from .running import Daemon, parsed

ID = "m4a_" + "0" * 24
BEN = {"kind": "direct", "participant": "ben"}
SEND: dict[str, Any] = {"to": BEN, "subject": "s", "body": "b"}
RAW = json.dumps(SEND).encode()


def with_(**more: object) -> bytes:
    """A send with other fields."""
    return json.dumps({**SEND, **more}).encode()


def standing(daemon: Daemon) -> object:
    """All that a request could have changed: everybody's mail, counts, accounts and rooms."""
    return (
        [daemon.post("/mail/inbox", {"limit": 256}, account).json for account in ("ada", "ben", "eve")],
        [daemon.post("/mail/sent", {}, account).json for account in ("ada", "ben", "eve")],
        daemon.post("/admin/participant/list", {}).json,
        daemon.post("/admin/room/list", {}).json,
    )


REQUEST = {"kind": "malformed", "field": "request"}
BAD_SENDS: dict[str, tuple[bytes, dict[str, object]]] = {
    "an empty body": (b"", REQUEST),
    "spaces": (b" \n", REQUEST),
    "half an object": (RAW[:-1], REQUEST),
    "an array": (b"[%b]" % RAW, REQUEST),
    "null": (b"null", REQUEST),
    "text": (b"hello", REQUEST),
    "a byte order mark": (b"\xef\xbb\xbf" + RAW, REQUEST),
    "UTF-16": (RAW.decode().encode("utf-16"), REQUEST),
    "bytes that are no UTF-8": (RAW.replace(b'"b"', b'"\xff"'), REQUEST),
    "a key twice": (RAW[:-1] + b',"body":"other"}', REQUEST),
    "a nested key twice": (RAW.replace(b'"kind"', b'"kind":"direct","kind"'), REQUEST),
    "NaN": (RAW[:-1] + b',"refs":NaN}', REQUEST),
    "infinity": (RAW[:-1] + b',"refs":-Infinity}', REQUEST),
    "a lone surrogate": (RAW.replace(b'"b"', b'"\\ud800"'), REQUEST),
    "200 levels": (RAW[:-1] + b',"refs":' + b"[" * 199 + b"]" * 199 + b"}", {"kind": "malformed"}),
    "202 levels": (RAW[:-1] + b',"refs":' + b"[" * 201 + b"]" * 201 + b"}", REQUEST),
    "200,000 levels": (b"[" * 200_000, REQUEST),
    "a number of 5,000 digits": (RAW[:-1] + b',"refs":' + b"9" * 5000 + b"}", {"kind": "malformed"}),
    "something after the object": (RAW + b"{}", REQUEST),
    "a line end in an id": (
        with_(to={"kind": "direct", "participant": "ben\n"}),
        {"field": "participant id"},
    ),
    "an empty id": (with_(to={"kind": "direct", "participant": ""}), {"field": "participant id"}),
    "an id of another alphabet": (with_(to={"kind": "direct", "participant": "бен"}), {"kind": "malformed"}),
    "a room as participant": (with_(to={"kind": "room", "participant": "ben"}), {"kind": "malformed"}),
    "an address of another kind": (
        with_(to={"kind": "everybody"}),
        {"kind": "malformed", "field": "to"},
    ),
    "a sender": (with_(**{"from": {"kind": "direct", "participant": "eve"}}), REQUEST),
    "an unknown key": (with_(priority=1), REQUEST),
    "a key named like an attack": (with_(__proto__=1, constructor=1), REQUEST),
    "a key that is a script": (with_(**{"<script>alert(1)</script>\x1b[2J": 1}), REQUEST),
    "a control character in a subject": (
        with_(subject="a\x1b[2J"),
        {"kind": "malformed", "field": "subject"},
    ),
    "a line feed in a subject": (with_(subject="a\nb"), {"kind": "malformed", "field": "subject"}),
    "a body one byte too long": (
        with_(body="b" * 65_537),
        {"kind": "too_large", "field": "body", "limit": 65_536, "actual": 65_537},
    ),
    "a body too long in bytes alone": (
        with_(body="ß" * 40_000),
        {"kind": "too_large", "field": "body", "limit": 65_536, "actual": 80_000},
    ),
    "nine refs": (
        with_(refs=[{"kind": "k", "locator": "l", "digest": None}] * 9),
        {"kind": "too_large", "field": "refs", "limit": 8, "actual": 9},
    ),
    "a number for a text": (with_(subject=1), {"kind": "malformed", "field": "subject"}),
    "a reply to nothing": (with_(reply_to=ID), {"kind": "unknown_message", "message_id": ID}),
    "an id that is none": (with_(reply_to="abc\n"), {"kind": "malformed", "field": "message id"}),
}


@pytest.mark.promise("daemon.every-refusal-has-one-shape", "api.json-is-read-strictly")
@pytest.mark.parametrize(("raw", "expected"), BAD_SENDS.values(), ids=BAD_SENDS.keys())
def test_a_send_that_breaks_the_contract_changes_nothing(
    daemon: Daemon, raw: bytes, expected: dict[str, object]
) -> None:
    """It is refused by name, with the field at fault, and everything is as it was."""
    before = standing(daemon)
    answer = daemon.post("/mail/send", raw, "ada")
    assert answer.status == (404 if answer.kind == "unknown_message" else 400)
    assert {name: answer.json.get(name) for name in expected} == expected
    assert "script" not in answer.body.decode()
    assert standing(daemon) == before


@pytest.mark.promise("api.no-request-has-a-sender", "mail.sender-is-the-credential")
def test_a_sender_in_a_request_is_refused_and_never_believed(daemon: Daemon) -> None:
    """The key is named as unknown; what is sent without it is from the credential's account."""
    forged = with_(**{"from": {"kind": "direct", "participant": "operator"}})
    assert "unknown key from" in daemon.post("/mail/send", forged, "eve").json["reason"]
    daemon.send("eve", "ben", correlation="forged")
    (message,) = daemon.inbox("ben", correlation="forged")
    assert message["from"] == {"kind": "direct", "participant": "eve"}


@pytest.mark.promise("mail.reply-needs-a-readable-message")
def test_a_reply_to_a_foreign_message_is_refused(daemon: Daemon) -> None:
    """Who may not read a message cannot answer it, and learns nothing of it."""
    message = daemon.send("ada", "ben", "between us")
    before = standing(daemon)
    answer = daemon.post("/mail/send", with_(reply_to=message), "eve")
    assert (answer.status, answer.json) == (403, {"kind": "not_addressed_to_you", "message_id": message})
    assert standing(daemon) == before


@pytest.mark.promise("mail.same-key-other-content-is-refused", "mail.same-key-same-effect")
def test_a_key_with_other_content_is_refused(daemon: Daemon) -> None:
    """A repeat gets the first answer; other content under the key, or another recipient, a conflict."""
    first = daemon.send("ada", "ben", idempotency_key="once")
    assert daemon.send("ada", "ben", idempotency_key="once") == first
    before = standing(daemon)
    for other in ({"body": "other"}, {"to": {"kind": "direct", "participant": "eve"}}, {"subject": "t"}):
        told = {"to": BEN, "subject": "s", "body": "hello", "idempotency_key": "once", **other}
        answer = daemon.post("/mail/send", told, "ada")
        assert (answer.status, answer.json) == (
            409,
            {"kind": "idempotency_conflict", "idempotency_key": "once"},
        )
    assert standing(daemon) == before


BAD_HEADS = {
    "two content lengths": b"Content-Length: 2\r\nContent-Length: 3\r\n",
    "a list of content lengths": b"Content-Length: 2, 3\r\n",
    "both framings": b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
    "a negative length": b"Content-Length: -2\r\n",
    "a length that is no number": b"Content-Length: 0x2\r\n",
    "another coding": b"Transfer-Encoding: gzip\r\n",
    "a head past its bound": b"X-Padding: " + b"a" * 20_000 + b"\r\n",
}


@pytest.mark.promise("daemon.every-refusal-has-one-shape", "daemon.requests-are-bounded-before-they-are-read")
@pytest.mark.parametrize("head", BAD_HEADS.values(), ids=BAD_HEADS.keys())
def test_a_head_that_two_readers_could_read_in_two_ways_is_refused(daemon: Daemon, head: bytes) -> None:
    """Request smuggling ends at the door: one named refusal, and the connection closes."""
    before = standing(daemon)
    secret = daemon.keys["ada"].encode()
    start = b"POST /mail/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + secret + b"\r\n"
    answer = parsed(daemon.raw(start + head + b"Content-Type: application/json\r\n\r\n" + RAW))
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", "request")
    assert answer.headers["connection"] == "close"
    assert standing(daemon) == before


@pytest.mark.promise("daemon.requests-are-bounded-before-they-are-read")
def test_a_body_of_17_mib_is_refused_and_its_sender_reads_so(daemon: Daemon) -> None:
    """Also when all of it was sent first; a body at the bound is judged by its content."""
    answer = daemon.post("/mail/send", b" " * (17 * 1024 * 1024), "ada")
    assert (answer.status, answer.json) == (413, {"kind": "request_too_large", "limit": 16_777_216})
    assert daemon.post("/mail/send_many", b" " * 16_777_216, "ada").json["kind"] == "malformed"
    batch = b'{"messages":[' + RAW + b"]"
    assert daemon.post("/mail/send_many", batch.ljust(16_777_215) + b"}", "ada").status == 200


def test_a_body_for_one_message_has_a_smaller_bound(daemon: Daemon) -> None:
    """Only a batch may be large; the refusal names the bound that holds."""
    answer = daemon.post("/mail/send", b" " * 2_097_153, "ada")
    assert (answer.status, answer.json) == (413, {"kind": "request_too_large", "limit": 2_097_152})
    assert daemon.post("/mail/send", RAW[:-1].ljust(2_097_151) + b"}", "ada").status == 200


def test_a_body_without_a_credential_is_not_read(daemon: Daemon) -> None:
    """Who has no credential is told so before the body has arrived."""
    head = b"POST /mail/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with daemon.wire() as client:
        client.sendall(head + b"Content-Length: 60000\r\n\r\n{")
        assert client.recv(65_536).startswith(b"HTTP/1.1 401 ")


def test_a_packed_body_is_refused_as_it_is(daemon: Daemon) -> None:
    """Nothing is unpacked, so nothing small can grow."""
    answer = daemon.post("/mail/whoami", b"{}", "ada", **{"Content-Encoding": "gzip"})
    assert (answer.status, answer.json) == (415, {"kind": "unsupported_media_type"})


@pytest.mark.promise("daemon.requests-are-bounded-before-they-are-read")
def test_a_chunked_body_without_end_is_cut_off(daemon: Daemon) -> None:
    """It is counted while it is read, and refused once it is past the bound."""
    before = standing(daemon)
    head = f"POST /mail/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {daemon.keys['ada']}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    answer = parsed(daemon.raw(head.encode(), *[chunk] * 20))
    assert (answer.status, answer.json["kind"]) == (413, "request_too_large")
    assert answer.headers["connection"] == "close"
    assert standing(daemon) == before


@pytest.mark.promise("admin.bodies-are-closed", "api.unknown-keys-are-refused")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/admin/participant", {"id": "new", "may_send": True, "may_read": True, "is_admin": True}),
        ("/admin/participant/rotate", {"id": "ada", "secret": "f" * 64}),
        ("/admin/participant/revoke", {"id": "ada", "reason": "x"}),
        ("/admin/participant/remove", {"id": "ada", "purge": True}),
        ("/admin/participant/permit", {"id": "ada", "grant": ["mail:operator"], "revoke": [], "all": True}),
        ("/admin/room", {"id": "new", "posting": "open", "members": ["eve"]}),
        ("/admin/room/remove", {"room": "desk", "force": True}),
        ("/admin/room/member/add", {"room": "desk", "participant": "eve", "silent": True}),
        ("/admin/room/member/remove", {"room": "desk", "participant": "ada", "silent": True}),
        ("/admin/retention", {"run": True, "keep_days": 0}),
    ],
)
def test_an_administrative_request_with_an_unknown_key_changes_nothing(
    daemon: Daemon, path: str, body: dict[str, object]
) -> None:
    """What it also asked for is not done by half."""
    before = standing(daemon)
    answer = daemon.post(path, body)
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", "request")
    assert "unknown key" in answer.json["reason"]
    assert standing(daemon) == before
    assert daemon.post("/mail/whoami", {}, "ada").status == 200


@pytest.mark.promise("account.dead-secret-is-refused", "account.removed-id-is-retired")
@pytest.mark.parametrize("verb", ["rotate", "revoke", "remove"])
def test_a_dead_secret_opens_nothing(daemon: Daemon, verb: str) -> None:
    """From the next request on, at every operation alike; a removed account's name is not given again."""
    account = f"late-{verb}"
    old = daemon.add(account)
    message = daemon.send(account, "ben", "before")
    answer = daemon.post(f"/admin/participant/{verb}", {"id": account})
    assert answer.status == 200
    for path, value in (("/mail/whoami", {}), ("/mail/inbox", {}), ("/mail/send", SEND), ("/admin/room", {})):
        refused = daemon.post(path, value, account)
        assert (refused.status, refused.json) == (401, {"kind": "unauthenticated"})
    assert daemon.post("/mail/get", {"message_id": message}, "ben").status == 200
    again = daemon.post("/admin/participant", {"id": account, "may_send": True, "may_read": True})
    kind = "id_retired" if verb == "remove" else "already_exists"
    assert (again.status, again.json) == (409, {"kind": kind, "id": account})
    if verb == "rotate":
        daemon.keys[account] = answer.json["secret"]
        assert answer.json["secret"] != old
        assert daemon.post("/mail/whoami", {}, account).status == 200


@pytest.mark.promise("account.secret-is-shown-once")
def test_no_secret_and_no_digest_of_one_is_ever_shown_again(daemon: Daemon) -> None:
    """Not by a listing, a refusal, the metrics, the log, nor in the database itself."""
    secret = daemon.add("shown")
    daemon.send("shown", "ben")
    answers = [
        daemon.post("/admin/participant/list", {}),
        daemon.post("/mail/directory", {}, "shown"),
        daemon.post("/mail/whoami", {}, "shown"),
        daemon.post("/mail/send", with_(secret=secret), "shown"),
        daemon.post(f"/mail/{secret}", {}, "shown"),
        daemon.get("/metrics"),
    ]
    digest = hashlib.sha256(secret.encode())
    shown = [answer.body + repr(answer.headers).encode() for answer in answers]
    shown += [daemon.log_file.read_bytes()]
    for word in (secret, digest.hexdigest(), base64.b64encode(digest.digest()).decode()):
        assert [text for text in shown if word.encode() in text] == []
    kept = b"".join(path.read_bytes() for path in daemon.home.glob("mail.sqlite3*"))
    assert secret.encode() not in kept
    assert digest.digest() in kept


@pytest.mark.promise("daemon.requests-are-bounded-before-they-are-read")
@pytest.mark.parametrize(
    "start",
    [
        "POST /mail/send HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        "POST /mail/send HTTP/1.1\r\nHost: localhost\r\n{key}Content-Length: 10\r\n\r\n{{",
        "POST /mail/send HTTP/1.1\r\nHost: localhost\r\n{key}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n",
    ],
    ids=["headers", "body", "chunks"],
)
async def test_what_does_not_arrive_in_time_is_refused(daemons: Daemons, start: str) -> None:
    """Headers or a body that stand still get the refusal of a malformed request, and the connection ends."""
    short = dict.fromkeys(
        ("header_timeout_secs", "body_read_timeout_secs", "unread_request_timeout_secs"), 0.05
    )
    inside = await daemons.start(**short)
    wire = await inside.connect()
    key = f"Authorization: Bearer {inside.keys['operator']}\r\nContent-Type: application/json\r\n"
    answer = await wire.ask(start.format(key=key).encode())
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", "request")
    assert answer.header("connection") == "close"
    assert await wire.rest() == b""
    assert (await inside.post("/mail/inbox", {}, "ben")).json == {"messages": [], "unread": 0}
