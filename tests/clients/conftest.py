"""A daemon that misbehaves on order, over real sockets, and one way to run a call with either client."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from typer.testing import CliRunner

from mail4agent_client import MailClient, SyncMailClient
from mail4agent_daemon.cli import application
from tests.process import port_of, spawned

#: Seconds after which a test that waits for a peer has failed.
PATIENCE = 20.0
#: How fast and how often a dripping answer goes on: several times past the deadlines of these tests.
DRIP_SECS = 0.02
DRIPS = 200
TOKEN = "5f" * 32
PHRASES = {200: "OK", 307: "Temporary Redirect"}


@dataclass
class Seen:
    """A request as it came off the wire."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body's JSON value."""
        return json.loads(self.body)


@dataclass
class Scripted:
    """Serves one scripted reply for each request, and keeps the requests."""

    listener: socket.socket
    url: str
    seen: list[Seen] = field(default_factory=list[Seen])
    replies: Queue[bytes | threading.Event | tuple[bytes, bytes] | None] = field(
        default_factory=Queue[bytes | threading.Event | tuple[bytes, bytes] | None]
    )
    _closed: threading.Event = field(default_factory=threading.Event)
    _open: list[socket.socket] = field(default_factory=list[socket.socket])

    def raw(self, reply: bytes) -> None:
        """Next: send these bytes and close."""
        self.replies.put(reply)

    def hang_up(self) -> None:
        """Next: close without an answer."""
        self.replies.put(None)

    def stay_silent(self) -> threading.Event:
        """Next: send nothing until the event is set."""
        event = threading.Event()
        self.replies.put(event)
        return event

    def drip(self, first: bytes, piece: bytes) -> None:
        """Next: send ``first``, then ``piece`` time and again until the client goes away."""
        self.replies.put((first, piece))

    def answer(self, status: int, value: Any, **headers: str) -> None:
        """Next: send a whole answer."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        named = {
            "content-type": "application/json",
            "connection": "close",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        lines = "".join(f"{name}: {text}\r\n" for name, text in named.items())
        head = f"HTTP/1.1 {status} {PHRASES.get(status, 'X')}\r\n{lines}content-length: {len(body)}\r\n\r\n"
        self.raw(head.encode() + body)

    def serve(self) -> None:
        """Take connections until the listener is closed."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.settimeout(PATIENCE)
            self._open.append(connection)
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self._closed.set()
        self.listener.close()
        for connection in self._open:
            connection.close()

    def _one(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as file:
            first = file.readline().decode().split()
            if not first:
                return
            headers: dict[str, str] = {}
            while line := file.readline().decode().strip():
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            self.seen.append(
                Seen(first[0], first[1], headers, file.read(int(headers.get("content-length", 0))))
            )
            reply = self.replies.get(timeout=PATIENCE)
            if isinstance(reply, threading.Event):
                reply.wait(PATIENCE)
            elif isinstance(reply, tuple):
                self._drip(connection, *reply)
            elif reply is not None:
                # A client that has read enough closes first.
                try:
                    connection.sendall(reply)
                except OSError:
                    return

    def _drip(self, connection: socket.socket, first: bytes, piece: bytes) -> None:
        try:
            connection.sendall(first)
            for _ in range(DRIPS):
                if self._closed.wait(DRIP_SECS):
                    return
                connection.sendall(piece)
        except OSError:
            return


def _started(listener: socket.socket, url: str) -> Iterator[Scripted]:
    listener.listen()
    server = Scripted(listener, url)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield server
    # A thread in accept is not woken by close alone.
    listener.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(PATIENCE)


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """A scripted daemon on loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    yield from _started(listener, f"http://127.0.0.1:{listener.getsockname()[1]}")


@pytest.fixture
def elsewhere() -> Iterator[Scripted]:
    """A second server, which nothing should ever reach."""
    listener = socket.create_server(("127.0.0.1", 0))
    yield from _started(listener, f"http://127.0.0.1:{listener.getsockname()[1]}")


@pytest.fixture
def scripted_socket(tmp_path: Path) -> Iterator[Scripted]:
    """A scripted daemon on a UNIX socket."""
    path = tmp_path / "d.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    yield from _started(listener, f"unix:{path}")


@pytest.fixture
def closed_url() -> str:
    """The address of a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the settings of the person who runs it."""
    for name in ("M4A_URL", "M4A_TOKEN", "M4A_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("M4A_HOME", str(tmp_path / "home"))


Act = Callable[[Any], Any]


@pytest.fixture(params=["async", "sync"])
def ask(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run one act with a client of either kind: ``ask(url, lambda client: client.whoami(), **options)``."""

    def with_sync(url: str, act: Act, **options: Any) -> Any:
        with SyncMailClient(url, **{"token": TOKEN, **options}) as client:
            return act(client)

    def with_async(url: str, act: Act, **options: Any) -> Any:
        async def main() -> Any:
            async with MailClient(url, **{"token": TOKEN, **options}) as client:
                outcome = act(client)
                return await outcome if isinstance(outcome, Awaitable) else outcome

        return asyncio.run(main())

    return with_async if request.param == "async" else with_sync


@pytest.fixture
def take() -> Callable[[Any, int], Any]:
    """Take so many messages from a watch of either kind; the outcome is awaited where that is needed."""

    async def from_async(watch: Any, count: int) -> list[Any]:
        return [await anext(watch) for _ in range(count)]

    def take_from(watch: Any, count: int) -> Any:
        if hasattr(watch, "__anext__"):
            return from_async(watch, count)
        return [next(watch) for _ in range(count)]

    return take_from


@dataclass
class Running:
    """A real daemon of this test run, and what its accounts may show."""

    url: str
    home: Path
    keys: Path
    process: subprocess.Popen[bytes]

    def key(self, account: str) -> Path:
        """The file with an account's secret."""
        return self.home / "operator.key" if account == "operator" else self.keys / account


@contextmanager
def _running(folder: Path, port: int = 0) -> Iterator[Running]:
    """A daemon in a process of its own, with nobody but the operator until others are added."""
    home = folder / "home"
    environment = {**os.environ, "M4A_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    with spawned(home, "--bind", f"127.0.0.1:{port}", environment=environment) as process:
        try:
            yield Running(f"http://127.0.0.1:{port_of(process, home)}", home, folder, process)
        finally:
            process.terminate()


def _furnished(running: Running, room: str) -> None:
    """Add the accounts alice and bob, and a room with both."""
    with SyncMailClient(running.url, token_file=running.key("operator")) as operator:
        operator.admin_room(id=room)
        for account in ("alice", "bob"):
            # Whoever runs the tests, from an agent or not: these two are accounts and nothing more.
            issued = operator.admin_participant(id=account, may_send=True, may_read=True, attestation="off")
            running.key(account).touch(0o600)
            running.key(account).write_text(issued.secret)
            operator.admin_room_member_add(room=room, participant=account)


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A daemon with the accounts alice and bob, both in the room ops, for all tests together."""
    with _running(tmp_path_factory.mktemp("daemon")) as running:
        _furnished(running, "ops")
        yield running


@pytest.fixture
def new_daemon(tmp_path: Path) -> Iterator[Running]:
    """A daemon that nobody has used, for one test."""
    folder = tmp_path / "daemon"
    folder.mkdir()
    with _running(folder) as running:
        yield running


@pytest.fixture
def start_daemon() -> Callable[..., AbstractContextManager[Running]]:
    """Start a daemon in a folder, again where one ran before: ``start_daemon(folder, port)``."""
    return _running


@pytest.fixture
def furnish() -> Callable[[Running, str], None]:
    """Add the accounts alice and bob to a daemon, and a room with both."""
    return _furnished


@dataclass
class Ran:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)

    @property
    def refusal(self) -> Any:
        """The one JSON value on standard error, nothing being on standard output."""
        assert self.out == ""
        return json.loads(self.err)


Run = Callable[..., Ran]


@pytest.fixture
def cli(daemon: Running) -> Run:
    """Run a command as an account: ``cli("alice", "send", "bob", "-", stdin="hello")``."""

    def run(
        account: str | None, *arguments: str, stdin: str | bytes | None = None, **environment: str
    ) -> Ran:
        settings = {"M4A_URL": daemon.url, "M4A_HOME": str(daemon.home), "TERM": "dumb", "COLUMNS": "80"}
        if account is not None:
            settings["M4A_TOKEN_FILE"] = str(daemon.key(account))
        result = CliRunner().invoke(
            application(),
            list(arguments),
            input=stdin,
            env={**settings, **environment},
            catch_exceptions=False,
        )
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run
