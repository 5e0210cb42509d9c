"""Fuzzing the running daemon from its OpenAPI document, over a real socket, in every phase of Schemathesis.

The credential of the fuzzer is an operator's, so that every operation is reached; what it names to be removed
is replaced by accounts and rooms made for that, so that it can neither lock itself out nor empty its mailbox.
M4A_FUZZ_EXAMPLES sets how many examples are drawn for each operation and phase.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis.checks import CHECKS
from schemathesis.engine import events, from_schema
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER
from schemathesis.specs.openapi.formats import unregister_string_format

from mail4agent_api.operations import OPERATIONS
from mail4agent_core.frontdoor.submission import OURS
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.outbox import OutboxKind, OutboxStore, Releases, digest_of
from mail4agent_core.taint import CLEAN
from tests import oracle
from tests.contract.verdict import ROWS, Exchange, judge
from tests.process import DaemonProcess, served

EXAMPLES = int(os.environ.get("M4A_FUZZ_EXAMPLES", "16"))
SEED = 20_240_229
OPENAPI = Path(__file__).resolve().parent.parent.parent / "schemas" / "openapi.json"
ME = "fuzzer"
ACCOUNTS = (ME, "ada", "bob", "cyd", "operator")
ROOMS = ("desk", "crew", "far")
#: The state in which an operation of the front door finds a request that is made for it.
REQUESTED = {
    "frontdoor.get": "extracted",
    "frontdoor.extract": "drained",
    "frontdoor.triaged": "extracted",
    "frontdoor.needs_info": "extracted",
    "frontdoor.close": "extracted",
    "frontdoor.reopen": "closed",
}
#: What this daemon refuses whatever is asked, because its settings name no sink for any tool.
NEED_A_SINK = {"outbox.stage", "outbox.supersede", "outbox.edit", "outbox.release"}
#: Byte-bound texts get a format of this name and their bound; ids one of the other three.
TEXT = "m4a-text-"


@dataclass
class World:
    """A daemon with people, rooms and mail, and what was asked of it."""

    daemon: DaemonProcess
    secret: str
    messages: list[str]
    #: The id of a message in a file mailbox.
    left: str
    #: Ids of drafts.
    drafts: list[str]
    ledger: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    #: How many exchanges were judged, and how many were refused for a bound that only bytes tell.
    judged: int = 0
    past_bytes: int = 0
    #: How often an operation was answered with what another one's answer gave it by a link of the document.
    linked: Counter[str] = field(default_factory=Counter)
    _names: Iterator[int] = field(default_factory=lambda: count(1))

    def account(self, *, removed: bool = False) -> str:
        """The id of an account to be destroyed."""
        name = f"victim-{next(self._names)}"
        self.daemon.register(name)
        if removed:
            self.daemon.do("admin.participant.remove", {"id": name})
        return name

    def room(self) -> str:
        """The id of a room to be destroyed."""
        name = f"victims-{next(self._names)}"
        self.daemon.do("admin.room", {"id": name})
        return name

    def message(self) -> str:
        """The id of a message to be destroyed."""
        return _post(self.daemon, "ada", ME)


def _post(daemon: DaemonProcess, sender: str, participant: str, **more: Any) -> str:
    to = more.pop("to", {"kind": "direct", "participant": participant})
    body = {"to": to, "subject": f"from {sender}", "body": "the quick brown fox", **more}
    return daemon.do("mail.send", body, secret=SECRETS[sender])["message_id"]


SECRETS: dict[str, str] = {}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A daemon with a realistic registry."""
    with served(tmp_path_factory.mktemp("fuzz") / "home") as daemon:
        for name in ("ada", "bob", "cyd"):
            # This process is to be a session of the fuzzer, and of nobody before.
            body = {"id": name, "may_send": True, "may_read": True, "attestation": "off"}
            SECRETS[name] = daemon.do("admin.participant", body)["secret"]
        SECRETS[ME] = daemon.register(ME, operator=True)
        daemon.open_run(ME)
        daemon.open_frontdoor(ME)
        # The least number, which is asked for most.
        daemon.request("extracted")
        granted = ["mailbox:read", "outbox:stage", "outbox:stamp", "outbox:review"]
        daemon.do("admin.participant.permit", {"id": ME, "grant": granted, "revoke": [], "both": True})
        with MailboxStore.open(daemon.home / "messages") as mailboxes:
            left = mailboxes.send("chat", "morning", None, "hello", None, CLEAN).id
        for room, posting, members in (
            ("desk", "open", (ME, "ada")),
            ("crew", "members", (ME, "bob")),
            ("far", "members", ("cyd",)),
        ):
            daemon.do("admin.room", {"id": room, "posting": posting})
            for member in members:
                daemon.do("admin.room.member.add", {"room": room, "participant": member})
        messages = [_post(daemon, "ada", ME), _post(daemon, ME, "bob"), _post(daemon, "bob", "cyd")]
        messages += [_post(daemon, ME, "", to={"kind": "room", "room": room}) for room in ("desk", "crew")]
        messages.append(_post(daemon, "cyd", "", to={"kind": "room", "room": "far"}))
        messages.append(_post(daemon, ME, "ada", reply_to=messages[0], correlation="c-1"))
        yield World(daemon, SECRETS[ME], messages, left, _drafts(daemon.home / "outbox"))


def _drafts(root: Path) -> list[str]:
    """Drafts that wait, and as many whose outcome is unknown."""
    with OutboxStore.open(root) as outbox:
        releases, made = Releases(outbox), list[str]()
        for number in range(16):
            args = {"to": "a@x.org", "body": "the quick brown fox"}
            item = outbox.stage("mail__send", OutboxKind.MESSAGE, args, CLEAN, None, None, staged_by=ME)
            made.append(item.id)
            if number % 2:
                releases.begin(item.id, digest_of(item, None), ME, None)
                releases.abandon(item.id)
    return made


def _document() -> dict[str, Any]:
    """The published document, with formats for what JSON Schema alone cannot say: text that is past its bytes
    within its characters, ids of what exists.
    """
    document = json.loads(OPENAPI.read_text("utf-8"))
    for name, schema in document["components"]["schemas"].items():
        if name in {"RunName", "NodeId"}:
            schema["format"] = f"m4a-{name}"
        elif "x-maxUtf8Bytes" in schema:
            schema["format"] = f"{TEXT}{schema['x-maxUtf8Bytes']}"
        elif name in {"ParticipantId", "RoomId", "MessageId", "MailboxMessageId", "OutboxId"}:
            schema["format"] = f"m4a-{name}"
    return document


def _texts(limit: int) -> st.SearchStrategy[str]:
    """Text about as long as its bound allows, in characters of one to four bytes."""
    letters = st.sampled_from("aé€😀")
    near = st.builds(
        lambda letter, by: letter * (limit // len(letter.encode()) + by), letters, st.integers(-1, 1)
    )
    return st.one_of(st.text(min_size=1, max_size=min(limit, 40)), near, st.just("fox"))


def _formats(messages: list[str], left: str, drafts: list[str]) -> dict[str, st.SearchStrategy[str]]:
    other = st.from_regex(r"\A[A-Za-z0-9._@+-]{1,128}\Z")
    return {
        **{f"{TEXT}{limit}": _texts(limit) for limit in _text_limits()},
        "m4a-RunName": st.one_of(
            st.just("demo"), st.just("demo"), st.from_regex(r"\A[A-Za-z0-9._-]{1,128}\Z")
        ),
        "m4a-NodeId": st.one_of(st.just("build"), st.just("build"), _texts(8_192)),
        "m4a-ParticipantId": st.one_of(st.sampled_from(ACCOUNTS), st.sampled_from(ACCOUNTS), other),
        "m4a-RoomId": st.one_of(st.sampled_from(ROOMS), st.sampled_from(ROOMS), other),
        "m4a-MessageId": st.one_of(
            st.sampled_from(messages), st.sampled_from(messages), st.from_regex(r"\Am4a_[0-9a-f]{24}\Z")
        ),
        "m4a-OutboxId": st.one_of(
            st.sampled_from(drafts), st.sampled_from(drafts), st.from_regex(r"\A[A-Za-z0-9_-]{1,80}\Z")
        ),
        "m4a-MailboxMessageId": st.one_of(st.just(left), st.from_regex(r"\A[A-Za-z0-9_-]{1,80}\Z")),
    }


def _text_limits() -> set[int]:
    return {
        schema["x-maxUtf8Bytes"] for schema in oracle.bundle()["$defs"].values() if "x-maxUtf8Bytes" in schema
    }


def _spare(world: World, operation: str, body: Any) -> Any:
    """A valid body without long waits, whose victim is one that can be spared; anything else as it is."""
    row = OPERATIONS[operation]
    if not isinstance(body, dict) or row.request is None or not oracle.is_valid(row.request.__name__, body):
        return body
    body = copy.deepcopy(body)
    if operation in {"mail.inbox", "mail.wait"}:
        return {**body, "wait_secs": 0}
    victims: dict[str, tuple[str, Callable[[], str]]] = {
        "admin.participant.permit": ("id", world.account),
        "admin.participant.rotate": ("id", world.account),
        "admin.participant.revoke": ("id", world.account),
        "admin.participant.remove": ("id", world.account),
        "admin.participant.purge": ("id", lambda: world.account(removed=True)),
        "admin.room.remove": ("room", world.room),
        "admin.message.purge": ("message_id", world.message),
    }
    if operation in victims:
        key, make = victims[operation]
        if body[key] in {*ACCOUNTS, *ROOMS, *world.messages}:
            body[key] = make()
    elif operation in REQUESTED and (body.get("seq") or 0) % 2 == 0:
        body["seq"] = world.daemon.request(REQUESTED[operation])
    elif operation == "frontdoor.ingest":
        body = _drained(body)
    elif operation == "admin.room.member.remove" and body["participant"] in ACCOUNTS:
        body["room"] = world.room()
    return body


def _drained(body: Any) -> Any:
    """A submission of a drain: nothing that is only said at home, and numbers far from those in use."""
    said = {key: value for key, value in body["record"].items() if key not in OURS}
    times = dict.fromkeys(("created_at", "drained_at"), "2026-08-06T00:00:00Z")
    record = {**said, **times, "seq": said["seq"] % 2**40 + 10_000, "state": "drained"}
    if body.get("files"):
        return {**body, "record": record}
    return {**body, "record": {**record, "attachments": []}}


@contextmanager
def _registered(world: World) -> Iterator[None]:
    """The formats, the hook and the check of this run, for its length."""
    formats = _formats(world.messages, world.left, world.drafts)
    for name, strategy in formats.items():
        schemathesis.openapi.format(name, strategy)

    @schemathesis.hook
    def before_call(context: Any, case: Any, kwargs: Any) -> None:
        operation = ROWS[case.path].name
        if case.method == ROWS[case.path].method:
            case.body = _spare(world, operation, case.body)

    @schemathesis.check
    def answer_is_the_contracts(ctx: Any, response: Any, case: Any) -> None:
        _judged(world, response)

    try:
        yield
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(before_call)
        CHECKS.unregister("answer_is_the_contracts")
        for name in formats:
            unregister_string_format(name)


def _judged(world: World, response: Any) -> None:
    request = response.request
    url = urlsplit(request.url)
    body = request.body or b""
    exchange = Exchange(
        method=request.method,
        path=url.path,
        query=url.query,
        headers=(
            ("host", url.netloc),
            *((_text(name).lower(), _text(value)) for name, value in request.headers.items()),
        ),
        body=body.encode() if isinstance(body, str) else body,
        status=response.status_code,
        answer_headers=tuple(
            (name.lower(), value) for name, values in response.headers.items() for value in values
        ),
        answer=response.content,
    )
    kind = judge(exchange, world.secret, world.daemon.port)
    row = ROWS.get(exchange.path)
    if row is not None and exchange.method == row.method:
        world.ledger.setdefault(row.name, Counter())[kind or "answered"] += 1
        world.past_bytes += (
            kind == "too_large"
            and row.request is not None
            and _stock(row.request.__name__).is_valid(json.loads(exchange.body))
        )
    world.judged += 1


@cache
def _stock(name: str) -> Any:
    """A validator that does not know the custom keywords."""
    return Draft202012Validator({**oracle.bundle(), "$ref": f"#/$defs/{name}"})


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _configuration(world: World) -> schemathesis.Config:
    generation = {"max-examples": EXAMPLES, "database": "none", "no-shrink": False}
    return schemathesis.Config.from_dict(
        {
            "seed": SEED,
            "base-url": f"http://127.0.0.1:{world.daemon.port}",
            "request-timeout": 20.0,
            "headers": {"Authorization": f"Bearer {world.secret}"},
            "generation": generation,
            "phases": {
                "examples": {"fill-missing": True},
                # What follows from an answer is drawn, too: of few walks, one link may never be taken.
                "stateful": {"generation": {"max-examples": 6 * EXAMPLES}},
            },
            "checks": {
                # The oracle's verdict takes their place: it knows the bounds in bytes.
                "negative_data_rejection": {"enabled": False},
                "positive_data_acceptance": {"enabled": False},
            },
        }
    )


@pytest.mark.promise("daemon.every-refusal-has-one-shape", "api.codec-agrees-with-oracle")
@pytest.mark.timeout(max(1_200, 10 * EXAMPLES))
def test_every_phase_of_fuzzing_gets_what_the_oracle_says_and_never_a_fault(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """A request is answered exactly when the oracle and the state allow it; else its refusal is named."""
    found: list[str] = []
    phases: Counter[str] = Counter()
    with _registered(world):
        schema = schemathesis.openapi.from_dict(_document(), config=_configuration(world))
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                phases[event.phase.value] += len(event.recorder.interactions)
                found += _failures(event.recorder)
                world.linked.update(_linked(event.recorder))
            elif isinstance(event, events.NonFatalError):
                found.append(f"{event.label}: {event.info.title}: {event.info.message}")
            elif isinstance(event, events.FatalError):
                raise event.exception
    with capsys.disabled():
        _show(world, phases)
    assert not found, "\n\n".join(found[:10])
    assert all(phases[name] for name in ("examples", "coverage", "fuzzing", "stateful")), phases
    assert world.past_bytes
    assert {"mail.get", "mail.ack", "mail.thread"} <= world.linked.keys()
    wanted = OPERATIONS.keys() - NEED_A_SINK
    assert not [name for name in wanted if not world.ledger.get(name, Counter())["answered"]]
    assert world.daemon.alive
    assert world.daemon.do("health")["ok"]
    assert '"level":"error"' not in world.daemon.log
    assert verify(world.daemon.database) == []


def _failures(recorder: Any) -> list[str]:
    return [
        f"{recorder.label}: {node.name}: {node.failure_info.failure}\n{node.failure_info.code_sample}"
        for nodes in recorder.checks.values()
        for node in nodes
        if node.failure_info is not None
    ]


def _linked(recorder: Any) -> Iterator[str]:
    for name, node in recorder.cases.items():
        interaction = recorder.interactions.get(name)
        if (
            node.is_transition_applied
            and interaction is not None
            and interaction.response is not None
            and interaction.response.status_code == 200
        ):
            yield ROWS[node.value.path].name


def _show(world: World, phases: Counter[str]) -> None:
    counts = {
        "phases": phases,
        "by a link": world.linked,
        **dict(sorted(world.ledger.items())),
    }
    sys.stdout.write(f"\nfuzzing: {world.judged} judged, {world.past_bytes} past a bound in bytes\n")
    for name, counter in counts.items():
        line = ", ".join(f"{kind} {number}" for kind, number in counter.most_common())
        sys.stdout.write(f"  {name:28}{line}\n")
