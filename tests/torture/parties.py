"""Clients of a tortured daemon: each writes down what it was told, and goes on whatever happens."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.connection import Connection
from tests.process import BOUND_SECS, DaemonProcess

from .clocked import ClockHand
from .cutting import CuttingProxy
from .ledger import Ledger, Sent

PAGE = 100
END = "the end"
#: Who comes to a room and leaves it, and that room.
WALKER, WALK = "walker", "walk"


class LostError(Exception):
    """No answer came; what was asked may have happened."""


class RefusedError(Exception):
    """The daemon said that it cannot now."""


@dataclass
class Door:
    """A daemon, and the proxy that clients reach it through."""

    daemon: DaemonProcess
    proxy: CuttingProxy
    hand: ClockHand
    up: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Site:
    """The doors, who has an account behind them, and the ledger."""

    doors: list[Door]
    ledger: Ledger
    random: Random
    secrets: dict[str, str] = field(default_factory=dict[str, str])
    #: Accounts whose secret is being changed.
    changing: set[str] = field(default_factory=set[str])
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    #: Whether a daemon may lose what it keeps its mail in for longer than it asks what became of a commit.
    may_be_unknown: bool = False

    async def pause(self, longest_secs: float) -> None:
        """Wait for a drawn time, or not when it is enough."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.enough.wait(), self.random.random() * longest_secs)


class Client:
    """One account's connections, one at a time, through whichever door is up."""

    def __init__(self, site: Site, account: str) -> None:
        self.site = site
        self.account = account
        self._secret = ""
        self._door: Door | None = None
        self._connection: Connection | None = None

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _connected(self) -> Connection:
        secret = self.site.secrets[self.account]
        if self._connection is None or secret != self._secret or not (self._door and self._door.up.is_set()):
            await self.close()
            up = [door for door in self.site.doors if door.up.is_set()]
            self._door = door = self.site.random.choice(up or self.site.doors)
            await asyncio.wait_for(door.up.wait(), BOUND_SECS)
            self._secret = secret
            self._connection = Connection(door.proxy.port, secret)
        return self._connection

    async def ask(self, path: str, body: Any) -> Any:
        """The answer. Raises LostError and RefusedError, after which it may be asked again."""
        connection = await self._connected()
        ledger = self.site.ledger
        try:
            # No answer for this long is a stuck client, which fails the torture as TimeoutError.
            status, answer = await connection.ask(path, body)
        except ConnectionError as lost:
            await self.close()
            ledger.lost += 1
            raise LostError from lost
        ledger.settle()
        if status == 200:
            return answer
        kind = answer["kind"]
        if kind == "internal" and self.site.may_be_unknown:
            ledger.unknown += 1
            raise LostError
        ledger.refused[kind] += 1
        if kind == "unauthenticated":
            assert self.account in self.site.changing or self._secret != self.site.secrets[self.account], (
                f"the live secret of {self.account} was refused"
            )
        else:
            assert kind == "store_unavailable", f"{path} was refused: {answer}"
        raise RefusedError(kind)

    async def insist(self, path: str, body: Any) -> Any:
        """The answer to what may be repeated."""
        while True:
            try:
                return await self.ask(path, body)
            except (LostError, RefusedError):
                await self.site.pause(0.02)


@dataclass
class Writer:
    """Sends texts of its own to readers and rooms, three of four with a key."""

    client: Client
    targets: list[str]
    most: int
    number: int = 0

    @property
    def name(self) -> str:
        """Its account."""
        return self.client.account

    def letter(self, sent: Sent) -> dict[str, Any]:
        """The request of an entry."""
        kind, _, name = sent.target.partition(":")
        return {
            "to": {"kind": kind, "participant" if kind == "direct" else "room": name},
            "subject": sent.text,
            "body": sent.text * 8,
            "idempotency_key": sent.text.replace("/", "-") if sent.keyed else None,
        }

    def _next(self) -> Sent:
        random, text = self.client.site.random, f"{self.name}/{self.number}"
        self.number += 1
        sent = Sent(text, random.choice(self.targets), keyed=random.random() < 0.75)
        self.client.site.ledger.sent[text] = sent
        return sent

    async def run(self) -> None:
        """Send until it is enough."""
        while not self.client.site.enough.is_set() and self.number < self.most:
            if self.client.site.random.random() < 0.2:
                await self._many()
            else:
                await self._one()
            # In bursts: what meets a fault is then many at once, and a round does not wear a machine out.
            if self.client.site.random.random() < 0.1:
                await self.client.site.pause(1.2)

    async def _one(self) -> None:
        sent = self._next()
        try:
            ask = self.client.insist if sent.keyed else self.client.ask
            sent.message_id = (await ask("/mail/send", self.letter(sent)))["message_id"]
        except LostError:
            pass
        except RefusedError:
            sent.refused = True

    async def _many(self) -> None:
        batch = [self._next() for _ in range(self.client.site.random.randrange(2, 8))]
        for sent in batch:
            sent.keyed = True
        waiting = batch
        while waiting:
            answer = await self.client.insist(
                "/mail/send_many", {"messages": [self.letter(s) for s in waiting]}
            )
            for sent, outcome in zip(waiting, answer["outcomes"], strict=True):
                sent.message_id = outcome.get("message_id")
            waiting = [sent for sent in waiting if sent.message_id is None]

    async def repeats(self) -> list[str]:
        """What is answered otherwise when everything with a key is sent again."""
        mine = [
            s for s in self.client.site.ledger.sent.values() if s.text.startswith(f"{self.name}/") and s.keyed
        ]
        wrong: list[str] = []
        for first in range(0, len(mine), PAGE):
            batch = mine[first : first + PAGE]
            answer = await self.client.insist(
                "/mail/send_many", {"messages": [self.letter(s) for s in batch]}
            )
            wrong += [
                f"{sent.text} was {sent.message_id} and is {outcome}"
                for sent, outcome in zip(batch, answer["outcomes"], strict=True)
                if outcome.get("message_id") != sent.message_id
            ]
        return wrong


def position(message: dict[str, Any]) -> dict[str, Any]:
    """Where a message stands."""
    return {name: message[name] for name in ("created_at_unix_ms", "message_id")}


@dataclass
class Reader:
    """Follows its inbox by position to the end, and acknowledges some of it."""

    client: Client

    async def run(self) -> None:
        """Read to the end."""
        ledger, name = self.client.site.ledger, self.client.account
        seen = ledger.seen.setdefault(name, [])
        acked = ledger.acked.setdefault(name, set())
        while not seen or seen[-1]["subject"] != END:
            request = {
                "after": position(seen[-1]) if seen else None,
                "limit": PAGE,
                "wait_secs": self.client.site.random.choice((None, 1, 5)),
            }
            page = await self.client.insist("/mail/inbox", request)
            seen += page["messages"]
            chosen = [message["message_id"] for message in page["messages"]][::2]
            for message_id in chosen[:3]:
                answer = await self.client.insist("/mail/ack", {"message_id": message_id})
                assert answer["ack"]["message_id"] == message_id
                acked.add(message_id)
            if chosen[3:]:
                answer = await self.client.insist("/mail/ack_many", {"message_ids": chosen[3:]})
                acked.update(
                    id_
                    for id_, outcome in zip(chosen[3:], answer["outcomes"], strict=True)
                    if outcome["kind"] == "acked"
                )


@dataclass
class Waiter:
    """Waits for mail again and again, each time from the newest that it was told of."""

    client: Client
    newest: dict[str, Any] | None = None

    async def run(self) -> None:
        """Wait until it is enough."""
        while not self.client.site.enough.is_set():
            await self.once(self.client.site.random.choice((1, 2, 5)))

    async def once(self, secs: int) -> None:
        """Wait once, with whatever repeats that takes."""
        ledger, name = self.client.site.ledger, self.client.account
        ledger.waits_begun[name] += 1
        told = await self.client.insist("/mail/wait", {"after": self.newest, "wait_secs": secs})
        ledger.waits_ended[name] += 1
        if self.newest is not None:
            assert told["newest"] is not None, f"{name} was at {self.newest} and is nowhere"
            assert told["newest"]["created_at_unix_ms"] >= self.newest["created_at_unix_ms"], told
        self.newest = told["newest"]
