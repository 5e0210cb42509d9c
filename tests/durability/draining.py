"""Drains that are killed, forked from one process that has everything imported already.

Run as a module it reads a number of microseconds a line, forks a drain, kills it when it has run for so long,
and tells whether the kill came before its end and how long it ran.
"""

import os
import select
import signal
import sys
import time

from mail4agent_daemon.cli import application

ARGUMENTS = ["frontdoor", "drain", "--json"]


def drained(micros: int) -> tuple[bool, int]:
    """One drain, for so long at most; whether it was killed, and the microseconds that it ran."""
    app = application()
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        try:
            app(ARGUMENTS, standalone_mode=False)
        finally:
            os._exit(0)
    begun = time.perf_counter()
    ended = os.pidfd_open(pid)
    try:
        select.select([ended], [], [], micros / 1e6)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(ended)
    return os.WIFSIGNALED(status), int((time.perf_counter() - begun) * 1e6)


def main() -> None:
    """Answer each line of standard input."""
    for line in sys.stdin:
        killed, micros = drained(int(line))
        sys.stdout.write(f"{int(killed)} {micros}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
