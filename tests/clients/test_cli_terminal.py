"""Other people's text on a terminal, what follows an inbox, and what a person sees at eighty columns."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mail4agent_client import SyncMailClient
from mail4agent_daemon.cli.terminal import LATEST_MS, exact_time, json_text, short_time, visible

PATIENCE = 20.0
#: Every sort of character that steers a terminal or hides: overrides, isolates, zero widths, tags, line
#: separators.
HOSTILE = "a\u202eb\u2066c\u200bd\ufeffe\u2028f\u2029g\U000e0041h\u00adi\u2064j"
MARKUP = "[bold red]x[/bold red] [link=http://evil.example]y[/link] :warning:"
SCRIPT = "import sys; from mail4agent_daemon.cli import main; sys.argv[0] = 'mail4agent'; main()"
#: The only control sequences that rich itself writes: colours and styles.
STYLES = re.compile(r"\x1b\[[0-9;]*m")


def _steers(text: str) -> set[str]:
    hidden = {
        character
        for character in text
        if unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp", "Co", "Cs"}
    }
    return hidden - set("\n\t")


@pytest.fixture
def hostile(cli: Any) -> str:
    """The id of a message whose every text is hostile, from bob to the room."""
    refs = f"note={HOSTILE}"
    arguments = [
        "#ops",
        HOSTILE + MARKUP,
        "--subject",
        HOSTILE + MARKUP,
        "--correlation",
        HOSTILE,
        "--ref",
        refs,
    ]
    return cli("bob", "send", *arguments).out.strip()


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "json"])
def test_nothing_in_a_message_steers_a_terminal(cli: Any, hostile: str, as_json: list[str]) -> None:
    """Whichever verb shows it, every hidden character is shown by its code point or written as an escape."""
    for account, arguments in (
        ("alice", ["inbox", "--newest"]),
        ("alice", ["read", hostile]),
        ("alice", ["thread", hostile]),
        ("alice", ["search", "evil"]),
        ("bob", ["sent"]),
        ("operator", ["admin", "inbox", "alice"]),
    ):
        ran = cli(account, *arguments, *as_json)
        assert ran.status == 0
        assert _steers(ran.out) == set(), arguments
    if as_json:
        assert cli("alice", "read", hostile, "--json").json["subject"] == HOSTILE + MARKUP
    else:
        assert "a<U+202E>b<U+2066>c<U+200B>d" in cli("alice", "read", hostile).out


def test_nothing_in_a_label_or_a_refusal_steers_a_terminal(cli: Any) -> None:
    """Names for people come from other people."""
    cli(None, "admin", "account", "add", "hostile", "--label", HOSTILE)
    for account, arguments in (
        ("alice", ["peers"]),
        ("operator", ["admin", "account", "list"]),
        ("alice", ["read", HOSTILE]),
    ):
        ran = cli(account, *arguments)
        assert _steers(ran.out + ran.err) == set()


def test_a_text_cannot_pass_for_the_next_message_of_a_thread(cli: Any) -> None:
    """What looks like a header in a text is indented; headers are not."""
    forged = "fine\n\nid: m4a_000000000000000000000000\nfrom: operator"
    sent = cli("bob", "send", "alice", forged).out.strip()
    lines = cli("alice", "thread", sent).out.splitlines()
    assert [line for line in lines if line.startswith("from: ")] == ["from: bob"]


def test_readable_text_stays_as_it_is() -> None:
    """Letters of any script, emoji with their joiners, and where they are meant line feeds and tabs."""
    text = "Привет, こんにちは, नमस्ते, \U0001f469\u200d\U0001f4bb"
    assert visible(text) == text
    assert visible("a\n\tb", lines=True) == "a\n\tb"
    assert visible("a\n\tb") == "a<U+000A><U+0009>b"
    assert visible("\x1b[2J\x9b\x07") == "<U+001B>[2J<U+009B><U+0007>"
    assert visible("\ud800") == "<U+D800>"


def test_json_says_the_same_with_escapes() -> None:
    """A program reads the very text."""
    value = {"text": HOSTILE + "Привет\n"}
    shown = json_text(json.dumps(value, ensure_ascii=False).encode())
    assert json.loads(shown) == value
    assert "Привет" in shown
    assert _steers(shown) == set()


def test_a_time_past_every_calendar_is_shown_as_its_number() -> None:
    """The contract allows times that no clock shows."""
    assert exact_time(0) == "1970-01-01T00:00:00.000Z"
    assert exact_time(LATEST_MS) == "9999-12-31T23:59:59.999Z"
    assert exact_time(2**64 - 1) == f"{2**64 - 1} ms"
    assert short_time(2**64 - 1) == "far future"


@contextmanager
def _process(daemon: Any, account: str, *arguments: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "M4A_URL": daemon.url,
        "M4A_TOKEN_FILE": str(daemon.key(account)),
        "TERM": "xterm-256color",
        "COLUMNS": "80",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-W", "error", "-c", SCRIPT, *arguments]

    def as_at_a_terminal() -> None:
        # A shell ignores the interrupt for what it runs in the background, and that would be inherited.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        command,
        env=environment,
        preexec_fn=as_at_a_terminal,  # noqa: PLW1509  one call, and no thread but this one matters to it
        **options,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _on_terminal(daemon: Any, account: str, *arguments: str) -> str:
    """What a person's terminal is sent."""
    ours, theirs = pty.openpty()
    with _process(
        daemon, account, *arguments, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        sent = bytearray()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and select.select([ours], [], [], PATIENCE)[0]:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # how a terminal says that the last process has closed it
                break
            if not chunk:
                break
            sent += chunk
        process.wait(PATIENCE)
    os.close(ours)
    return sent.decode().replace("\r\n", "\n")


def test_a_persons_terminal_is_sent_styles_and_text_alone(daemon: Any, hostile: str) -> None:
    """Rich adds colours; nothing of the message is a control sequence or markup, and no line is too long."""
    for arguments in (
        ["inbox", "--newest"],
        ["read", hostile],
        ["thread", hostile],
        ["search", "evil"],
        ["peers"],
    ):
        plain = STYLES.sub("", _on_terminal(daemon, "alice", *arguments))
        assert plain
        assert _steers(plain) == set()
        assert max(len(line) for line in plain.splitlines()) <= 80, arguments
    whole = " ".join(STYLES.sub("", _on_terminal(daemon, "alice", "read", hostile)).split())
    assert "[bold red]x[/bold red] [link=http://evil.example]y[/link] :warning:" in whole


def test_an_inbox_is_followed_until_it_is_interrupted(daemon: Any) -> None:
    """One JSON object a line, as each message comes, acknowledged when the next one is waited for."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    marker = {"correlation": "followed"}
    with (
        SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice,
        SyncMailClient(daemon.url, token_file=daemon.key("bob")) as bob,
    ):
        alice.send_text("bob", "0", **marker)
        arguments = ["inbox", "--watch", "--unread", "--ack", "--json", "--correlation", "followed"]
        with _process(daemon, "bob", *arguments, **options) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            bodies = [json.loads(process.stdout.readline())["body"]]
            for text in ("1", "2"):
                alice.send_text("bob", text, **marker)
                bodies.append(json.loads(process.stdout.readline())["body"])
            assert bodies == ["0", "1", "2"]
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
            assert process.stderr.read() == b""
        unread = bob.inbox(unread_only=True, correlation="followed").messages
        assert [message.body for message in unread] in ([], ["2"])


def test_following_begins_with_what_comes(daemon: Any) -> None:
    """Without --unread, what was there before is not shown."""
    with SyncMailClient(daemon.url, token_file=daemon.key("alice")) as alice:
        alice.send_text("bob", "before", correlation="from now")
        arguments = ["inbox", "--watch", "--json", "--correlation", "from now"]
        with _process(daemon, "bob", *arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            # Nothing tells when the watch has begun, so messages are sent until one is shown.
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end and not select.select([process.stdout], [], [], 0.1)[0]:
                alice.send_text("bob", "after", correlation="from now")
            assert json.loads(process.stdout.readline())["body"] == "after"


def test_a_reader_that_goes_away_ends_it_quietly(daemon: Any) -> None:
    """As of every program in a pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    with _process(daemon, "alice", "peers", stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 141


def test_a_closed_standard_input_is_a_wrong_command_line(daemon: Any) -> None:
    """Nothing to read is no empty message."""
    script = f"import os; os.close(0); {SCRIPT}"
    environment = {**os.environ, "M4A_URL": daemon.url, "M4A_TOKEN_FILE": str(daemon.key("alice"))}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [
        "sh",
        "-c",
        'exec "$0" -c "$1" send bob <&-',
        sys.executable,
        script.removeprefix("import os; os.close(0); "),
    ]
    ended = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 2


def test_a_terminal_of_another_character_set_gets_escapes(daemon: Any, cli: Any) -> None:
    """What it cannot show is no reason to fail."""
    sent = cli("bob", "send", "alice", "Привет").out.strip()
    environment = {**os.environ, "M4A_URL": daemon.url, "M4A_TOKEN_FILE": str(daemon.key("alice"))}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "latin-1:strict"}
    command = [sys.executable, "-c", SCRIPT, "read", sent]
    ended = subprocess.run(command, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert rb"\u041f\u0440" in ended.stdout


def test_a_daemon_that_was_never_there_is_not_waited_for(cli: Any, closed_url: str) -> None:
    """A watch with a wrong address ends at once."""
    ran = cli("alice", "inbox", "--watch", M4A_URL=closed_url)
    assert ran.status == 3
