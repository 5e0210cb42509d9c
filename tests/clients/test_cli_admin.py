"""The operator's verbs of the command line, against a real daemon."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.mail import IssuedSecret, ParticipantId
from mail4agent_daemon.cli.exits import SecretStrandedError, status_of
from mail4agent_daemon.cli.secret_files import issued
from mail4agent_daemon.cli.verbs import Mail


def test_an_account_lives_from_registration_to_purge(cli: Any, tmp_path: Path) -> None:
    """Without a credential the key that the daemon wrote is used."""
    key = tmp_path / "carol.key"
    assert (
        cli(None, "admin", "account", "add", "carol", "--label", "Carol C", "--secret-file", str(key)).status
        == 0
    )
    assert cli(None, "whoami", "--token-file", str(key)).out.startswith("carol\nlabel: Carol C\n")
    first = key.read_text()
    assert cli(None, "admin", "account", "rotate", "carol", "--secret-file", str(key)).status == 0
    assert key.read_text() != first
    assert cli(None, "whoami", "--token-file", str(key)).status == 0
    permitted = cli(None, "admin", "account", "permit", "carol", "--revoke", "mail:send", "--json").json
    assert permitted["capabilities"] == ["mail:read"]
    assert (
        cli(None, "send", "bob", "x", "--token-file", str(key), "--json").refusal["kind"]
        == "permission_denied"
    )
    assert cli(None, "admin", "account", "revoke", "carol").status == 0
    assert cli(None, "whoami", "--token-file", str(key)).status == 4
    listed = {
        row.split("\t")[0]: row.split("\t")[1]
        for row in cli(None, "admin", "account", "list").out.splitlines()
    }
    assert (listed["alice"], listed["carol"]) == ("active, off", "no secret")
    assert cli(None, "admin", "account", "remove", "carol", "--yes").status == 0
    assert cli(None, "admin", "account", "add", "carol", "--json").refusal["kind"] == "id_retired"
    assert cli(None, "admin", "purge", "account", "carol", "--yes").out == "0 messages deleted\n"
    assert "carol" not in cli(None, "admin", "account", "list").out


def test_a_room_lives_from_creation_to_removal(cli: Any) -> None:
    """Members join and leave; a removed room is gone."""
    assert cli(None, "admin", "room", "add", "lab", "--posting", "members").status == 0
    assert cli(None, "admin", "room", "join", "lab", "alice").status == 0
    assert cli(None, "admin", "room", "members", "lab").out == "alice\n"
    assert cli(None, "admin", "room", "members", "lab", "--json").json == {"members": ["alice"]}
    rooms = {room["id"]: room for room in cli(None, "admin", "room", "list", "--json").json["rooms"]}
    assert (rooms["lab"]["posting"], rooms["lab"]["members"]) == ("members", 1)
    assert cli("bob", "send", "#lab", "x").status == 1
    assert cli(None, "admin", "room", "leave", "lab", "alice").status == 0
    assert cli(None, "admin", "room", "members", "lab").out == ""
    assert cli(None, "admin", "room", "remove", "lab", "--yes").status == 0
    assert "lab" not in cli(None, "admin", "room", "list").out


def test_an_operator_reads_an_inbox_and_deletes_a_message(cli: Any) -> None:
    """One named inbox, and one named message."""
    sent = cli("alice", "send", "bob", "for nobody else", "--json").json["message_id"]
    page = cli(None, "admin", "inbox", "bob", "--json").json
    assert sent in [message["message_id"] for message in page["messages"]]
    last = next(message for message in page["messages"] if message["message_id"] == sent)
    behind = cli(
        None, "admin", "inbox", "bob", "--after", f"{last['created_at_unix_ms']}/{sent}", "--json"
    ).json
    assert sent not in [message["message_id"] for message in behind["messages"]]
    assert cli(None, "admin", "purge", "message", sent, "--yes").status == 0
    assert cli("bob", "read", sent, "--json").refusal["kind"] == "unknown_message"


@pytest.mark.promise("audit.every-deed-is-recorded-with-it")
def test_the_audit_lists_what_operators_did_newest_first(cli: Any) -> None:
    """Number, time, who, operation, about what and detail; pages go back by number."""
    assert cli(None, "admin", "room", "add", "attic", "--posting", "members").status == 0
    assert cli(None, "admin", "room", "join", "attic", "alice").status == 0
    assert cli(None, "admin", "inbox", "alice").status == 0
    rows = [row.split("\t") for row in cli(None, "admin", "audit", "--limit", "3").out.splitlines()]
    assert [row[2:] for row in rows] == [
        ["operator", "admin.inbox", "alice", ""],
        ["operator", "admin.room.member.add", "#attic", "alice"],
        ["operator", "admin.room", "#attic", "posting members"],
    ]
    page = cli(None, "admin", "audit", "--before", rows[1][0], "--limit", "1", "--json").json
    assert [(str(entry["number"]), entry["operation"]) for entry in page["entries"]] == [
        (rows[2][0], "admin.room")
    ]
    assert cli("alice", "admin", "audit", "--json").refusal["kind"] == "permission_denied"


def test_retention_reports_its_rule_and_its_last_run(cli: Any) -> None:
    """What is kept for how long, and what was removed."""
    assert cli(None, "admin", "retention").out.startswith("mail is kept ")
    report = cli(None, "admin", "retention", "--run", "--json").json
    assert report["last_run_unix_ms"] > 0


def test_a_wrong_account_gets_near_names(cli: Any) -> None:
    """An operator slips too."""
    assert "Did you mean alice?" in cli(None, "admin", "account", "rotate", "alise").err


@pytest.mark.skipif(os.name != "posix", reason="other systems have no file modes")
def test_a_secret_file_is_private_whatever_the_umask(cli: Any, tmp_path: Path) -> None:
    """Nobody else can open it at any moment, and the secret is not printed as well."""
    key = tmp_path / "dora.key"
    before = os.umask(0)
    try:
        ran = cli(None, "admin", "account", "add", "dora", "--secret-file", str(key))
    finally:
        os.umask(before)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    secret = key.read_text().strip()
    assert len(secret) == 64
    assert secret not in ran.out + ran.err
    assert list(tmp_path.glob(".*")) == []


def test_a_secret_file_that_exists_is_kept_and_no_account_is_made(cli: Any, tmp_path: Path) -> None:
    """Another account's only copy may be in it."""
    key = tmp_path / "key"
    key.write_text("precious")
    assert cli(None, "admin", "account", "add", "erik", "--secret-file", str(key)).status == 2
    assert key.read_text() == "precious"
    assert "erik" not in cli(None, "admin", "account", "list").out


def test_a_refused_registration_leaves_no_file(cli: Any, tmp_path: Path) -> None:
    """The file is made first, and taken away again."""
    key = tmp_path / "key"
    assert cli(None, "admin", "account", "add", "alice", "--secret-file", str(key)).status == 1
    assert cli(None, "admin", "account", "rotate", "nobody-at-all", "--secret-file", str(key)).status == 1
    assert list(tmp_path.iterdir()) == []


def test_a_secret_without_a_file_is_printed_alone(cli: Any) -> None:
    """Standard output holds the secret and nothing else, so that it can be piped."""
    ran = cli(None, "admin", "account", "add", "fay")
    assert len(ran.out.strip()) == 64
    assert ran.out.count("\n") == 1


def _stands_there(path: Path, kind: str) -> None:
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to(path.with_name("linked"))
        case _:
            path.with_name("linked").write_text("precious")
            path.symlink_to(path.with_name("linked"))


@pytest.mark.skipif(os.name != "posix", reason="other systems have no pipes among their files")
@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "link to a file"])
def test_a_rotated_secret_takes_the_place_of_a_regular_file_alone(
    cli: Any, daemon: Any, tmp_path: Path, kind: str
) -> None:
    """A pipe, a link or a folder stays what it is, and the old secret stays alive."""
    target = tmp_path / "key"
    _stands_there(target, kind)
    before = {entry.name: entry.lstat().st_ino for entry in tmp_path.iterdir()}
    ran = cli(None, "admin", "account", "rotate", "alice", "--secret-file", str(target))
    assert (ran.status, ran.out) == (2, "")
    assert "not a regular file" in " ".join(ran.err.split())
    assert {entry.name: entry.lstat().st_ino for entry in tmp_path.iterdir()} == before
    assert cli("alice", "whoami").status == 0


@pytest.mark.skipif(os.name != "posix", reason="other systems have no owners by number")
def test_a_rotated_secret_replaces_nobody_elses_file(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What belongs to somebody else is kept, and the old secret stays alive."""
    target = tmp_path / "key"
    target.write_text("precious")
    monkeypatch.setattr(os, "geteuid", lambda: target.stat().st_uid + 1)
    # The credential must belong to the caller too, so it is not read from a file here.
    ran = cli(None, "admin", "account", "rotate", "alice", "--secret-file", str(target), M4A_TOKEN="5f" * 32)
    assert (ran.status, ran.out) == (2, "")
    assert "belongs to somebody" in " ".join(ran.err.split())
    assert [entry.name for entry in tmp_path.iterdir()] == ["key"]
    assert target.read_text() == "precious"


def test_a_secret_that_cannot_take_its_place_is_told_where_it_lies(tmp_path: Path) -> None:
    """The old secret is dead by then, so the new one must not be lost."""
    target = tmp_path / "key"
    secret = "0a" * 32

    def issue() -> IssuedSecret:
        target.mkdir()
        return IssuedSecret(id=ParticipantId("alice"), secret=secret)

    mail = Mail(None, None, allow_plain_http=False, as_json=False)
    with pytest.raises(SecretStrandedError) as caught:
        issued(mail, target, issue, replace=True)
    assert caught.value.lies_in is not None
    assert caught.value.lies_in in str(caught.value)
    assert Path(caught.value.lies_in).read_text().strip() == secret
    assert secret not in str(caught.value)
    assert status_of(caught.value) == 6
