"""What the gate lets in, what it says to the rest, and what it keeps to itself."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest

from mail4agent_daemon.endpoints import Endpoints
from mail4agent_daemon.names import names_of

from .served import LIMITS, Host, Wire, hosted, request

Pair = tuple[Path, Path]
OURS = [
    *("127.0.0.1", "localhost", "LocalHost", "[::1]", "localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"),
    *("mail.example", "mail.example:{port}", "MAIL.EXAMPLE"),
]
FOREIGN = [
    *(
        "evil.example",
        "localhost:1",
        "localhost.",
        "localhost.evil.example",
        "evil.example:{port}",
        "127.1",
        "",
    ),
    *(
        "0.0.0.0",
        "127.0.0.1:",
        "localhost:{port}:1",
        "localhost, evil.example",
        "me@localhost",
        "mail.example:1",
    ),
]


@pytest.mark.promise("daemon.host-and-origin-are-checked")
@pytest.mark.parametrize("name", OURS)
async def test_a_request_for_this_host_is_let_in(host: Host, name: str) -> None:
    """Loopback names, with the port or without, and configured names are this daemon's."""
    answer = await (await host.connect()).ask(request(host=name.format(port=host.listeners.port)))
    assert answer.status == 200


@pytest.mark.promise("daemon.host-and-origin-are-checked")
@pytest.mark.parametrize("name", FOREIGN)
async def test_a_request_for_another_host_is_refused(host: Host, name: str) -> None:
    """A name that a web page could have pointed here (DNS rebinding) is not this daemon's."""
    answer = await (await host.connect()).ask(request(host=name.format(port=host.listeners.port)))
    assert (answer.status, answer.json) == (421, {"kind": "forbidden_host"})
    assert host.app.states == []


@pytest.mark.promise("daemon.host-and-origin-are-checked")
async def test_a_request_without_host_is_refused(host: Host) -> None:
    """HTTP/1.0 allows it, the gate does not."""
    answer = await (await host.connect()).ask(b"POST /echo HTTP/1.0\r\n\r\n")
    assert answer.json == {"kind": "forbidden_host"}


async def test_a_unix_socket_needs_no_host(host: Host) -> None:
    """Nothing a web page does reaches a UNIX socket."""
    answer = await (await host.connect(unix=True)).ask(request(host="anything"))
    assert answer.status == 200


OWN_ORIGINS = [
    "http://localhost:{port}",
    "http://127.0.0.1:{port}",
    "http://[::1]:{port}",
    "HTTP://LOCALHOST:{port}",
]
OWN_ORIGINS += ["http://mail.example:{port}", "https://mail.example"]
FOREIGN_ORIGINS = [
    "null",
    "",
    "http://evil.example",
    "http://localhost",
    "https://localhost:{port}",
    "file://",
]
FOREIGN_ORIGINS += ["http://localhost:{port}/", "http://localhost:{port} http://evil.example", "*"]


@pytest.mark.promise("daemon.host-and-origin-are-checked")
@pytest.mark.parametrize("origin", OWN_ORIGINS)
async def test_a_request_from_a_page_of_this_daemon_is_let_in(host: Host, origin: str) -> None:
    """Its own pages may call it."""
    more = f"Origin: {origin.format(port=host.listeners.port)}\r\n"
    assert (await (await host.connect()).ask(request(more=more))).status == 200


@pytest.mark.promise("daemon.host-and-origin-are-checked")
@pytest.mark.parametrize("unix", [False, True])
@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
async def test_a_request_from_another_page_is_refused(host: Host, origin: str, unix: bool) -> None:
    """An Origin that is not this daemon's, null included, is refused on every socket."""
    more = f"Origin: {origin.format(port=host.listeners.port)}\r\n"
    answer = await (await host.connect(unix=unix)).ask(request(more=more))
    assert (answer.status, answer.json) == (403, {"kind": "forbidden_origin"})
    assert host.app.states == []


@pytest.mark.promise("daemon.host-and-origin-are-checked")
async def test_a_foreign_origin_beside_our_own_is_refused(host: Host) -> None:
    """Two Origins are judged by the worse."""
    more = f"Origin: http://localhost:{host.listeners.port}\r\nOrigin: http://evil.example\r\n"
    assert (await (await host.connect()).ask(request(more=more))).status == 403


async def test_a_request_id_comes_back(host: Host) -> None:
    """The caller's own name for a request stands in the answer, in the log and before the application."""
    wire = await host.connect()
    answer = await wire.ask(request(more="X-Request-Id: a.B_c-9\r\n"))
    assert answer.header("x-request-id") == "a.B_c-9"
    assert host.app.states[0]["request_id"] == "a.B_c-9"
    assert host.logged("request")[0]["request_id"] == "a.B_c-9"


@pytest.mark.parametrize("given", ["", "a b", "a" * 65, "a\xe9", "a;b", '"a"'])
async def test_an_odd_request_id_is_replaced(host: Host, given: str) -> None:
    """What is too long or no plain word is not repeated; the answer has a fresh id."""
    wire = await host.connect()
    more = f"X-Request-Id: {given}\r\n"
    await wire.send(request(more="@").replace(b"@", more.encode("latin-1")))
    answer = await wire.answer()
    minted = answer.header("x-request-id")
    assert minted
    assert minted != given
    assert len(minted) == 16


async def test_each_request_has_its_own_id(host: Host) -> None:
    """Two requests of one connection do not share one."""
    wire = await host.connect()
    assert len({(await wire.ask(request())).header("x-request-id") for _ in range(2)}) == 2


@pytest.mark.parametrize("path", ["/fail", "/silent"])
async def test_a_fault_is_answered_with_nothing_but_its_id(host: Host, path: str) -> None:
    """Whatever goes wrong inside leaves as internal; where it went wrong is in the log, its words are not."""
    wire = await host.connect()
    answer = await wire.ask(request(path, more="X-Request-Id: find-me\r\n"))
    assert (answer.status, answer.json) == (500, {"kind": "internal", "request_id": "find-me"})
    (record,) = host.logged("request_failed")
    assert record["request_id"] == "find-me"
    assert record["failure"][0]["type"] == "RuntimeError"
    assert record["failure"][0]["frames"]
    assert "secret words" not in host.lines.getvalue()
    assert (await wire.ask(request())).status == 200


async def test_a_fault_in_the_middle_of_an_answer_cuts_it(host: Host) -> None:
    """When half an answer is out, the connection ends short of its declared length."""
    wire = await host.connect()
    await wire.send(request("/half"))
    raw = await wire.rest()
    assert raw.startswith(b"HTTP/1.1 200 ")
    assert raw.endswith(b"\r\n\r\n12345")
    assert len(host.logged("request_failed")) == 1


async def test_a_refusal_of_the_application_is_answered_as_it_is(host: Host) -> None:
    """Refusals have their status and headers from one place."""
    wire = await host.connect()
    unknown, wrong = await wire.ask(request("/nowhere")), await wire.ask(request("/wrong"))
    assert (unknown.status, unknown.json) == (404, {"kind": "unknown_path"})
    assert (wrong.status, wrong.json) == (405, {"kind": "method_not_allowed"})
    assert wrong.header("allow") == "GET, POST"


async def test_the_log_has_a_line_for_a_request_and_none_of_its_words(host: Host) -> None:
    """Method, route, status, time and account are logged; path, query, headers and body are not."""
    wire = await host.connect()
    await wire.ask(request("/echo?token=stranger", b"stranger", more="Authorization: Bearer stranger\r\n"))
    await wire.ask(request("/stranger", method="STRANGER"))
    first, second = host.logged("request")
    assert {key: first[key] for key in ("level", "method", "route", "status", "account")} == {
        "level": "info",
        "method": "POST",
        "route": "/echo",
        "status": 200,
        "account": "writer",
    }
    assert first["ms"] >= 0
    assert (second["method"], second["route"]) == ("other", None)
    assert "stranger" not in host.lines.getvalue().lower()


async def test_a_websocket_is_closed(host: Host) -> None:
    """Behind a server that makes such a scope, the gate closes it before it opens."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await host.gate({"type": "websocket", "path": "/", "headers": []}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    assert host.app.states == []


async def test_tls_is_spoken_where_there_is_a_certificate(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    """With a certificate the TCP address speaks TLS and HTTP/1.1; the UNIX socket stays as it is."""
    cert, key = certificate
    endpoints = Endpoints(port=0, socket_path=tmp_path / "daemon.sock", certfile=cert, keyfile=key)
    async with hosted(endpoints, LIMITS) as host:
        context = ssl.create_default_context(cafile=str(cert))
        context.set_alpn_protocols(["h2", "http/1.1"])
        streams = await asyncio.open_connection(
            "127.0.0.1", host.listeners.port, ssl=context, server_hostname="localhost"
        )
        wire = Wire(*streams)
        assert wire.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"
        assert (await wire.ask(request(body=bytes(100_000)))).body == b"100000"
        assert (await wire.ask(request(body=bytes(17_000_000)))).json["kind"] == "request_too_large"
        assert (await (await host.connect(unix=True)).ask(request())).status == 200
        plain = await host.connect()
        await plain.send(request())
        await plain.rest()
        wire.close()
        assert host.listeners.url == f"https://127.0.0.1:{host.listeners.port}"
    assert not host.logged("unhandled") + host.logged("connection_failed")


def test_a_configured_name_must_be_one() -> None:
    """A name with a scheme, a path or a space would never match and is refused at start."""
    for name in ("http://a", "a/b", "a b", "", "a:b", "a:123456"):
        with pytest.raises(ValueError, match="a name of the daemon"):
            names_of("127.0.0.1", 18301, extra=[name])


def test_a_default_port_stands_in_no_origin() -> None:
    """Browsers leave the default port of a scheme out."""
    names = names_of("::", 443, tls=True)
    assert names.origin_is_ours(b"https://localhost")
    assert not names.origin_is_ours(b"https://localhost:443")
    assert names.host_is_ours([b"[::]:443"])


def test_a_gate_without_tcp_knows_only_configured_names() -> None:
    """Without a TCP address there is nothing that a Host could name."""
    names = names_of(None, None, extra=["mail.example:8443"])
    assert names.host_is_ours([b"mail.example:8443"])
    assert not names.host_is_ours([b"localhost"])
