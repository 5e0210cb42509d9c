"""The stdio bridge against a small HTTP server: what it posts, what it prints, what it lets go of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from mail4agent_client.bridge import LINE_MAX, WORKERS, header_text

PATIENCE = 20.0
TOKEN = "5f" * 32
VERSION = "io.modelcontextprotocol/protocolVersion"


class Handler(BaseHTTPRequestHandler):
    """One request: what it was is noted, and the door's answer to its method is given."""

    def do_POST(self) -> None:
        """Answer."""
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        door: Door = self.server.door  # type: ignore[attr-defined]
        headers = {name.lower(): value for name, value in self.headers.items()}
        message = json.loads(raw)
        door.seen.put((self.path, headers, raw))
        door.answers.get(message["method"], echo)(self, message)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base's name
        """Say nothing."""

    def give(self, body: bytes, status: int = 200, kind: str = "application/json") -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hold(self) -> None:
        """Answer nothing until the client goes, and note that it did."""
        door: Door = self.server.door  # type: ignore[attr-defined]
        door.held.put("held")
        self.connection.settimeout(PATIENCE)
        assert self.connection.recv(1) == b""
        door.left.put("left")


def echo(handler: Handler, message: dict[str, Any]) -> None:
    """A result that names the method."""
    handler.give(
        json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": message["method"]}).encode()
    )


class Door:
    """The server, and what it saw."""

    def __init__(self) -> None:
        self.seen: Queue[tuple[str, dict[str, str], bytes]] = Queue()
        self.held: Queue[str] = Queue()
        self.left: Queue[str] = Queue()
        self.answers: dict[str, Callable[[Handler, dict[str, Any]], None]] = {"hold": lambda h, _: h.hold()}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.door = self  # type: ignore[attr-defined]
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def door() -> Iterator[Door]:
    """A server for the length of a test."""
    made = Door()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join(PATIENCE)
    made.server.server_close()


class Bridged:
    """A bridge that runs, and its client's two ends."""

    def __init__(self, url: str, *words: str, **variables: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mail4agent_daemon", "mcp-stdio", *words],
            env={**inherited, "PYTHONPATH": os.pathsep.join(sys.path), "M4A_URL": url, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def say(self, *lines: bytes | dict[str, Any]) -> None:
        """Write lines."""
        assert self.process.stdin is not None
        for line in lines:
            raw = line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode()
            self.process.stdin.write(raw + b"\n")
        self.process.stdin.flush()

    def hear(self) -> Any:
        """Read a line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        return json.loads(line)

    def end(self) -> tuple[int, bytes, bytes]:
        """Close standard input; its status, the rest of its output, and its errors."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@pytest.fixture
def bridged(door: Door) -> Iterator[Bridged]:
    """A bridge to the door."""
    made = Bridged(door.url, M4A_TOKEN=TOKEN)
    yield made
    made.process.kill()
    made.process.communicate()


def request(known: object, method: str = "ping", **params: object) -> dict[str, Any]:
    """A message of a client."""
    return {"jsonrpc": "2.0", "id": known, "method": method, "params": params}


def refused(answer: dict[str, Any]) -> tuple[object, int]:
    """The id and the code of an error."""
    assert answer["jsonrpc"] == "2.0"
    assert answer["error"]["message"].startswith("mail4agent: ")
    return answer["id"], answer["error"]["code"]


@pytest.mark.promise("bridge.carries-messages")
def test_a_request_is_posted_as_it_is_with_what_the_protocol_wants_in_headers(
    door: Door, bridged: Bridged
) -> None:
    """The bytes of the line, version, method and name from them, the credential, and for whom it acts."""
    line = (
        b'{"jsonrpc":"2.0", "id":9007199254740993, "method":"tools/call","params":{"name":"m4a_mail_inbox",'
        b'"_meta":{"%b":"2026-07-28"}}}' % VERSION.encode()
    )
    bridged.say(line)
    assert bridged.hear() == {"jsonrpc": "2.0", "id": 9007199254740993, "result": "tools/call"}
    path, headers, raw = door.seen.get(timeout=PATIENCE)
    assert (path, raw) == ("/mcp", line)
    wanted = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "m4a_mail_inbox",
        "m4a-session": "parent",
        "authorization": f"Bearer {TOKEN}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    assert {name: headers[name] for name in wanted} == wanted


@pytest.mark.promise("bridge.carries-messages")
@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("m4a_mail_send", "m4a_mail_send"),
        ("two words", "two words"),
        ("grün", "=?base64?Z3LDvG4=?="),
        (" edge", "=?base64?IGVkZ2U=?="),
        ("a\r\nX: y", "=?base64?YQ0KWDogeQ==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ("", "=?base64??="),
    ],
)
def test_a_name_that_is_no_plain_header_is_encoded(text: str, header: str) -> None:
    """What is not ASCII, has spaces at its ends, would end the header, or looks encoded already."""
    assert header_text(text) == header


@pytest.mark.promise("bridge.carries-messages")
def test_the_version_of_a_handshake_is_said_from_then_on(door: Door, bridged: Bridged) -> None:
    """A client of a handshake revision names it once; over HTTP each request names it."""
    agreed = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}}
    door.answers["initialize"] = lambda handler, _: handler.give(json.dumps(agreed).encode())
    door.answers["notifications/initialized"] = lambda handler, _: handler.give(b"", 202)
    bridged.say(request(0, "initialize", protocolVersion="2025-11-25"))
    assert bridged.hear() == agreed
    assert "mcp-protocol-version" not in door.seen.get(timeout=PATIENCE)[1]
    bridged.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert door.seen.get(timeout=PATIENCE)[1]["mcp-protocol-version"] == "2025-11-25"
    bridged.say(request("a"))
    assert bridged.hear()["id"] == "a"
    assert door.seen.get(timeout=PATIENCE)[1]["mcp-protocol-version"] == "2025-11-25"


@pytest.mark.promise("bridge.carries-messages")
def test_the_events_of_a_stream_are_printed_as_they_come(door: Door, bridged: Bridged) -> None:
    """The first is there while the stream goes on, and data of several lines is one message."""
    read = threading.Event()

    def stream(handler: Handler, _: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"progress"}\n\n')
        assert read.wait(PATIENCE)
        handler.wfile.write(b'data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{}}\r\n\r\n')
        handler.close_connection = True

    door.answers["stream"] = stream
    bridged.say(request(1, "stream"))
    assert bridged.hear() == {"jsonrpc": "2.0", "method": "progress"}
    read.set()
    assert bridged.hear() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert bridged.end()[:2] == (0, b"")


@pytest.mark.promise("bridge.lets-go")
def test_a_cancelled_request_loses_its_connection_and_gets_no_answer(door: Door, bridged: Bridged) -> None:
    """Others go on; what names no request that runs is taken without a word."""
    bridged.say(request("wait", "hold"), request(1, "hold"))
    assert [door.held.get(timeout=PATIENCE) for _ in range(2)] == ["held"] * 2
    for unknown in ("1", 7, None, {}, True):
        bridged.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": unknown}})
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "wait"}}
    bridged.say(cancel, cancel)
    assert door.left.get(timeout=PATIENCE) == "left"
    assert door.left.empty()
    bridged.say(request(2))
    assert bridged.hear()["id"] == 2


@pytest.mark.promise("bridge.lets-go")
def test_the_end_of_standard_input_ends_the_bridge_and_what_waits(door: Door, bridged: Bridged) -> None:
    """It exits with 0, and the server sees the connection go."""
    bridged.say(request(1, "hold"))
    door.held.get(timeout=PATIENCE)
    assert bridged.end() == (0, b"", b"")
    assert door.left.get(timeout=PATIENCE) == "left"


@pytest.mark.promise("bridge.lets-go")
def test_a_client_that_goes_without_a_word_ends_the_bridge(door: Door, bridged: Bridged) -> None:
    """Nobody reads what it would print."""
    assert bridged.process.stdout is not None
    bridged.process.stdout.close()
    bridged.process.stdout = None
    bridged.say(request(1))
    assert bridged.process.wait(PATIENCE) == 141


@pytest.mark.promise("bridge.answers-each-request")
def test_a_refusal_before_the_protocol_is_an_error_of_the_request(door: Door, bridged: Bridged) -> None:
    """The gate's object, no JSON, no answer at all, a stream without one, and an error that names nobody."""
    refusal = {"kind": "unauthenticated", "reason": "no"}
    door.answers["gate"] = lambda handler, _: handler.give(json.dumps(refusal).encode(), 401)
    door.answers["page"] = lambda handler, _: handler.give(b"<html>")
    door.answers["empty"] = lambda handler, _: handler.give(b"", 202)
    door.answers["stream"] = lambda handler, _: handler.give(b": nothing\n\n", 200, "text/event-stream")
    nobody = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "m"}}
    door.answers["nobody"] = lambda handler, _: handler.give(json.dumps(nobody).encode(), 400)
    for known, method in enumerate(("gate", "page", "empty", "stream")):
        bridged.say(request(known, method))
        answer = bridged.hear()
        assert refused(answer) == (known, -32000)
        assert ("unauthenticated, no" in answer["error"]["message"]) == (method == "gate")
    bridged.say(request("x", "nobody"))
    assert bridged.hear() == {**nobody, "id": "x"}


@pytest.mark.promise("bridge.answers-each-request")
def test_a_daemon_that_is_away_is_an_error_of_each_request(tmp_path: Path) -> None:
    """And not the end of the bridge; the credential of its file is in no message."""
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    made = Bridged(f"unix:{tmp_path}/none.sock", M4A_TOKEN_FILE=str(file))
    for known in (1, "two"):
        made.say(request(known))
        answer = made.hear()
        assert refused(answer) == (known, -32000)
        assert TOKEN not in json.dumps(answer)
    assert made.end() == (0, b"", b"")


@pytest.mark.promise("bridge.carries-messages")
def test_the_file_of_the_entry_goes_before_a_token_of_the_shell(door: Door, tmp_path: Path) -> None:
    """Or the agent would act as whoever started its client."""
    file = tmp_path / "token"
    file.write_text("a7" * 32)
    file.chmod(0o600)
    made = Bridged(door.url, M4A_TOKEN=TOKEN, M4A_TOKEN_FILE=str(file))
    made.say(request(1))
    made.hear()
    assert door.seen.get(timeout=PATIENCE)[1]["authorization"] == f"Bearer {'a7' * 32}"
    assert made.end() == (0, b"", b"")


@pytest.mark.promise("bridge.answers-each-request")
def test_what_is_no_message_is_refused_and_the_bridge_goes_on(bridged: Bridged) -> None:
    """Broken lines, batches and ids that are none; an empty line and an answer are taken without a word."""
    for line, code in (
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
        (b'"ping"', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b" " * (LINE_MAX + 10), -32600),
    ):
        bridged.say(line)
        assert refused(bridged.hear()) == (None, code)
    bridged.say(b"", b" ", b'{"jsonrpc":"2.0","id":1,"result":{}}', request(1))
    assert bridged.hear()["result"] == "ping"


@pytest.mark.promise("bridge.answers-each-request")
def test_only_so_many_requests_run_at_a_time_and_none_twice(door: Door, bridged: Bridged) -> None:
    """One more is refused at once, and so is the id of one that runs; a place that is free again is taken."""
    bridged.say(*(request(known, "hold") for known in range(WORKERS)))
    for _ in range(WORKERS):
        door.held.get(timeout=PATIENCE)
    bridged.say(request("more"))
    assert refused(bridged.hear()) == ("more", -32000)
    bridged.say(request(0))
    assert refused(bridged.hear()) == (0, -32600)
    bridged.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}})
    door.left.get(timeout=PATIENCE)
    answer: dict[str, Any] = {}
    while "result" not in answer:
        bridged.say(request("again"))
        answer = bridged.hear()
    assert answer["id"] == "again"


def test_settings_that_are_none_end_the_bridge_before_it_speaks(tmp_path: Path) -> None:
    """As any verb: 4 without a credential, and a sentence on standard error; flags are taken too."""
    made = Bridged(f"unix:{tmp_path}/none.sock")
    status, out, err = made.end()
    assert (status, out) == (4, b"")
    assert b"M4A_TOKEN_FILE" in err
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    made = Bridged("http://127.0.0.1:9", "--url", f"unix:{tmp_path}/none.sock", "--token-file", str(file))
    made.say(request(1))
    assert "none.sock" in made.hear()["error"]["message"]
    assert made.end() == (0, b"", b"")
