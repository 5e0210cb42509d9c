"""Clients that go away while their request waits: the place is free at once, however they went."""

import asyncio
import socket
import ssl
import struct
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from mail4agent_daemon.endpoints import Endpoints

from .served import BOUND_SECS, LIMITS, Host, Wire, hosted, request, until

pytestmark = pytest.mark.promise("mail.dropped-client-frees-its-place")

#: More than the protocol and the streams beneath it keep of what is sent ahead.
FLOOD = request(body=bytes(60_000)) * 20


@pytest.fixture
async def secure(tmp_path: Path, certificate: tuple[Path, Path]) -> AsyncIterator[Host]:
    """A host that speaks TLS."""
    cert, key = certificate
    endpoints = Endpoints(port=0, socket_path=tmp_path / "daemon.sock", certfile=cert, keyfile=key)
    async with hosted(endpoints, LIMITS) as host:
        yield host


def close(wire: Wire) -> None:
    """End the connection in order."""
    wire.close()


def half_close(wire: Wire) -> None:
    """End the sending side alone: the other one could still read."""
    wire.writer.write_eof()


def reset(wire: Wire) -> None:
    """End the connection with a reset."""
    linger = struct.pack("ii", 1, 0)
    wire.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    wire.writer.transport.abort()


def cut(wire: Wire) -> None:
    """End the connection with what was not sent yet unsent."""
    wire.writer.transport.abort()


ENDS = {"close": close, "half-close": half_close, "reset": reset}
End = Callable[[Wire], None]


async def parked(host: Host, wire: Wire) -> None:
    """Park a reader on a connection."""
    await wire.send(request("/park"))
    await until(lambda: host.waiters.parked == 1)


async def vanished(host: Host) -> None:
    """The reader's place is free, its connection gone, and none of it was a fault."""
    async with asyncio.timeout(BOUND_SECS):
        await host.app.vanished.wait()
    assert host.waiters.parked == 0
    await until(lambda: len(host.connections) == 0)
    assert {record["level"] for record in host.log} == {"info"}


@pytest.mark.parametrize("unix", [False, True], ids=["tcp", "unix"])
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
async def test_a_client_that_goes_frees_its_place(host: Host, end: End, unix: bool) -> None:
    """In order, by half or with a reset: what waits for it ends, and its connection is closed."""
    wire = await host.connect(unix=unix)
    await parked(host, wire)
    end(wire)
    await vanished(host)


@pytest.mark.parametrize("unix", [False, True], ids=["tcp", "unix"])
@pytest.mark.parametrize("end", [cut, reset], ids=["cut", "reset"])
async def test_a_client_that_goes_behind_a_flood_frees_its_place(host: Host, end: End, unix: bool) -> None:
    """More sent ahead than is kept stops the reading, and does not hide that the client is gone."""
    wire = await host.connect(unix=unix)
    await parked(host, wire)
    # What the kernels do not take stays unsent.
    wire.writer.write(FLOOD)
    await until(lambda: all(len(each._http._behind) >= 65_536 for each in host.connections._open))
    end(wire)
    await vanished(host)


async def test_a_flood_behind_a_request_does_not_end_it(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sent too much ahead and stays is looked after, and gets every answer in order."""
    monkeypatch.setattr("mail4agent_daemon.protocol._HANG_UP_LOOK_SECS", 0.001)
    wire = await host.connect()
    await parked(host, wire)
    looks = 0
    (connection,) = host.connections._open
    hung_up = connection._http.hung_up

    def counted() -> bool:
        nonlocal looks
        looks += 1
        return hung_up()

    connection._http.hung_up = counted
    sending = asyncio.create_task(wire.send(FLOOD))
    await until(lambda: looks > 3)
    assert host.waiters.parked == 1
    host.waiters.wake(["writer"])
    assert (await wire.answer()).body == b"woken"
    assert {(await wire.answer()).body for _ in range(20)} == {b"60000"}
    await sending


async def test_a_client_that_goes_within_tls_frees_its_place(
    secure: Host, certificate: tuple[Path, Path]
) -> None:
    """A connection within TLS that is closed or cut ends what waits for it."""
    context = ssl.create_default_context(cafile=str(certificate[0]))
    for end in (close, cut):
        secure.app.vanished.clear()
        streams = await asyncio.open_connection(
            "127.0.0.1", secure.listeners.port, ssl=context, server_hostname="localhost"
        )
        wire = Wire(*streams)
        await parked(secure, wire)
        end(wire)
        await vanished(secure)


CLIENT = """
import socket, sys
family, address, raw = sys.argv[1:]
client = socket.socket(getattr(socket, family))
client.connect(address if family == "AF_UNIX" else ("127.0.0.1", int(address)))
client.sendall(raw.encode())
client.recv(1)
"""


@pytest.mark.parametrize("family", ["AF_INET", "AF_UNIX"], ids=["tcp", "unix"])
async def test_a_client_process_that_is_killed_frees_its_place(host: Host, family: str) -> None:
    """SIGKILL leaves the client no last word; the kernel has it."""
    where = host.listeners.port if family == "AF_INET" else host.listeners.endpoints.socket_path
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, family, str(where), request("/park").decode()
    )
    try:
        await until(lambda: host.waiters.parked == 1)
    finally:
        client.kill()
    await vanished(host)
    await client.wait()
