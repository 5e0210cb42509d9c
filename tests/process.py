"""A daemon in a process of its own, as a person starts it: asked over its socket, ended by a signal."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Self

from mail4agent_api.operations import OPERATIONS
from mail4agent_core.clock import SystemClock
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.run import NoteRun
from tests.core.frontdoor.records import extraction, original, placed

#: No test waits longer than this for a process or an answer.
BOUND_SECS = 30.0
_LISTENS = re.compile(rb"listens on http://127\.0\.0\.1:([0-9]{1,5})\b")


class NotStartedError(Exception):
    """The process ended, or said nothing in time, instead of serving."""

    def __init__(self, status: int | None, log: str) -> None:
        super().__init__(f"exit status {status}: {log}")
        self.status = status
        self.log = log


def spawned(
    home: Path,
    *flags: str,
    environment: Mapping[str, str],
    program: Sequence[str] = ("mail4agent_daemon",),
) -> subprocess.Popen[bytes]:
    """Start ``serve`` over a home, on a free port of loopback, without waiting for it.

    It logs beside the home. A ``--bind`` in ``flags`` takes the free port's place.
    """
    command = [sys.executable, "-m", *program, "serve", "--bind", "127.0.0.1:0", "--home", str(home), *flags]
    with log_of(home).open("ab") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment
        )


def log_of(home: Path) -> Path:
    """Where the processes of a home log."""
    return home.with_name(f"{home.name}.log")


def port_of(process: subprocess.Popen[bytes], home: Path) -> int:
    """Wait until a process says where it listens. Kills it and raises NotStartedError where it does not."""
    assert process.stdout is not None
    said, deadline = b"", time.monotonic() + BOUND_SECS
    while not (found := _LISTENS.search(said)):
        left = deadline - time.monotonic()
        ready = select.select([process.stdout], [], [], max(left, 0))[0]
        more = os.read(process.stdout.fileno(), 4096) if ready else b""
        if not more:
            process.kill()
            status = process.wait(BOUND_SECS)
            process.stdout.close()
            raise NotStartedError(status, log_of(home).read_text("utf-8"))
        said += more
    return int(found[1])


class DaemonProcess:
    """``mail4agent serve`` on a free port of loopback, over one home; can be started again."""

    def __init__(
        self,
        home: Path,
        *flags: str,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str] = ("mail4agent_daemon",),
    ) -> None:
        self.home = home
        self._program = program
        self.port = 0
        self.log_path = log_of(home)
        self._flags = flags
        clean = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
        # Tests ask more of few accounts and connections than those may by default, and wrong secrets.
        unmetered = {f"M4A_LIMITS__{bucket}_PER_SEC": "0" for bucket in ("ACCOUNT", "CONNECTION")}
        usual = {"M4A_LOG__LEVEL": "warning", "M4A_LIMITS__WRONG_SECRET_MS": "0", **unmetered}
        self._environment = {**clean, **usual, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._requests = 0

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting for it to serve."""
        self._process = spawned(
            self.home, "--no-socket", *self._flags, environment=self._environment, program=self._program
        )
        return self._process

    def await_serving(self) -> Self:
        """Wait until the process says where it listens. Raises NotStartedError."""
        self.port = port_of(self._running, self.home)
        return self

    def start(self) -> Self:
        """Start the process and wait until it serves. Raises NotStartedError."""
        self.spawn()
        return self.await_serving()

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the daemon was not started"
        return self._process

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._running.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End the process as a crash or the kernel would: SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._end()

    def stop(self) -> int:
        """Ask the process to stop and return its exit status."""
        self._running.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        process = self._running
        status = process.wait(BOUND_SECS)
        if process.stdout is not None:
            process.stdout.close()
        return status

    @property
    def log(self) -> str:
        """What all processes of this home have logged."""
        return self.log_path.read_text("utf-8") if self.log_path.exists() else ""

    @property
    def database(self) -> Path:
        """The store's file."""
        return self.home / "mail.sqlite3"

    @property
    def operator(self) -> str:
        """The operator's secret."""
        return (self.home / "operator.key").read_text("ascii").strip()

    def ask(self, operation: str, body: Any = None, *, secret: str | None = None) -> tuple[int, Any]:
        """Call an operation, as the operator by default; returns the status and the answer."""
        row = OPERATIONS[operation]
        connection = HTTPConnection("127.0.0.1", self.port, timeout=BOUND_SECS)
        with contextlib.closing(connection):
            raw = None if row.method == "GET" else json.dumps(body if body is not None else {}).encode()
            headers = {"Content-Type": "application/json", "Connection": "close"}
            headers["Authorization"] = f"Bearer {secret or self.operator}"
            connection.request(row.method, row.path, raw, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def do(self, operation: str, body: Any = None, *, secret: str | None = None) -> Any:
        """Call an operation that must succeed; returns its answer."""
        status, answer = self.ask(operation, body, secret=secret)
        assert status == 200, f"{operation} was refused: {answer}"
        return answer

    def register(self, name: str, *, operator: bool = False) -> str:
        """Register an account that may send and read; returns its secret."""
        body = {"id": name, "may_send": True, "may_read": True, "operator": operator}
        return self.do("admin.participant", body)["secret"]

    def open_run(self, account: str) -> None:
        """Make a run with one node that is dispatched, and let an account do all that there is to notes."""
        run = NoteRun(RunPaths.create(self.home / "runs", "demo"), SystemClock())
        run.begin(["build"])
        run.dispatch("build")
        grant = ["note:deliver", "note:produce", "note:read"]
        self.do("admin.participant.permit", {"id": account, "grant": grant, "revoke": []})

    def open_frontdoor(self, account: str) -> None:
        """Let an account do all that there is to requests."""
        grant = ["frontdoor:drain", "frontdoor:extract", "frontdoor:brief", "frontdoor:review"]
        self.do("admin.participant.permit", {"id": account, "grant": grant, "revoke": []})

    def request(self, state: str) -> int:
        """Put a request without prose into the daemon's folder, in a state; return its number."""
        self._requests += 1
        value = original(seq=self._requests, state=state, values={"guests": 3}, free_text=[])
        if state != "drained":
            value["extraction"] = extraction()
        placed(self.home / "requests", value)
        return self._requests

    def figure(self, name: str) -> float:
        """A figure without labels from the metrics page."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=BOUND_SECS)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics", headers={"Connection": "close"})
            text = connection.getresponse().read().decode()
        return float(re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)[0])


@contextlib.contextmanager
def served(home: Path, *flags: str, environment: Mapping[str, str] | None = None) -> Iterator[DaemonProcess]:
    """A daemon that serves for the length of the block; killed at its end if it still runs."""
    daemon = DaemonProcess(home, *flags, environment=environment)
    try:
        yield daemon.start()
    finally:
        daemon.kill()
