"""The end of a server: what is running is answered, and nothing can hold it up."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from .served import BOUND_SECS, Host, Hosts, request, until

pytestmark = pytest.mark.promise("daemon.stop-is-graceful")


async def test_parked_requests_are_answered_at_the_stop(host: Host) -> None:
    """All parked readers get their answer, which says that the connection closes, and the server ends."""
    wires = [await host.connect() for _ in range(200)]
    for wire in wires:
        await wire.send(request("/park"))
    await until(lambda: host.waiters.parked == 200)
    host.stop.set()
    answers = [await wire.answer() for wire in wires]
    assert {(answer.status, answer.body) for answer in answers} == {(200, b"released")}
    assert {answer.header("connection") for answer in answers} == {"close"}
    await host.stopped()
    assert len(host.connections) == 0
    assert not host.logged("stop_forced")


async def test_idle_connections_close_at_the_stop(host: Host) -> None:
    """Connections that wait for a request do not hold the server up."""
    fresh, used, begun = [await host.connect() for _ in range(3)]
    await used.ask(request())
    await begun.send(b"POST /echo HT")
    await until(lambda: sum(connection._head_begun for connection in host.connections._open) == 1)
    await until(lambda: len(host.connections) == 3)
    await host.stopped()
    assert [await wire.rest() for wire in (fresh, used, begun)] == [b"", b"", b""]


async def test_a_client_that_does_not_read_cannot_hold_up_the_stop(hosts: Hosts) -> None:
    """An answer that nobody takes is cut within the time of the stop."""
    host = await hosts.start(graceful_stop_secs=2)
    wire = await host.connect()
    wire.writer.transport.pause_reading()
    await wire.send(request("/huge"))
    await until(lambda: len(host.app.states) == 1)
    await host.stopped()
    assert not host.logged("stop_forced")


async def test_an_upload_that_stands_still_cannot_hold_up_the_stop(hosts: Hosts) -> None:
    """A body that does not go on arriving is cut within the time of the stop."""
    host = await hosts.start(graceful_stop_secs=2)
    wire = await host.connect()
    await wire.send(request(body=b"abc")[:-1])
    await until(lambda: len(host.connections) == 1)
    await host.stopped()
    assert not host.logged("stop_forced")


async def test_a_request_that_never_ends_is_cancelled_at_the_stop(hosts: Hosts) -> None:
    """An application that hangs is cancelled within the time of the stop."""
    host = await hosts.start(graceful_stop_secs=2)
    wire = await host.connect()
    await wire.send(request("/endless"))
    async with asyncio.timeout(BOUND_SECS):
        await host.app.running.wait()
    await host.stopped()
    assert host.app.cancelled.is_set()


async def test_nothing_is_accepted_after_the_stop(host: Host) -> None:
    """When serving has ended, new connections are refused and the socket file can be taken by another."""
    await host.stopped()
    with pytest.raises(ConnectionRefusedError):
        await host.connect()


PROGRAM = """
import asyncio, sys
from pathlib import Path
from mail4agent_daemon.endpoints import Endpoints, listening
from mail4agent_daemon.home import HomeError, held_home
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import Log
from mail4agent_daemon.server import run, serve, stop_on_signals

async def app(scope, receive, send):
    if scope["type"] == "http":
        await asyncio.get_running_loop().create_future()

async def main(listeners):
    stop = asyncio.Event()
    log = Log(sys.stderr)
    stop_on_signals(stop, log)
    print(listeners.port, flush=True)
    limits = Limits(graceful_stop_secs=float(sys.argv[2]))
    await serve(app, listeners, limits=limits, log=log, stop=stop, drain=lambda: None)

home = Path(sys.argv[1])
try:
    with held_home(home, now_ms=1_700_000_000_000):
        with listening(Endpoints(port=0, socket_path=home / "daemon.sock"), Limits()) as listeners:
            run(main(listeners))
except HomeError as failure:
    sys.exit(str(failure))
"""


async def started(home: Path, stop_secs: float = 5) -> asyncio.subprocess.Process:
    """Start a daemon in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        str(home),
        str(stop_secs),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def port_of(process: asyncio.subprocess.Process) -> int:
    """The port that it listens on, once it does."""
    assert process.stdout
    async with asyncio.timeout(BOUND_SECS):
        return int(await process.stdout.readline())


async def ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """Its exit status and what it wrote to standard error."""
    async with asyncio.timeout(BOUND_SECS):
        _, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, errors.decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_process_in_order(tmp_path: Path, number: signal.Signals) -> None:
    """The first signal stops the server; the process ends with success and leaves no socket."""
    process = await started(tmp_path / "home")
    await port_of(process)
    process.send_signal(number)
    status, errors = await ended(process)
    assert status == 0
    assert [json.loads(line)["event"] for line in errors.splitlines()] == ["signal", "stopping", "stopped"]
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["daemon.lock"]


async def test_a_second_signal_ends_the_process_at_once(tmp_path: Path) -> None:
    """Whoever asks twice does not wait for the requests that are still running."""
    process = await started(tmp_path / "home", stop_secs=3600)
    port = await port_of(process)
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request())
    assert process.stderr
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(BOUND_SECS):
        assert json.loads(await process.stderr.readline())["event"] == "signal"
    process.send_signal(signal.SIGTERM)
    status, _ = await ended(process)
    assert status == -signal.SIGTERM
    writer.close()


@pytest.mark.promise("store.one-daemon-one-file")
async def test_a_second_daemon_on_a_home_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    """The one that runs keeps its socket; after it was killed the next one starts in its place."""
    first = await started(tmp_path / "home")
    await port_of(first)
    status, errors = await ended(await started(tmp_path / "home"))
    assert status == 1
    assert f"process {first.pid}, since 2023-11-14T22:13:20Z" in errors
    _, writer = await asyncio.open_unix_connection(tmp_path / "home" / "daemon.sock")
    writer.close()
    first.kill()
    await ended(first)
    assert (tmp_path / "home" / "daemon.sock").is_socket()
    third = await started(tmp_path / "home")
    await port_of(third)
    third.terminate()
    assert (await ended(third))[0] == 0
