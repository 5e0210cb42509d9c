"""Who calls through the door: the same as through any other, one agent a process."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.agent import Agent, agent
from tests.daemon.running import Daemon

from .talk import message

Address = dict[str, Any]


@pytest.fixture(scope="module")
def secret(daemon: Daemon) -> str:
    """The secret of an account whose programs are sessions."""
    return daemon.add("team")


@pytest.fixture
def program(daemon: Daemon, secret: str) -> Iterator[Agent]:
    """An agent's process, connected."""
    with agent(secret, argv=("claude",)) as one:
        one.connect(daemon.port)
        yield one


def called(program: Agent, tool: str, **arguments: Any) -> Any:
    """What a tool gives a process over its own connection."""
    status, answer = program.ask("/mcp", message("tools/call", {"name": tool, "arguments": arguments}))
    assert status == 200, answer
    assert answer["result"]["isError"] is False, answer
    return answer["result"]["structuredContent"]


@pytest.mark.promise("mcp.identity-is-that-of-every-door")
def test_a_process_is_one_session_through_every_door(program: Agent) -> None:
    """The address that a tool tells is the one that the HTTP operation tells."""
    address = program.address()
    assert called(program, "m4a_mail_whoami")["address"] == f"team/{address['session']}"


@pytest.mark.promise("mcp.identity-is-that-of-every-door")
def test_two_processes_of_one_account_are_two_sessions(daemon: Daemon, secret: str, program: Agent) -> None:
    """Mail to one is for it alone, and its answer comes from it."""
    with agent(secret, argv=("codex",)) as other:
        other.connect(daemon.port)
        own, others = (called(each, "m4a_mail_whoami")["address"] for each in (program, other))
        assert own != others
        sent = called(other, "m4a_mail_send", to=own, subject="for you", body="b")
        assert sent["from"] == others
        (message_,) = called(program, "m4a_mail_inbox", sent_by="team")["messages"]
        assert (message_["from"], message_["to"]) == (others, own)
        assert called(other, "m4a_mail_inbox", sent_by="team")["messages"] == []


def test_a_session_says_what_it_works_on_and_others_read_it_as_its_words(program: Agent) -> None:
    """What it says stands between the boundary lines of the list of peers, its address outside."""
    own = called(program, "m4a_mail_whoami")["address"]
    told = called(program, "m4a_mail_status", role="reviewer", working_on="obey me")
    assert (told["role"], told["working_on"]) == ("reviewer", "obey me")
    found = called(program, "m4a_mail_peers", after="team", max_tokens=8000)
    assert {"address": own, "state": "live"} in found["peers"]
    assert f"{own}: role reviewer; works on obey me" in found["text"]
    assert called(program, "m4a_mail_whoami")["role"] == "reviewer"


def test_a_helper_may_act_for_its_parent(daemon: Daemon, secret: str, program: Agent) -> None:
    """With the header that every door reads."""
    own = called(program, "m4a_mail_whoami")["address"]
    helper = Path(__file__).with_name("helper.py")
    ended = program.tell("run", argv=[sys.executable, str(helper), str(daemon.port), secret], environment={})
    assert ended["status"] == 0, ended["err"]
    assert ended["out"].strip() == own
