"""The tools of the outbox and the front door: who sees them, whose drafts they show, and what is no tool."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mail4agent_api.operations import OPERATIONS
from tests.core.frontdoor.records import extraction, original, placed
from tests.daemon.running import Daemon, running

from .conftest import UNMETERED
from .talk import Talk
from .test_enclosures import enclosed

OUTBOX = [f"m4a_outbox_{verb}" for verb in ("stage", "list", "get", "withdraw", "supersede")]
FRONTDOOR = ["m4a_frontdoor_next", "m4a_frontdoor_triaged"]
FORM = (
    'id = "meeting"\nversion = 1\ntitle = "A meeting"\n'
    '[[fields]]\nname = "guests"\nlabel = "Guests"\nkind = "integer"\n'
)
ARGS = {"to": "ben", "subject": "Visit", "body": "Tuesday at ten?"}


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A daemon with a sink; ada stages and reads briefs, rosa reviews too, eve reviews alone."""
    home = tmp_path_factory.mktemp("tools") / "home"
    home.mkdir(0o700)
    (home / "types").mkdir(0o700)
    (home / "types" / "meeting.toml").write_text(FORM)
    (home / "config.toml").write_text('[outbox.tools]\nwrite = "own"\n[sinks.own]\nkind = "mail"\n')
    with running(home, **UNMETERED) as daemon:
        granted = {
            "ada": ["outbox:stage", "frontdoor:brief"],
            "rosa": ["outbox:stage", "outbox:review"],
            "eve": ["outbox:review", "frontdoor:review"],
        }
        for account, grant in granted.items():
            daemon.add(account, attestation="off")
            permit(daemon, account, grant)
        yield Talk(daemon)


def permit(daemon: Daemon, account: str, grant: list[str]) -> None:
    """Give rights, staging and reviewing at once included where both are asked for."""
    body: dict[str, Any] = {"id": account, "grant": grant, "revoke": []}
    if {"outbox:stage", "outbox:review"} <= set(grant):
        body["both"] = True
    answer = daemon.post("/admin/participant/permit", body)
    assert answer.status == 200, answer.body


def stage(talk: Talk, account: str = "ada", **args: str) -> str:
    """A draft of an account; its id."""
    return talk.call("m4a_outbox_stage", account, tool="write", args={**ARGS, **args})["id"]


@pytest.mark.promise("mcp.tools-are-shown-to-those-who-may")
def test_review_tools_are_shown_to_those_who_stage_or_read_briefs(talk: Talk) -> None:
    """A reviewer sees none of them, and is refused by name."""
    shown = {each: {tool["name"] for tool in talk.tools(each)} for each in ("ada", "rosa", "eve")}
    assert shown["ada"] >= {*OUTBOX, *FRONTDOOR}
    assert {name for name in shown["rosa"] if "mail" not in name} == set(OUTBOX)
    assert not {*OUTBOX, *FRONTDOOR} & shown["eve"]
    _, refusal = talk.refused("m4a_outbox_list", "eve")
    assert refusal == {"kind": "permission_denied", "need": "outbox:stage"}


@pytest.mark.promise("frontdoor.the-prose-has-one-door")
def test_prose_decisions_and_ingest_are_no_tools() -> None:
    """Of the review seams the MCP door has these seven rows, and every other row is HTTP alone."""
    doors = {
        name: row.doors for name, row in OPERATIONS.items() if name.startswith(("outbox.", "frontdoor."))
    }
    tools = {name for name, each in doors.items() if "mcp" in each}
    assert tools == {name.removeprefix("m4a_").replace("_", ".", 1) for name in (*OUTBOX, *FRONTDOOR)}
    assert {each for name, each in doors.items() if name not in tools} == {("http",)}
    assert sum(row.tool is not None for row in OPERATIONS.values()) <= 15


@pytest.mark.promise("outbox.missing-taint-is-both-legs")
def test_a_tool_takes_no_taint_and_stages_with_both_legs(talk: Talk) -> None:
    """Not even as an argument that says more than is so."""
    _, refusal = talk.refused("m4a_outbox_stage", tool="write", args=ARGS, taint={"private": True})
    assert (refusal["kind"], refusal["field"]) == ("malformed", "request")
    draft = talk.daemon.post("/outbox/get", {"id": stage(talk)}, "eve").json
    assert draft["entry"]["taint"] == {"private": True, "untrusted": True}


@pytest.mark.promise("outbox.a-run-takes-back-its-own")
def test_a_tool_shows_its_callers_drafts_alone_to_a_reviewer_too(talk: Talk) -> None:
    """What rosa may do over HTTP to anybody's draft, a tool of hers does to her own."""
    hers, others = stage(talk, "rosa"), stage(talk, "ada")
    listed = talk.call("m4a_outbox_list", "rosa", all=True, limit=50)
    assert [each["id"] for each in listed["drafts"]] == [hers]
    assert talk.daemon.post("/outbox/get", {"id": others}, "rosa").status == 200
    for verb, more in (("get", {}), ("withdraw", {}), ("supersede", {"args": ARGS})):
        _, refusal = talk.refused(f"m4a_outbox_{verb}", "rosa", id=others, **more)
        assert refusal == {"kind": "unknown_item", "id": others}
    assert talk.daemon.post("/outbox/get", {"id": others}, "eve").json["entry"]["status"] == "pending"
    assert talk.call("m4a_outbox_withdraw", "rosa", id=hers) == {"id": hers, "status": "withdrawn"}


@pytest.mark.promise("mcp.others-text-is-set-apart", "mcp.replies-are-bounded")
def test_a_long_draft_is_read_part_by_part_in_its_enclosure(talk: Talk) -> None:
    """Each reply within its bound, none of the draft outside, and together the whole of it."""
    body = '漢\u202e"\\\n' * 3_000
    id_ = stage(talk, body=body, subject="Zanzibar")
    found, at, parts = "", 0, 0
    while at is not None:
        reply = talk.call("m4a_outbox_get", id=id_, from_byte=at, max_tokens=8_000)
        assert len(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()) <= 8_000
        found += enclosed(reply["text"], reply["boundary"])
        assert "Zanzibar" not in json.dumps(reply["draft"])
        at, parts = reply["next_byte"], parts + 1
    assert found.endswith("body: " + body.replace("\u202e", "\\u{202e}"))
    assert (parts > 3, len(found.encode())) == (True, reply["text_bytes"])


@pytest.mark.promise("mcp.replies-are-bounded")
def test_drafts_are_listed_page_by_page_and_none_twice(talk: Talk) -> None:
    """However long their subjects are."""
    made = [stage(talk, subject="Ж" * 200) for _ in range(12)]
    found: list[str] = []
    after = None
    while True:
        page = talk.call("m4a_outbox_list", after=after, max_tokens=1_000)
        assert len(json.dumps(page, ensure_ascii=False, separators=(",", ":")).encode()) <= 1_000
        assert "ЖЖ" in enclosed(page["text"], page["boundary"]) or not set(made) & {*found}
        found += [each["id"] for each in page["drafts"]]
        after = page["next"]
        if after is None:
            break
    assert len(found) == len(set(found)) == page["total"]
    assert set(made) <= set(found)


@pytest.mark.promise("frontdoor.briefs-taint", "frontdoor.a-triage-names-its-own-drafts")
def test_a_brief_is_enclosed_and_its_triage_names_a_superseding_draft(talk: Talk) -> None:
    """Seq, type, time and taint stand outside; one that is too long is read part by part."""
    made = extraction(topic="Quuxical " + "ж" * 100, dates_mentioned=["next Tuesday"] * 8)
    value = original(seq=7, state="extracted", values={"guests": 3}, free_text=[], extraction=made)
    placed(talk.daemon.home / "requests", {**value, "note": "n" * 2_000, "note_by_person": True})
    found, at = "", 0
    while at is not None:
        reply = talk.call("m4a_frontdoor_next", seq=7, from_byte=at, max_tokens=1_000)
        assert len(json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()) <= 1_000
        (brief,) = reply["briefs"]
        assert (brief["seq"], brief["taint"]["untrusted"]) == (7, True)
        found += enclosed(brief.pop("text"), reply["boundary"])
        assert "Quuxical" not in json.dumps(reply)
        at = reply["next_byte"]
    assert json.loads(found)["fields"] == {"guests": 3}
    first = stage(talk)
    second = talk.call("m4a_outbox_supersede", id=first, args={**ARGS, "subject": "Better"})["id"]
    moved = talk.call("m4a_frontdoor_triaged", seq=7, drafts=[second])
    assert moved == {"seq": 7, "from": "extracted", "to": "awaiting_me"}
    assert talk.call("m4a_outbox_get", id=first)["draft"]["superseded_by"] == second
