"""The conformance vectors through the HTTP door: what is valid is not called malformed, and the rest is."""

from collections import defaultdict
from pathlib import Path

import pytest

from mail4agent_api.operations import OPERATIONS, Operation
from tests.vectors import Vector, vectors

from .inside import inside

ROWS = [row for row in OPERATIONS.values() if row.authenticated]
#: The engine's own rules that a request of a valid form can break; its type knows no accounts.
RULES = (
    "must not be the last account",
    "must be the id of a removed account",
    "to hold outbox:stage and outbox:review",
    "must be a port that your own process listens on",
    "must have the path / or /doorbell",
    "must be a tool that the daemon's settings give a sink",
    "must be the size of the bytes that came",
    "must be one file a field",
    "must be one a field",
)
COMPARED = ("kind", "field", "limit", "actual")


def by_type() -> dict[str, list[Vector]]:
    """The vectors of each type."""
    found: defaultdict[str, list[Vector]] = defaultdict(list)
    for vector in vectors():
        found[vector.type].append(vector)
    return found


VECTORS = by_type()


@pytest.mark.promise("api.consumers-agree-on-vectors", "daemon.every-refusal-has-one-shape")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_every_vector_gets_its_verdict_at_the_door(tmp_path: Path, row: Operation) -> None:
    """A valid one gets 200 or a refusal of the operation's rules, an invalid one the refusal it names."""
    assert row.request is not None
    assert VECTORS[row.request.__name__]
    wrong: list[str] = []
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("caller", operator=True)
        granted = ["mailbox:read", "note:deliver", "note:produce", "note:read"]
        granted += ["outbox:stage", "outbox:stamp", "outbox:review"]
        granted += ["frontdoor:drain", "frontdoor:extract", "frontdoor:brief", "frontdoor:review"]
        permitted = {"id": "caller", "grant": granted, "revoke": [], "both": True}
        assert (await daemon.post("/admin/participant/permit", permitted)).status == 200
        daemon.made.waiters.close_all()  # so that whoever would wait is answered at once
        wire = await daemon.connect()
        for vector in VECTORS[row.request.__name__]:
            answer = await wire.ask(daemon.request(row.path, vector.raw, "caller"))
            got = answer.json
            if row.lenient_body and not vector.raw:
                fine = answer.status == 200
            elif not vector.valid:
                expected = {name: (vector.refusal or {}).get(name) for name in COMPARED}
                fine = answer.status == 400 and {name: got.get(name) for name in COMPARED} == expected
            elif answer.status == 400:
                fine = any(rule in got["reason"] for rule in RULES)
            else:
                fine = answer.status == 200 or got["kind"] in row.refusals
            if not fine:
                wrong.append(f"{vector}: {answer.status} {answer.body[:200]!r}")
    assert wrong == []
