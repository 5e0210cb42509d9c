"""The example of a listener, run as it stands, with a real daemon and with forgers."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mail4agent_client import SyncMailClient

EXAMPLE = Path(__file__).resolve().parents[2] / "clients" / "python" / "examples" / "doorbell.py"
BOUND_SECS = 20.0


@dataclass
class Listening:
    """The example at work for bob."""

    process: subprocess.Popen[str]
    port: int
    key: str

    def line(self) -> dict[str, Any]:
        """The next message that it prints."""
        assert self.process.stdout is not None
        # Several lines may come in one read, so the descriptor cannot be asked whether one is there; a test
        # that waits for a line that never comes ends by its time limit.
        return json.loads(self.process.stdout.readline())

    def ring(self, body: bytes, identity: str, *, age: int = 0, key: str | None = None, **more: str) -> int:
        """Ring as somebody who has a key; the status of the answer."""
        stamp = str(int(time.time()) - age)
        secret = base64.b64decode((key or self.key).removeprefix("whsec_"))
        digest = hmac.new(secret, f"{identity}.{stamp}.".encode() + body, hashlib.sha256).digest()
        headers = {
            "webhook-id": identity,
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOUND_SECS)
        try:
            connection.request("POST", "/doorbell", body, headers)
            return connection.getresponse().status
        finally:
            connection.close()


@pytest.fixture
def example(daemon: Any, cli: Callable[..., Any], tmp_path: Path) -> Iterator[Listening]:
    """It runs, and the daemon rings it for bob, who has no unread mail of another test."""
    with SyncMailClient(daemon.url, token_file=daemon.key("bob")) as bob:
        while page := bob.inbox(unread_only=True).messages:
            bob.ack_many(message_ids=[message.message_id for message in page])
    with started(daemon, cli, tmp_path) as listening:
        yield listening


@contextmanager
def started(daemon: Any, cli: Callable[..., Any], folder: Path) -> Iterator[Listening]:
    """It runs for the length of the block, with a new key in the folder."""
    key_file = folder / "doorbell.key"
    # Any port will do for the key to be made; then it is set again with the port that was free.
    command = ("admin", "listener", "set", "bob")
    assert cli(None, *command, "http://127.0.0.1:9/", "--new-key", str(key_file)).status == 0
    environment = {**os.environ, "M4A_URL": daemon.url, "M4A_TOKEN_FILE": str(daemon.key("bob"))}
    with subprocess.Popen(
        [sys.executable, str(EXAMPLE), "--port", "0", "--key-file", str(key_file)],
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            assert cli(None, *command, url, "--key-file", str(key_file)).status == 0
            port = int(url.rpartition(":")[2].partition("/")[0])
            yield Listening(process, port, key_file.read_text().strip())
        finally:
            cli(None, "admin", "listener", "remove", "bob")
            process.kill()


@pytest.mark.promise("doorbell.signed")
def test_the_example_prints_each_message_that_it_is_rung_for(daemon: Any, example: Listening) -> None:
    """By the daemon, in order, fetched with bob's own credential; its own post in a room rings it not."""
    with SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice:
        alice.send(to="bob", subject="first \u202e", body="x")
        with SyncMailClient(daemon.url, token_file=daemon.key("bob")) as bob:
            bob.send(to="#ops", subject="own", body="x")
        alice.send(to="#ops", subject="second", body="x")
    lines = [example.line() for _ in range(2)]
    # The process of this test is a session of one of them.
    assert [(line["from"].partition("/")[0], line["to"], line["subject"]) for line in lines] == [
        ("alice", "bob", "first \u202e"),
        ("alice", "#ops", "second"),
    ]


@pytest.mark.promise("doorbell.signed")
def test_the_example_prints_what_came_while_it_did_not_run(
    daemon: Any, cli: Callable[..., Any], tmp_path: Path
) -> None:
    """It reads its unread mail when it starts: a doorbell is a hint, the inbox is the truth."""
    with SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice:
        missed = alice.send(to="bob", subject="missed", body="x").message_id
        with started(daemon, cli, tmp_path) as listening:
            while listening.line()["message_id"] != missed:
                continue
            last = alice.send(to="bob", subject="last", body="x").message_id
            assert listening.line()["message_id"] == last


@pytest.mark.promise("doorbell.signed")
def test_the_example_is_not_taken_in(daemon: Any, example: Listening) -> None:
    """No other key, no old ring, no other bytes, no twofold ring; what is genuine is printed once."""
    with SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice:
        letter = alice.send(to="bob", subject="letter", body="x").message_id
    assert example.line()["message_id"] == letter
    told = {
        "account": "bob",
        "to": {"kind": "direct", "participant": "bob"},
        "message_id": letter,
        "from": {"kind": "direct", "participant": "alice"},
    }
    body = json.dumps(told).encode()
    other = "whsec_" + base64.b64encode(b"x" * 32).decode()
    assert example.ring(body, "forged", key=other) == 401
    assert example.ring(body, "forged", age=301) == 401
    assert example.ring(body, "forged", age=-301) == 401
    assert example.ring(body, "forged", webhook_signature="v1,") == 401
    assert example.ring(body, "forged", webhook_id="other") == 401
    assert example.ring(body, "forged", webhook_timestamp="now") == 401
    assert example.ring(b"{}", "odd") == 400
    assert example.ring(b"x" * 5_000, "long") == 413
    assert [example.ring(body, "genuine") for _ in range(3)] == [204, 204, 204]
    assert example.line()["message_id"] == letter
    with SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice:
        last = alice.send(to="bob", subject="last", body="x").message_id
    assert example.line()["message_id"] == last


def test_the_example_says_when_it_has_no_key(tmp_path: Path) -> None:
    """And ends with status 2."""
    ended = subprocess.run(
        [sys.executable, str(EXAMPLE), "--key-file", str(tmp_path / "none")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=BOUND_SECS,
        check=False,
    )
    assert ended.returncode == 2
    assert "holds no key" in ended.stderr
