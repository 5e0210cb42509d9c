"""The official Python client over the stdio bridge, in each way that it finds the era."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.daemon.agent import agent
from tests.daemon.running import BOUND_SECS, Daemon

from .test_clients import MODES, NAMES, Mode

BRIDGE = (sys.executable, "-m", "mail4agent_daemon", "mcp-stdio")
#: What an agent does with a bridge: starts it, asks it one thing, and closes its end when that is answered.
ASKING = """
import os, subprocess, sys
bridge = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
bridge.stdin.write(os.environ["ASKED"].encode() + b"\\n")
bridge.stdin.flush()
sys.stdout.buffer.write(bridge.stdout.readline())
bridge.stdin.close()
sys.exit(bridge.wait())
"""


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Mode:
    """How the client finds the era."""
    return request.param


def variables(daemon: Daemon, account: str) -> dict[str, str]:
    """What a bridge is told by its environment."""
    return {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "M4A_URL": daemon.url,
        "M4A_TOKEN": daemon.keys[account],
    }


@asynccontextmanager
async def bridged(daemon: Daemon, mode: Mode, account: str = "ada") -> AsyncIterator[Client]:
    """A client that started a bridge."""
    command, *words = BRIDGE
    server = StdioServerParameters(command=command, args=words, env=variables(daemon, account))
    async with asyncio.timeout(2 * BOUND_SECS), Client(stdio_client(server), mode=mode) as client:
        yield client


async def parked(daemon: Daemon, readers: int) -> None:
    """Return once so many readers wait."""
    while True:
        page = await asyncio.to_thread(daemon.get, "/metrics")
        if f"\nmail4agent_parked_readers {float(readers)}\n" in page.body.decode():
            return


@pytest.mark.promise("bridge.carries-messages", "mcp.official-clients-work-in-both-eras")
async def test_a_client_over_the_bridge_lists_calls_and_is_refused_as_over_http(
    daemon: Daemon, mode: Mode
) -> None:
    """The eight tools; unicode and a large body; a refusal as an error of its tool; many at once."""
    body = "gr\u00fc\u00dfe \u65e5\u672c\u8a9e " + "x" * 60_000
    async with bridged(daemon, mode) as ada:
        assert [tool.name for tool in (await ada.list_tools()).tools] == NAMES
        sent = await ada.call_tool("m4a_mail_send", {"to": "ada", "subject": "\u2713", "body": body})
        assert sent.is_error is False
        named = sent.structured_content["message_id"]
        got = await ada.call_tool("m4a_mail_get", {"message_id": named})
        assert got.structured_content["message"]["body_bytes"] == len(body.encode())
        refused = await ada.call_tool("m4a_mail_get", {"message_id": "m4a_1"})
        assert refused.is_error is True
        calls = [ada.call_tool("m4a_mail_get", {"message_id": f"m4a_{n:024x}"}) for n in range(20)]
        answers = await asyncio.gather(*calls)
    found = [answer.meta["mail4agent/refusal"]["message_id"] for answer in answers if answer.meta]
    assert found == [f"m4a_{n:024x}" for n in range(20)]


@pytest.mark.promise("bridge.lets-go", "mcp.a-dropped-client-costs-nothing")
async def test_a_wait_that_is_cancelled_leaves_nothing_waiting(daemon: Daemon, mode: Mode) -> None:
    """Its place in the daemon is free, and the client goes on; likewise when the client ends in a wait."""
    async with bridged(daemon, mode, "ben") as ben:
        before = (await ben.call_tool("m4a_mail_wait", {"wait_secs": 0})).structured_content
        asked = {"wait_secs": 50, "after": before["newest"]}
        waiting = asyncio.create_task(ben.call_tool("m4a_mail_wait", asked))
        await parked(daemon, 1)
        waiting.cancel()
        await parked(daemon, 0)
        assert (await ben.call_tool("m4a_mail_whoami", {})).is_error is False
        left = asyncio.create_task(ben.call_tool("m4a_mail_wait", asked))
        await parked(daemon, 1)
    await asyncio.gather(left, return_exceptions=True)
    await parked(daemon, 0)


@pytest.mark.promise("bridge.carries-messages", "identity.helper")
def test_the_agent_that_started_a_bridge_is_the_session(daemon: Daemon) -> None:
    """Not the bridge, which is its helper."""
    if "eve" not in daemon.keys:
        daemon.add("eve")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "m4a_mail_whoami"}}
    with agent(daemon.keys["eve"]) as made:
        made.connect(daemon.port)
        mine = made.address()
        asked = {**variables(daemon, "eve"), "ASKED": json.dumps(call)}
        ended = made.tell("run", argv=[sys.executable, "-c", ASKING, *BRIDGE], environment=asked)
    assert (ended["status"], ended["err"]) == (0, "")
    assert mine["kind"] == "session"
    assert mine["session"] in json.dumps(json.loads(ended["out"])["result"]["structuredContent"])
