"""Sessions on the command line: cards, peers by name, credentials, and letters to those who are gone."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

LIVE = "s-" + "1a" * 16
DEAD = "s-" + "2b" * 16
CARD: dict[str, Any] = {
    "attested": {"pid": 4242, "started_at_unix_ms": 1_790_000_000_000, "exe": "/usr/bin/agent"},
    "corroborated": {"provider_session_id": None, "model": "large", "cwd": "/src"},
    "declared": {"working_on": "the parser\u202e", "role": None, "parent": None},
}
DIRECTORY: dict[str, Any] = {
    "participants": [
        {
            "id": "bob",
            "label": "Bob",
            "sessions": [
                {"id": LIVE, "card": CARD, "last_seen_unix_ms": 1_790_000_000_000, "live": True},
                {"id": DEAD, "card": CARD, "last_seen_unix_ms": 1_790_000_000_000, "live": False},
            ],
        },
        {"id": "alice", "label": None, "sessions": []},
    ],
    "rooms": [{"id": "ops", "member": True}],
}


@pytest.fixture
def told(cli: Any, scripted: Any) -> Any:
    """Run a command against a daemon that gives these answers, one after another."""

    def run(answers: list[tuple[int, Any]], *arguments: str) -> Any:
        for status, value in answers:
            scripted.answer(status, value)
        return cli("alice", *arguments, "--url", scripted.url)

    return run


def test_whoami_shows_the_card_of_a_session_with_where_each_fact_is_from(told: Any) -> None:
    """A control character in what it says of itself is shown, not obeyed."""
    me = {
        "address": {"kind": "session", "participant": "bob", "session": LIVE},
        "rooms": ["ops"],
        "card": CARD,
    }
    lines = told([(200, me)], "whoami").out.splitlines()
    assert lines == [
        f"bob/{LIVE}",
        "rooms: #ops",
        "attested: process 4242 since 2026-09-21T14:13:20.000Z",
        "attested exe: /usr/bin/agent",
        "corroborated model: large",
        "corroborated cwd: /src",
        "declared working on: the parser<U+202E>",
    ]


def test_status_sends_what_is_given_and_clears_the_rest(told: Any, scripted: Any) -> None:
    """The whole group is replaced; without an option nothing is changed."""
    told([(200, {"card": CARD})], "status", "--role", "reviewer")
    told([(200, {"card": CARD})], "status", "--clear")
    shown = told([(200, {"address": {"kind": "direct", "participant": "bob"}, "rooms": []})], "status")
    assert [(each.path, each.json.get("role")) for each in scripted.seen] == [
        ("/mail/status", "reviewer"),
        ("/mail/status", None),
        ("/mail/whoami", None),
    ]
    assert all(each.json.get("working_on") is None for each in scripted.seen)
    assert shown.out == "bob\n"


def test_status_to_clear_and_to_say_is_wrong_usage(cli: Any) -> None:
    """Only one of the two can be meant."""
    assert cli("alice", "status", "--clear", "--role", "x").status == 2


def test_an_account_as_such_has_no_status(cli: Any) -> None:
    """It is refused by what it lacks."""
    ran = cli("alice", "status", "--role", "x", "--json")
    assert (ran.status, ran.refusal) == (1, {"kind": "permission_denied", "need": "session"})


def test_peers_lists_sessions_live_or_when_last_seen(told: Any) -> None:
    """Below their account, with what they say that they do."""
    rows = [line.split("\t") for line in told([(200, DIRECTORY)], "peers").out.splitlines()]
    assert rows == [
        ["bob", "Bob", "1 live session"],
        [f"bob/{LIVE}", "the parser<U+202E>", "live"],
        [f"bob/{DEAD}", "the parser<U+202E>", "last seen 2026-09-21T14:13:20.000Z"],
        ["alice", "", ""],
        ["#ops", "", "member"],
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("bob", ["bob", f"bob/{LIVE}", f"bob/{DEAD}"]),
        (LIVE, ["bob", f"bob/{LIVE}"]),
        (f"bob/{DEAD}", ["bob", f"bob/{DEAD}"]),
        ("s-2b2b2b2b", ["bob", f"bob/{DEAD}"]),
        ("#ops", ["#ops"]),
    ],
)
def test_peers_of_a_name_shows_that_one(told: Any, name: str, found: list[str]) -> None:
    """An account with all its sessions, one session, the beginning of one, a room."""
    ran = told([(200, DIRECTORY)], "peers", name)
    assert [line.split("\t")[0] for line in ran.out.splitlines()] == found


def test_peers_of_a_wrong_name_shows_what_is_near_it(told: Any) -> None:
    """Status 1 and nothing when nothing is."""
    near = told([(200, DIRECTORY)], "peers", "alcie")
    assert (near.status, near.out) == (0, "alice\t\t\n")
    assert "Nobody is named alcie" in near.err
    ran = told([(200, DIRECTORY)], "peers", "zzzzzzzz")
    assert (ran.status, ran.out) == (1, "")


def test_a_wrong_session_gets_near_ones(told: Any) -> None:
    """Those that live, by the beginning of their id."""
    unknown = {"kind": "unknown_session", "session": LIVE[:10]}
    ran = told([(404, unknown), (200, DIRECTORY)], "send", f"bob/{LIVE[:10]}", "x")
    assert f"Did you mean bob/{LIVE}?" in ran.err


def test_a_session_that_is_not_live_gets_mail_only_when_that_is_allowed(told: Any, scripted: Any) -> None:
    """The refusal says when it was seen, the hint what can be done."""
    silent = {"kind": "session_not_live", "session": DEAD, "last_seen_unix_ms": 1_790_000_000_000}
    ran = told([(409, silent)], "send", f"bob/{DEAD}", "x")
    assert ran.status == 1
    assert "last_seen_unix_ms 1790000000000" in ran.err
    assert "--allow-dead" in ran.err
    sent = {"message_id": "m4a_" + "0" * 24, "from": {"kind": "direct", "participant": "alice"}}
    assert told([(200, sent)], "send", f"bob/{DEAD}", "x", "--allow-dead").status == 0
    assert [each.json["allow_dead"] for each in scripted.seen] == [False, True]


def test_a_session_credential_is_written_to_a_private_file_or_printed_once(cli: Any, tmp_path: Path) -> None:
    """An existing file is kept, and its secret with it."""
    path = tmp_path / "session.key"
    ran = cli("alice", "session", "--secret-file", str(path))
    assert ran.status == 0
    assert ran.out.startswith("alice/s-")
    assert ran.out.endswith(": secret written\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = path.read_text().strip()
    assert len(secret) == 64
    assert secret not in ran.out + ran.err
    assert cli("alice", "session", "--secret-file", str(path)).status == 2
    assert path.read_text().strip() == secret
    printed = cli("alice", "session", "--json").json
    assert printed["address"]["participant"] == "alice"
    assert len(printed["secret"]) == 64
    assert len(cli("alice", "session").out.strip()) == 64


def test_an_attestation_policy_is_set_when_an_account_is_made_and_later(cli: Any) -> None:
    """Another word is wrong usage; a permit that says nothing leaves it."""
    made = cli(None, "admin", "account", "add", "strict", "--attestation", "required", "--json")
    assert made.status == 0
    kept = cli(None, "admin", "account", "permit", "strict", "--revoke", "mail:send", "--json").json
    assert kept["attestation"] == "required"
    changed = cli(None, "admin", "account", "permit", "strict", "--attestation", "off", "--json").json
    assert changed["attestation"] == "off"
    assert cli(None, "admin", "account", "permit", "strict", "--attestation", "always").status == 2
