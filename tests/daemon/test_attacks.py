"""An agent tries every operation, tool and page with every credential that the product gives an agent.

It wants a stranger's prose, somebody else's mail or draft, a draft that leaves unread, or another's name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mail4agent_daemon.console.screens import SCREENS
from tests.core.frontdoor.records import extraction, original, placed
from tests.daemon.mcp.conftest import UNMETERED
from tests.daemon.mcp.talk import message

from .running import Daemon, running
from .test_frontdoor_operations import FORM

ROOT = Path(__file__).resolve().parents[2]
OPERATIONS = json.loads((ROOT / "schemas/operations.json").read_text("utf-8"))["operations"]
#: Words that somebody may read, and nobody else.
PROSE = "cobalt heron forgets umbrella tariffs"
MAIL = "velvet anchor misreads lantern hymns"
DRAFT = "copper violin outlives marble soup"
#: What an operator gives the programs of a machine: to write mail, to triage and draft, to serve the others.
AGENTS: dict[str, list[str]] = {
    "mailer": [],
    "triage": ["frontdoor:brief", "outbox:stage"],
    "machine": [
        "frontdoor:drain", "frontdoor:extract", "note:deliver", "note:produce", "note:read", "outbox:stage",
        "outbox:stamp",
    ],
}  # fmt: skip


@dataclass
class House:
    """A daemon with a request, a letter between two accounts and a draft that waits."""

    daemon: Daemon
    letter: str = ""
    draft: dict[str, Any] = field(default_factory=dict[str, Any])

    def permit(self, account: str, capabilities: list[str]) -> None:
        """Give an account what it may."""
        asked = {"id": account, "grant": capabilities, "revoke": [], "both": True}
        answer = self.daemon.post("/admin/participant/permit", asked)
        assert answer.status == 200, answer.body

    def said_by(self, sender: str) -> list[str]:
        """What ben has from an account."""
        found = self.daemon.inbox("ben", limit=256, order="newest")
        return [each["body"] for each in found if each["from"]["participant"] == sender]

    def bodies(self, operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Requests to an operation that are valid, about what is there."""
        kind = operation["request"]
        if kind is None:
            return
        if kind == "WaitRequest":
            # Without a time it would wait as long as a client does.
            yield {"wait_secs": 1}
            return
        (path,) = (ROOT / "schemas/vectors").glob(f"*/{kind}.json")
        cases = json.loads(path.read_text("utf-8"))["cases"]
        for case in [each for each in cases if each["valid"] and "data" in each][:2]:
            yield self._about(case["data"])

    def _about(self, data: Any) -> Any:
        """The same with the numbers and ids of what is there."""
        if not isinstance(data, dict):
            return data
        id_ = self.draft["entry"]["id"]
        known = {
            "id": id_, "digest": self.draft["digest"], "drafts": [id_],
            "message_id": self.letter, "message_ids": [self.letter], "reply_to": self.letter, "seq": 1,
            "participant": "ada", "query": PROSE.split()[1], "wait_secs": 0, "tool": "write",
            "after": 0, "limit": 16, "unread_only": False,
        }  # fmt: skip
        return {key: known.get(key, self._about(each)) for key, each in data.items()}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for the module, with an account for each kind of agent."""
    home = tmp_path_factory.mktemp("attacked") / "home"
    home.mkdir(0o700)
    (home / "types").mkdir(0o700)
    (home / "types" / "meeting.toml").write_text(FORM)
    (home / "config.toml").write_text('[outbox.tools]\nwrite = "own"\n[sinks.own]\nkind = "mail"\n')
    values = {"requester_name": PROSE, "purpose": "talk", "purpose_detail": PROSE, "_hidden": PROSE}
    placed(home / "requests", original(seq=1, state="extracted", values=values, extraction=extraction(
        reading=PROSE, topic="A talk",
    ), attachments=[{"filename": PROSE}], **{PROSE: PROSE}))  # fmt: skip
    placed(home / "requests", original(seq=2, values=values, valid=False, errors=[PROSE]))
    with running(home, "--log-level", "debug", **UNMETERED) as daemon:
        house = House(daemon)
        for account, capabilities in {"ada": ["outbox:stage"], "ben": [], **AGENTS}.items():
            daemon.add(account, attestation="off")
            house.permit(account, capabilities)
        house.letter = daemon.send("ada", "ben", MAIL)
        asked = {"tool": "write", "args": {"to": "ben", "subject": "s", "body": DRAFT}}
        staged = daemon.post("/outbox/stage", asked, "ada")
        assert staged.status == 200, staged.body
        house.draft = daemon.post("/outbox/get", {"id": staged.json["id"]}, "ada").json
        yield house


def tells(words: str, text: str) -> bool:
    """Whether a text holds a planted phrase, or two words of it that no other text has."""
    return words in text or sum(word in text for word in words.split()) >= 2


@pytest.mark.promise("threats.no-agent-sees-what-is-not-its-own")
@pytest.mark.parametrize("agent", AGENTS)
def test_no_operation_tells_an_agent_what_is_not_its_own(house: House, agent: str) -> None:
    """Every operation of the contract, about what is there: no prose, no letter and no draft of others."""
    for operation in OPERATIONS:
        for body in house.bodies(operation):
            answer = house.daemon.post(operation["path"], body, agent)
            said = answer.body.decode()
            # A search repeats no query, so that every planted word in an answer was read somewhere.
            assert not tells(PROSE, said), (operation["name"], body)
            assert not tells(MAIL, said), (operation["name"], body)
            assert not tells(DRAFT, said), (operation["name"], body)


@pytest.mark.promise("threats.no-agent-sees-what-is-not-its-own")
@pytest.mark.parametrize("agent", AGENTS)
def test_no_tool_tells_an_agent_what_is_not_its_own(house: House, agent: str) -> None:
    """Every tool of the MCP door, shown to the caller or not, with what it would be given over HTTP."""
    listed = house.daemon.post("/mcp", message("tools/list"), agent)
    assert not tells(PROSE, listed.body.decode())
    for operation in [each for each in OPERATIONS if "mcp" in each["doors"]]:
        for body in house.bodies(operation):
            asked = message("tools/call", {"name": operation["tool"]["name"], "arguments": body})
            said = house.daemon.post("/mcp", asked, agent).body.decode()
            assert not [words for words in (PROSE, MAIL, DRAFT) if tells(words, said)], (
                operation["name"],
                body,
            )


@pytest.mark.promise("threats.no-agent-sees-what-is-not-its-own")
def test_no_page_metric_or_log_tells_what_is_not_for_everybody(house: House) -> None:
    """What needs no credential, what a wrong one gets, and what is logged at its most talkative."""
    for path in (
        "/health",
        "/metrics",
        "/openapi.json",
        "/console",
        "/console/events",
        "/console/frontdoor/1",
    ):
        for headers in ({}, {"Authorization": f"Bearer {house.daemon.keys['triage']}"}, {"Cookie": "m4a=x"}):
            said = house.daemon.ask("GET", path, None, headers).body.decode("utf-8", "replace")
            assert not [words for words in (PROSE, MAIL, DRAFT) if tells(words, said)], path
    said = house.daemon.log_file.read_text()
    assert not [words for words in (PROSE, MAIL, DRAFT) if tells(words, said)]


@pytest.mark.promise("threats.no-agent-sees-what-is-not-its-own")
@pytest.mark.parametrize("agent", AGENTS)
def test_no_console_page_tells_an_agent_what_is_not_its_own(house: House, agent: str) -> None:
    """An agent that signs in with its own credential: every screen about what is there, and live counts."""
    daemon = house.daemon
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": daemon.url}
    signed = daemon.ask("POST", "/console/signin", f"secret={daemon.keys[agent]}".encode(), headers)
    cookie = {"Cookie": signed.headers["set-cookie"].partition(";")[0]}
    known = {"seq": "1", "message": house.letter, "id": house.draft["entry"]["id"], "account": "ben"}
    paths = [route.path for screen in SCREENS for route in screen.routes if route.method == "GET"]
    assert len(paths) > 15
    with daemon.wire() as wire:
        head = f"GET /console/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie['Cookie']}\r\n\r\n"
        wire.sendall(head.encode())
        said = b""
        while b"\ndata: " not in said or not said.endswith(b"\n\n\r\n"):
            part = wire.recv(65_536)
            assert part, said
            said += part
    pages = {"/console/events": said.decode()}
    for path in paths:
        asked = re.sub(r"\{(\w+)\}", lambda part: known.get(part[1], "demo"), path)
        for query in ("", f"?query={PROSE.split()[1]}&q={MAIL.split()[1]}&id={known['id']}"):
            pages[asked + query] = daemon.ask("GET", asked + query, None, cookie).body.decode()
    assert "Sign out" in pages["/console"]
    assert [
        path for path, page in pages.items() if any(tells(words, page) for words in (PROSE, MAIL, DRAFT))
    ] == []


@pytest.mark.promise("threats.no-agent-sends-unread-or-as-another")
@pytest.mark.parametrize("agent", AGENTS)
def test_no_agent_sends_a_draft_or_speaks_as_another(house: House, agent: str) -> None:
    """Whatever was called: ada's draft waits as it was, and nothing is from ada or ben but ada's letter."""
    entry = house.draft["entry"]
    forged = {"M4A-Session": "ada", "X-Forwarded-For": "127.0.0.1", "X-M4A-Account": "ada", "From": "ada"}
    to = {"kind": "direct", "participant": "ben"}
    for key in ("from", "sender", "as", "account", "session_id", "staged_by"):
        body = {"to": to, "subject": "s", "body": "b", key: "ada"}
        assert house.daemon.post("/mail/send", body, agent).status == 400
        staged = {"tool": "write", "args": {"to": "ben", "body": "b"}, key: "ada"}
        assert house.daemon.post("/outbox/stage", staged, agent).status in {400, 403}
    house.daemon.post("/mail/send", {"to": to, "subject": "s", "body": "b"}, agent, **forged)
    for path in ("release", "edit", "reject", "settle", "withdraw", "supersede"):
        body = {"id": entry["id"], "digest": house.draft["digest"], "args": {}, "sent": True, "reason": "r"}
        wanted = {"withdraw": {"id"}, "supersede": {"id", "args"}, "settle": {"id", "sent"}}.get(
            path, {"id", "digest"}
        )
        assert house.daemon.post(f"/outbox/{path}", {k: body[k] for k in wanted}, agent).status >= 400
    assert house.daemon.post("/outbox/get", {"id": entry["id"]}, "ada").json == house.draft
    assert house.said_by("ada") == [MAIL]
    assert house.said_by("ben") == []


@pytest.mark.promise("threats.no-secret-is-said")
def test_no_secret_is_said(house: House) -> None:
    """In no answer to an operator who asks for everything, no metric, no refusal and no line of the log."""
    daemon = house.daemon
    for account, secret in daemon.keys.items():
        asked = daemon.ask(
            "POST", f"/mail/whoami?token={secret}", b"{}", {"Content-Type": "application/json"}
        )
        assert asked.status >= 400
        assert secret not in asked.body.decode()
        body = {"to": {"kind": "direct", "participant": "ben"}, "subject": "s", "body": "b", secret: secret}
        assert secret not in daemon.post("/mail/send", body, account).body.decode()
        wrong = {"Authorization": f"Bearer {secret}x", "Content-Type": "application/json"}
        assert secret not in daemon.ask("POST", "/mail/whoami", b"{}", wrong).body.decode()
    said = [daemon.get("/metrics").body.decode(), daemon.get("/health").body.decode()]
    for operation in OPERATIONS:
        if operation["effect"] == "read" and operation["capability"] == ["mail:operator"]:
            said += [daemon.post(operation["path"], body).body.decode() for body in house.bodies(operation)]
    said.append(daemon.log_file.read_text())
    kept = [hashlib.sha256(secret.encode()).hexdigest() for secret in daemon.keys.values()]
    assert [each for each in (*daemon.keys.values(), *kept) if any(each in text for text in said)] == []


@pytest.mark.promise("threats.no-cross-origin-header-is-sent")
@pytest.mark.parametrize("path", ["/health", "/metrics", "/mail/inbox", "/mcp", "/console", "/nowhere"])
def test_no_cross_origin_header_is_sent(house: House, path: str) -> None:
    """To no method and no origin, the daemon's own among them, not even to what asks before it asks."""
    daemon = house.daemon
    for method in ("OPTIONS", "GET", "POST"):
        for origin in ("https://evil.example", "null", f"http://127.0.0.1:{daemon.port}"):
            asked = {
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Content-Type": "application/json",
            }
            answer = daemon.ask(method, path, b"{}" if method == "POST" else None, asked)
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert method != "OPTIONS" or answer.status >= 400
