"""A program that connects when it is told to: one JSON command a line on stdin, one answer a line on stdout.

Needs the standard library alone, so that it starts fast and runs from anywhere as anybody.
"""

import contextlib
import json
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any

held: dict[str, socket.socket] = {}
#: Pipes that end a forked child when they close.
children: dict[int, int] = {}


def make(name: str, family: str) -> None:
    """Make a socket and connect it later."""
    held[name] = socket.socket(getattr(socket, family), socket.SOCK_STREAM)


def family_of(address: Any) -> socket.AddressFamily:
    """The family of an address."""
    if isinstance(address, str):
        return socket.AF_UNIX
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET


def connect(name: str, to: Any, source: Any = None) -> list[Any]:
    """Connect, over a socket that was made before or one that is made for it."""
    if name not in held:
        held[name] = socket.socket(family_of(to))
    one = held[name]
    if source is not None:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(tuple(source))
    one.connect(to if isinstance(to, str) else tuple(to))
    return list(one.getsockname()) if not isinstance(to, str) else []


def listen(name: str, at: Any) -> list[Any]:
    """Listen at an address; the one that it became."""
    held[name] = socket.create_server(tuple(at), family=family_of(at))
    return list(held[name].getsockname())


def close(name: str, reset: bool = False) -> None:
    """Close a socket, with a reset rather than an end."""
    one = held.pop(name)
    if reset:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    one.close()


def half_close(name: str) -> None:
    """Say that all was said."""
    held[name].shutdown(socket.SHUT_WR)


def fork(outlive: bool = False) -> int:
    """Fork a child that holds all that this process holds, until it is let go or this process ends."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        if not outlive:
            os.close(writer)
        for other in children.values():
            os.close(other)
        with contextlib.suppress(OSError):
            os.read(reader, 1)
        os._exit(0)
    os.close(reader)
    children[pid] = writer
    return pid


def let_go(pid: int, reap: bool = True) -> None:
    """End a forked child; unless it is reaped it stays a zombie."""
    os.close(children.pop(pid))
    os.waitid(os.P_PID, pid, os.WEXITED | (0 if reap else os.WNOWAIT))


def orphan(path: str) -> int:
    """Connect over a UNIX socket in a child that ends at once, leaving the descriptor to its own child."""
    reader, writer = os.pipe()
    first = os.fork()
    if not first:
        held["orphan"] = socket.socket(socket.AF_UNIX)
        held["orphan"].connect(path)
        if not os.fork():
            os.close(writer)
            with contextlib.suppress(OSError):
                os.read(reader, 1)
        os._exit(0)
    os.close(reader)
    os.waitpid(first, 0)
    children[first] = writer
    return first


def become(uid: int) -> None:
    """Become another user, for good."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def descend(start: str, depth: int) -> None:
    """Make folders in folders and go down into them."""
    os.chdir(start)
    for _ in range(depth):
        Path("x" * 200).mkdir()
        os.chdir("x" * 200)


def rename(name: str) -> None:
    """Take another name, of 15 bytes at most."""
    Path("/proc/self/comm").write_text(name, "ascii")


def main() -> None:
    """Do what stdin says until it ends."""
    verbs = {
        verb.__name__: verb
        for verb in (make, connect, listen, close, half_close, fork, let_go, orphan, become, descend, rename)
    }
    for line in sys.stdin:
        command = json.loads(line)
        sys.stdout.write(json.dumps(verbs[command.pop("verb")](**command)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
