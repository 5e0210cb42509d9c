"""A box that somebody took over: it speaks the contract, and gives whatever rows and files a test chose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

EPOCH = "hostile-epoch-1"


@dataclass
class HostileBox:
    """What it has, and what it was told to forget."""

    port: int = 0
    rows: list[Any] = field(default_factory=list[Any])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    acknowledged: list[int] = field(default_factory=list[int])
    #: Answers to acknowledgements that are lost after they were heard.
    losing: int = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        """What it says."""
        match path:
            case "/box/lease":
                return {"epoch": EPOCH, "secs": body["secs"]}
            case "/box/release":
                return {"released": True}
            case "/box/ack":
                self.acknowledged += body["seqs"]
                gone = set(body["seqs"])
                self.rows = [row for row in self.rows if _number(row) not in gone]
                return {"deleted": len(body["seqs"])}
            case _:
                after = body["after"]
                # Those without a number stand before all others.
                page = [row for row in self.rows if _after(row, after)]
                page = page[: body["limit"]]
                numbers = [number for row in page if (number := _number(row)) is not None]
                return {"epoch": EPOCH, "rows": page, "last": max(numbers, default=body["after"])}


def _number(row: Any) -> int | None:
    number = row.get("seq") if isinstance(row, dict) else None
    return number if isinstance(number, int) else None


def _after(row: Any, after: int) -> bool:
    number = _number(row)
    return after == 0 if number is None else number > after


@contextmanager
def hostile_box() -> Iterator[HostileBox]:
    """One that serves for the length of the block."""
    box = HostileBox()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            content = box.blobs.get(self.path.removeprefix("/box/blob/"))
            if content is None:
                self._give(503, b'{"kind":"overloaded","retry_after_secs":1}', "application/json")
            else:
                self._give(200, content, "application/octet-stream")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = json.dumps(box.answer(self.path, body)).encode()
            if self.path == "/box/ack" and box.losing:
                box.losing -= 1
                self.close_connection = True
                return
            self._give(200, answer, "application/json")

        def _give(self, status: int, content: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        box.port = server.server_port
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield box
        finally:
            server.shutdown()
            thread.join()
