"""A person at a terminal: a process of its own below nobody, which types and reads.

Whoever runs the tests may be an agent, and the command line refuses to decide below one. So commands run
below a process whose parent has ended. It has the command line imported already and forks for each command,
because importing takes longer than what is tested.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

#: Seconds after which a test that waits for a terminal has failed.
PATIENCE = 60.0
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
#: Is left by its parent, and then runs what it is sent, each at the terminal that comes with it.
_ORPHAN = """
import json, os, socket, sys
above = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == above:
    pass
from mail4agent_daemon.cli import main

def command(asked, terminal):
    os.setsid()
    for descriptor in range(3):
        os.dup2(terminal, descriptor)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", 1), open(2, "w", 1)
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["mail4agent", *asked["arguments"]]
    if asked["agent"] is not None:
        os.execve(asked["agent"][0], asked["agent"], os.environ)
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)

with socket.socket(fileno=int(sys.argv[1])) as told:
    while True:
        raw, terminals, _, _ = socket.recv_fds(told, 1 << 20, 1)
        if not raw:
            break
        asked = json.loads(raw)
        if os.fork() == 0:
            child = os.fork()
            if child == 0:
                status = 99
                try:
                    status = command(asked, terminals[0])
                finally:
                    os._exit(status)
            os.close(terminals[0])
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            with open(asked["status"] + ".new", "w") as file:
                file.write(str(status))
            os.rename(asked["status"] + ".new", asked["status"])
            os._exit(0)
        os.close(terminals[0])
os._exit(0)
"""
#: Asks a daemon who it is, where it is told of one: by that it becomes a live session.
_BELOW = """
import os, subprocess, sys, urllib.request
if "BECOME" in os.environ:
    headers = {"Authorization": "Bearer " + os.environ["BECOME"], "Content-Type": "application/json"}
    asked = urllib.request.Request(os.environ["M4A_URL"] + "/mail/whoami", b"{}", headers)
    urllib.request.urlopen(asked).read()
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
_MAIN = "import sys; from mail4agent_daemon.cli import main; sys.argv[0] = 'mail4agent'; main()"


class Terminal:
    """What a person sees, and types."""

    def __init__(self, descriptor: int, status: Path) -> None:
        self._descriptor = descriptor
        self._status = status
        self.seen = ""
        self._read = 0

    def until(self, text: str) -> str:
        """Read until the terminal shows ``text``; what it showed since the last time."""
        end = time.monotonic() + PATIENCE
        while (at := self.seen.find(text, self._read)) < 0:
            if not self._more(end - time.monotonic()):
                raise AssertionError(f"{text!r} was never shown: {self.seen[self._read :]}")
        shown = self.seen[self._read : at + len(text)]
        self._read = at + len(text)
        return shown

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._descriptor, text.encode() + b"\n")

    def ended(self) -> int:
        """Read to the end; the command's exit status."""
        end = time.monotonic() + PATIENCE
        while self._more(end - time.monotonic()):
            pass
        while not self._status.exists():
            assert time.monotonic() < end
            os.sched_yield()
        return int(self._status.read_text())

    def _more(self, secs: float) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], max(secs, 0))
        try:
            raw = os.read(self._descriptor, 65_536) if ready else b""
        except OSError:  # how a terminal says that the last process has closed it
            raw = b""
        self.seen += _STYLES.sub("", raw.decode("utf-8", "replace").replace("\r\n", "\n"))
        return bool(raw)


class Person:
    """Runs ``mail4agent`` at terminals. Close it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        ours, theirs = socket.socketpair()
        self._asking = ours
        with theirs:
            subprocess.run(
                [sys.executable, "-W", "error", "-c", _ORPHAN, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                pass_fds=[theirs.fileno()],
                check=True,
            )

    def close(self) -> None:
        """Let the process go."""
        self._asking.close()

    @contextmanager
    def at(
        self, environment: Mapping[str, str], *arguments: str, agent: str | None = None
    ) -> Iterator[Terminal]:
        """A command with a terminal; with ``agent`` below a program that its command line calls so."""
        self._count += 1
        status = self._folder / f"status-{self._count}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
        clean |= {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        asked = {
            "environment": {**clean, **environment},
            "arguments": arguments,
            "status": str(status),
            "agent": None if agent is None else self._below(agent, arguments),
        }
        ours, theirs = pty.openpty()
        socket.send_fds(self._asking, [json.dumps(asked).encode()], [theirs])
        os.close(theirs)
        try:
            yield Terminal(ours, status)
        finally:
            # Whoever still reads or writes there ends with it.
            with suppress(OSError):
                os.close(ours)

    def _below(self, agent: str, arguments: tuple[str, ...]) -> list[str]:
        wrapper = self._folder / agent
        wrapper.symlink_to(sys.executable)
        return [str(wrapper), "-c", _BELOW, sys.executable, "-c", _MAIN, *arguments]
