"""The proof that a configuration works: its very command, spoken to as the client will."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .clients import Launch
from .faults import ConnectError

#: Seconds for the whole conversation; it takes a fraction of one.
PATIENCE_SECS = 30.0
#: Bytes of answers that are read; a list of tools is some 20 KiB.
BYTES_MAX = 4 * 1024 * 1024
#: A revision that every server of MCP still answers.
REVISION = "2025-06-18"
#: What a client passes on of its own environment, at the least.
_PASSED = ("PATH", "HOME", "LANG", "PYTHONPATH")


@dataclass(frozen=True, slots=True)
class Proof:
    """What the server said."""

    revision: str
    tools: tuple[str, ...]


def proved(launch: Launch, environment: Mapping[str, str]) -> Proof:
    """Start the configured command, introduce ourselves and ask for the tools. Raises ConnectError."""
    given = {name: environment[name] for name in _PASSED if name in environment}
    try:
        server = subprocess.Popen(  # noqa: S603  the command is the one that was written into the client's file
            [launch.command, *launch.args],
            env={**given, **launch.env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as failure:
        raise _failed(f"{launch.command} does not start: {failure.strerror}") from None
    with server:
        try:
            return _conversed(server)
        finally:
            server.kill()


def _conversed(server: subprocess.Popen[bytes]) -> Proof:
    until = time.monotonic() + PATIENCE_SECS
    lines = _Lines(server, until)
    hello = {
        "protocolVersion": REVISION,
        "capabilities": {},
        "clientInfo": {"name": "mail4agent-connect", "version": "1"},
    }
    introduced = lines.asked(1, "initialize", hello)
    lines.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = lines.asked(2, "tools/list", {})
    tools = listed.get("tools")
    names = [each.get("name") for each in tools if isinstance(each, dict)] if isinstance(tools, list) else []
    if not names:
        raise _failed("the server lists no tools")
    return Proof(str(introduced.get("protocolVersion")), tuple(str(name) for name in names))


class _Lines:
    """One JSON message a line, both ways, until a deadline."""

    def __init__(self, server: subprocess.Popen[bytes], until: float) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        self._server, self._until = server, until
        self._in, self._out, self._errors = server.stdin, server.stdout, server.stderr
        self._waiting = b""

    def say(self, message: Mapping[str, Any]) -> None:
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except OSError:
            raise self._ended() from None

    def asked(self, number: int, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self.say({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            try:
                answer = json.loads(self._line())
            except ValueError:
                raise _failed("the server says something that is no JSON") from None
            if isinstance(answer, dict) and answer.get("id") == number:
                break
        result = answer.get("result")
        if isinstance(result, dict):
            return result
        fault = answer.get("error")
        said = fault.get("message") if isinstance(fault, dict) else None
        raise _failed(f"{method} is answered with an error: {str(said)[:300]}")

    def _line(self) -> bytes:
        while b"\n" not in self._waiting:
            left = self._until - time.monotonic()
            ready, _, _ = select.select([self._out], [], [], max(0.0, left))
            if not ready:
                raise _failed(f"no answer within {PATIENCE_SECS:g} s")
            part = os.read(self._out.fileno(), 65_536)
            if not part:
                raise self._ended()
            self._waiting += part
            if len(self._waiting) > BYTES_MAX:
                raise _failed(f"the answer is larger than {BYTES_MAX} bytes")
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line

    def _ended(self) -> ConnectError:
        self._server.kill()
        said = self._errors.read(2000).decode("utf-8", "replace").strip().rpartition("\n")[2]
        return _failed(f"the server ended{f': {said[:300]}' if said else ''}")


def _failed(reason: str) -> ConnectError:
    return ConnectError("proof_failed", f"it is configured, but does not work: {reason}")
