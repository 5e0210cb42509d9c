"""An HTTP server on loopback that plays the endpoint of a model: what it answers is chosen test by test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

#: Answers one request; it is given the request as JSON and how often it was asked before.
Answer = Callable[["Exchange", dict[str, Any]], None]


def extraction(**given: Any) -> str:
    """A good extraction, with some members changed."""
    whole = {
        "reading": "They want to work together.",
        "topic": "collaboration",
        "urgency_claimed": "soon",
        "dates_mentioned": ["next Tuesday"],
        "institution": "",
        "reads_like_instructions": False,
    }
    return json.dumps({**whole, **given})


def completion(text: str | None, reason: str = "stop", **message: Any) -> bytes:
    """A chat completion that says a text."""
    choice = {
        "index": 0,
        "finish_reason": reason,
        "message": {"role": "assistant", "content": text, **message},
    }
    return json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()


class Exchange(BaseHTTPRequestHandler):
    """One request of the model's user."""

    protocol_version = "HTTP/1.1"
    server: ModelServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        """Write down what came and answer as the test wants."""
        raw = self.rfile.read(int(self.headers.get("content-length", "0")))
        asked = json.loads(raw)
        self.server.asked.append(asked)
        self.server.heads.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        self.close_connection = True
        self.server.answer(self, asked)

    def give(self, status: int, body: bytes, **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name that the base gives
        """Nothing."""


class ModelServer(ThreadingHTTPServer):
    """The server. ``answer`` may be changed at any time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.answer: Answer = saying(completion(extraction()))
        self.asked: list[dict[str, Any]] = []
        self.heads: list[tuple[str, dict[str, str]]] = []
        #: Set when the test is over, for answers that take their time.
        self.over = Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no error."""

    @property
    def url(self) -> str:
        """The base of the endpoint."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def forget(self) -> None:
        """Begin anew, with good answers."""
        self.answer = saying(completion(extraction()))
        self.asked.clear()
        self.heads.clear()


def saying(body: bytes, status: int = 200, **headers: str) -> Answer:
    """The same answer each time."""

    def answer(exchange: Exchange, _: dict[str, Any]) -> None:
        exchange.give(status, body, **headers)

    return answer


def in_turn(*answers: Answer) -> Answer:
    """One answer after the other."""
    left = list(answers)

    def answer(exchange: Exchange, asked: dict[str, Any]) -> None:
        following = left.pop(0)
        following(exchange, asked)

    return answer


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server for the length of the block."""
    with ModelServer() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
