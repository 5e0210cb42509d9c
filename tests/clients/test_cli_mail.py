"""The mail verbs of the command line, against a real daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def _sent(cli: Any, sender: str, *arguments: str, **more: Any) -> str:
    ran = cli(sender, "send", *arguments, **more)
    assert (ran.status, ran.err) == (0, "")
    return ran.out.strip()


def test_a_message_is_sent_listed_read_acknowledged_and_answered(cli: Any) -> None:
    """The whole of a first conversation."""
    sent = _sent(cli, "alice", "bob", "Is it green?", "--subject", "build 12", "--correlation", "c1")
    assert sent in cli("bob", "inbox", "--unread", "--correlation", "c1").out
    assert "Is it green?" in cli("bob", "read", sent).out
    assert cli("bob", "ack", sent).out == f"{sent} acknowledged\n"
    assert sent not in cli("bob", "inbox", "--unread").out
    answered = cli("bob", "reply", sent, "Yes.", "--json").json["message_id"]
    answer = cli("alice", "read", answered, "--json").json
    assert answer["to"] == {"kind": "direct", "participant": "alice"}
    assert (answer["subject"], answer["reply_to"], answer["correlation"]) == ("Re: build 12", sent, "c1")
    thread = cli("alice", "thread", answered, "--json").json["messages"]
    assert [message["message_id"] for message in thread] == [sent, answered]
    listed = {each["message"]["message_id"]: each for each in cli("alice", "sent", "--json").json["sent"]}
    assert listed[sent]["acknowledged"] == 1


def test_an_answer_in_a_room_stays_in_the_room_and_one_to_oneself_where_it_went(cli: Any) -> None:
    """The thread decides, not the author's own address."""
    post = _sent(cli, "alice", "#ops", "deploy?")
    for account in ("bob", "alice"):
        answered = cli(account, "reply", post, "ok", "--json").json["message_id"]
        assert cli("bob", "read", answered, "--json").json["to"] == {"kind": "room", "room": "ops"}
    direct = _sent(cli, "alice", "bob", "one more thing")
    again = cli("alice", "reply", direct, "and another", "--json").json["message_id"]
    assert cli("bob", "read", again, "--json").json["to"] == {"kind": "direct", "participant": "bob"}
    aside = cli("bob", "reply", post, "aside", "--to", "alice", "--json").json["message_id"]
    assert cli("alice", "read", aside, "--json").json["to"] == {"kind": "direct", "participant": "alice"}


@pytest.mark.parametrize("how", ["argument", "file", "dash", "stdin"])
def test_a_text_comes_from_an_argument_a_file_or_standard_input(cli: Any, tmp_path: Path, how: str) -> None:
    """To the last line feed, as it was given."""
    text = "first line\n\tsecond ✓ Привет\n"
    file = tmp_path / "text"
    file.write_text(text)
    arguments = {"argument": [text], "file": ["--file", str(file)], "dash": ["-"], "stdin": []}[how]
    sent = _sent(cli, "alice", "bob", *arguments, stdin=text if how in {"dash", "stdin"} else None)
    assert cli("bob", "read", sent, "--json").json["body"] == text


def test_a_text_that_is_no_utf8_is_refused(cli: Any, tmp_path: Path) -> None:
    """Bytes are not guessed at."""
    file = tmp_path / "text"
    file.write_bytes(b"caf\xe9")
    for ran in (
        cli("alice", "send", "bob", "--file", str(file), "--json"),
        cli("alice", "send", "bob", "-", "--json", stdin=b"caf\xe9"),
        cli("alice", "send", "bob", "caf\udce9", "--json"),
    ):
        assert ran.status == 1
        assert (ran.refusal["kind"], ran.refusal["field"]) == ("malformed", "body")


def test_a_text_of_many_megabytes_is_refused_without_being_read_whole(cli: Any, tmp_path: Path) -> None:
    """What is read is bounded, and the contract's own bound is what the refusal names."""
    file = tmp_path / "text"
    with file.open("wb") as sparse:
        sparse.write(b"x" * 1024)
        sparse.truncate(1024)
        for _ in range(17):
            sparse.write("é".encode() * (512 * 1024))
    ran = cli("alice", "send", "bob", "--file", str(file), "--json")
    assert ran.status == 1
    assert (ran.refusal["kind"], ran.refusal["field"], ran.refusal["limit"]) == ("too_large", "body", 65536)
    assert ran.refusal["actual"] >= 16 * 1024 * 1024


def test_references_are_written_as_kind_digest_and_locator(cli: Any) -> None:
    """A locator may hold what separates the others."""
    sent = _sent(cli, "alice", "bob", "see", "--ref", "file:9f86=src/a=b.py", "--ref", "url=http://x:1/?a=b")
    assert cli("bob", "read", sent, "--json").json["refs"] == [
        {"kind": "file", "locator": "src/a=b.py", "digest": "9f86"},
        {"kind": "url", "locator": "http://x:1/?a=b", "digest": None},
    ]
    assert "ref: file:9f86=src/a=b.py" in cli("bob", "read", sent).out


def test_a_key_makes_a_repeat_the_same_message(cli: Any) -> None:
    """A script that does not know whether it sent may send again."""
    first = _sent(cli, "alice", "bob", "once", "--key", "k.1")
    assert _sent(cli, "alice", "bob", "once", "--key", "k.1") == first
    assert (
        cli("alice", "send", "bob", "twice", "--key", "k.1", "--json").refusal["kind"]
        == "idempotency_conflict"
    )


def test_a_wrong_recipient_gets_near_names(cli: Any) -> None:
    """A slip of the finger, a room without its sign, a sign too many; no guess is made of a strange name."""
    assert "Did you mean bob?" in cli("alice", "send", "bbo", "x").err
    assert "Did you mean #ops?" in cli("alice", "send", "ops", "x").err
    assert "Did you mean #ops?" in cli("alice", "send", "#opps", "x").err
    assert "Did you mean bob?" in cli("alice", "send", "#bob", "x").err
    assert "Did you mean" not in cli("alice", "send", "zzzzzzzz", "x").err


def test_several_messages_are_acknowledged_in_one_run(cli: Any) -> None:
    """Ids come as arguments or from another command's lines; each has its own outcome."""
    first, second = (_sent(cli, "alice", "bob", text, "--correlation", "acks") for text in ("1", "2"))
    lines = cli("bob", "inbox", "--correlation", "acks").out
    unknown = "m4a_" + "0" * 24
    ran = cli("bob", "ack", "-", unknown, "--json", stdin=lines)
    assert ran.status == 1
    kinds = [outcome["kind"] for outcome in ran.json["outcomes"]]
    assert kinds == ["acked", "acked", "refused"]
    assert cli("bob", "ack", first, second).status == 0


def test_an_inbox_is_filtered_paged_and_ordered(cli: Any) -> None:
    """Every option reaches the daemon."""
    ids = [_sent(cli, "alice", "bob", f"page {n}", "--correlation", "pages") for n in range(3)]
    with_filter = ["inbox", "--correlation", "pages"]

    def listed(*options: str) -> list[str]:
        return [
            message["message_id"] for message in cli("bob", *with_filter, "--json", *options).json["messages"]
        ]

    assert listed() == ids
    assert listed("--newest", "--limit", "2") == [ids[2], ids[1]]
    assert listed("--after", ids[0]) == ids[1:]
    assert listed("--before", ids[2]) == [ids[1], ids[0]]
    middle = cli("bob", "read", ids[1], "--json").json
    assert listed("--after", f"{middle['created_at_unix_ms']}/{ids[1]}") == ids[2:]
    assert listed("--from", "bob") == []
    assert listed("--room", "ops") == []
    assert listed("--thread", ids[1]) == [ids[1]]
    assert listed("--since", "9999-01-01T00:00:00Z") == []
    assert listed("--since", "0") == ids
    assert listed("--ack") == ids
    assert listed("--unread") == []


def test_search_finds_words_and_phrases(cli: Any) -> None:
    """Words are joined, quotes keep a phrase together."""
    sent = _sent(cli, "alice", "bob", "the quixotic albatross lands")
    assert sent in cli("bob", "search", "albatross", "quixotic").out
    assert sent in cli("bob", "search", '"quixotic albatross"').out
    assert cli("bob", "search", '"albatross quixotic"').out == ""
    assert cli("bob", "search", "albatross", "--from", "bob", "--json").json == {"messages": []}


def test_wait_ends_when_there_is_mail_and_with_five_when_there_is_none(cli: Any) -> None:
    """Unread mail ends it at once; with --new only what comes from now on, with --after what came since."""
    _sent(cli, "alice", "bob", "waited for")
    assert cli("bob", "wait", "--secs", "0").status == 0
    assert cli("bob", "wait", "--new", "--secs", "0").status == 5
    last = _sent(cli, "alice", "bob", "waited for again")
    assert cli("bob", "wait", "--after", last, "--secs", "0").status == 5
    while unread := cli("bob", "inbox", "--unread", "--ack").out:
        assert unread
    ran = cli("bob", "wait", "--secs", "0", "--json")
    assert (ran.status, ran.json["unread"]) == (5, 0)


def test_an_own_post_ends_no_wait(cli: Any) -> None:
    """One's own words are no mail."""
    before = _sent(cli, "alice", "#ops", "before")
    _sent(cli, "alice", "#ops", "own")
    assert cli("alice", "wait", "--after", before, "--secs", "0").status == 5
    _sent(cli, "bob", "#ops", "not own")
    assert cli("alice", "wait", "--after", before, "--secs", "0").status == 0


def test_who_one_is_and_who_is_there(cli: Any) -> None:
    """One's own address, and everybody's."""
    assert cli("alice", "whoami").out.splitlines()[0] == "alice"
    assert cli("alice", "whoami", "--json").json["address"] == {"kind": "direct", "participant": "alice"}
    peers = [line.split("\t")[0] for line in cli("alice", "peers").out.splitlines()]
    assert {"alice", "bob", "operator", "#ops"} <= set(peers)
    assert {"id": "ops", "member": True} in cli("alice", "peers", "--json").json["rooms"]


def test_a_daemon_is_reached_over_its_unix_socket(cli: Any, daemon: Any) -> None:
    """A path instead of a port; the verb is the same."""
    assert cli("alice", "whoami", "--url", f"unix:{daemon.home}/daemon.sock").out.startswith("alice\n")


def test_lines_for_programs_hold_five_fields(cli: Any) -> None:
    """Id, time, sender, recipient and subject, whatever the subject holds."""
    sent = _sent(cli, "alice", "bob", "b", "--subject", "s | t", "--correlation", "fields")
    (line,) = cli("bob", "inbox", "--correlation", "fields").out.splitlines()
    message_id, when, sender, recipient, subject = line.split("\t")
    assert (message_id, sender, recipient, subject) == (sent, "alice", "bob", "s | t")
    assert when.endswith("Z")
