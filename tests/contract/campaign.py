"""A campaign of damaged requests against one daemon: its wires, its drafts, what came back."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

from mail4agent_api.operations import OPERATIONS
from tests.contract.mutation import Draft, Mutator, ended
from tests.contract.verdict import Exchange, judge, named_refusal
from tests.core.frontdoor.records import original
from tests.process import BOUND_SECS, DaemonProcess

SEED = 31_415

Header = tuple[str, str]


class Wire:
    """One raw connection, opened again when the daemon has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, raw: bytes, *, head_only: bool) -> tuple[int, tuple[Header, ...], bytes]:
        """Send a well-framed request and read its answer."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        assert self._reader is not None
        self._writer.write(raw)
        async with asyncio.timeout(BOUND_SECS):
            status, headers, body = await read_answer(self._reader, head_only=head_only)
        if ("connection", "close") in headers:
            self.close()
        return status, headers, body

    def close(self) -> None:
        """Close this end."""
        if self._writer is not None:
            self._writer.close()
            self._reader = self._writer = None


async def read_answer(
    reader: asyncio.StreamReader, *, head_only: bool = False
) -> tuple[int, tuple[Header, ...], bytes]:
    """One answer to its end; what only says that the body may come is passed over."""
    while True:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
        status = int(lines[0].split(" ")[1])
        headers = tuple(
            (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])
        )
        if status >= 200:
            break
    lengths = [int(value) for name, value in headers if name == "content-length"]
    assert len(lengths) == 1
    return status, headers, b"" if head_only else await reader.readexactly(lengths[0])


@asynccontextmanager
async def raw_connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection for bytes that are no request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(BOUND_SECS):
            yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


class Campaign:
    """A daemon with a registry, valid bodies for every operation, and a count of what came back."""

    def __init__(
        self, daemon: DaemonProcess, secret: str, dead: list[str], bodies: dict[str, list[Any]]
    ) -> None:
        self.daemon = daemon
        self.secret = secret
        #: Secrets that opened once: rotated, revoked, and a removed account's.
        self.dead = dead
        #: The secret of an account without a capability.
        self.powerless = daemon.do("admin.participant", {"id": "powerless"})["secret"]
        self.bodies = bodies
        self.kinds: Counter[str] = Counter()
        self.sent = 0
        #: What was answered as it must not be.
        self.faults: list[str] = []
        self._random = Random(SEED)
        self._mutator = Mutator(SEED, daemon.port)

    def draft(self, operation: str, body: bytes) -> Draft:
        """A request that is right around its body."""
        row = OPERATIONS[operation]
        headers = (
            ("Host", f"127.0.0.1:{self.daemon.port}"),
            ("Content-Type", "application/json"),
            ("Authorization", f"Bearer {self.secret}"),
        )
        return Draft(row.method, row.path, headers, body)

    def _valid(self) -> tuple[str, Any]:
        operation = self._random.choice(sorted(self.bodies))
        return operation, self._random.choice(self.bodies[operation])

    def drafts(self, number: int) -> Iterator[Draft]:
        """Well-framed requests: one in four damaged around its body, the others within it."""
        for index in range(number):
            operation, value = self._valid()
            if index % 4 == 0:
                yield self._mutator.around(
                    self.draft(operation, ended(operation, json.dumps(value).encode()))
                )
            elif index % 2:
                raw = json.dumps(
                    self._mutator.value(value), ensure_ascii=self._random.random() < 0.5
                ).encode()
                yield self.draft(operation, ended(operation, raw))
            else:
                yield self.draft(operation, ended(operation, self._mutator.text(json.dumps(value).encode())))

    async def ask(self, wire: Wire, draft: Draft) -> None:
        """Send a well-framed request and judge the answer."""
        method = draft.method.upper()
        status, headers, answer = await wire.ask(draft.raw, head_only=method == "HEAD")
        path, _, query = draft.target.partition("?")
        sent = tuple((name.lower(), value.strip(" \t")) for name, value in draft.headers)
        exchange = Exchange(method, path, query, sent, draft.body, status, headers, answer)
        try:
            kind = judge(exchange, self.secret, self.daemon.port)
        except AssertionError as fault:
            self.faults.append(f"{draft.raw[:2000]!r}: {fault}")
            kind = "fault"
        self._count(kind or str(status))

    async def forbidden(self, raw: bytes) -> None:
        """Send bytes that HTTP forbids; exactly one refusal must come, and then the end."""
        try:
            async with raw_connection(self.daemon.port) as (reader, writer):
                writer.write(raw)
                status, headers, answer = await read_answer(reader)
                assert ("connection", "close") in headers
                assert await reader.read() == b""
            kind = named_refusal(status, answer).kind
        except (AssertionError, OSError, EOFError) as fault:
            self.faults.append(f"{raw[:300]!r}: {fault!r}")
            kind = "fault"
        self._count(kind)

    async def broken(self, raw: bytes) -> None:
        """Send bytes and then nothing more; whatever is answered is no fault, and the connection ends."""
        async with raw_connection(self.daemon.port) as (reader, writer):
            writer.write(raw)
            writer.write_eof()
            with suppress(ConnectionError):
                said = await reader.read()
                while said:
                    said = self._told(said)
        self._count("none")

    def _told(self, said: bytes) -> bytes:
        head, _, rest = said.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        length = next(
            (int(line.partition(":")[2]) for line in lines if line.lower().startswith("content-length:")), 0
        )
        if status >= 400 and rest:
            named_refusal(status, rest[:length])
        assert status < 500
        return rest[length:]

    def _count(self, kind: str) -> None:
        self.kinds[kind] += 1
        self.sent += 1


def bodies(messages: Sequence[str]) -> dict[str, list[Any]]:
    """Valid bodies of every operation; what they destroy is made for that, and gone after the first time."""
    first, *others = messages
    at = {"created_at_unix_ms": 1, "message_id": first}
    message = {"to": {"kind": "direct", "participant": "ada"}, "subject": "hello", "body": "line\n\ttab é"}
    reference = {"kind": "file", "locator": "src/main.py", "digest": "0f"}
    full = {
        **message,
        "to": {"kind": "room", "room": "desk"},
        "reply_to": first,
        "correlation": "c-1",
        "refs": [reference, reference],
        "idempotency_key": "k-1",
    }
    session = {"kind": "session", "participant": "ada", "session": "s-0123abcd"}
    newest = {"limit": 2, "order": "newest", "unread_only": True, "max_bytes": 9000}
    filtered = {"after": at, "thread": first, "sent_by": "ada", "correlation": "c-1"}
    older = {"before": at, "room": "desk", "since_unix_ms": 0}
    search = {"query": 'fox "quick brown"', "limit": 3, "room": "desk", "sent_by": "ada"}
    one = [{"id": f"victim-{index}"} for index in range(8)]
    key = f"whsec_{'A' * 32}"
    note = {"run": "demo", "node": "build", "addressee": "both", "text": "keep the old flag"}
    draft = {"id": "20260808T194158-00000000-1a2b3c4d", "digest": f"sha256:{'0' * 64}"}
    staged = {
        "tool": "mail__send",
        "args": {"to": ["a@x.org"], "body": "line\n\ttab é"},
        "workspace": "/srv/é",
        "taint": {"private": False},
    }
    turn = {
        "node": "build",
        "member": "worker",
        "turn": 1,
        "role": "assistant",
        "instruction": "- keep the old flag",
        "instruction_truncated": False,
        "started_at": "2026-09-19T10:00:00.000Z",
        "origin": "delivered",
        "note_ids": [f"note_{'0' * 24}"],
    }
    submission = {"box_epoch": "e1", "record": original(seq=7)}
    return {
        "mail.send": [message, full, {**message, "to": session}],
        "mail.send_many": [{"messages": [message, full]}],
        "mail.inbox": [{}, newest, filtered, older],
        "mail.wait": [{"wait_secs": 0}, {"after": at, "wait_secs": 5}],
        "mail.told": [{}, {"limit": 32}],
        "mail.ack": [{"message_id": first}],
        "mail.ack_many": [{"message_ids": list(messages)}],
        "mail.get": [{"message_id": first}],
        "mail.unread": [{"target": {"kind": "direct", "participant": "ada"}}, {"target": session}],
        "mail.thread": [{"message_id": first, "limit": 3, "after": at}],
        "mail.search": [search, {"query": "f*x NEAR(a b) scope:1", "before": at}],
        "mail.sent": [{"limit": 5, "before": at}],
        "mail.whoami": [{}],
        "mail.status": [{}, {"working_on": "the parser", "role": "reviewer", "parent": "s-0123abcd"}],
        "mail.session": [{}],
        "mail.directory": [{}],
        "mail.listen": [{"url": None}, {"url": None, "key": key}],
        "note.deliver": [note, {**note, "criterion": "it parses", "deliver": "next", "idempotency_key": "k"}],
        "note.standing": [{"run": "demo", "node": "build"}, {"run": "none", "node": "build"}],
        "note.events": [{"run": "demo", "events": [turn, {**turn, "role": "user", "origin": None}]}],
        "note.journal": [{"run": "demo"}, {"run": "demo", "after": 10, "limit": 2}],
        "frontdoor.ingest": [submission, {**submission, "box_epoch": "e2"}],
        "frontdoor.list": [{}, {"state": "extracted", "after": 1, "limit": 2}],
        "frontdoor.get": [{"seq": 1}, {"seq": 99}],
        "frontdoor.next": [{}, {"limit": 1}],
        "frontdoor.extract": [{}, {"seq": 3, "retry": True, "limit": 2}],
        "frontdoor.triaged": [{"seq": 2}, {"seq": 1, "drafts": ["20260808T194158-1a2b3c4d"]}],
        "frontdoor.needs_info": [{"seq": 3, "note": "which day?"}],
        "frontdoor.close": [{"seq": 4, "reason": "spam"}],
        "frontdoor.reopen": [{"seq": 4}],
        "frontdoor.reconcile": [{}],
        "outbox.stage": [{"tool": "mail__send", "args": {}}, {**staged, "idempotency_key": "k"}],
        "outbox.list": [{}, {"status": "sent", "all": True, "kind": "message", "tool": "t", "limit": 2}],
        "outbox.get": [{"id": draft["id"]}],
        "outbox.withdraw": [{"id": draft["id"], "reason": "line\n\ttab é"}],
        "outbox.supersede": [{"id": draft["id"], "args": {"a": [1, None, {"b": "é"}]}}],
        "outbox.edit": [{**draft, "args": {"to": "b@x.org"}}],
        "outbox.release": [draft],
        "outbox.reject": [{"drafts": [draft, draft], "reason": "Wrong person."}],
        "outbox.settle": [{"id": draft["id"], "sent": False}],
        "outbox.tally": [{}],
        "mailbox.list": [{}, {"to": "chat", "all": True, "status": "dead", "limit": 2}],
        "mailbox.show": [{"id": "20260808T194158-00000000-1a2b3c4d"}],
        "admin.participant": [{"id": "new", "label": "New", "may_send": True, "operator": False}],
        "admin.participant.rotate": one,
        "admin.participant.revoke": one[:2],
        "admin.participant.remove": one[2:4],
        "admin.participant.purge": one[2:5],
        "admin.participant.permit": [{**one[5], "grant": ["outbox:stage", "outbox:review"], "revoke": []}],
        "admin.participant.list": [{"after": "ada", "limit": 2}],
        "admin.room": [{"id": "fresh", "posting": "members"}],
        "admin.room.remove": [{"room": "spare-0"}],
        "note.runs": [{"after": "demo", "limit": 2}],
        "admin.flow": [{"secs": 86_400, "limit": 2}],
        "admin.checkup": [{"database": True}],
        "admin.settings": [{}],
        "admin.audit": [{"before": 3, "limit": 2}],
        "admin.room.list": [{"after": "a", "limit": 2}],
        "admin.room.members": [{"room": "desk", "after": "a", "limit": 2}],
        "admin.room.member.add": [{"room": "spare-1", "participant": "bob"}],
        "admin.room.member.remove": [{"room": "spare-1", "participant": "bob"}],
        "admin.listener": [{"account": "ada", "url": "http://localhost:9/doorbell?a=b", "key": key}],
        "admin.listener.remove": [{"account": "ada"}, {"account": "ada", "session": "s-0123456789"}],
        "admin.listener.get": [{"account": "ada"}],
        "admin.listener.list": [{}, {"state": "all", "after": message["to"], "limit": 2}],
        "admin.listener.retry": [{"account": "ada", "session": None}],
        "admin.inbox": [{"address": message["to"], "limit": 2, "after": at, "unread_only": True}],
        "admin.message.purge": [{"message_id": others[0]}],
        "admin.retention": [{"run": True}],
    }  # fmt: skip
