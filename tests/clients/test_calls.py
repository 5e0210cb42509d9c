"""What a client sends, what it makes of answers, and which faults it names."""

from __future__ import annotations

import gc
import json
import traceback
from typing import Any

import pytest

from mail4agent_api.errors import (
    IdempotencyConflictError,
    InternalError,
    MalformedError,
    TooLargeError,
    UnknownParticipantError,
)
from mail4agent_api.mail import (
    DirectAddress,
    Health,
    ParticipantId,
    Position,
    RoomAddress,
    RoomId,
    SendRequest,
)
from mail4agent_client import (
    AnswerInvalidError,
    AnswerTooLargeError,
    ConnectFailedError,
    ConnectionLostError,
    RetryPolicy,
    SyncMailClient,
    TimedOutError,
)

TOKEN = "5f" * 32
ID = "m4a_" + "0a" * 12
SENT = {"message_id": ID, "from": {"kind": "direct", "participant": "alice"}}
WHOAMI = {"address": {"kind": "direct", "participant": "alice"}, "label": None, "rooms": [], "card": None}
AT_ONCE = RetryPolicy(first_pause=0.0)


def test_a_request_carries_bearer_and_json_and_asks_for_no_compression(ask: Any, scripted: Any) -> None:
    """One request has exactly the headers that the contract needs."""
    scripted.answer(200, SENT)
    ask(scripted.url, lambda client: client.send(to="bob", subject="s", body="b"))
    (request,) = scripted.seen
    assert (request.method, request.path) == ("POST", "/mail/send")
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["host"] == scripted.url.removeprefix("http://")
    assert "cookie" not in request.headers


def test_the_public_health_question_carries_no_credential(ask: Any, scripted: Any) -> None:
    """What needs no credential gets none."""
    health = {
        "ok": True,
        "service": "mail4agent",
        "version": "0.1.0",
        "started_at": "2026-01-01T00:00:00Z",
        "uptime_secs": 1,
        "dependencies": [],
        "background_tasks": [],
    }
    scripted.answer(200, health)
    answer = ask(scripted.url, lambda client: client.health())
    assert isinstance(answer, Health)
    (request,) = scripted.seen
    assert (request.method, request.path, request.body) == ("GET", "/health", b"")
    assert "authorization" not in request.headers


def test_fields_and_request_say_the_same_on_the_wire(ask: Any, scripted: Any) -> None:
    """The keyword form builds the request that a caller would build by hand."""
    scripted.answer(200, SENT)
    scripted.answer(200, SENT)
    request = SendRequest(to=RoomAddress(room=RoomId("ops")), subject="s", body="b")
    ask(scripted.url, lambda client: client.send(request))
    ask(scripted.url, lambda client: client.send(to="#ops", subject="s", body="b"))
    assert scripted.seen[0].json == scripted.seen[1].json


def test_a_message_stands_for_its_position(ask: Any, scripted: Any) -> None:
    """A reader pages by the last message it saw."""
    page = {"messages": [_message(1)], "unread": 1}
    scripted.answer(200, page)
    scripted.answer(200, {"messages": [], "unread": 1})
    first = ask(scripted.url, lambda client: client.inbox(limit=1))
    ask(scripted.url, lambda client: client.inbox(after=first.messages[0]))
    assert scripted.seen[1].json["after"] == {
        "created_at_unix_ms": 1,
        "message_id": first.messages[0].message_id,
    }


def test_request_and_fields_together_are_a_programming_error(scripted: Any) -> None:
    """Neither may silently win over the other."""
    client = SyncMailClient(scripted.url, token=TOKEN)
    with pytest.raises(TypeError):
        client.ack(object(), message_id=ID)  # type: ignore[call-overload]
    client.close()


def test_a_field_past_its_bound_is_refused_before_anything_is_sent(ask: Any, scripted: Any) -> None:
    """The client speaks the refusal that the daemon would, without a round trip."""
    with pytest.raises(TooLargeError) as caught:
        ask(scripted.url, lambda client: client.send_text("bob", "x" * 65537))
    assert (caught.value.refusal.field, caught.value.refusal.limit, caught.value.refusal.actual) == (
        "body",
        65536,
        65537,
    )
    with pytest.raises(MalformedError):
        ask(scripted.url, lambda client: client.ack(message_id=ID.upper()))
    assert scripted.seen == []


def test_a_request_changed_past_validation_does_not_leave(ask: Any, scripted: Any) -> None:
    """A value that was built around the checks is checked again before it is sent."""
    request = SendRequest.model_construct(
        to=DirectAddress(participant=ParticipantId("bob")),
        subject="s\n",
        body="b",
        refs=[],
        idempotency_key=None,
    )
    with pytest.raises(MalformedError):
        ask(scripted.url, lambda client: client.send(request))
    assert scripted.seen == []


def test_a_refusal_is_raised_as_the_exception_of_its_kind(ask: Any, scripted: Any) -> None:
    """The exception holds the wire object."""
    scripted.answer(404, {"kind": "unknown_participant", "participant": "bbo"})
    with pytest.raises(UnknownParticipantError) as caught:
        ask(scripted.url, lambda client: client.send_text("bbo", "hello"))
    assert caught.value.refusal.participant == "bbo"


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>not the daemon</html>"),
        (200, b'{"messages": []}'),
        (200, b'{"address": {"kind": "direct", "participant": "a"}, "rooms": [], "surplus": 1}'),
        (201, b"{}"),
        (404, b"Not Found"),
        (409, b'{"kind": "kind_of_tomorrow"}'),
        (502, b""),
    ],
)
def test_an_answer_outside_the_contract_is_named_with_its_status(
    ask: Any, scripted: Any, status: int, body: bytes
) -> None:
    """Another server, a proxy or a newer daemon is not taken for the contract, nor for a refusal."""
    scripted.answer(status, body)
    with pytest.raises(AnswerInvalidError) as caught:
        ask(scripted.url, lambda client: client.whoami())
    assert caught.value.status == status


def test_a_redirect_is_not_followed(ask: Any, scripted: Any, elsewhere: Any) -> None:
    """The credential goes to the address that was configured and nowhere else."""
    scripted.answer(307, b"", location=f"{elsewhere.url}/mail/whoami")
    with pytest.raises(AnswerInvalidError) as caught:
        ask(scripted.url, lambda client: client.whoami())
    assert caught.value.status == 307
    assert elsewhere.seen == []


def test_a_proxy_of_the_environment_is_not_used(
    ask: Any, scripted: Any, elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable meant for web traffic does not see mail."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, elsewhere.url)
    scripted.answer(200, WHOAMI)
    ask(scripted.url, lambda client: client.whoami())
    assert elsewhere.seen == []


def test_a_compressed_answer_is_not_unpacked(ask: Any, scripted: Any) -> None:
    """A small answer cannot become a large one."""
    scripted.answer(200, WHOAMI, content_encoding="gzip")
    with pytest.raises(AnswerInvalidError):
        ask(scripted.url, lambda client: client.whoami())


@pytest.mark.parametrize("announced", [True, False])
def test_an_answer_past_the_bound_is_given_up(ask: Any, scripted: Any, announced: bool) -> None:
    """The bound holds whether or not the answer says how long it is."""
    if announced:
        scripted.answer(200, b" " * 1001)
    else:
        chunk = b"%x\r\n" % 600 + b" " * 600 + b"\r\n"
        scripted.raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunk * 2 + b"0\r\n\r\n")
    with pytest.raises(AnswerTooLargeError) as caught:
        ask(scripted.url, lambda client: client.whoami(), max_answer_bytes=1000)
    assert caught.value.limit == 1000


def test_an_answer_at_the_bound_is_read(ask: Any, scripted: Any) -> None:
    """The bound itself is allowed."""
    scripted.answer(200, _padded(WHOAMI, 1000))
    assert (
        ask(scripted.url, lambda client: client.whoami(), max_answer_bytes=1000).address.participant
        == "alice"
    )


def test_an_answer_that_breaks_off_is_a_lost_connection(ask: Any, scripted: Any) -> None:
    """Half an answer is none."""
    scripted.raw(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{")
    with pytest.raises(ConnectionLostError):
        ask(scripted.url, lambda client: client.whoami(), retries=RetryPolicy(attempts=1))


def test_an_answer_that_is_no_http_is_a_lost_connection(ask: Any, scripted: Any) -> None:
    """A server of another protocol is not taken for the daemon."""
    scripted.raw(b"220 smtp.example ready\r\n")
    with pytest.raises(ConnectionLostError):
        ask(scripted.url, lambda client: client.whoami(), retries=RetryPolicy(attempts=1))


def test_silence_ends_with_a_timeout(ask: Any, scripted: Any) -> None:
    """A daemon that hangs does not hang its caller, and is not asked a second time."""
    released = scripted.stay_silent()
    with pytest.raises(TimedOutError):
        ask(scripted.url, lambda client: client.whoami(), answer_secs=0.2)
    released.set()
    assert len(scripted.seen) == 1


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nx-slow: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", b" "),
    ],
    ids=["head", "interim answers", "body"],
)
@pytest.mark.parametrize("door", ["scripted", "scripted_socket"])
def test_an_answer_that_drips_ends_with_a_timeout(
    ask: Any, request: pytest.FixtureRequest, door: str, first: bytes, piece: bytes
) -> None:
    """The deadline is that of the whole answer; a byte now and then does not put it off."""
    server = request.getfixturevalue(door)
    server.drip(first, piece)
    with pytest.raises(TimedOutError):
        ask(server.url, lambda client: client.whoami(), answer_secs=0.2, retries=RetryPolicy(attempts=1))
    assert len(server.seen) == 1


def test_nobody_listening_is_named_with_the_address_and_the_reason(ask: Any, closed_url: str) -> None:
    """The one fault that a person meets first says where and why."""
    with pytest.raises(ConnectFailedError) as caught:
        ask(closed_url, lambda client: client.whoami(), retries=AT_ONCE)
    assert (caught.value.url, caught.value.reason) == (closed_url, "Connection refused")


# httpcore2 2.16 leaves closing the socket that could not connect to the garbage collector.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
def test_a_missing_socket_is_named(ask: Any, tmp_path: Any) -> None:
    """A UNIX socket that is not there is a connection that was not made."""
    with pytest.raises(ConnectFailedError) as caught:
        ask(f"unix:{tmp_path}/none.sock", lambda client: client.whoami(), retries=AT_ONCE)
    assert caught.value.reason == "No such file or directory"
    # Here, where its warning is expected, and not in the middle of another test. The fault holds its frames.
    del caught
    gc.collect()


def test_a_unix_socket_carries_the_same_request(ask: Any, scripted_socket: Any) -> None:
    """The transport changes, the request does not."""
    scripted_socket.answer(200, WHOAMI)
    assert ask(scripted_socket.url, lambda client: client.whoami()).address.participant == "alice"
    assert scripted_socket.seen[0].headers["host"] == "localhost"


def test_a_lost_answer_to_a_keyed_send_is_asked_for_again(ask: Any, scripted: Any) -> None:
    """The repeat is the same request to the byte, key included."""
    scripted.hang_up()
    scripted.answer(200, SENT)
    assert (
        ask(scripted.url, lambda client: client.send_text("bob", "hello"), retries=AT_ONCE).message_id == ID
    )
    first, second = scripted.seen
    assert first.body == second.body
    assert first.json["idempotency_key"]


@pytest.mark.promise("client.retries-only-what-is-safe")
def test_a_lost_answer_to_a_send_without_a_key_is_not(ask: Any, scripted: Any) -> None:
    """A message must not be posted twice."""
    scripted.hang_up()
    with pytest.raises(ConnectionLostError):
        ask(scripted.url, lambda client: client.send(to="bob", subject="", body="b"), retries=AT_ONCE)
    assert len(scripted.seen) == 1


def test_a_busy_daemon_is_asked_again_after_the_time_it_names(ask: Any, scripted: Any) -> None:
    """A Retry-After is honoured where a repeat is safe."""
    scripted.answer(503, {"kind": "overloaded", "retry_after_secs": 1}, retry_after="0")
    scripted.answer(429, {"kind": "rate_limited", "retry_after_secs": 1}, retry_after="0")
    scripted.answer(200, WHOAMI)
    assert ask(scripted.url, lambda client: client.whoami(), retries=AT_ONCE).rooms == []
    assert len(scripted.seen) == 3


@pytest.mark.parametrize(
    ("status", "refusal", "error"),
    [
        (409, {"kind": "idempotency_conflict", "idempotency_key": "k"}, IdempotencyConflictError),
        (500, {"kind": "internal", "request_id": "r1"}, InternalError),
    ],
)
def test_a_refusal_that_time_does_not_mend_is_raised_at_once(
    ask: Any, scripted: Any, status: int, refusal: Any, error: type[Exception]
) -> None:
    """Only busy answers and lost connections are worth a repeat."""
    scripted.answer(status, refusal)
    with pytest.raises(error):
        ask(scripted.url, lambda client: client.send_text("bob", "hello"), retries=AT_ONCE)
    assert len(scripted.seen) == 1


def test_a_client_for_one_request_says_that_it_is_the_last(ask: Any, scripted: Any) -> None:
    """The daemon need not keep a connection that nobody will use."""
    scripted.answer(200, WHOAMI)
    ask(scripted.url, lambda client: client.whoami(), keep_alive=False)
    assert scripted.seen[0].headers["connection"] == "close"


def test_no_fault_shows_the_credential(ask: Any, scripted: Any, closed_url: str) -> None:
    """Neither a message, a representation nor a whole traceback holds the secret."""
    scripted.hang_up()
    for url in (scripted.url, closed_url):
        with pytest.raises((ConnectionLostError, ConnectFailedError)) as caught:
            ask(url, lambda client: client.whoami(), retries=RetryPolicy(attempts=1))
        whole = "".join(
            traceback.TracebackException.from_exception(caught.value, capture_locals=False).format()
        )
        assert TOKEN not in whole + repr(caught.value)
        assert caught.value.__cause__ is None
    with SyncMailClient(scripted.url, token=TOKEN) as client:
        assert TOKEN not in repr(client) + repr(vars(client))


def test_an_answer_to_a_message_goes_where_the_thread_is(ask: Any, scripted: Any) -> None:
    """An answer names its message, keeps the subject once, and goes to the author or the room."""
    scripted.answer(200, {"messages": [_message(1), _message(2, room="ops")], "unread": 2})
    scripted.answer(200, SENT)
    scripted.answer(200, SENT)
    page = ask(scripted.url, lambda client: client.inbox())
    for message in page.messages:
        ask(scripted.url, lambda client, message=message: client.reply_text(message, "yes"))
    direct, room = scripted.seen[1].json, scripted.seen[2].json
    assert direct["to"] == {"kind": "direct", "participant": "bob"}
    assert direct["subject"] == "Re: s1"
    assert direct["reply_to"] == page.messages[0].message_id
    assert room["to"] == {"kind": "room", "room": "ops"}


def test_a_position_is_a_position(ask: Any, scripted: Any) -> None:
    """A kept position works like the message it was taken from."""
    scripted.answer(200, {"messages": [], "unread": 0})
    kept = Position.model_validate({"created_at_unix_ms": 7, "message_id": ID})
    ask(scripted.url, lambda client: client.inbox(after=kept))
    assert scripted.seen[0].json["after"] == {"created_at_unix_ms": 7, "message_id": ID}


def _message(number: int, room: str | None = None) -> dict[str, Any]:
    return {
        "message_id": f"m4a_{number:024x}",
        "from": {"kind": "direct", "participant": "bob"},
        "to": {"kind": "direct", "participant": "alice"} if room is None else {"kind": "room", "room": room},
        "subject": f"s{number}",
        "body": "b",
        "created_at_unix_ms": number,
    }


def _padded(value: Any, size: int) -> bytes:
    raw = json.dumps(value).encode()
    return raw + b" " * (size - len(raw))
