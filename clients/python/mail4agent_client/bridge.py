"""The stdio bridge, ``mail4agent mcp-stdio``: MCP over standard input and output, for clients that speak
nothing else.

Each line is a message of the client. A request is posted to the daemon's /mcp as it is, on a connection and
by a worker of its own, with the headers that the protocol takes from its body; what comes back is printed as
lines. Closing its connection is how a request is cancelled. The bridge acts for the program that started it,
and ends when standard input does. Standard library alone, so that it is there at once.
"""

from __future__ import annotations

import base64
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from mail4agent_client.errors import AnswerInvalidError, ClientError
from mail4agent_client.plain import Post
from mail4agent_client.settings import Settings

#: Bytes of a message: what the daemon takes.
LINE_MAX = 16 * 1024 * 1024
#: Bytes of an answer: the largest page of mail stays below it, as in the clients.
ANSWER_MAX = 64 * 1024 * 1024
#: Requests at a time; more are refused at once.
WORKERS = 64
#: Seconds that a request lasts at most, and that those which run are given when standard input ends.
REQUEST_SECS = 3_600.0
GRACE_SECS = 1.0
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
PARSE_ERROR, INVALID_REQUEST, FAILED = -32700, -32600, -32000
#: Where a method names what it is about, for the header of that name.
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_VERSION = re.compile(r"[0-9A-Za-z.-]{1,32}")
_PLAIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")

#: The exit status when nobody reads standard output, as of the other verbs.
PIPE_CLOSED = 141

Id = str | int


class Bridge:
    """Takes lines in, and puts lines out through ``put``, one at a time."""

    def __init__(self, settings: Settings, put: Callable[[bytes], None]) -> None:
        self._settings = settings
        self._put = put
        self._printing = threading.Lock()
        self._lock = threading.Lock()
        self._running: dict[Id, Post] = {}
        self._threads: set[threading.Thread] = set()
        #: What the handshake agreed on, for a client that says it once.
        self._version: str | None = None

    def serve(self, source: IO[bytes]) -> None:
        """Take every line until the source ends, then let go of what still runs."""
        for line in lines_of(source):
            if line is None:
                self._refuse(None, INVALID_REQUEST, f"a message is longer than {LINE_MAX} bytes")
            elif line.strip():
                self._take(line)
        self._end()

    def _take(self, line: bytes) -> None:
        try:
            message: Any = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            self._refuse(None, PARSE_ERROR, "a message is no JSON")
            return
        if not isinstance(message, dict):
            self._refuse(None, INVALID_REQUEST, "a message is no JSON object")
            return
        said: dict[str, Any] = message  # pyright: ignore[reportUnknownVariableType]
        method = said.get("method")
        if method == "notifications/cancelled":
            self._cancel(_mapping(said.get("params")).get("requestId"))
        elif not isinstance(method, str):
            # An answer to what was never asked; a request without a method is the daemon's to refuse.
            if "id" in said and "result" not in said and "error" not in said:
                self._begin(line, said)
        else:
            self._begin(line, said)

    def _cancel(self, request: object) -> None:
        if isinstance(request, bool) or not isinstance(request, str | int):
            return  # True would be found as the request 1
        with self._lock:
            post = self._running.pop(request, None)
        if post is not None:
            post.abort()

    def _begin(self, line: bytes, said: dict[str, Any]) -> None:
        known = said.get("id")
        if "id" in said and (isinstance(known, bool) or not isinstance(known, str | int)):
            self._refuse(None, INVALID_REQUEST, "an id is neither a text nor a whole number")
            return
        post = Post(self._settings, secs=REQUEST_SECS, limit=ANSWER_MAX)
        with self._lock:
            twice, full = known in self._running, len(self._threads) >= WORKERS
            if not (twice or full):
                if known is not None:
                    self._running[known] = post
                thread = threading.Thread(target=self._work, args=(line, said, known, post), daemon=True)
                self._threads.add(thread)
        if twice:
            self._refuse(known, INVALID_REQUEST, "a request with this id is running")
        elif full:
            self._refuse(known, FAILED, f"{WORKERS} requests are running; try again when one has ended")
        else:
            thread.start()  # pyright: ignore[reportPossiblyUnboundVariable]

    def _work(self, line: bytes, said: dict[str, Any], known: Id | None, post: Post) -> None:
        try:
            post.send("/mcp", line, self._headers(said))
            ended = False
            for answer in _answers(post):
                ended = self._answer(said, known, post, answer) or ended
            if not ended and self._is_wanted(known, post):
                self._refuse(known, FAILED, f"the daemon ended without an answer, with status {post.status}")
        except ClientError as failure:
            if self._is_wanted(known, post):
                self._refuse(known, FAILED, str(failure))
        finally:
            post.close()
            with self._lock:
                if known is not None and self._running.get(known) is post:
                    del self._running[known]
                self._threads.discard(threading.current_thread())

    def _headers(self, said: dict[str, Any]) -> dict[str, str]:
        params = _mapping(said.get("params"))
        given = {
            "Accept": "application/json, text/event-stream",
            "User-Agent": "mail4agent-mcp-stdio",
            "M4A-Session": "parent",
        }
        version = _mapping(params.get("_meta")).get(VERSION_KEY, self._version)
        if isinstance(version, str) and _VERSION.fullmatch(version):
            given["MCP-Protocol-Version"] = version
        method = said.get("method")
        if isinstance(method, str):
            given["Mcp-Method"] = header_text(method)
            name = params.get(_NAMED.get(method, ""))
            if isinstance(name, str):
                given["Mcp-Name"] = header_text(name)
        return given

    def _answer(self, said: dict[str, Any], known: Id | None, post: Post, raw: bytes) -> bool:
        """Print what came; whether it is what the request waits for."""
        try:
            value: Any = json.loads(raw)
        except (ValueError, RecursionError):
            raise AnswerInvalidError(post.status, "it is no JSON") from None
        answer = _mapping(value)
        if known is None or not self._is_wanted(known, post):
            return False
        if answer.get("jsonrpc") != "2.0":
            # The gate's refusal, which comes before the protocol does.
            self._refuse(known, FAILED, _sentence(post.status, answer))
            return True
        if "error" in answer and answer.get("id") is None:
            answer["id"], raw = known, b""
        if said.get("method") == "initialize":
            agreed = _mapping(answer.get("result")).get("protocolVersion")
            self._version = agreed if isinstance(agreed, str) else None
        self._print(json.dumps(answer).encode() if not raw or b"\n" in raw or b"\r" in raw else raw)
        return "result" in answer or "error" in answer

    def _is_wanted(self, known: Id | None, post: Post) -> bool:
        with self._lock:
            return known is not None and self._running.get(known) is post

    def _refuse(self, known: Id | None, code: int, reason: str) -> None:
        error = {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": f"mail4agent: {reason}"}}
        self._print(json.dumps(error).encode())

    def _print(self, line: bytes) -> None:
        with self._printing:
            self._put(line + b"\n")

    def _end(self) -> None:
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(GRACE_SECS / len(threads))
        with self._lock:
            left = list(self._running.values())
            self._running.clear()
        for post in left:
            post.abort()


def run(settings: Settings) -> None:
    """Bridge standard input and output until either is closed."""
    output = sys.stdout.fileno()

    def put(line: bytes) -> None:
        try:
            while line:
                line = line[os.write(output, line) :]
        except OSError:
            # Nobody reads any more. The connections end with the process, and so does what waits on them.
            os._exit(PIPE_CLOSED)

    Bridge(settings, put).serve(sys.stdin.buffer)


def lines_of(source: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a stream without their ends, None for each one past the bound."""
    while line := source.readline(LINE_MAX + 1):
        if len(line) <= LINE_MAX or line.endswith(b"\n"):
            yield line.rstrip(b"\r\n")
            continue
        while line and not line.endswith(b"\n"):
            line = source.readline(LINE_MAX)
        yield None


def header_text(text: str) -> str:
    """A text as a header's value: as it is, or as the protocol has others encoded."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def _answers(post: Post) -> Iterator[bytes]:
    """Each message of an answer: the body, or the data of each event of a stream."""
    if not post.headers.get("content-type", "").lower().startswith("text/event-stream"):
        if body := post.read():
            yield body
        return
    data: list[bytes] = []
    for line in post.lines():
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            yield b"\n".join(data)
            data = []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _sentence(status: int, refusal: Mapping[str, Any]) -> str:
    said = [refusal[part] for part in ("kind", "reason") if isinstance(refusal.get(part), str)]
    return f"the daemon refused with status {status}" + (f": {', '.join(said)}" if said else "")
