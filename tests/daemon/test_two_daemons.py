"""Two daemons in processes of their own on one PostgreSQL database: what one does is so for the other."""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.mail.postgres.verify import verify
from tests.postgres import PostgresServer
from tests.process import served

from .running import BOUND_SECS, Answer, Daemon, ran, running, start_of
from .test_doorbell_daemon import counting

#: Longer than any test waits for an answer: a reader that is not woken fails its test.
LONG_SECS = 60


@dataclass
class Two:
    """Both daemons, and their database."""

    one: Daemon
    other: Daemon
    url: str

    @property
    def each(self) -> tuple[Daemon, Daemon]:
        """Both."""
        return self.one, self.other

    def add(self, *accounts: str) -> None:
        """Register accounts with the one; both know their secrets."""
        for account in accounts:
            self.other.keys[account] = self.one.add(account)


def second_home(first: Path, home: Path) -> Path:
    """A home for another daemon, with the operator's key of the first."""
    home.mkdir(mode=0o700)
    shutil.copy2(first / "operator.key", home / "operator.key")
    return home


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Iterator[Two]:
    """Two daemons for a module, with the accounts ada and ben in the room desk."""
    folder, url = tmp_path_factory.mktemp("two"), postgres_server.create()
    with running(folder / "one", M4A_STORE__URL=url) as one:
        home = second_home(one.home, folder / "other")
        with running(home, M4A_STORE__URL=url) as other:
            made = Two(one, other, url)
            made.add("ada", "ben")
            assert one.post("/admin/room", {"id": "desk"}).status == 200
            for account in ("ada", "ben"):
                member = {"room": "desk", "participant": account}
                assert other.post("/admin/room/member/add", member).status == 200
            yield made


def until(true: Callable[[], bool]) -> None:
    """Ask again and again, each time over the door, until something has become true."""
    deadline = time.monotonic() + BOUND_SECS
    while not true():
        assert time.monotonic() < deadline


def parked(daemon: Daemon) -> int:
    """How many readers wait there."""
    lines = daemon.get("/metrics").body.decode().splitlines()
    return int(
        float(next(line.split()[1] for line in lines if line.startswith("mail4agent_parked_readers ")))
    )


def waiting(daemon: Daemon, call: Callable[[], Answer], meanwhile: Callable[[], object]) -> Answer:
    """The answer to a call that waits at a daemon, once something was done meanwhile."""
    before = parked(daemon)
    with ThreadPoolExecutor(1) as aside:
        answer = aside.submit(call)
        until(lambda: parked(daemon) > before)
        meanwhile()
        return answer.result()


@pytest.mark.promise("store.daemons-share-a-database")
@pytest.mark.parametrize("to", ["ben", "#desk"])
def test_mail_sent_through_one_wakes_a_reader_that_waits_at_the_other(two: Two, to: str):
    """It is told, and does not find out by and by."""
    after = [
        {name: message[name] for name in ("created_at_unix_ms", "message_id")}
        for message in two.other.inbox("ben", limit=1, order="newest")
    ]
    asked = {"wait_secs": LONG_SECS, "after": after[0] if after else None}
    sent: list[str] = []
    answer = waiting(
        two.other,
        lambda: two.other.post("/mail/inbox", asked, "ben"),
        lambda: sent.append(two.one.send("ada", to, "wake")),
    )
    assert [message["message_id"] for message in answer.json["messages"]] == sent


@pytest.mark.promise("store.daemons-share-a-database")
def test_a_key_means_the_same_message_at_both(two: Two):
    """A retry at the other daemon gets the first answer, and another content is refused there."""
    first = two.one.send("ada", "ben", "once", idempotency_key="k")
    assert two.other.send("ada", "ben", "once", idempotency_key="k") == first
    with ThreadPoolExecutor(8) as aside:
        answers = list(
            aside.map(lambda n: two.each[n % 2].send("ada", "ben", "race", idempotency_key="r"), range(16))
        )
    assert len(set(answers)) == 1
    changed = {"to": {"kind": "direct", "participant": "ben"}, "subject": "s", "body": "other"}
    refused = two.other.post("/mail/send", {**changed, "idempotency_key": "k"}, "ada")
    assert refused.kind == "idempotency_conflict"


@pytest.mark.promise("store.daemons-share-a-database")
def test_an_acknowledgement_at_one_counts_at_the_other(two: Two):
    """Unread is one number, and the sender sees who acknowledged."""
    two.add("cid")
    ids = [two.each[n % 2].send("ada", "cid", str(n)) for n in range(4)]
    assert two.one.post("/mail/ack", {"message_id": ids[1]}, "cid").status == 200
    assert two.other.post("/mail/inbox", {}, "cid").json["unread"] == 3
    unread = two.other.inbox("cid", unread_only=True)
    assert [message["message_id"] for message in unread] == [ids[0], *ids[2:]]
    sent = two.other.post("/mail/sent", {"limit": 4}, "ada").json["sent"]
    assert [len(each["acks"]) for each in sent] == [0, 0, 1, 0]


@pytest.mark.promise(
    "store.daemons-share-a-database", "account.dead-secret-is-refused", "mail.wait-is-released"
)
def test_a_secret_that_was_revoked_at_one_is_refused_by_the_other_at_once(two: Two):
    """Also when the other has just accepted it, and for a reader that waits there."""
    two.add("dot")
    assert two.other.post("/mail/inbox", {}, "dot").status == 200
    answer = waiting(
        two.other,
        lambda: two.other.post("/mail/wait", {"wait_secs": LONG_SECS}, "dot"),
        lambda: two.one.post("/admin/participant/revoke", {"id": "dot"}),
    )
    assert (answer.status, answer.json["unread"]) == (200, 0)
    assert two.other.post("/mail/inbox", {}, "dot").kind == "unauthenticated"
    for _ in range(10):
        two.add("eve")
        assert two.other.post("/mail/inbox", {}, "eve").status == 200
        assert two.one.post("/admin/participant/remove", {"id": "eve"}).status == 200
        assert two.other.post("/mail/inbox", {}, "eve").status == 401
        assert two.other.post("/admin/participant/purge", {"id": "eve"}).status == 200


@pytest.mark.promise("store.daemons-share-a-database")
def test_each_doorbell_is_rung_by_one_of_them(two: Two):
    """Whichever daemon took the listener and whichever took the mail."""
    two.add("fay", "gil")
    with counting() as listener:
        for daemon, account in ((two.one, "fay"), (two.other, "gil")):
            asked = {"account": account, "url": listener.url}
            assert daemon.post("/admin/listener", asked).status == 200
        with ThreadPoolExecutor(4) as aside:
            sent = list(
                aside.map(
                    lambda n: two.each[n % 2].send("ada", ("fay", "gil")[n // 2 % 2], str(n)), range(40)
                )
            )
        listener.wait_for(len(sent))
        for account in ("fay", "gil"):
            until(lambda account=account: outstanding(two.one, account) == 0)
    assert len(listener.heard) == len(set(listener.heard)) == len(sent)


def outstanding(daemon: Daemon, account: str) -> int:
    """How many rings of an account's listener wait."""
    (found,) = daemon.post("/admin/listener/get", {"account": account}).json["listeners"]
    return found["outstanding"]


@pytest.mark.promise("store.daemons-share-a-database", "mail.acknowledged-send-is-durable")
def test_what_a_daemon_answered_before_it_was_killed_is_at_the_other(two: Two, tmp_path: Path):
    """Many send through both while one is killed: everything acknowledged is there once, and in one order."""
    two.add("kim", "lea")
    killed = threading.Event()
    with running(second_home(two.one.home, tmp_path / "third"), M4A_STORE__URL=two.url) as third:
        third.keys.update(two.one.keys)

        def send(sender: int) -> list[str]:
            acknowledged: list[str] = []
            daemon = third if sender % 2 else two.one
            for n in range(60):
                if sender == 1 and n == 20:
                    os.kill(third.process.pid, signal.SIGKILL)
                    killed.set()
                text = f"{sender}/{n}"
                try:
                    daemon.send("kim", "lea", text)
                except OSError:
                    assert killed.is_set()
                    assert daemon is third
                    daemon = two.other
                else:
                    acknowledged.append(text)
            return acknowledged

        with ThreadPoolExecutor(8) as aside:
            acknowledged = [text for each in aside.map(send, range(8)) for text in each]
    texts, times, after = list[str](), list[int](), None
    while page := two.other.inbox("lea", after=after, limit=200):
        texts += [message["body"] for message in page]
        times += [message["created_at_unix_ms"] for message in page]
        after = {name: page[-1][name] for name in ("created_at_unix_ms", "message_id")}
    assert len(texts) == len(set(texts))
    assert set(acknowledged) <= set(texts)
    assert len(acknowledged) > 8 * 50
    assert times == sorted(times)
    assert two.one.post("/mail/inbox", {}, "lea").json["unread"] == len(texts)
    assert verify(two.url) == []


@pytest.mark.promise("store.daemons-share-a-database")
def test_a_daemon_without_the_key_leaves_the_operator_alone(two: Two, tmp_path: Path):
    """Another home gets no key, and the one that there is opens both doors still."""
    with served(tmp_path / "home", environment={"M4A_STORE__URL": two.url}):
        assert not (tmp_path / "home" / "operator.key").exists()
    assert all(each.post("/admin/participant/list", {}).status == 200 for each in two.each)


def test_the_password_of_the_database_is_never_shown(tmp_path: Path):
    """Neither by the settings in force, nor by a start that fails."""
    url = "postgresql://mail:hidden-word@127.0.0.1:1/mail?sslpassword=hidden-too"
    shown = [
        ran(tmp_path / "home", "config", *json_flag, M4A_STORE__URL=url) for json_flag in ((), ("--json",))
    ]
    failed = start_of(tmp_path / "home", M4A_STORE__URL=url)
    assert failed.status == 1
    assert "127.0.0.1:1" in failed.err
    said: list[Any] = [text for each in (*shown, failed) for text in (each.out, each.err)]
    assert "hidden" not in json.dumps(said)
    assert "postgresql://mail@127.0.0.1:1/mail" in shown[0].out


@pytest.mark.promise("store.daemons-share-a-database")
def test_doctor_looks_at_the_database_that_is_set(two: Two):
    """It finds it sound, and the key and the listeners as they are."""
    ended = ran(two.one.home, "doctor", "--json", M4A_STORE__URL=two.url)
    findings = {each["check"]: each for each in ended.json["findings"]}
    assert ended.status == 0, ended.out
    assert findings["database"]["state"] == findings["key"]["state"] == "good"
    assert "postgresql://" in findings["database"]["text"]
    assert findings["size"]["text"].startswith("the database takes ")
    assert "PostgreSQL 1" in findings["versions"]["text"]
    assert "postgresql://" not in findings["size"]["text"] + findings["versions"]["text"]


def test_a_backup_is_left_to_the_server(two: Two, tmp_path: Path):
    """The verb says what makes one, and writes nothing."""
    ended = ran(two.one.home, "backup", str(tmp_path / "copy"), M4A_STORE__URL=two.url)
    assert (ended.status, ended.out) == (1, "")
    assert "pg_dump" in ended.err
    assert not (tmp_path / "copy").exists()
