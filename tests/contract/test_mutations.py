"""Ten thousand damaged requests over raw sockets: refusals are named, none is a fault, the store is whole."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from random import Random

import pytest

from mail4agent_api.operations import OPERATIONS
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.taint import CLEAN
from tests import oracle
from tests.contract.campaign import SEED, Campaign, Wire, bodies
from tests.contract.mutation import credentials, cut_short, ended, flipped, framings
from tests.process import DaemonProcess, served

#: Damaged requests in all; the long run multiplies them.
REQUESTS = 10_000 * max(1, int(os.environ.get("M4A_FUZZ_EXAMPLES", "0")) // 200)
CONNECTIONS = 8


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """A daemon to be mistreated."""
    with served(tmp_path_factory.mktemp("mutations") / "home") as daemon:
        secret = daemon.register("mutator", operator=True)
        daemon.open_run("mutator")
        daemon.open_frontdoor("mutator")
        for state in ("extracted", "extracted", "drained", "needs_info", "awaiting_me"):
            daemon.request(state)
        granted = ["mailbox:read", "outbox:stage", "outbox:stamp", "outbox:review"]
        daemon.do("admin.participant.permit", {"id": "mutator", "grant": granted, "revoke": [], "both": True})
        with MailboxStore.open(daemon.home / "messages") as mailboxes:
            mailboxes.send("chat", "morning", None, "line\n\ttab é", None, CLEAN)
        ada = daemon.register("ada")
        for name in ("bob", *(f"victim-{index}" for index in range(8))):
            daemon.register(name)
        dead = [daemon.register(name) for name in ("rotated", "revoked", "removed")]
        daemon.do("admin.participant.rotate", {"id": "rotated"})
        daemon.do("admin.participant.revoke", {"id": "revoked"})
        daemon.do("admin.participant.remove", {"id": "removed"})
        for room in ("desk", "spare-0", "spare-1"):
            daemon.do("admin.room", {"id": room})
        daemon.do("admin.room.member.add", {"room": "desk", "participant": "mutator"})
        to = {"kind": "direct", "participant": "mutator"}
        messages = [
            daemon.do("mail.send", {"to": to, "subject": f"{index}", "body": "fox"}, secret=ada)["message_id"]
            for index in range(9)
        ]
        yield Campaign(daemon, secret, dead, bodies(messages))


def test_bodies_that_are_damaged_are_valid_before(campaign: Campaign) -> None:
    """Every operation with a body has one to start from, which the oracle holds valid."""
    assert campaign.bodies.keys() == {name for name, row in OPERATIONS.items() if row.authenticated}
    for name, values in campaign.bodies.items():
        request = OPERATIONS[name].request
        assert request is not None
        assert [value for value in values if not oracle.is_valid(request.__name__, value)] == []


@pytest.mark.promise("account.dead-secret-is-refused", "daemon.every-refusal-has-one-shape")
@pytest.mark.parametrize("operation", sorted(name for name, row in OPERATIONS.items() if row.authenticated))
async def test_every_operation_refuses_every_credential_but_a_living_one(
    campaign: Campaign, operation: str
) -> None:
    """Missing, wrong, malformed, doubled and dead credentials are refused before the body is looked at."""
    wire = Wire(campaign.daemon.port)
    try:
        presented = [*credentials(campaign.secret)[:-3], *((f"Bearer {secret}",) for secret in campaign.dead)]
        for values in presented:
            for body in (b"", b"{", json.dumps(campaign.bodies[operation][0]).encode()):
                draft = campaign.draft(operation, body).with_header("Authorization", *values)
                status, headers, answer = await wire.ask(draft.raw, head_only=False)
                assert (status, json.loads(answer)) == (401, {"kind": "unauthenticated"}), values
                assert ("www-authenticate", "Bearer") in headers
    finally:
        wire.close()


@pytest.mark.promise("mail.capabilities-are-needed")
@pytest.mark.parametrize("operation", sorted(name for name, row in OPERATIONS.items() if row.capability))
async def test_every_operation_refuses_who_lacks_its_capability(campaign: Campaign, operation: str) -> None:
    """An account that holds nothing is told what it needs, before its body is looked at."""
    wire = Wire(campaign.daemon.port)
    try:
        for body in (b"{", json.dumps(campaign.bodies[operation][0]).encode()):
            draft = campaign.draft(operation, body).with_header(
                "Authorization", f"Bearer {campaign.powerless}"
            )
            status, _, answer = await wire.ask(draft.raw, head_only=False)
            refusal = json.loads(answer)
            assert (status, refusal["kind"]) == (403, "permission_denied")
            assert refusal["need"] in OPERATIONS[operation].capability
    finally:
        wire.close()


@pytest.mark.promise(
    "daemon.every-refusal-has-one-shape", "api.json-is-read-strictly", "daemon.host-and-origin-are-checked"
)
@pytest.mark.timeout(max(180, REQUESTS // 50))
async def test_ten_thousand_damaged_requests_get_named_refusals_and_no_fault(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each answer is what the oracle says or a named 4xx; then the daemon is well and its store whole."""
    drafts = campaign.drafts(REQUESTS * 8 // 10)
    lock = asyncio.Lock()

    async def converse() -> None:
        wire = Wire(campaign.daemon.port)
        try:
            while True:
                async with lock:
                    draft = next(drafts, None)
                if draft is None:
                    return
                await campaign.ask(wire, draft)
        finally:
            wire.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(converse())
    random = Random(SEED)
    whole = [
        campaign.draft(name, ended(name, json.dumps(values[0]).encode()))
        for name, values in sorted(campaign.bodies.items())
    ]
    games = [raw for draft in whole if draft.body != b"{}" for raw in framings(draft)]
    for batch in _batches([random.choice(games) for _ in range(REQUESTS // 10)]):
        await asyncio.gather(*(campaign.forbidden(raw) for raw in batch))
    damaged = [
        cut_short(random, random.choice(whole)) if index % 2 else flipped(random, random.choice(whole))
        for index in range(REQUESTS // 10)
    ]
    for batch in _batches(damaged):
        await asyncio.gather(*(campaign.broken(raw) for raw in batch))
    with capsys.disabled():
        line = ", ".join(f"{kind} {number}" for kind, number in campaign.kinds.most_common())
        sys.stdout.write(f"\nmutations: {campaign.sent} requests: {line}\n")
    assert not campaign.faults, f"{len(campaign.faults)} faults:\n" + "\n".join(campaign.faults[:20])
    assert campaign.sent == REQUESTS
    _is_well(campaign.daemon)


def _batches(raws: list[bytes]) -> Iterator[list[bytes]]:
    return (raws[at : at + CONNECTIONS] for at in range(0, len(raws), CONNECTIONS))


def _is_well(daemon: DaemonProcess) -> None:
    assert daemon.alive
    assert daemon.do("health")["ok"]
    assert daemon.figure("mail4agent_parked_readers") == 0
    assert daemon.figure("mail4agent_store_faults_total") == 0
    assert '"level":"error"' not in daemon.log
    assert verify(daemon.database) == []
