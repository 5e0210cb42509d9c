"""An agent's process for tests: it does over its own connection what it is told.

``python agent.py`` reads commands from standard input, one JSON object a line, and answers each on standard
output. The class ``Agent`` is the other end, for the test.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BOUND_SECS = 20.0
_RESET = struct.pack("ii", 1, 0)


class Wire(http.client.HTTPConnection):
    """HTTP over a socket that the test chose."""

    def __init__(self, where: int | str, source_port: int) -> None:
        super().__init__("127.0.0.1", where if isinstance(where, int) else 80, timeout=BOUND_SECS)
        self._where = where
        self._source_port = source_port

    def connect(self) -> None:
        if isinstance(self._where, str):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(BOUND_SECS)
            self.sock.connect(self._where)
            return
        self.sock = socket.socket()
        self.sock.settimeout(BOUND_SECS)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if self._source_port:
            self.sock.bind(("127.0.0.1", self._source_port))
        self.sock.connect(("127.0.0.1", self._where))


class _Doing:
    """What the process does; each method is a command."""

    def __init__(self) -> None:
        self.wire: Wire | None = None
        self.child = 0

    def connect(self, where: int | str, source_port: int = 0) -> dict[str, Any]:
        self.wire = Wire(where, source_port)
        self.wire.connect()
        name = self.wire.sock.getsockname()
        return {"port": name[1] if isinstance(where, int) else 0}

    def ask(self, path: str, body: Any, headers: dict[str, str]) -> dict[str, Any]:
        assert self.wire is not None
        given = {"Content-Type": "application/json", "Host": "localhost", **headers}
        self.wire.request("POST", path, json.dumps(body), given)
        answer = self.wire.getresponse()
        return {"status": answer.status, "body": json.loads(answer.read())}

    def fork(self) -> dict[str, Any]:
        """Make a child that holds the connection, and does nothing until this process ends."""
        ended, alive = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            os.close(0)
            os.close(1)
            os.close(alive)
            os.read(ended, 1)
            os._exit(0)
        os.close(ended)
        return {"pid": self.child}

    def reap(self) -> dict[str, Any]:
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        return {}

    def close(self, *, reset: bool = False) -> dict[str, Any]:
        assert self.wire is not None
        if reset:
            self.wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.wire.close()
        return {}

    def run(self, argv: list[str], environment: dict[str, str]) -> dict[str, Any]:
        """Run a program as a child."""
        ended = subprocess.run(
            argv, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
        )
        return {"status": ended.returncode, "out": ended.stdout, "err": ended.stderr}

    def become(self, uid: int) -> dict[str, Any]:
        """Go on as another user."""
        os.setuid(uid)
        return {}


def serve() -> None:
    """Do what standard input says until it ends."""
    doing = _Doing()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(doing, command.pop("do"))(**command)
        except OSError as failure:
            answer = {"failure": failure.errno}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


class Agent:
    """The test's end of one process."""

    def __init__(self, process: subprocess.Popen[str], secret: str) -> None:
        self.process = process
        self.pid = process.pid
        self.secret = secret

    def tell(self, do: str, **arguments: object) -> Any:
        """Have something done; returns what came of it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the agent's process ended with {self.process.poll()}"
        return json.loads(line)

    def connect(self, where: int | Path, source_port: int = 0) -> int:
        """Connect; returns the local port."""
        told = where if isinstance(where, int) else str(where)
        return self.tell("connect", where=told, source_port=source_port)["port"]

    def ask(
        self, path: str, body: object = None, *, secret: str | None = None, **headers: str
    ) -> tuple[int, Any]:
        """Call an operation over its connection; returns the status and the answer."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given["Authorization"] = f"Bearer {secret or self.secret}"
        answer = self.tell("ask", path=path, body={} if body is None else body, headers=given)
        return answer["status"], answer["body"]

    def address(self, **headers: str) -> dict[str, Any]:
        """Who the daemon says it is."""
        status, answer = self.ask("/mail/whoami", **headers)
        assert status == 200, answer
        return answer["address"]


@contextmanager
def agent(
    secret: str,
    *,
    argv: Sequence[str] = ("agent",),
    executable: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> Iterator[Agent]:
    """Run one for the length of the block; ``argv`` is how it calls itself, before the script's own path."""
    inherited = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})}
    with subprocess.Popen(
        [argv[0], __file__, *argv[1:]],
        executable=executable,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=inherited,
        **more,
    ) as process:
        try:
            yield Agent(process, secret)
        finally:
            process.kill()


if __name__ == "__main__":
    serve()
