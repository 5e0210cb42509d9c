"""The official Python client against the running daemon, in each way that it finds the era."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from tests.daemon.running import BOUND_SECS, Daemon

Mode = Literal["auto", "legacy", "2026-07-28"]
MODES: tuple[Mode, ...] = ("auto", "legacy", "2026-07-28")
NAMES = [
    "m4a_mail_send",
    "m4a_mail_inbox",
    "m4a_mail_wait",
    "m4a_mail_ack",
    "m4a_mail_get",
    "m4a_mail_whoami",
    "m4a_mail_status",
    "m4a_mail_peers",
]


@asynccontextmanager
async def connected(
    daemon: Daemon, mode: Mode, account: str = "ada", **headers: str
) -> AsyncIterator[Client]:
    """A client that is connected as an account."""
    given = {"Authorization": f"Bearer {daemon.keys[account]}", **headers}
    async with (
        asyncio.timeout(BOUND_SECS),
        create_mcp_http_client(headers=given) as http,
        Client(streamable_http_client(f"{daemon.url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Mode:
    """How the client finds the era."""
    return request.param


@pytest.mark.promise("mcp.official-clients-work-in-both-eras")
async def test_a_client_lists_the_tools_in_the_order_of_the_table(daemon: Daemon, mode: Mode) -> None:
    """All eight, each with an object of arguments and no schema of its output."""
    async with connected(daemon, mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == NAMES
    assert all(tool.input_schema["type"] == "object" and tool.output_schema is None for tool in tools)


@pytest.mark.promise("mcp.official-clients-work-in-both-eras")
async def test_mail_goes_from_one_client_to_the_other(daemon: Daemon, mode: Mode) -> None:
    """Sent, read and acknowledged by tool calls; unicode arrives as it was written."""
    body = f'gr\u00fc\u00dfe \u65e5\u672c\u8a9e \U0001f600 \u202e "quoted" \\ \t in {mode}'
    async with connected(daemon, mode) as ada, connected(daemon, mode, "ben") as ben:
        sent = await ada.call_tool("m4a_mail_send", {"to": "ben", "subject": "\u2713", "body": body})
        assert sent.is_error is False
        page = (await ben.call_tool("m4a_mail_inbox", {})).structured_content
        (message,) = page["messages"]
        assert message["message_id"] == sent.structured_content["message_id"]
        assert f"Subject: \u2713\n\n{body}\n" in message["text"]
        acked = await ben.call_tool("m4a_mail_ack", {"message_id": message["message_id"]})
        assert acked.is_error is False
        assert (await ben.call_tool("m4a_mail_inbox", {})).structured_content["messages"] == []


@pytest.mark.promise("mcp.a-refusal-reads-as-text")
async def test_bad_arguments_are_an_error_of_the_tool_in_plain_words(daemon: Daemon, mode: Mode) -> None:
    """Kind, field and reason as text; the machine form beside it; no structured content."""
    async with connected(daemon, mode) as client:
        refused = await client.call_tool("m4a_mail_get", {"message_id": "m4a_1"})
    assert refused.is_error is True
    assert refused.structured_content is None
    assert refused.content[0].text == (
        "Refused (malformed): message id must be m4a_ and 24 lower-case hexadecimal digits (at /message_id)."
    )
    assert refused.meta is not None
    assert refused.meta["mail4agent/refusal"]["kind"] == "malformed"


async def test_an_unknown_tool_is_an_error_of_the_protocol(daemon: Daemon, mode: Mode) -> None:
    """-32602, in every era."""
    async with connected(daemon, mode) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool("m4a_mail_burn", {})
    assert failed.value.code == -32602


async def test_the_largest_body_is_taken_and_one_byte_more_is_refused(daemon: Daemon, mode: Mode) -> None:
    """64 KiB arrive whole, and are read part by part; the refusal names the bound."""
    body = "x" * 65_536
    async with connected(daemon, mode) as client:
        sent = await client.call_tool("m4a_mail_send", {"to": "ada", "subject": "s", "body": body})
        more = await client.call_tool("m4a_mail_send", {"to": "ada", "subject": "s", "body": body + "x"})
        named = sent.structured_content["message_id"]
        part = await client.call_tool("m4a_mail_get", {"message_id": named, "from_byte": 60_000})
    assert part.structured_content["message"]["body_bytes"] == 65_536
    assert part.structured_content["next_byte"] > 60_000
    assert more.is_error is True
    assert more.content[0].text == "Refused (too_large): body may have 65536 at most and has 65537."


@pytest.mark.promise("mcp.waits-consume-nothing-and-end-in-time")
async def test_a_waiting_client_is_woken_by_mail(daemon: Daemon, mode: Mode) -> None:
    """A wait that could take fifty seconds ends with the message, which stays unread."""
    async with connected(daemon, mode, "ben") as ben, connected(daemon, mode) as ada:
        before = (await ben.call_tool("m4a_mail_wait", {"wait_secs": 0})).structured_content
        waiting = asyncio.create_task(
            ben.call_tool("m4a_mail_wait", {"wait_secs": 50, "after": before["newest"]})
        )
        sent = await ada.call_tool("m4a_mail_send", {"to": "ben", "subject": "wake", "body": "up"})
        woken = (await waiting).structured_content
        assert woken["newest"]["message_id"] == sent.structured_content["message_id"]
        assert woken["unread"] == before["unread"] + 1
        await ben.call_tool("m4a_mail_ack", {"message_id": woken["newest"]["message_id"]})


async def test_fifty_calls_at_once_each_get_their_own_answer(daemon: Daemon, mode: Mode) -> None:
    """Answers are not mixed up on one client."""
    async with connected(daemon, mode) as client:
        calls = [client.call_tool("m4a_mail_get", {"message_id": f"m4a_{n:024x}"}) for n in range(50)]
        answers = await asyncio.gather(*calls)
    found = [answer.meta["mail4agent/refusal"]["message_id"] for answer in answers if answer.meta]
    assert found == [f"m4a_{n:024x}" for n in range(50)]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "evil"}, 421),
    ],
    ids=["a wrong secret", "a page's origin", "another host"],
)
async def test_what_is_refused_before_the_protocol_ends_the_client(
    daemon: Daemon, mode: Mode, headers: dict[str, str], status: int
) -> None:
    """The client fails, and the answer that it got is one refusal."""
    seen: list[httpx2.Response] = []

    async def watch(response: httpx2.Response) -> None:
        await response.aread()
        seen.append(response)

    given = {"Authorization": f"Bearer {daemon.keys['ada']}", **headers}
    async with create_mcp_http_client(headers=given) as http, asyncio.timeout(BOUND_SECS):
        http.event_hooks = {"response": [watch]}
        with pytest.raises((MCPError, ExceptionGroup)):
            await _listed(http, daemon, mode)
    assert {response.status_code for response in seen} == {status}
    assert all(set(json.loads(response.content)) == {"kind"} for response in seen)


async def _listed(http: httpx2.AsyncClient, daemon: Daemon, mode: Mode) -> Any:
    async with Client(streamable_http_client(f"{daemon.url}/mcp", http_client=http), mode=mode) as client:
        return await client.list_tools()
