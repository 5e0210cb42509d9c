"""The mcp sink against real servers of the official SDK, over a pipe and over HTTP."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.outbox.sink import NotSentError
from mail4agent_daemon.sinks.far_side import UnknownOutcomeError
from mail4agent_daemon.sinks.mcp import KEY_NAME, McpSink, Program, Remote

from .drafts import KEY, outgoing, staged

SERVER = Path(__file__).with_name("mcp_server.py")


@pytest.fixture
def anyio_backend() -> Any:
    """The daemon's own loop."""
    return "asyncio", {"use_uvloop": True}


def calling(server: Program | Remote, tool: str = "post_message", *, timeout_secs: float = 30.0) -> McpSink:
    """A sink that calls a tool."""
    return McpSink(
        "post",
        server,
        tool,
        "0.0",
        arguments=["channel", "text"],
        file_args=["bundle"] if isinstance(server, Program) else [],
        timeout_secs=timeout_secs,
    )


def program(told: Path) -> Program:
    """The server as a program."""
    return Program((sys.executable, str(SERVER)), {"TOLD": str(told)})


def told_of(told: Path) -> list[Any]:
    """What the server was asked, call by call."""
    return [json.loads(line) for line in told.read_text().splitlines()] if told.exists() else []


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Remote, Path]]:
    """The server over HTTP, and where it tells what it was asked."""
    told = tmp_path_factory.mktemp("mcp") / "told"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVER), str(port)]
    environment = {**os.environ, "TOLD": str(told)}
    with subprocess.Popen(command, env=environment, cwd=told.parent, stderr=subprocess.DEVNULL) as process:
        try:
            _await_port(port)
            yield Remote(f"http://127.0.0.1:{port}/mcp", "a-token", True), told
        finally:
            process.kill()


def _await_port(port: int) -> None:
    end = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < end
            os.sched_yield()


@pytest.mark.promise("sinks.an-mcp-tool-is-called-once")
async def test_a_tool_is_called_once_with_the_draft_alone(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with the copies, in an environment without anything of the daemon's."""
    monkeypatch.setenv("OF_THE_DAEMON", "secret")
    told = tmp_path / "told"
    page = staged(workspace, "site/index.html", b"<h1>")
    args = {"channel": "ops", "text": "Tuesday, ünïcode"}
    assert await calling(program(told)).deliver(outgoing(args, files=(page,))) == "msg_4"
    (call,) = told_of(told)
    assert (call["channel"], call["text"]) == ("ops", "Tuesday, ünïcode")
    assert call["files"] == {"site/index.html": "<h1>"}
    assert call["meta"][KEY_NAME] == KEY
    assert "OF_THE_DAEMON" not in call["env"]
    assert not Path(call["env"]["HOME"]).exists()


async def test_a_server_over_http_is_called_once(remote: tuple[Remote, Path]) -> None:
    """By the same client."""
    server, told = remote
    before = len(told_of(told))
    args = {"channel": "ops", "text": "over http"}
    assert await calling(server).deliver(outgoing(args)) == "msg_4"
    assert [each["text"] for each in told_of(told)[before:]] == ["over http"]


async def test_a_tool_that_fails_is_not_sent(remote: tuple[Remote, Path]) -> None:
    """It says so itself; what it says is cut and cleaned."""
    with pytest.raises(NotSentError) as failure:
        await calling(remote[0], "refuse").deliver(outgoing({"text": "a"}))
    assert "such channel: a" in failure.value.reason
    assert failure.value.reason.isprintable()
    assert len(failure.value.reason.encode()) <= 512


async def test_a_tool_that_is_not_there_is_not_sent(remote: tuple[Remote, Path]) -> None:
    """Nothing ran."""
    with pytest.raises(NotSentError):
        await calling(remote[0], "nothing_of_that_name").deliver(outgoing({"text": "a"}))


@pytest.mark.promise("sinks.an-unknown-outcome-is-said")
@pytest.mark.parametrize("way", ["vanish", "flood", "chatter", "garble"])
async def test_a_server_that_breaks_off_leaves_the_outcome_unknown(tmp_path: Path, way: str) -> None:
    """The call was made; one that ends, floods or answers with nonsense does not say what became of it."""
    told = tmp_path / "told"
    server = Program((sys.executable, str(SERVER.with_name("mcp_breaking.py")), way), {"TOLD": str(told)})
    with pytest.raises(UnknownOutcomeError):
        await calling(server).deliver(outgoing({"text": "a"}))
    assert told.exists()


@pytest.mark.promise("sinks.an-mcp-tool-is-called-once")
async def test_a_result_counts_though_the_server_lists_no_tools(tmp_path: Path) -> None:
    """The tool has run: a list that is asked for afterwards changes nothing of that."""
    breaking = str(SERVER.with_name("mcp_breaking.py"))
    server = Program((sys.executable, breaking, "unlisted"), {"TOLD": str(tmp_path / "told")})
    assert await calling(server).deliver(outgoing({"text": "a"})) == "msg_5"


async def test_a_server_that_cannot_be_had_is_not_sent(tmp_path: Path) -> None:
    """No program, a program that is no server, one that says nothing, and no listener."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        gone = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
    servers = (
        Program(("/nonexistent/x",), {}),
        Program(("/bin/true",), {}),
        Program(("/bin/sleep", "600"), {}),
        Remote(gone, None, True),
    )
    for server in servers:
        with pytest.raises(NotSentError):
            await calling(server, timeout_secs=1.0).deliver(outgoing({"text": "a"}))
