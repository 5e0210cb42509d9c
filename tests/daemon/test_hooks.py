"""Hooks against a running daemon: an agent's process starts the script, and is told of its mail."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .agent import Agent, agent
from .running import BOUND_SECS, Daemon, environment, running

HOOK = (sys.executable, "-m", "mail4agent_client.hook")
#: What an event is called in the JSON that a client gives its hooks.
NAMES = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "tool": "PostToolUse",
    "stop": "Stop",
}
ALL = tuple(NAMES)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with ada, whose sessions are told, and ben and olga, whose programs are no sessions."""
    with running(tmp_path_factory.mktemp("hooks") / "home") as daemon:
        daemon.add("ada")
        for account in ("ben", "olga"):
            daemon.add(account, attestation="off")
        yield daemon


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    """Ends each process that a test started."""
    with ExitStack() as stack:
        yield stack


def started(processes: ExitStack, daemon: Daemon) -> Agent:
    """A process that is a session of ada."""
    made = processes.enter_context(agent(daemon.keys["ada"]))
    made.connect(daemon.port)
    assert made.address()["kind"] == "session"
    return made


def settings(daemon: Daemon, account: str, url: str | None = None) -> dict[str, str]:
    """What a hook is told by its environment."""
    return {"M4A_URL": url or daemon.url, "M4A_TOKEN": daemon.keys[account]}


def hooked(daemon: Daemon, made: Agent, event: str, url: str | None = None, **given: object) -> Any:
    """Have an agent run a hook through a shell, as clients do; returns its JSON, None for silence."""
    said = {"session_id": "7f3c", "hook_event_name": NAMES[event], **given}
    ended = made.tell(
        "run",
        argv=["sh", "-c", 'printf %s "$GIVEN" | "$0" "$@"; exit $?', *HOOK, event],
        environment={**settings(daemon, "ada", url), "GIVEN": json.dumps(said)},
    )
    assert (ended["status"], ended["err"]) == (0, "")
    return json.loads(ended["out"]) if ended["out"] else None


def context(answer: Any) -> str:
    """The text that an answer puts before the model."""
    return answer["hookSpecificOutput"]["additionalContext"]


def ran(variables: Mapping[str, str], *words: str, given: str = "{}") -> tuple[int, str, str]:
    """Run the hook by itself; its status, output and errors."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
    ended = subprocess.run(
        [*HOOK, *words],
        env={**inherited, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        input=given,
        capture_output=True,
        text=True,
        timeout=BOUND_SECS,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.promise("hooks.told-once", "mail.told-once", "identity.helper")
def test_a_session_is_told_of_each_mail_once_and_its_sibling_of_its_own(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Mail to one session is told there alone, mail to the account once in each; no event tells it again."""
    one, two = started(processes, daemon), started(processes, daemon)
    daemon.send("ben", "ada", subject="for all of ada")
    private = {"to": one.address(), "subject": "for one alone", "body": "text"}
    assert daemon.post("/mail/send", private, "ben").status == 200
    first = context(hooked(daemon, one, "prompt"))
    assert "2 unread messages" in first
    assert '- from "ben": "for all of ada"' in first
    assert '- from "ben": "for one alone"' in first
    assert [hooked(daemon, one, event) for event in ALL] == [None] * 4
    second = context(hooked(daemon, two, "tool"))
    assert "for all of ada" in second
    assert "for one alone" not in second
    assert [hooked(daemon, each, event) for each in (two, one) for event in ALL] == [None] * 8
    assert len(one.ask("/mail/inbox", {"unread_only": True})[1]["messages"]) == 2


@pytest.mark.promise("hooks.told-once")
def test_acknowledged_mail_is_not_told(daemon: Daemon, processes: ExitStack) -> None:
    """What the session has acknowledged before a hook came is no news."""
    one = started(processes, daemon)
    hooked(daemon, one, "session-start")
    message = daemon.send("ben", "ada")
    assert one.ask("/mail/ack", {"message_id": message})[0] == 200
    assert hooked(daemon, one, "tool") is None


@pytest.mark.promise("hooks.told-once")
def test_mail_that_the_agent_has_read_by_itself_is_not_told(daemon: Daemon, processes: ExitStack) -> None:
    """The hook after the tool that read the inbox has nothing to say; what comes later is told."""
    one = started(processes, daemon)
    hooked(daemon, one, "session-start")
    daemon.send("ben", "ada")
    assert one.ask("/mail/inbox", {"unread_only": True})[0] == 200
    assert hooked(daemon, one, "tool") is None
    daemon.send("ben", "ada", subject="later")
    assert '"later"' in context(hooked(daemon, one, "tool"))


@pytest.mark.promise("hooks.speak-each-client")
@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("session-start", "SessionStart"),
        ("prompt", "UserPromptSubmit"),
        ("prompt", "BeforeAgent"),
        ("tool", "PostToolUse"),
        ("tool", "AfterTool"),
    ],
)
def test_an_answer_carries_the_name_that_the_client_gave_its_event(
    daemon: Daemon, processes: ExitStack, event: str, name: str
) -> None:
    """Claude Code and Codex have the same names, Gemini its own; over the UNIX socket as over TCP."""
    one = started(processes, daemon)
    daemon.send("ben", "ada", subject=f"about {name}")
    answer = hooked(daemon, one, event, f"unix:{daemon.home / 'daemon.sock'}", hook_event_name=name)
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == name
    assert f'"about {name}"' in context(answer)


@pytest.mark.promise("hooks.speak-each-client")
def test_a_stop_is_held_for_mail_that_was_not_told_and_never_twice(
    daemon: Daemon, processes: ExitStack
) -> None:
    """A client that went on already is let go, and the mail stays to be told."""
    one = started(processes, daemon)
    hooked(daemon, one, "session-start")
    daemon.send("ben", "ada", subject="before you go")
    assert hooked(daemon, one, "stop", stop_hook_active=True) is None
    answer = hooked(daemon, one, "stop", stop_hook_active=False)
    assert answer.keys() == {"decision", "reason"}
    assert answer["decision"] == "block"
    assert '"before you go"' in answer["reason"]
    assert hooked(daemon, one, "stop") is None


@pytest.mark.promise("hooks.silent")
@pytest.mark.parametrize("given", ["", "[]", "no json", '{"hook_event_name": 7}', '{"a":' * 100_000])
def test_a_hook_says_its_piece_whatever_it_is_given(daemon: Daemon, given: str) -> None:
    """Input that is no hook's is taken as none; a stop that cannot be read is not held."""
    daemon.send("ben", "olga", subject="piece")
    variables = settings(daemon, "olga")
    if not given.startswith('{"hook'):
        assert ran(variables, "stop", given=given) == (0, "", "")
    status, out, err = ran(variables, "prompt", given=given)
    assert (status, err) == (0, "")
    assert json.loads(out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"


@pytest.mark.promise("hooks.silent")
def test_a_hook_without_a_daemon_or_a_credential_is_silent(daemon: Daemon) -> None:
    """The daemon may be away; a wrong credential is said once a session, and never as a block."""
    away = {"M4A_URL": "unix:/nowhere/daemon.sock", "M4A_TOKEN": daemon.keys["olga"]}
    wrong = {"M4A_URL": daemon.url, "M4A_TOKEN": "f" * 64}
    for event in (*ALL, "wait"):
        assert ran(away, event) == (0, "", "")
    for event in ("prompt", "tool", "stop"):
        assert ran(wrong, event) == (0, "", "")
    status, out, err = ran(wrong, "session-start")
    assert (status, out) == (1, "")
    assert "unauthenticated" in err
    assert daemon.keys["olga"] not in err


def test_a_command_line_that_is_none_blocks_nothing(daemon: Daemon) -> None:
    """Status 2 would hold the client's step."""
    for words in ([], ["Stop"], ["prompt", "x"], ["wait", "--secs"], ["wait", "--secs", "0"], ["wait", "1"]):
        status, out, err = ran(settings(daemon, "olga"), *words)
        assert (status, out) == (1, "")
        assert "usage" in err or "--secs" in err


class Waiter:
    """A waiter that runs."""

    def __init__(self, daemon: Daemon, runtime: Path, session: str, *words: str) -> None:
        self._process = subprocess.Popen(
            [*HOOK, "wait", *words],
            env=environment(runtime, XDG_RUNTIME_DIR=str(runtime), **settings(daemon, "olga")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"session_id": session}))
        self._process.stdin.close()
        self._process.stdin = None

    def ended(self) -> tuple[int, str, str]:
        """Its status, output and errors at its end."""
        out, err = self._process.communicate(timeout=BOUND_SECS)
        return self._process.returncode, out, err

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def deafen(self) -> None:
        """End whoever would read what it says."""
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        self._process.stdout = self._process.stderr = None


def parked(daemon: Daemon) -> int:
    """How many readers wait."""
    lines = daemon.get("/metrics").body.decode().splitlines()
    return int(
        float(next(line for line in lines if line.startswith("mail4agent_parked_readers ")).split()[1])
    )


def waits(daemon: Daemon, readers: int) -> None:
    """Return once so many readers wait."""
    for _ in range(2_000):
        if parked(daemon) == readers:
            return
    pytest.fail(f"never {readers} readers")


def waiter(processes: ExitStack, daemon: Daemon, tmp_path: Path, session: str, *words: str) -> Waiter:
    """Start one; it ends with the test."""
    made = Waiter(daemon, tmp_path, session, *words)
    processes.callback(made.close)
    return made


@pytest.mark.promise("hooks.waiter-wakes", "hooks.told-once")
def test_a_waiter_wakes_its_agent_once_and_no_hook_tells_it_again(
    daemon: Daemon, processes: ExitStack, tmp_path: Path
) -> None:
    """Status 2 with the notice on standard error; the prompt that the waking makes is told nothing."""
    ran(settings(daemon, "olga"), "prompt")
    made = waiter(processes, daemon, tmp_path, "one")
    waits(daemon, 1)
    daemon.send("ben", "olga", subject="wake up")
    status, out, err = made.ended()
    assert (status, out) == (2, "")
    assert '- from "ben": "wake up"' in err
    assert ran(settings(daemon, "olga"), "prompt") == (0, "", "")
    assert list((tmp_path / f"mail4agent-hook-{os.geteuid()}").iterdir()) == []


@pytest.mark.promise("hooks.waiter-wakes")
def test_one_waiter_is_enough_for_a_session(daemon: Daemon, processes: ExitStack, tmp_path: Path) -> None:
    """A second one of the same session goes at once, one of another stays; each ends by its time."""
    ran(settings(daemon, "olga"), "prompt")
    waiter(processes, daemon, tmp_path, "one")
    waits(daemon, 1)
    assert waiter(processes, daemon, tmp_path, "one").ended() == (0, "", "")
    assert waiter(processes, daemon, tmp_path, "two", "--secs", "1").ended() == (0, "", "")


@pytest.mark.promise("hooks.waiter-wakes")
def test_a_waiter_whose_agent_is_gone_announces_nothing(
    daemon: Daemon, processes: ExitStack, tmp_path: Path
) -> None:
    """Mail that came for nobody stays to be told."""
    ran(settings(daemon, "olga"), "prompt")
    made = waiter(processes, daemon, tmp_path, "one")
    waits(daemon, 1)
    made.deafen()
    daemon.send("ben", "olga", subject="still news")
    made.ended()
    assert "still news" in ran(settings(daemon, "olga"), "prompt")[1]


@pytest.mark.parametrize("shell", ["prompt >&-", "wait --secs 1 2>&-"])
def test_what_nobody_would_hear_is_told_by_the_next_hook(daemon: Daemon, shell: str) -> None:
    """A hook whose output is closed leaves the mail untold."""
    daemon.add(name := f"deaf-{shell[:4].strip()}", attestation="off")
    daemon.send("ben", name)
    inherited = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings(daemon, name)}
    line = f'exec "$0" "$@" {shell}'
    ended = subprocess.run(
        ["sh", "-c", line, *HOOK],
        env=inherited,
        input=b"{}",
        capture_output=True,
        timeout=BOUND_SECS,
        check=False,
    )
    assert ended.returncode == 0
    assert "1 unread message not announced" in ran(settings(daemon, name), "prompt")[1]
