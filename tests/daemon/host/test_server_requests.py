"""Requests over a real socket, well-formed and not."""

import asyncio
import os
import random
import socket
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from .served import BOUND_SECS, Host, Hosts, request, until

OVER = 16_777_217
#: How often fifty damaged requests arrive at once: more of it where it is fuzzed (`make fuzz`).
HAILS = max(10, int(os.environ.get("M4A_FUZZ_EXAMPLES", "0")))


def open_files() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd").iterdir()))


async def test_requests_share_a_connection(host: Host) -> None:
    """A second request on the same connection is answered like the first."""
    wire = await host.connect()
    assert [(await wire.ask(request(body=b"x" * size))).body for size in (0, 1, 70_000)] == [
        b"0",
        b"1",
        b"70000",
    ]


BAD = {
    "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03garbage\r\n\r\n",
    "an answer": b"HTTP/1.1 200 OK\r\n\r\n",
    "two content lengths": b"POST /echo HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "a list of content lengths": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1, 2\r\n\r\nxx",
    "a negative content length": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "both framings": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "gzip framing": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "no host": b"POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "two hosts": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "a space before the colon": b"POST /echo HTTP/1.1\r\nHost : localhost\r\n\r\n",
    "a zero byte in a header": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nX-A: a\x00b\r\n\r\n",
    "another protocol": b"POST /echo HTTP/2.0\r\nHost: localhost\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a long head": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 20_000 + b"\r\n\r\n",
    "a head without end": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 200_000,
    "a bad chunk": b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a bad chunk after a good one": b"POST /echo HTTP/1.1\r\nHost: localhost\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n-5\r\n",
}


@pytest.mark.parametrize("raw", BAD.values(), ids=BAD.keys())
async def test_what_is_no_request_is_refused_as_malformed_and_closed(host: Host, raw: bytes) -> None:
    """Bytes that are no acceptable request get the contract's refusal, and the connection ends."""
    wire = await host.connect()
    answer = await wire.ask(raw)
    assert answer.status == 400
    assert answer.json["kind"] == "malformed"
    assert answer.json["field"] == "request"
    assert answer.header("connection") == "close"
    assert answer.header("x-request-id")
    assert answer.header("server") is None
    assert await wire.rest() == b""
    wire.close()
    await until(lambda: len(host.connections) == 0)
    assert not host.logged("request_failed") + host.logged("connection_failed") + host.logged("unhandled")


async def test_a_refused_head_request_gets_no_body(host: Host) -> None:
    """The refusal of HEAD has the length of its body, but not the body."""
    wire = await host.connect()
    await wire.send(b"HEAD /echo HTTP/1.0\r\nHost: localhost\r\nX: " + b"a" * 16_400 + b"\r\n\r\n")
    raw = await wire.rest()
    assert raw.startswith(b"HTTP/1.1 400 ")
    assert raw.endswith(b"\r\n\r\n")


async def test_garbage_after_a_good_request_is_refused_after_its_answer(host: Host) -> None:
    """What follows a request on the same connection is judged by itself."""
    wire = await host.connect()
    await wire.send(request(body=b"abc") + b"\x00\x01\x02\r\n\r\n")
    assert (await wire.answer()).body == b"3"
    assert (await wire.answer()).json["kind"] == "malformed"
    assert await wire.rest() == b""


UPGRADES = {
    "h2c": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
    "websocket": "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "half a websocket": "Connection: Upgrade\r\nUpgrade: websocket\r\n",
}


@pytest.mark.parametrize("more", UPGRADES.values(), ids=UPGRADES.keys())
async def test_an_upgrade_is_ignored(host: Host, more: str) -> None:
    """A request that asks for another protocol is answered in this one, and the connection goes on."""
    wire = await host.connect()
    assert (await wire.ask(request("/nowhere", method="GET", more=more))).json == {"kind": "unknown_path"}
    assert (await wire.ask(request(body=b"1"))).body == b"1"


async def test_a_slow_head_is_refused_in_time(hosts: Hosts) -> None:
    """A head that has begun and does not end is answered with a refusal and closed."""
    host = await hosts.start(header_timeout_secs=0.05)
    wire = await host.connect()
    await wire.send(b"POST /echo HTTP/1.1\r\nHost: loc")
    assert (await wire.answer()).json["kind"] == "malformed"
    assert await wire.rest() == b""


async def test_more_bytes_do_not_give_a_slow_head_more_time(hosts: Hosts) -> None:
    """The time of a head counts from its first byte, however often another one follows."""
    host = await hosts.start(header_timeout_secs=0.05)
    wire = await host.connect()
    await wire.send(b"POST /echo HTTP/1.1\r\n")

    async def dribble() -> None:
        while True:
            await wire.send(b"X: y\r\n")
            await asyncio.sleep(0)

    dribbling = asyncio.create_task(dribble())
    assert (await wire.answer()).json["kind"] == "malformed"
    dribbling.cancel()


async def test_an_idle_connection_closes_in_time(hosts: Hosts) -> None:
    """Neither a connection without a request nor one after its answer stays for ever."""
    host = await hosts.start(keep_alive_secs=0.05)
    fresh, used = await host.connect(), await host.connect()
    await used.ask(request())
    assert (await fresh.rest(), await used.rest()) == (b"", b"")


@pytest.mark.parametrize("unix", [False, True], ids=["tcp", "unix"])
async def test_a_body_past_the_bound_is_refused_and_its_sender_reads_so(host: Host, unix: bool) -> None:
    """A client that sends all 17 MiB before it reads still gets the refusal."""
    wire = await host.connect(unix=unix)
    answer = await wire.ask(request(body=bytes(17 * 1024 * 1024)))
    assert answer.status == 413
    assert answer.json == {"kind": "request_too_large", "limit": OVER - 1}
    assert answer.header("connection") == "close"
    assert host.app.states == []
    wire.close()
    await until(lambda: len(host.connections) == 0)


async def test_a_declared_length_past_the_bound_is_refused_before_any_body(host: Host) -> None:
    """The head alone is enough for the refusal."""
    wire = await host.connect()
    answer = await wire.ask(
        f"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: {OVER}\r\n\r\n".encode()
    )
    assert answer.json["kind"] == "request_too_large"
    wire.close()
    await until(lambda: len(host.connections) == 0)


async def test_a_client_that_asks_first_is_told_to_go_on(host: Host) -> None:
    """Expect: 100-continue gets its interim answer, then the real one."""
    wire = await host.connect()
    await wire.send(
        b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    )
    async with asyncio.timeout(20):
        assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
    assert (await wire.ask(b"abc")).body == b"3"


async def test_a_chunked_body_is_counted_while_it_is_read(host: Host) -> None:
    """Chunks past the bound are refused although no length was declared; up to it they are taken."""
    wire = await host.connect()
    head = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + bytes(0x100000) + b"\r\n"
    assert (await wire.ask(head + chunk * 16 + b"0\r\n\r\n")).body == str(OVER - 1).encode()
    answer = await wire.ask(head + chunk * 16 + b"1\r\nx\r\n0\r\n\r\n")
    assert answer.json["kind"] == "request_too_large"
    assert host.gate.budget.held_bytes == 0


@pytest.mark.parametrize("framing", ["Transfer-Encoding: chunked\r\n", "Content-Length: 100\r\n"])
async def test_a_body_that_never_ends_is_refused_in_time(hosts: Hosts, framing: str) -> None:
    """A body that stops arriving is refused and its connection closed."""
    host = await hosts.start(body_read_timeout_secs=0.05, unread_request_timeout_secs=0.05)
    wire = await host.connect()
    answer = await wire.ask(request(more=framing) + b"5\r\nabcde\r\n")
    assert answer.json["kind"] == "malformed"
    assert answer.header("connection") == "close"
    assert await wire.rest() == b""
    wire.close()
    await until(lambda: len(host.connections) == 0)


async def test_large_bodies_share_a_bounded_memory_and_small_ones_pass(hosts: Hosts) -> None:
    """When large bodies hold all their memory another one is refused for now, and a small one is not."""
    host = await hosts.start(in_flight_body_bytes_max=1_000_000, body_read_timeout_secs=60)
    first = await host.connect()
    await first.send(request(body=bytes(900_000))[:-1])
    await until(lambda: host.gate.budget.held_bytes > 800_000)
    answer = await (await host.connect()).ask(request(body=bytes(200_000)))
    assert (answer.status, answer.json["kind"]) == (503, "overloaded")
    assert answer.header("retry-after") == "1"
    assert (await (await host.connect()).ask(request(body=bytes(60_000)))).body == b"60000"
    assert (await first.ask(b"\0")).body == b"900000"
    await until(lambda: host.gate.budget.held_bytes == 0)


async def test_a_client_that_does_not_read_is_cut(hosts: Hosts) -> None:
    """An answer that nobody takes does not hold its memory for ever."""
    host = await hosts.start(response_write_timeout_secs=0.05)
    wire = await host.connect()
    wire.writer.transport.pause_reading()
    await wire.send(request("/huge"))
    await until(lambda: len(host.app.states) == 1)
    await until(lambda: len(host.connections) == 0)


async def test_closed_connections_leave_nothing_behind(host: Host) -> None:
    """After 500 clients have closed, each descriptor is free and each task gone."""
    first = await host.connect()
    await first.ask(request())
    first.close()
    await until(lambda: len(host.connections) == 0)
    before, tasks = open_files(), len(asyncio.all_tasks())
    wires = [await host.connect() for _ in range(500)]
    for wire in wires:
        assert (await wire.ask(request())).status == 200
    assert len(host.connections) == 500
    for wire in wires:
        wire.close()
    await until(lambda: len(host.connections) == 0)
    await until(lambda: open_files() <= before and len(asyncio.all_tasks()) <= tasks)


async def test_one_connection_too_many_is_refused(hosts: Hosts) -> None:
    """Past the bound a connection gets a named refusal; when one closes there is room again."""
    host = await hosts.start(connections_max=2)
    first, second = await host.connect(), await host.connect()
    await first.ask(request())
    await second.ask(request())
    answer = await (await host.connect()).answer()
    assert (answer.status, answer.json["kind"]) == (503, "overloaded")
    first.close()
    await until(lambda: len(host.connections) == 1)
    assert (await (await host.connect()).ask(request())).status == 200


async def test_a_vanished_client_is_noticed_while_its_request_waits(host: Host) -> None:
    """A parked reader whose client is gone gives its place up, and that is no fault."""
    wire = await host.connect()
    await wire.send(request("/park"))
    await until(lambda: host.waiters.parked == 1)
    wire.close()
    async with asyncio.timeout(20):
        await host.app.vanished.wait()
    assert host.waiters.parked == 0
    await until(lambda: len(host.connections) == 0)
    assert [record["level"] for record in host.log] == ["info"]


@pytest.mark.parametrize("behind", [b"\r\n", request(), b"POST /ec"], ids=["crlf", "request", "half"])
async def test_a_vanished_client_is_noticed_behind_what_it_sent_ahead(host: Host, behind: bytes) -> None:
    """Bytes behind a parked request do not hide that its client is gone."""
    wire = await host.connect()
    await wire.send(request("/park", b"{}") + behind)
    await until(lambda: host.waiters.parked == 1)
    wire.close()
    async with asyncio.timeout(BOUND_SECS):
        await host.app.vanished.wait()
    await until(lambda: len(host.connections) == 0)


async def test_requests_sent_ahead_are_answered_in_order(host: Host) -> None:
    """More requests than are kept behind a parked one are all answered after it, the last one in pieces."""
    wire = await host.connect()
    sizes = [1000 + each for each in range(300)]
    await wire.send(request("/park"))
    await until(lambda: host.waiters.parked == 1)
    ahead = b"".join(request(body=bytes(size)) for size in sizes)
    sending = asyncio.create_task(wire.send(ahead + request(body=b"12345")[:-70]))
    await until(lambda: max(len(each._http._behind) for each in host.connections._open) >= 65_536)
    host.waiters.wake(["writer"])
    assert (await wire.answer()).status == 200
    assert [int((await wire.answer()).body) for _ in sizes] == sizes
    await sending
    assert (await wire.ask(request(body=b"12345")[-70:])).body == b"5"


async def test_a_slow_head_behind_a_request_is_refused_in_time(hosts: Hosts) -> None:
    """The time of a head that was begun behind a parked request counts from the answer of that one."""
    host = await hosts.start(header_timeout_secs=0.05)
    wire = await host.connect()
    await wire.send(request("/park") + b"POST /ec")
    await until(lambda: host.waiters.parked == 1)
    host.waiters.wake(["writer"])
    assert (await wire.answer()).status == 200
    assert (await wire.answer()).json["kind"] == "malformed"


async def test_the_method_reaches_the_application_as_it_was_sent(host: Host) -> None:
    """Methods are case-sensitive: a lower-case one is another one, in the log too."""
    wire = await host.connect()
    await wire.ask(request("/nowhere", method="get"))
    await until(lambda: bool(host.logged("request")))
    assert host.logged("request")[0]["method"] == "other"


@pytest.mark.parametrize(
    ("name", "length", "kind"),
    [("localhost", OVER, "request_too_large"), ("evil.example", 3, "forbidden_host")],
)
async def test_a_client_that_asks_first_is_refused_by_its_head(
    host: Host, name: str, length: int, kind: str
) -> None:
    """Nobody is told to go on with a body that is refused already."""
    wire = await host.connect()
    more = f"Content-Length: {length}\r\nExpect: 100-continue\r\n"
    assert (await wire.ask(request(host=name, more=more))).json["kind"] == kind


async def test_the_peer_of_a_connection_is_known(host: Host) -> None:
    """Each request knows the addresses of its connection, or the process over a UNIX socket."""
    tcp, unix = await host.connect(), await host.connect(unix=True)
    await tcp.ask(request())
    await unix.ask(request())
    first, second = (state["link"].peer for state in host.app.states)
    assert (first.transport, first.remote) == ("tcp", tcp.writer.get_extra_info("sockname"))
    assert (second.transport, second.pid, second.uid) == ("unix", os.getpid(), os.getuid())


async def test_a_head_is_not_held_back_by_its_body(host: Host) -> None:
    """An application that streams gets its head to the client before the first of its body."""
    wire = await host.connect()
    await wire.send(request("/late"))
    async with asyncio.timeout(20):
        assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    host.waiters.wake(["late"])
    async with asyncio.timeout(20):
        assert await wire.reader.readexactly(2) == b"ok"


async def test_an_aborted_client_disturbs_nobody(host: Host) -> None:
    """A reset in the middle of a request is no fault in the log."""
    wire = await host.connect()
    await wire.send(request(body=b"abc")[:-1])
    await until(lambda: len(host.connections) == 1)
    sock = wire.writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    wire.writer.transport.abort()
    await until(lambda: len(host.connections) == 0)
    assert {record["level"] for record in host.log} <= {"info"}


async def test_a_request_behind_a_broken_answer_holds_nothing(host: Host) -> None:
    """When an answer breaks off, a request that was sent behind it does not keep the connection."""
    wire = await host.connect()
    await wire.send(request("/half") + request())
    assert (await wire.rest()).endswith(b"\r\n\r\n12345")
    wire.close()
    await until(lambda: len(host.connections) == 0)


PIECES = [
    b"\r\n",
    b"\x00",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
]
PIECES += [b":", b" ", b"\xff", b"Host: localhost\r\n", b"Expect: 100-continue\r\n", b"HTTP/1.0", b"9" * 22]
WHOLE = [request(body=b"abc"), request("/fail"), request("/half"), request("/silent"), BAD["both framings"]]
WHOLE += [
    request(more="Transfer-Encoding: chunked\r\n") + b"3\r\nabc\r\n0\r\n\r\n",
    BAD["the preface of HTTP/2"],
]
WHOLE += [request(method="GET", more=more) for more in UPGRADES.values()]


def damaged(rnd: random.Random) -> bytes:
    """A request or two with a few bytes added, changed or missing."""
    raw = bytearray(b"".join(rnd.choices(WHOLE, k=rnd.choice((1, 1, 2)))))
    for _ in range(rnd.randrange(5)):
        place = rnd.randrange(len(raw))
        raw[place : place + rnd.randrange(6)] = rnd.choice((rnd.choice(PIECES), rnd.randbytes(1), b""))
    return bytes(raw)


async def test_a_head_that_ends_as_its_time_runs_out_is_answered_once(hosts: Hosts) -> None:
    """The last bytes of a head and the end of its time may meet in one turn of the loop."""
    host = await hosts.start()
    wire = await host.connect()
    raw = request(body=b"{}")
    await wire.send(raw[:20])
    await until(lambda: sum(each._head_begun for each in host.connections._open) == 1)
    (connection,) = host.connections._open
    connection.reader.feed_data(raw[20:])
    connection._expire()
    answer = await wire.answer()
    assert answer.status == 200
    assert {record["event"] for record in host.log} == {"request"}


@pytest.mark.promise("daemon.raw-connections-end-in-time")
@pytest.mark.timeout(120 + HAILS)
async def test_a_hail_of_damaged_requests_gets_refusals_and_leaves_nothing(hosts: Hosts) -> None:
    """Whatever arrives, in whatever pieces, each error is a named refusal and each connection ends."""
    quick = {"header_timeout_secs": 0.1, "body_read_timeout_secs": 0.1, "keep_alive_secs": 0.2}
    host = await hosts.start(**quick, unread_request_timeout_secs=0.1)
    rnd = random.Random(20_261_201)
    kinds: set[str] = set()

    async def client() -> None:
        wire = await host.connect(unix=rnd.random() < 0.5)
        raw = damaged(rnd)
        with suppress(OSError, RuntimeError, asyncio.IncompleteReadError):
            while raw:
                cut = rnd.randrange(len(raw)) + 1
                wire.writer.write(raw[:cut])
                raw = raw[cut:]
                await asyncio.sleep(0)
            if rnd.random() < 0.2:
                wire.writer.transport.abort()
            while True:
                answer = await wire.answer()
                if answer.status >= 400 and answer.body:
                    kinds.add(answer.json["kind"])
        wire.close()

    for _ in range(HAILS):
        await asyncio.gather(*(client() for _ in range(50)))
    await until(lambda: len(host.connections) == 0)
    assert {"malformed", "internal", "forbidden_host", "unknown_path"} <= kinds
    assert host.gate.budget.held_bytes == 0
    assert {record["event"] for record in host.log} == {"no_request", "request", "request_failed"}
