"""The running daemon is killed again and again while many send: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mail4agent_core.mail.sqlite.verify import verify
from tests.connection import Connection
from tests.process import BOUND_SECS, DaemonProcess

TORTURE = os.environ.get("M4A_TORTURE") == "1"
SEED = 27_182
MESSAGES = 200_000 if TORTURE else 20_000
KILLS = 200 if TORTURE else 10
SENDERS = 32
READERS = 4
#: How many messages go into one mail.send_many.
BATCH = 5
PAGE = 200
END = "the end"


@dataclass
class Site:
    """A daemon that comes and goes, and who has an account there."""

    daemon: DaemonProcess
    secrets: dict[str, str] = field(default_factory=dict[str, str])
    up: asyncio.Event = field(default_factory=asyncio.Event)


class Client:
    """One account's connection, patient while the daemon is away."""

    def __init__(self, site: Site, account: str) -> None:
        self._site = site
        self._connection = Connection(0, site.secrets[account])
        self.close = self._connection.close

    async def ask(self, path: str, body: Any) -> Any:
        """The answer to one request, once a daemon is there to ask. Raises ConnectionError for none."""
        async with asyncio.timeout(BOUND_SECS):
            await self._site.up.wait()
        self._connection.port = self._site.daemon.port
        return await self._connection.do(path, body)

    async def insist(self, path: str, body: Any) -> Any:
        """The answer to a request that may be repeated."""
        while True:
            with suppress(ConnectionError):
                return await self.ask(path, body)


@dataclass
class Sender:
    """Posts messages, each with its own text; with keys it insists, without it lets go of a lost answer."""

    client: Client
    name: str
    keyed: bool
    batched: bool
    acknowledged: dict[str, str] = field(default_factory=dict[str, str])
    unanswered: set[str] = field(default_factory=set[str])

    def letter(self, number: int) -> dict[str, Any]:
        """The message of a number: one in three goes to the room."""
        text = f"{self.name}/{number}"
        room = number % 3 == 0
        to = (
            {"kind": "room", "room": "desk"}
            if room
            else {"kind": "direct", "participant": f"reader-{number % READERS}"}
        )
        return {
            "to": to,
            "subject": text,
            "body": text * 20,
            "idempotency_key": f"{self.name}-{number}" if self.keyed else None,
        }

    async def run(self, total: int, settled: Callable[[int], None]) -> None:
        """Post that many messages."""
        step = BATCH if self.batched else 1
        for first in range(0, total, step):
            letters = [self.letter(number) for number in range(first, min(first + step, total))]
            texts = [letter["subject"] for letter in letters]
            path, body = (
                ("/mail/send_many", {"messages": letters}) if self.batched else ("/mail/send", letters[0])
            )
            try:
                answer = await (self.client.insist if self.keyed else self.client.ask)(path, body)
            except ConnectionError:
                self.unanswered.update(texts)
            else:
                outcomes = answer["outcomes"] if self.batched else [answer]
                self.acknowledged.update(
                    (text, outcome["message_id"]) for text, outcome in zip(texts, outcomes, strict=True)
                )
            settled(len(texts))


@dataclass
class Reader:
    """Follows its inbox by position, waiting for mail, and acknowledges every second message."""

    client: Client
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    acknowledged: set[str] = field(default_factory=set[str])

    async def run(self) -> None:
        """Read to the end."""
        while not self.seen or self.seen[-1]["subject"] != END:
            page = await self.client.insist(
                "/mail/inbox", {"after": self._position, "limit": PAGE, "wait_secs": 20}
            )
            self.seen += page["messages"]
            chosen = [message["message_id"] for message in page["messages"]][::2]
            if chosen:
                answer = await self.client.insist("/mail/ack_many", {"message_ids": chosen})
                assert all(outcome["kind"] == "acked" for outcome in answer["outcomes"]), answer
                self.acknowledged.update(chosen)

    @property
    def _position(self) -> dict[str, Any] | None:
        if not self.seen:
            return None
        return {name: self.seen[-1][name] for name in ("created_at_unix_ms", "message_id")}


class Killer:
    """Kills the daemon when so many messages have been settled, and starts it again."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._settled = 0
        self._due = asyncio.Event()
        self._moments = sorted(Random(SEED).sample(range(MESSAGES // 100, MESSAGES * 9 // 10), KILLS))
        self.kills = 0

    def count(self, messages: int) -> None:
        """Messages were settled."""
        self._settled += messages
        if self._moments and self._settled >= self._moments[0]:
            self._site.up.clear()
            self._due.set()

    async def run(self) -> None:
        """Kill and start until all moments are over."""
        while self._moments:
            await self._due.wait()
            self._site.daemon.kill()
            self.kills += 1
            await asyncio.to_thread(self._site.daemon.start)
            # Moments that came too close to this one are taken up at once, one by one.
            self._moments.pop(0)
            self._due.clear()
            self._site.up.set()
            self.count(0)


@pytest.mark.promise(
    "mail.acknowledged-send-is-durable",
    "mail.same-key-same-effect",
    "mail.paging-misses-and-repeats-nothing",
    "mail.position-never-decreases",
    "mail.ack-is-idempotent",
)
@pytest.mark.timeout(7200 if TORTURE else 300)
async def test_what_was_acknowledged_outlives_ten_kills_exactly_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 32 senders and 4 readers that acknowledge, nothing is lost, doubled, torn or out of order."""
    site = Site(DaemonProcess(tmp_path / "home"))
    try:
        await asyncio.to_thread(site.daemon.start)
        site.up.set()
        await asyncio.to_thread(_register, site)
        senders = [
            Sender(
                Client(site, f"sender-{number}"),
                f"sender-{number}",
                keyed=number % 2 == 0,
                batched=number % 4 >= 2,
            )
            for number in range(SENDERS)
        ]
        readers = [Reader(Client(site, f"reader-{number}")) for number in range(READERS)]
        try:
            await _conversation(site, senders, readers)
        finally:
            for each in (*senders, *readers):
                await each.client.close()
        _check(site, senders, readers, capsys)
    finally:
        site.daemon.kill()


def _register(site: Site) -> None:
    for name in [
        *(f"sender-{number}" for number in range(SENDERS)),
        *(f"reader-{number}" for number in range(READERS)),
    ]:
        site.secrets[name] = site.daemon.register(name)
    site.daemon.do("admin.room", {"id": "desk"})
    for number in range(READERS):
        site.daemon.do("admin.room.member.add", {"room": "desk", "participant": f"reader-{number}"})


async def _conversation(site: Site, senders: list[Sender], readers: list[Reader]) -> None:
    killer = Killer(site)
    async with asyncio.TaskGroup() as reading:
        for reader in readers:
            reading.create_task(reader.run())
        async with asyncio.TaskGroup() as sending:
            for sender in senders:
                sending.create_task(sender.run(MESSAGES // SENDERS, killer.count))
            sending.create_task(killer.run())
        assert killer.kills == KILLS
        end = {
            "to": {"kind": "room", "room": "desk"},
            "subject": END,
            "body": "",
            "idempotency_key": END.replace(" ", "-"),
        }
        await senders[0].client.insist("/mail/send", end)
    await _repeats(senders)
    for reader in readers:
        await _acks_are_kept(reader)


async def _repeats(senders: list[Sender]) -> None:
    """What was sent with a key gets the first answer again, also from a daemon that did not give it."""
    total = MESSAGES // SENDERS
    # At most as many as one mail.send_many takes.
    numbers = range(0, total, max(40, total // 99))
    for sender in senders:
        if sender.keyed:
            messages = [sender.letter(number) for number in numbers]
            again = await sender.client.insist("/mail/send_many", {"messages": messages})
            for number, outcome in zip(numbers, again["outcomes"], strict=True):
                assert outcome["message_id"] == sender.acknowledged[f"{sender.name}/{number}"]


async def _acks_are_kept(reader: Reader) -> None:
    """The unread pages hold exactly what the reader has not acknowledged."""
    unread: list[str] = []
    after = None
    while True:
        page = (
            await reader.client.insist("/mail/inbox", {"unread_only": True, "limit": PAGE, "after": after})
        )["messages"]
        if not page:
            break
        unread += [message["message_id"] for message in page]
        after = {name: page[-1][name] for name in ("created_at_unix_ms", "message_id")}
    assert unread == [
        message["message_id"] for message in reader.seen if message["message_id"] not in reader.acknowledged
    ]


def _check(
    site: Site, senders: list[Sender], readers: list[Reader], capsys: pytest.CaptureFixture[str]
) -> None:
    acknowledged = {
        text: message_id for sender in senders for text, message_id in sender.acknowledged.items()
    }
    unanswered = {text for sender in senders for text in sender.unanswered}
    kept = {
        message["message_id"]: message
        for reader in readers
        for message in reader.seen
        if message["subject"] != END
    }
    copies = Counter(message["subject"] for message in kept.values())
    with capsys.disabled():
        sys.stdout.write(
            f"\nkills: {KILLS}; acknowledged {len(acknowledged)}, unanswered {len(unanswered)}, "
            f"of which kept {sum(copies[text] for text in unanswered)}\n"
        )
    assert len(acknowledged) + len(unanswered) == MESSAGES
    assert len(set(acknowledged.values())) == len(acknowledged)
    assert [
        text for text, message_id in acknowledged.items() if kept.get(message_id, {}).get("subject") != text
    ] == []
    assert [text for text, number in copies.items() if number > 1] == []
    assert copies.keys() <= acknowledged.keys() | unanswered
    for message in kept.values():
        assert message["body"] == message["subject"] * 20
        assert message["from"]["participant"] == message["subject"].partition("/")[0]
    for number, reader in enumerate(readers):
        ids = [message["message_id"] for message in reader.seen]
        assert len(set(ids)) == len(ids)
        times = [message["created_at_unix_ms"] for message in reader.seen]
        assert times == sorted(times)
        mine = [
            message_id
            for message_id, message in kept.items()
            if message["to"]["kind"] == "room" or message["to"]["participant"] == f"reader-{number}"
        ]
        assert set(mine) == set(ids[:-1])
    assert site.daemon.stop() == 0
    assert '"level":"error"' not in site.daemon.log
    assert verify(site.daemon.database) == []
