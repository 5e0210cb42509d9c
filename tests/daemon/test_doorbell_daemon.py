"""Doorbells of a whole daemon: over its door, and through kills and restarts of its process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.mail.doorbells import PAUSE_MAX_MS
from mail4agent_daemon.checkup import examine
from mail4agent_daemon.settings import load

from .agent import agent
from .host.served import until
from .inside import Inside
from .receiver import receiving, status
from .running import BOUND_SECS, Daemon, running

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Counting(ThreadingHTTPServer):
    """A listener on threads of its own, which answers 204 and keeps the identities that it heard."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        self.heard: list[str] = []
        self.come = threading.Condition()
        super().__init__(("127.0.0.1", port), _Ring)

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self.server_port}/doorbell"

    def wait_for(self, count: int) -> None:
        """Wait until so many different rings have come."""
        with self.come:
            assert self.come.wait_for(lambda: len(set(self.heard)) >= count, BOUND_SECS), len(self.heard)


class _Ring(BaseHTTPRequestHandler):
    server: Counting

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()
        with self.server.come:
            self.server.heard.append(self.headers["webhook-id"])
            self.server.come.notify_all()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name in the class above
        """Say nothing."""


@contextmanager
def counting(port: int = 0) -> Iterator[Counting]:
    """A listener for the length of the block."""
    with Counting(port) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def listener_of(daemon: Daemon, account: str) -> dict[str, Any]:
    """The one listener of an account."""
    (found,) = daemon.post("/admin/listener/get", {"account": account}).json["listeners"]
    return found


@pytest.mark.promise("doorbell.survives-restarts")
def test_a_kill_loses_no_ring_and_repeats_at_most_what_was_on_its_way(tmp_path: Path) -> None:
    """Killed while it rings, the next daemon rings the rest; a repeat has the identity of the first."""
    sent: list[str] = []
    with counting() as listener:
        for round_ in range(4):
            with running(tmp_path / "home") as daemon:
                if round_ == 0:
                    daemon.add("ada")
                    daemon.add("ben")
                    (tmp_path / "ada").write_text(daemon.keys["ada"])
                    assert (
                        daemon.post("/admin/listener", {"account": "ben", "url": listener.url}).status == 200
                    )
                daemon.keys["ada"] = (tmp_path / "ada").read_text()
                sent += [daemon.send("ada", "ben", str(n)) for n in range(30)]
                if round_ < 3:
                    daemon.process.kill()
                    daemon.process.wait(BOUND_SECS)
                    continue
                listener.wait_for(len(sent))
                assert listener_of(daemon, "ben")["outstanding"] <= 1
                assert daemon.stop() == 0
    rung = [identity.rpartition("_")[0] for identity in listener.heard]
    assert set(rung) == set(sent)
    # One request is on its way at a time, so a kill repeats one ring at most.
    assert len(rung) <= len(sent) + 3


@pytest.mark.promise("doorbell.survives-restarts", "doorbell.once")
def test_a_listener_that_comes_after_a_stop_hears_each_ring_once(tmp_path: Path) -> None:
    """It was down while mail came and the daemon stopped in order; nothing is repeated."""
    with counting() as listener:
        port, url = listener.server_port, listener.url
    with running(tmp_path / "home") as daemon:
        for account in ("ada", "ben"):
            daemon.add(account)
        assert daemon.post("/admin/listener", {"account": "ben", "url": url, "key": KEY}).status == 200
        sent = [daemon.send("ada", "ben", str(n)) for n in range(10)]
        assert daemon.stop() == 0
    (finding,) = [each for each in examine(load({}, home=tmp_path / "home")) if each.check == "doorbells"]
    assert (finding.state, finding.text) == ("note", "ben: refused; 10 waiting")
    with counting(port) as listener, running(tmp_path / "home") as daemon:
        listener.wait_for(10)
        assert daemon.stop() == 0
        assert [identity.rpartition("_")[0] for identity in listener.heard] == sent
    (finding,) = [each for each in examine(load({}, home=tmp_path / "home")) if each.check == "doorbells"]
    assert finding.state == "good"


@pytest.mark.promise("doorbell.failures-are-visible")
async def test_an_operator_sees_what_became_of_rings_and_never_the_key(inside: Inside) -> None:
    """Counts, times and the last failure; the key is in no answer and no log."""
    async with receiving(status(500)) as receiver:
        told = {"account": "ben", "url": receiver.url, "key": KEY}
        assert (await inside.post("/admin/listener", told)).json == {}
        await inside.send("ada", "ben")
        await receiver.heard_of(1)
        await until(lambda: bool([line for line in inside.log if line["event"] == "doorbell_failed"]))
        bells = inside.made.doorbells
        await until(lambda: not bells._serving)
        answer = await inside.post("/admin/listener/get", {"account": "ben"})
        (shown,) = answer.json["listeners"]
        now = inside.clock.now_ms()
        assert shown == {
            "owner": {"kind": "direct", "participant": "ben"},
            "url": receiver.url,
            "signed": True,
            "outstanding": 1,
            "rung": 0,
            "given_up": 0,
            "last_rung_at_unix_ms": None,
            "last_failed_at_unix_ms": now,
            "failure": "bad_status",
        }
        receiver.answer = status(204)
        inside.clock.step(PAUSE_MAX_MS)
        bells.look()
        await receiver.heard_of(2)
        await until(lambda: not bells._serving)
        (shown,) = (await inside.post("/admin/listener/get", {"account": "ben"})).json["listeners"]
        assert (shown["rung"], shown["outstanding"], shown["failure"]) == (1, 0, None)
        assert (shown["last_failed_at_unix_ms"], shown["last_rung_at_unix_ms"]) == (now, now + PAUSE_MAX_MS)
        assert all(ring.is_signed_with(KEY) for ring in receiver.heard)
    assert KEY[6:] not in inside.lines.getvalue()
    assert KEY[6:] not in answer.body.decode()


async def test_a_send_is_answered_whatever_its_recipients_listener_does(inside: Inside) -> None:
    """The mail is there, and a waiting reader is woken, while the listener keeps its ring."""
    async with receiving(status(500)) as receiver:
        await inside.post("/admin/listener", {"account": "ben", "url": receiver.url})
        parked = await inside.park("/mail/inbox", {"wait_secs": 60}, "ben")
        letter = await inside.send("ada", "ben")
        page = (await parked.answer()).json
        assert [message["message_id"] for message in page["messages"]] == [letter]


@pytest.mark.promise("doorbell.never-leaves-the-machine")
@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "http://example.com/",
        "http://0.0.0.0:80/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://user@127.0.0.1/",
        "http://127.0.0.1@example.com/",
        "http://localhost.example.com/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:65536/",
        "unix:/run/doorbell.sock",
        "http://127.0.0.1/\r\nX: y",
        "http://127.0.0.1/#x",
    ],
)
async def test_a_url_of_elsewhere_is_refused_before_its_account_is_looked_up(
    inside: Inside, url: str
) -> None:
    """Malformed, field url, whether the account is there or not."""
    for account in ("ben", "nobody"):
        answer = await inside.post("/admin/listener", {"account": account, "url": url})
        assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", "url")
    assert (await inside.post("/admin/listener/get", {"account": "ben"})).json == {"listeners": []}


async def test_the_daemons_own_port_is_no_listener(inside: Inside) -> None:
    """It would ring itself; said before the account is looked up."""
    for account in ("ben", "nobody"):
        url = f"http://localhost:{inside.listeners.port}/mail/send"
        answer = await inside.post("/admin/listener", {"account": account, "url": url})
        assert (answer.json["kind"], answer.json["field"]) == ("malformed", "url")
    good = {"account": "nobody", "url": "http://127.0.0.1:9/"}
    assert (await inside.post("/admin/listener", good)).json == {
        "kind": "unknown_participant",
        "participant": "nobody",
    }


async def test_listeners_are_an_operators(inside: Inside) -> None:
    """An account may neither set one, nor see or remove its own."""
    for path in ("/admin/listener", "/admin/listener/remove", "/admin/listener/get"):
        told = {"account": "ben", **({"url": "http://127.0.0.1:9/"} if path == "/admin/listener" else {})}
        assert (await inside.post(path, told, "ben")).status == 403


@pytest.mark.promise("doorbell.own-port-only")
def test_a_real_session_is_rung_at_a_port_of_its_user(tmp_path: Path) -> None:
    """The kernel vouches for the process and for the port; a port that nobody listens on is refused."""
    with running(tmp_path / "home") as daemon, counting() as listener:
        for account in ("ada", "ben"):
            daemon.add(account)
        with agent(daemon.keys["ben"]) as session:
            session.connect(daemon.port)
            mine = session.address()
            assert mine["kind"] == "session"
            status_, answer = session.ask("/mail/listen", {"url": listener.url, "key": KEY})
            assert (status_, answer["listener"]["owner"]) == (200, mine)
            sent = [daemon.send("ada", "ben", str(n)) for n in range(3)]
            answer = daemon.post("/mail/send", {"to": mine, "subject": "s", "body": "b"}, "ada")
            sent.append(answer.json["message_id"])
            listener.wait_for(4)
            assert [identity.rpartition("_")[0] for identity in listener.heard] == sent
            with Counting() as nobody:
                free = nobody.url
            status_, answer = session.ask("/mail/listen", {"url": free})
            assert (status_, answer["kind"], answer["field"]) == (400, "malformed", "url")
            assert session.ask("/mail/listen", {"url": None}) == (200, {"listener": None})
