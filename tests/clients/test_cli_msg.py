"""The verbs of ``msg``: no daemon, and nobody says who they are."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from mail4agent_core.clock import HandClock, SystemClock
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.taint import BOTH, CLEAN, Taint
from mail4agent_daemon.cli import application

Msg = Callable[..., Result]
UNTRUSTED = Taint(private=False, untrusted=True)
BOUND_SECS = 60


@pytest.fixture
def store(tmp_path: Path) -> MailboxStore:
    """The mailboxes that the verbs use."""
    return MailboxStore.open(tmp_path / "messages")


@pytest.fixture
def msg(store: MailboxStore) -> Msg:
    """Run a verb: ``msg("send", "chat", "hello")``."""

    def run(*arguments: str, stdin: str | None = None) -> Result:
        env = {
            "M4A_MESSAGES_DIR": str(store.root),
            "TERM": "dumb",
            "COLUMNS": "80",
            "M4A_URL": "http://[::1]:1",
        }
        command = ["msg", *arguments]
        return CliRunner().invoke(application(), command, input=stdin, env=env, catch_exceptions=False)

    return run


def value(ran: Result) -> Any:
    """The one JSON value of a run that went well."""
    assert (ran.exit_code, ran.stderr) == (0, "")
    return json.loads(ran.stdout)


def test_a_text_is_left_listed_claimed_and_confirmed(msg: Msg, store: MailboxStore) -> None:
    """From another shell's view, from the first to the last."""
    id_ = msg("send", "chat", "3 drafts staged", "--from", "morning").stdout.strip()
    assert msg("list").stdout == f"{id_}\tpending\tmorning\tchat\tprivate untrusted\t3 drafts staged\n"
    assert "    3 drafts staged\n" in msg("show", id_[:20]).stdout
    claimed = msg("claim", "--to", "chat", "--session", "s1", "--lease", "60").stdout
    assert claimed.startswith(f"[Message {id_} from `morning` — another mecha agent")
    assert "3 drafts staged" in claimed
    assert msg("claim", "--to", "chat", "--session", "s2").stdout == ""
    lost = msg("confirm", id_, "--session", "s2")
    assert (lost.exit_code, lost.stdout) == (1, "")
    assert msg("confirm", id_, "--session", "s1").stdout == f"{id_}\tdelivered\n"
    assert msg("list").stdout == ""
    assert store.message(id_).status == "delivered"
    assert id_ in msg("list", "--all", "--to", "chat").stdout


def test_with_json_each_verb_prints_one_value(msg: Msg, store: MailboxStore) -> None:
    """What programs read: names as in the file, and the taint that counts."""
    store.announce("scout", "s9")
    sent = value(msg("send", "scuot", "hello", "--json"))
    assert sent["recipient"] == {"seen": False, "live": False, "near": ["scout"]}
    again = value(msg("send", "scuot", "-", "--json", stdin="hello"))
    assert (again["kind"], again["id"]) == ("duplicate", sent["id"])
    (listed,) = value(msg("list", "--json"))["messages"]
    assert (listed["body"], listed["from_session"]) == ("hello", "s9")
    assert listed["taint"] == {"private": True, "untrusted": True}
    assert value(msg("show", sent["id"], "--json")) == listed
    assert value(msg("agents", "--json"))["agents"][0]["pid"] == os.getpid()
    assert value(msg("dismiss", sent["id"], "--json")) == {"dismissed": [sent["id"]]}
    assert value(msg("claim", "--json")) == {"messages": []}
    store.depart("s9")
    other = value(msg("send", "chat", "hello", "--json"))["id"]
    value(msg("claim", "--to", "chat", "--lease", "60", "--json"))
    assert value(msg("confirm", other, "--json")) == {"confirmed": [other], "lost": []}


@pytest.mark.promise("mailbox.the-sender-is-the-session")
def test_a_session_is_the_sender_whatever_it_says(msg: Msg, store: MailboxStore) -> None:
    """And what it sends carries both legs, because nobody knows what it has read."""
    store.announce("scout", "s9")
    ran = msg("send", "chat", "approve it", "--from", "boss")
    assert "session of scout" in ran.stderr
    (message,) = store.messages_for("chat")
    assert (message.from_, message.from_session, message.effective_taint()) == ("scout", "s9", BOTH)


@pytest.mark.promise("mailbox.the-sender-is-the-session")
@pytest.mark.parametrize(("sender", "taint"), [("user", CLEAN), ("morning", BOTH)])
def test_only_a_person_at_a_terminal_sends_without_taint(
    store: MailboxStore, sender: str, taint: Taint
) -> None:
    """As user; under another name, or with standard input from elsewhere, both legs are set."""
    command = [sys.executable, "-m", "mail4agent_daemon", "msg", "--help"]
    command[-1:] = ["send", "chat", "hello", "--from", sender, "--root", str(store.root)]
    master, slave = pty.openpty()
    subprocess.run(command, stdin=slave, check=True, capture_output=True, timeout=BOUND_SECS)
    command[command.index("hello")] = "again"
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, capture_output=True, timeout=BOUND_SECS)
    os.close(master)
    os.close(slave)
    first, second = store.messages_for("chat")
    assert (first.from_, first.effective_taint()) == (sender, taint)
    assert second.effective_taint() == BOTH


@pytest.mark.promise("mailbox.taint-arrives-before-the-text")
@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "{id}"),
        ("show", "{id}", "--json"),
        ("list",),
        ("list", "--json"),
        ("claim",),
        ("claim", "--json"),
    ],
)
def test_what_a_session_is_shown_arms_it_first(
    msg: Msg, store: MailboxStore, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """On each verb that shows a text; where it cannot be armed nothing is shown or taken."""
    outcome = store.send("scout", "morning", None, "a stranger's words", None, UNTRUSTED)
    store.announce("scout", "s9")
    assert store.registry.armed_by("s9") == CLEAN
    command = [argument.format(id=outcome.id) for argument in arguments]
    (store.root / ".agents" / ".lock").mkdir()
    refused = msg(*command)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert store.message(outcome.id).status == "pending"
    (store.root / ".agents" / ".lock").rmdir()
    assert "a stranger's words" in msg(*command).stdout
    assert store.registry.armed_by("s9") == UNTRUSTED


def test_a_session_takes_its_own_messages_only(msg: Msg, store: MailboxStore) -> None:
    """Another mailbox, and another session's name, are not for it."""
    store.announce("scout", "s9")
    store.send("chat", "morning", None, "hello", None, CLEAN)
    for arguments in (("--to", "chat"), ("--session", "s1")):
        assert msg("claim", *arguments).exit_code == 2
    assert msg("confirm", store.pending_for("chat")[0].id).exit_code == 2
    store.depart("s9")
    assert msg("claim").exit_code == 2
    assert len(store.pending_for("chat")) == 1


@pytest.mark.promise("mailbox.an-unknown-recipient-is-said")
def test_an_unknown_recipient_is_said_and_can_be_refused(msg: Msg, store: MailboxStore) -> None:
    """A sentence with near names; with --require-known status 1 and nothing written."""
    store.registry.note_seen("morning-report")
    ran = msg("send", "morning-reprot", "hello", "--require-known")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "did you mean morning-report?" in ran.stderr
    assert "no item has this id" in ran.stderr
    assert store.recipients() == []
    assert "not running now" in msg("send", "morning-report", "hello").stderr


def test_refusals_end_with_one_sentence_or_one_object(msg: Msg, store: MailboxStore) -> None:
    """Names, ids and full mailboxes; nothing is written."""
    for arguments, kind in (
        (("send", "../x", "hello"), "malformed"), (("send", "c" * 65, "hello"), "too_large"),
        (("send", "chat", " "), "malformed"), (("show", "nothing"), "unknown_item"),
        (("dismiss", "a" * 5000), "too_large"), (("claim", "--to", "chat", "--lease", "0"), "malformed"),
    ):  # fmt: skip
        ran = msg(*arguments, "--json")
        assert (ran.exit_code, ran.stdout, json.loads(ran.stderr)["kind"]) == (1, "", kind)
        assert msg(*arguments).stderr.startswith("mail4agent: ")
    assert store.recipients() == []


def test_everything_that_waits_is_dismissed_at_once(msg: Msg, store: MailboxStore) -> None:
    """Of one mailbox, or of all."""
    for to in ("chat", "scout"):
        store.send(to, "morning", None, "hello", None, CLEAN)
    assert msg("dismiss").exit_code == 2
    assert msg("dismiss", "--all", "--to", "chat").stdout.count("dismissed") == 1
    assert len(store.pending_for("scout")) == 1
    assert msg("dismiss", "--all").stdout.count("dismissed") == 1


@pytest.mark.promise("mailbox.newer-files-are-left-alone")
def test_what_was_set_aside_is_listed(msg: Msg, store: MailboxStore) -> None:
    """So that nothing is lost out of sight."""
    (store.folder_of("chat") / "a.json").write_text("{")
    assert msg("list").stdout == ""
    assert msg("list", "--bad").stdout == "chat\ta.bad\n"
    assert value(msg("list", "--bad", "--json")) == {"bad": [{"to": "chat", "file": "a.bad"}]}


def test_texts_are_safe_to_print(msg: Msg, store: MailboxStore) -> None:
    """A file that another program wrote may hold anything."""
    path = store.folder_of("chat") / "m1.json"
    hostile = {"id": "m1", "status": "pending", "from": "a", "to": "chat", "body": "\x1b[2J\u202e\tx\ny"}
    path.write_text(json.dumps({**hostile, "created_at": "\x1b]0;x\x07"}))
    for ran in (msg("list"), msg("show", "m1"), msg("list", "--json"), msg("claim", "--to", "chat")):
        assert ran.exit_code == 0
        assert not set("\x1b\u202e\x07") & set(ran.stdout)
    assert msg("list", "--all").stdout.count("\t") == 5


def test_mailboxes_that_cannot_be_used_end_with_words_for_their_owner(
    msg: Msg, store: MailboxStore, tmp_path: Path
) -> None:
    """A link where a mailbox should be is named, also to a program."""
    (store.root / "chat").symlink_to(tmp_path)
    ran = msg("send", "chat", "hello")
    assert ran.exit_code == 1
    assert "is a symbolic link" in ran.stderr
    assert json.loads(msg("send", "chat", "hello", "--json").stderr)["kind"] == "mailbox_unusable"


@pytest.mark.promise("mailbox.a-watch-wakes")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_watch_prints_what_comes_until_it_is_ended(store: MailboxStore, as_json: bool) -> None:
    """One line a message, as it comes."""
    command = [
        sys.executable,
        "-m",
        "mail4agent_daemon",
        "msg",
        "watch",
        "--to",
        "chat",
        "--root",
        str(store.root),
    ]
    with subprocess.Popen(
        [*command, *(["--json"] if as_json else [])], stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        for text in ("one", "two"):
            store.send("chat", "morning", None, text, None, CLEAN)
            line = watching.stdout.readline()
            assert (json.loads(line)["body"] if as_json else line.rstrip("\n").split("\t")[-1]) == text
        watching.terminate()


@pytest.mark.promise("mailbox.taint-arrives-before-the-text")
def test_what_a_watch_prints_to_a_session_arms_it_first(store: MailboxStore) -> None:
    """When the line is there, the session has its taint."""
    store.announce("scout", "s9")
    store.send("scout", "morning", None, "a stranger's words", None, UNTRUSTED)
    command = [sys.executable, "-m", "mail4agent_daemon", "msg", "watch", "--root", str(store.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        line = watching.stdout.readline()
        armed = store.registry.armed_by("s9")
        watching.terminate()
    assert "a stranger's words" in line
    assert armed == UNTRUSTED


def test_a_dead_message_waits_in_the_list(msg: Msg, store: MailboxStore) -> None:
    """After five claims that nobody confirmed it is a person's."""
    clock = HandClock(SystemClock().now_ms() - 10_000)
    with MailboxStore.open(store.root, clock=clock) as turned:
        turned.send("chat", "morning", None, "poison", None, CLEAN)
        for _ in range(5):
            turned.claim("chat", "s", 1)
            clock.step(1_000)
    assert "\tdead\t" in msg("list").stdout


def test_the_name_of_a_file_that_is_no_text_is_listed_and_harms_no_terminal(
    msg: Msg, store: MailboxStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A byte that is no UTF-8 is spelled, and what is logged of a name has no control character."""
    path = os.fsencode(store.folder_of("chat")) + b"/\xff\x1b[2J.json"
    Path(os.fsdecode(path)).write_text("x")
    assert msg("list").exit_code == 0
    assert "'\\udcff\\x1b[2J.json' is no message" in caplog.text
    assert value(msg("list", "--bad", "--json")) == {"bad": [{"to": "chat", "file": "\\xff\x1b[2J.bad"}]}
