"""Following an inbox: each message once, across faults, from the place that was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import PermissionDeniedError, UnauthenticatedError
from mail4agent_api.mail import Message, Position
from mail4agent_client import AnswerInvalidError, ConnectFailedError, SyncMailClient
from mail4agent_client.exchange import Answer, Ask, Pause
from mail4agent_client.watch import Show, WatchFields, WatchOptions, WatchPlan

QUICK: dict[str, Any] = {"first_pause": 0.0, "longest_pause": 0.0}
WHOAMI = {"address": {"kind": "direct", "participant": "alice"}, "label": None, "rooms": [], "card": None}
EMPTY = {"messages": [], "unread": 0}
TOKEN = "5f" * 32


def _message(number: int, sender: str = "bob") -> dict[str, Any]:
    return {
        "message_id": f"m4a_{number:024x}",
        "from": {"kind": "direct", "participant": sender},
        "to": {"kind": "room", "room": "ops"},
        "subject": "",
        "body": f"b{number}",
        "created_at_unix_ms": number,
    }


def _page(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"messages": list(messages), "unread": len(messages)}


def _place(number: int) -> dict[str, Any]:
    return {"created_at_unix_ms": number, "message_id": f"m4a_{number:024x}"}


def _bodies(messages: list[Message]) -> list[str]:
    return [message.body for message in messages]


def test_now_begins_behind_what_is_there(ask: Any, take: Any, scripted: Any) -> None:
    """The first page is asked for behind the newest position, and the next one behind the last message."""
    scripted.answer(200, {"unread": 3, "newest": _place(5)})
    scripted.answer(200, WHOAMI)
    scripted.answer(200, _page(_message(6), _message(7)))
    scripted.answer(200, _page(_message(8)))
    seen = ask(scripted.url, lambda client: take(client.watch(**QUICK), 3))
    assert _bodies(seen) == ["b6", "b7", "b8"]
    wait, _, first, second = scripted.seen
    assert wait.json["wait_secs"] == 0
    assert first.json["after"] == _place(5)
    assert second.json["after"] == _place(7)
    assert first.json["wait_secs"] > 0


def test_unread_begins_at_the_oldest_message_without_an_acknowledgement(
    ask: Any, take: Any, scripted: Any
) -> None:
    """The daemon is asked for unread mail alone, from the start."""
    scripted.answer(200, _page(_message(1)))
    seen = ask(scripted.url, lambda client: take(client.watch("unread", **QUICK), 1))
    assert _bodies(seen) == ["b1"]
    (first,) = scripted.seen
    assert first.json["unread_only"] is True
    assert first.json["after"] is None


def test_a_position_or_a_message_is_begun_behind(ask: Any, take: Any, scripted: Any) -> None:
    """A watch goes on where an earlier one left off."""
    for start in (Position.model_validate(_place(3)), _decoded(_message(3))):
        scripted.answer(200, WHOAMI)
        scripted.answer(200, _page(_message(4)))
        ask(scripted.url, lambda client, start=start: take(client.watch(start, **QUICK), 1))
        assert scripted.seen[-1].json["after"] == _place(3)


def test_own_posts_are_passed_over_unless_asked_for(ask: Any, take: Any, scripted: Any) -> None:
    """An agent that answers what it sees does not answer itself."""
    scripted.answer(200, WHOAMI)
    scripted.answer(200, _page(_message(4, "alice"), _message(5)))
    start = Position.model_validate(_place(3))
    assert _bodies(ask(scripted.url, lambda client: take(client.watch(start, **QUICK), 1))) == ["b5"]
    scripted.answer(200, _page(_message(4, "alice")))
    assert _bodies(ask(scripted.url, lambda client: take(client.watch(start, own=True, **QUICK), 1))) == [
        "b4"
    ]


def test_filters_are_the_daemons(ask: Any, take: Any, scripted: Any) -> None:
    """What is not wanted does not travel."""
    scripted.answer(200, _page(_message(1)))
    fields = {"room": "ops", "sent_by": "bob", "correlation": "c", "thread": f"m4a_{9:024x}"}
    ask(scripted.url, lambda client: take(client.watch("unread", limit=7, **fields, **QUICK), 1))
    asked = scripted.seen[0].json
    assert {name: asked[name] for name in fields} == fields
    assert asked["limit"] == 7


def test_a_restart_of_the_daemon_is_waited_out(ask: Any, take: Any, scripted: Any) -> None:
    """Lost connections and busy answers repeat nothing and miss nothing."""
    scripted.answer(200, _page(_message(1)))
    scripted.hang_up()
    scripted.answer(503, {"kind": "overloaded", "retry_after_secs": 1}, retry_after="0")
    scripted.answer(502, b"bad gateway")
    scripted.answer(500, {"kind": "internal", "request_id": "r"})
    scripted.answer(200, _page(_message(2)))
    faults: list[str] = []
    seen = ask(
        scripted.url,
        lambda client: take(
            client.watch("unread", on_fault=lambda e, _: faults.append(type(e).__name__), **QUICK), 2
        ),
    )
    assert _bodies(seen) == ["b1", "b2"]
    assert faults == ["ConnectionLostError", "OverloadedError", "AnswerInvalidError", "InternalError"]
    assert all(request.json["after"] == _place(1) for request in scripted.seen[1:])


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((401, {"kind": "unauthenticated"}), UnauthenticatedError),
        ((403, {"kind": "permission_denied", "need": "mail:read"}), PermissionDeniedError),
        ((200, {"surplus": 1}), AnswerInvalidError),
    ],
)
def test_what_waiting_does_not_mend_ends_the_watch(
    ask: Any, take: Any, scripted: Any, answer: tuple[int, Any], error: type[Exception]
) -> None:
    """A revoked secret stays revoked."""
    scripted.answer(*answer)
    with pytest.raises(error):
        ask(scripted.url, lambda client: take(client.watch("unread", **QUICK), 1))


def test_a_message_is_acknowledged_when_the_next_one_is_asked_for(ask: Any, take: Any, scripted: Any) -> None:
    """A consumer that dies at its work has not acknowledged it; a message purged meanwhile is no fault."""
    ack = {"ack": {**_ack(1)}}
    scripted.answer(200, _page(_message(1), _message(2), _message(3)))
    scripted.answer(200, ack)
    scripted.answer(404, {"kind": "unknown_message", "message_id": f"m4a_{2:024x}"})
    seen = ask(scripted.url, lambda client: take(client.watch("unread", ack=True, **QUICK), 3))
    assert _bodies(seen) == ["b1", "b2", "b3"]
    assert [request.path for request in scripted.seen] == ["/mail/inbox", "/mail/ack", "/mail/ack"]


def test_giving_up_is_possible(ask: Any, take: Any, closed_url: str) -> None:
    """A bound on the pauses ends a watch on a daemon that does not come back."""
    with pytest.raises(ConnectFailedError):
        ask(closed_url, lambda client: take(client.watch("unread", first_pause=0.01, give_up_after=0.02), 1))


def test_an_empty_page_that_was_not_waited_for_is_paused_after() -> None:
    """A daemon that releases its waiters at once, because it stops, is not asked in a tight loop."""
    now = [0.0]
    plan = WatchPlan(WatchOptions(start="unread", wait_secs=10), chance=lambda: 1.0, clock=lambda: now[0])
    assert isinstance(plan.resumed(), Ask)
    empty = Answer(200, None, b'{"messages": [], "unread": 0}')
    assert plan.performed(empty) == Pause(0.2)
    assert isinstance(plan.performed(None), Ask)
    assert plan.performed(empty) == Pause(0.4)
    assert isinstance(plan.performed(None), Ask)
    now[0] += 10.0
    assert isinstance(plan.performed(empty), Ask)


def test_a_call_that_was_interrupted_loses_nothing() -> None:
    """The next call takes up the same step."""
    plan = WatchPlan(WatchOptions(start="unread"))
    first = plan.resumed()
    assert plan.resumed() is first
    shown = plan.performed(Answer(200, None, _raw(_page(_message(1)))))
    assert isinstance(shown, Show)
    assert plan.position == Position.model_validate(_place(1))


def test_a_watch_that_has_failed_stays_ended(scripted: Any) -> None:
    """A second call neither hangs nor starts over."""
    scripted.answer(401, {"kind": "unauthenticated"})
    with SyncMailClient(scripted.url, token=TOKEN) as client:
        watch = client.watch("unread", **QUICK)
        with pytest.raises(UnauthenticatedError):
            next(watch)
        with pytest.raises(StopIteration):
            next(watch)
    assert len(scripted.seen) == 1


def test_every_option_is_an_argument() -> None:
    """The two lists of options are one."""
    names = {*WatchOptions.__dataclass_fields__} - {"start"}
    assert names == WatchFields.__optional_keys__


def _decoded(message: dict[str, Any]) -> Message:
    return decode_value(Message, message)


def _ack(number: int) -> dict[str, Any]:
    reader = {"kind": "direct", "participant": "alice"}
    return {"message_id": f"m4a_{number:024x}", "reader": reader, "acked_at_unix_ms": 1}


def _raw(value: Any) -> bytes:
    return json.dumps(value).encode()
