"""A real daemon in a process of its own, and plain HTTP to it: no client of ours stands between."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.process import log_of, port_of, spawned

#: No test waits longer than this for anything.
BOUND_SECS = 20.0
JSON = "application/json"


@dataclass(frozen=True)
class Answer:
    """What came back for one request; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        assert self.headers["content-type"] == JSON
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """The kind of a refusal."""
        return self.json["kind"]


@dataclass
class Daemon:
    """A daemon that serves."""

    port: int
    home: Path
    process: subprocess.Popen[bytes]
    log_file: Path
    keys: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOUND_SECS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def post(self, path: str, value: object, account: str = "operator", **headers: str) -> Answer:
        """Call an operation as an account; ``value`` is the body, as JSON unless it is bytes already."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        given = {"Authorization": f"Bearer {self.keys[account]}", "Content-Type": JSON}
        return self.ask("POST", path, body, {**given, **headers})

    def get(self, path: str) -> Answer:
        """Get a page that needs no credential."""
        return self.ask("GET", path)

    def wire(self) -> socket.socket:
        """A raw connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=BOUND_SECS)

    def raw(self, *parts: bytes) -> bytes:
        """Send bytes as they are, and return all that comes until the other end closes."""
        with self.wire() as wire:
            for part in parts:
                wire.sendall(part)
            return read_all(wire)

    def add(self, account: str, **registration: object) -> str:
        """Register an account that may send and read; returns its secret."""
        answer = self.post(
            "/admin/participant", {"id": account, "may_send": True, "may_read": True, **registration}
        )
        assert answer.status == 200, answer.body
        self.keys[account] = answer.json["secret"]
        return self.keys[account]

    def send(self, sender: str, to: str, body: str = "hello", **more: object) -> str:
        """Send a message to an account or, with ``#``, to a room; returns its id."""
        target = {"kind": "room", "room": to[1:]} if to[0] == "#" else {"kind": "direct", "participant": to}
        answer = self.post("/mail/send", {"to": target, "subject": "s", "body": body, **more}, sender)
        assert answer.status == 200, answer.body
        return answer.json["message_id"]

    def inbox(self, reader: str, **request: object) -> list[dict[str, Any]]:
        """The messages of a page of somebody's inbox."""
        answer = self.post("/mail/inbox", request, reader)
        assert answer.status == 200, answer.body
        return answer.json["messages"]

    def stop(self) -> int:
        """Stop in order; returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(BOUND_SECS)

    @property
    def log(self) -> list[dict[str, Any]]:
        """What it logged."""
        return [json.loads(line) for line in self.log_file.read_text().splitlines()]


def read_all(wire: socket.socket) -> bytes:
    """Everything until the other end closes."""
    parts: list[bytes] = []
    while part := wire.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def parsed(raw: bytes) -> Answer:
    """One answer from its bytes."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    return Answer(int(first.split(" ")[1]), headers, body)


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing but ``home`` and ``more`` is said to the daemon."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
    return {**inherited, "PYTHONPATH": os.pathsep.join(sys.path), "M4A_HOME": str(home), **more}


def script(*arguments: str) -> list[str]:
    """The command line of the script ``mail4agent``."""
    return [sys.executable, "-m", "mail4agent_daemon", *arguments]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)

    @property
    def failure(self) -> Any:
        """The one JSON value on standard error, nothing being on standard output."""
        assert self.out == ""
        return json.loads(self.err)


def ran(home: Path, *arguments: str, **more: str) -> Ended:
    """Run the script to its end."""
    ended = subprocess.run(
        script(*arguments),
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=BOUND_SECS,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def start_of(home: Path, *arguments: str, **more: str) -> Ended:
    """Start a daemon that is to fail."""
    return ran(home, "serve", "--bind", "127.0.0.1:0", "--log-format", "json", *arguments, **more)


@contextmanager
def running(home: Path, *arguments: str, **more: str) -> Iterator[Daemon]:
    """Run a daemon on a free port for the length of the block, ready at its beginning."""
    log_of(home).unlink(missing_ok=True)
    with spawned(home, "--log-format", "json", *arguments, environment=environment(home, **more)) as process:
        try:
            port = port_of(process, home)
            key = (home / "operator.key").read_text().strip()
            yield Daemon(port, home, process, log_of(home), {"operator": key})
        finally:
            process.kill()
