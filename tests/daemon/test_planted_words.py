"""A stranger's words, with a model that repeats them, come out of no door and no log of a daemon."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.core.frontdoor.records import PDF, original, placed
from tests.core.frontdoor.test_planted import PLANTED, WORDS, records, tells
from tests.daemon.mcp.conftest import UNMETERED
from tests.daemon.mcp.talk import message

from .model_server import ModelServer, completion, extraction, model_server, saying
from .running import Daemon, running
from .test_frontdoor_operations import FORM, pieces

PHRASE = " ".join(WORDS)
GRANTS = ["frontdoor:drain", "frontdoor:extract", "frontdoor:brief", "frontdoor:review", "outbox:stage"]
#: What a model does with the text that it was told to read.
ECHOES: dict[str, Callable[[str], tuple[bytes, int]]] = {
    "reading": lambda text: (completion(extraction(reading=text[:900])), 200),
    "whole": lambda text: (completion(text), 200),
    "topic": lambda _: (completion(extraction(topic=PHRASE)), 200),
    "institution": lambda _: (completion(extraction(institution=PHRASE)), 200),
    "spread": lambda _: (
        completion(extraction(topic=" ".join(WORDS[:3]), institution=" ".join(WORDS[3:]))), 200
    ),
    "dates": lambda _: (completion(extraction(dates_mentioned=[PHRASE])), 200),
    "one word a date": lambda _: (completion(extraction(dates_mentioned=[f"Monday {WORDS[0]}"])), 200),
    "urgency": lambda _: (completion(extraction(urgency_claimed=WORDS[1])), 200),
    "more keys": lambda text: (completion(extraction(**{PHRASE: text, WORDS[0]: [text]})), 200),
    "refusal": lambda text: (completion(None, refusal=text), 200),
    "cut": lambda text: (completion(extraction(topic=text)[:-40], "length"), 200),
    "failure": lambda text: (json.dumps({"error": {"message": text}}).encode(), 500),
}  # fmt: skip


@dataclass
class Door:
    """A daemon, its model, and how many briefs were told."""

    daemon: Daemon
    model: ModelServer
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    briefs: int = 0

    def ask(self, operation: str, **body: Any) -> tuple[int, Any]:
        """What an operation answers, a refusal too."""
        answer = self.daemon.post(f"/{operation.replace('.', '/')}", body, "clerk")
        return answer.status, answer.json

    def tool(self, name: str, **arguments: Any) -> Any:
        """All that the MCP door answers to a call, whichever way it ends."""
        asked = message("tools/call", {"name": name, "arguments": arguments})
        return self.daemon.post("/mcp", asked, "clerk").json


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """A daemon with a local type, a model and an account that may do all that there is to requests."""
    home = tmp_path_factory.mktemp("planted") / "home"
    home.mkdir(0o700)
    (home / "types").mkdir(0o700)
    (home / "types" / "meeting.toml").write_text(FORM)
    with model_server() as model:
        (home / "config.toml").write_text(
            f'[model]\nbase_url = "{model.url}"\nname = "small"\n'
            '[outbox.tools]\nwrite = "own"\n[sinks.own]\nkind = "mail"\n'
        )
        with running(home, "--log-level", "debug", **UNMETERED) as daemon:
            daemon.add("clerk", attestation="off")
            permitted = daemon.post(
                "/admin/participant/permit", {"id": "clerk", "grant": GRANTS, "revoke": [], "both": True}
            )
            assert permitted.status == 200, permitted.body
            yield Door(daemon, model)


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
@settings(max_examples=10, deadline=None, database=None, phases=[Phase.generate])
@given(records(), st.sampled_from(sorted(ECHOES)), PLANTED)
def test_no_planted_word_comes_out_of_a_daemon(
    door: Door, value: dict[str, Any], echo: str, planted: str
) -> None:
    """Not in a brief over HTTP or MCP, an answer to a run, a refusal or a line of its log."""
    said = _way(door, value, echo, planted)
    assert not [each for each in said if tells(each)]
    assert not tells(door.daemon.log_file.read_text())


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
@pytest.mark.parametrize("echo", sorted(ECHOES))
def test_no_planted_word_comes_out_of_a_daemon_whatever_its_model_does(door: Door, echo: str) -> None:
    """Of a good request; the model was asked, and only what holds no echo is told."""
    values = {"requester_name": PHRASE, "purpose": "talk", "purpose_detail": PHRASE}
    door.model.forget()
    before = door.briefs
    record = {
        "type_id": "meeting", "state": "drained", "created_at": "2026-08-06T00:00:00Z",
        "drained_at": "2026-08-06T01:00:00+00:00", "valid": True, "values": values,
        "free_text": ["requester_name", "purpose_detail"],
    }  # fmt: skip
    said = _way(door, record, echo, PHRASE)
    assert door.model.asked
    assert PHRASE in str(door.model.asked)
    assert not [each for each in said if tells(each)]
    assert not tells(door.daemon.log_file.read_text())
    assert (door.briefs > before) == (echo in {"reading", "more keys"})


@pytest.mark.promise("frontdoor.a-run-never-sees-the-prose")
def test_a_list_says_no_type_that_this_machine_does_not_have(door: Door) -> None:
    """Its name would be words that a box chose; a person reads it in the request itself."""
    first, second = next(door.numbers), next(door.numbers)
    for seq, type_id in ((first, "_".join(WORDS).lower()), (second, "meeting")):
        placed(door.daemon.home / "requests", original(seq=seq, type_id=type_id), name=f"{seq:010}-x.json")
    _, listed = door.ask("frontdoor.list", after=first - 1)
    assert [each["type_id"] for each in listed["requests"]] == [None, "meeting"]
    _, whole = door.ask("frontdoor.get", seq=first)
    assert tells(whole["record"]["type_id"])


def _way(door: Door, value: dict[str, Any], echo: str, planted: str) -> list[Any]:
    """All that is said of a request from its arrival to its end."""
    seq = next(door.numbers)
    value = {**value, "seq": seq, "values": {**value["values"], "purpose_detail": PHRASE}}

    def answer(exchange: Any, asked: dict[str, Any]) -> None:
        body, status = ECHOES[echo](asked["messages"][0]["content"])
        saying(body, status)(exchange, asked)

    door.model.answer = answer
    files = [{"field": each["field"], "data": pieces(PDF)} for each in value.get("attachments", [])]
    said: list[Any] = [door.ask("frontdoor.ingest", box_epoch="e1", record=value, files=files)]
    if said[0][0] != 200:
        # What no drain may bring can lie in the folder all the same.
        placed(door.daemon.home / "requests", value, name=f"{seq:010}-meeting.json")
    said.append(door.ask("frontdoor.extract", seq=seq, retry=True))
    said.append(door.ask("frontdoor.list", after=seq - 1))
    told = door.ask("frontdoor.next", limit=16)
    door.briefs += len(told[1].get("briefs", []))
    said += [told, door.tool("m4a_frontdoor_next", limit=16)]
    said.append(door.tool("m4a_frontdoor_triaged", seq=seq, drafts=["d-1"]))
    whole = door.ask("frontdoor.get", seq=seq)
    if whole[0] != 200:
        said.append(whole)
    for operation in (
        "get",
        "list",
        "next",
        "extract",
        "triaged",
        "needs_info",
        "close",
        "reopen",
        "reconcile",
    ):
        said.append(door.ask(f"frontdoor.{operation}", seq=seq, **{planted: planted}))
    # An agent's own key is repeated to it by the outbox: what a stranger wrote never gets that far.
    said += [door.ask("outbox.stage", tool="none", args={}), door.ask("outbox.list")]
    said += [door.ask("outbox.get", id="d-1"), door.tool("m4a_outbox_list")]
    said += [door.tool("m4a_outbox_stage", tool="none", args={}), door.tool("m4a_outbox_get", id="d-1")]
    said.append(door.ask("frontdoor.triaged", seq=seq))
    said.append(door.ask("frontdoor.reopen", seq=seq))
    said.append(door.ask("frontdoor.needs_info", seq=seq, note="which day?"))
    said.append(door.ask("frontdoor.close", seq=seq, reason="no answer"))
    said.append(door.ask("frontdoor.reconcile"))
    return said
