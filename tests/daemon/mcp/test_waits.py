"""Waiting through the door: what ends a wait, and that nothing of it is left behind."""

import asyncio
import json
from typing import Any

import pytest

from mail4agent_api.mail import WaitRequest
from tests.daemon.host.served import BOUND_SECS, Wire, until
from tests.daemon.inside import Daemons, Inside

from .talk import message, modern

ERAS = ["handshake", "stateless"]


def called(daemon: Inside, era: str, tool: str, account: str = "ben", **arguments: Any) -> bytes:
    """The bytes of a tool call in an era."""
    params = {"name": tool, "arguments": arguments}
    value, headers = (
        modern("tools/call", params) if era == "stateless" else (message("tools/call", params), {})
    )
    raw = daemon.request("/mcp", value, account)
    head, _, body = raw.partition(b"\r\n\r\n")
    more = "".join(f"\r\n{name}: {text}" for name, text in headers.items())
    return head + more.encode() + b"\r\n\r\n" + body


async def parked(daemon: Inside, era: str, tool: str = "m4a_mail_wait", **arguments: Any) -> Wire:
    """A call that waits, once it does."""
    before = daemon.made.waiters.parked
    wire = await daemon.connect()
    await wire.send(called(daemon, era, tool, wait_secs=50, **arguments))
    await until(lambda: daemon.made.waiters.parked > before)
    return wire


async def given(wire: Wire) -> Any:
    """What a tool gave."""
    return (await wire.answer()).json["result"]["structuredContent"]


async def opened(daemon: Inside) -> None:
    """The SDK is there."""
    assert (await daemon.post("/mcp", message("ping"), "ben")).status == 200


@pytest.mark.promise("mcp.waits-consume-nothing-and-end-in-time")
@pytest.mark.parametrize("era", ERAS)
async def test_mail_ends_a_wait_and_stays_unread(inside: Inside, era: str) -> None:
    """The wait tells of it and says how to go on; the inbox still has it."""
    wire = await parked(inside, era)
    sent = await inside.send("ada", "ben")
    told = await given(wire)
    assert (told["unread"], told["newest"]["message_id"]) == (1, sent)
    assert "m4a_mail_inbox" in told["then"]
    assert len((await inside.post("/mail/inbox", {"unread_only": True}, "ben")).json["messages"]) == 1
    assert inside.made.waiters.parked == 0


@pytest.mark.parametrize("era", ERAS)
async def test_mail_ends_an_empty_page_that_waits(inside: Inside, era: str) -> None:
    """The page has the message."""
    wire = await parked(inside, era, "m4a_mail_inbox")
    sent = await inside.send("ada", "ben")
    assert [each["message_id"] for each in (await given(wire))["messages"]] == [sent]


@pytest.mark.promise("mcp.a-dropped-client-costs-nothing")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_drops_gives_its_place_and_its_tasks_back(inside: Inside, era: str) -> None:
    """No waiter, no connection and no task more than before."""
    await opened(inside)
    await until(lambda: len(inside.made.connections) == 0)
    before = len(asyncio.all_tasks())
    for _ in range(3):
        wire = await parked(inside, era)
        wire.close()
        await until(lambda: inside.made.waiters.parked == 0)
    await until(lambda: len(inside.made.connections) == 0 and len(asyncio.all_tasks()) <= before)


@pytest.mark.promise("mcp.a-dropped-client-costs-nothing")
@pytest.mark.parametrize("era", ERAS)
async def test_a_stop_answers_who_waits(daemons: Daemons, era: str) -> None:
    """The parked call gets its result, and the daemon ends with nothing to cut or to cancel."""
    daemon = await daemons.start()
    wire = await parked(daemon, era)
    daemon.stop.set()
    told = await given(wire)
    assert told["unread"] == 0
    assert "call again" in told["then"]
    await daemon.stopped()
    assert [record["event"] for record in daemon.log if record["level"] in {"warning", "error"}] == []


@pytest.mark.parametrize("era", ERAS)
async def test_a_right_that_is_taken_ends_the_wait(inside: Inside, era: str) -> None:
    """It ends with nothing; the next call is refused."""
    wire = await parked(inside, era)
    assert (await inside.post("/admin/participant/revoke", {"id": "ben"})).status == 200
    assert (await given(wire))["unread"] == 0
    assert (await wire.ask(called(inside, era, "m4a_mail_wait"))).status == 401


@pytest.mark.promise("mcp.waits-consume-nothing-and-end-in-time")
@pytest.mark.parametrize(("asked", "kept"), [(0, 0), (49, 49), (50, 50), (51, 50), (65_535, 50)])
@pytest.mark.parametrize("tool", ["m4a_mail_wait", "m4a_mail_inbox"])
async def test_a_longer_wait_counts_as_fifty_seconds(
    inside: Inside, monkeypatch: pytest.MonkeyPatch, tool: str, asked: int, kept: int
) -> None:
    """What the operation is asked for is never more."""
    found: list[int] = []
    handlers = _handlers(inside)
    operation = "mail.wait" if tool == "m4a_mail_wait" else "mail.inbox"
    whole = handlers[operation]

    async def watched(call: Any, caller: Any, request: Any) -> Any:
        found.append(request.wait_secs)
        return await whole(call, caller, request.model_copy(update={"wait_secs": 0}))

    monkeypatch.setitem(handlers, operation, watched)
    answer = await inside.post(
        "/mcp", message("tools/call", {"name": tool, "arguments": {"wait_secs": asked}}), "ben"
    )
    assert answer.json["result"]["isError"] is False
    assert found == [kept]


async def test_a_wait_without_a_length_is_half_as_long_as_it_may_be(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """25 seconds, less than any client's own bound."""
    found: list[WaitRequest] = []
    handlers = _handlers(inside)
    whole = handlers["mail.wait"]

    async def watched(call: Any, caller: Any, request: WaitRequest) -> Any:
        found.append(request)
        return await whole(call, caller, request.model_copy(update={"wait_secs": 0}))

    monkeypatch.setitem(handlers, "mail.wait", watched)
    await inside.post("/mcp", message("tools/call", {"name": "m4a_mail_wait"}), "ben")
    assert [request.wait_secs for request in found] == [25]


def _handlers(daemon: Inside) -> dict[str, Any]:
    """The table of the daemon's dispatch."""
    http_door: Any = daemon.made.app.app  # pyright: ignore[reportFunctionMemberAccess]
    return http_door._dispatch._handlers


async def test_too_many_waits_of_an_account_are_refused_in_words(daemons: Daemons) -> None:
    """Past its share the tool says that the daemon is at a limit, and when to try again."""
    daemon = await daemons.start(parked_per_account_max=1)
    await parked(daemon, "handshake")
    wire = await daemon.connect()
    answer = await wire.ask(called(daemon, "handshake", "m4a_mail_wait"))
    result = answer.json["result"]
    assert result["isError"] is True
    assert result["_meta"]["mail4agent/refusal"] == {"kind": "overloaded", "retry_after_secs": 2}


async def test_many_wait_at_once_and_all_are_woken(inside: Inside) -> None:
    """Thirty calls of both eras, each answered."""
    wires = [await parked(inside, ERAS[n % 2]) for n in range(30)]
    await inside.send("ada", "ben")
    async with asyncio.timeout(BOUND_SECS):
        told = await asyncio.gather(*(given(wire) for wire in wires))
    assert {json.dumps(each["newest"]) for each in told} == {json.dumps(told[0]["newest"])}
    assert inside.made.waiters.parked == 0
