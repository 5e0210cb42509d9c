"""The command sink against real programs: what they are given, and what their end says."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import MalformedError
from mail4agent_core.outbox.sink import NotSentError
from mail4agent_daemon.sinks.command import OUTPUT_MAX_BYTES, CommandSink
from mail4agent_daemon.sinks.far_side import UnknownOutcomeError

from .drafts import KEY, outgoing, staged


@pytest.fixture(params=["asyncio", ("asyncio", {"use_uvloop": True})], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """Both loops start processes in their own way."""
    return request.param


def running(script: str, *, timeout_secs: float = 20.0, **environment: str) -> CommandSink:
    """A sink that runs a Python script."""
    return CommandSink(
        "deploy",
        [sys.executable, "-c", script],
        arguments=["title", "text"],
        file_args=["bundle"],
        environment=environment,
        timeout_secs=timeout_secs,
    )


TELL = """
import json, os, sys
found = {os.path.join(at, name): open(os.path.join(at, name), "rb").read().decode()
         for at, _, names in os.walk(".") for name in names}
with open(os.environ["TOLD"], "w") as file:
    json.dump({"args": json.load(sys.stdin), "files": found, "cwd": os.getcwd(), "env": dict(os.environ),
               "mode": os.stat(".").st_mode & 0o777, "group": os.getpgid(0) == os.getpid()}, file)
print("deployed-7", "and more", sep="\\n")
"""


@pytest.mark.promise("sinks.a-command-sees-only-the-draft")
async def test_a_command_is_given_the_draft_and_nothing_of_the_daemon(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments on its input, copies in a private folder of its own, a fixed environment."""
    monkeypatch.setenv("OF_THE_DAEMON", "secret")
    pages = (staged(workspace, "site/index.html", b"<h1>"), staged(workspace, "site/a/b.css", b"b{}"))
    args = {"bundle": "site", "title": "Ünïcode", "text": None}
    sink = running(TELL, TOLD=str(tmp_path / "told"))
    assert await sink.deliver(outgoing(args, files=pages)) == "deployed-7"
    told = json.loads((tmp_path / "told").read_text())
    assert told["args"] == args
    assert told["files"] == {"./site/index.html": "<h1>", "./site/a/b.css": "b{}"}
    assert told["mode"] == 0o700
    assert told["group"] is True
    assert not Path(told["cwd"]).exists()
    assert "OF_THE_DAEMON" not in told["env"]
    assert (told["env"]["M4A_OUTBOX_KEY"], told["env"]["HOME"]) == (KEY, told["cwd"])


async def test_a_program_that_reads_nothing_and_says_nothing_has_sent() -> None:
    """Exit status 0 is all that counts."""
    assert await running("").deliver(outgoing({"text": "x" * 200_000})) is None


async def test_exit_75_is_not_sent_and_says_why() -> None:
    """EX_TEMPFAIL is the one status by which a program says that it did nothing."""
    script = "import sys; sys.stderr.write('the \\x1b[31mserver\\u202e is away'); sys.exit(75)"
    with pytest.raises(NotSentError) as failure:
        await running(script).deliver(outgoing({}))
    assert failure.value.reason == "the command ended with 75: not sent: the [31mserver is away"


@pytest.mark.promise("sinks.an-unknown-outcome-is-said")
@pytest.mark.parametrize("script", ["import sys; sys.exit(1)", "import os; os.kill(os.getpid(), 9)"])
async def test_any_other_end_leaves_the_outcome_unknown(script: str) -> None:
    """Nobody can tell how far it came."""
    with pytest.raises(UnknownOutcomeError):
        await running(script).deliver(outgoing({}))


async def test_a_program_that_is_not_there_is_not_sent() -> None:
    """Nothing was started."""
    sink = CommandSink(
        "gone", ["/nonexistent/x"], arguments=None, file_args=[], environment={}, timeout_secs=1.0
    )
    with pytest.raises(NotSentError):
        await sink.deliver(outgoing({}))


GROUP = """
import os, subprocess, sys, time
child = subprocess.Popen(["/bin/sleep", "600"])
with open(os.environ["TOLD"], "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
if os.environ["LATE"] == "yes":
    time.sleep(600)
"""


def _lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.promise("sinks.a-command-leaves-nothing-behind")
@pytest.mark.parametrize("late", ["yes", "no"])
async def test_nothing_of_a_command_outlives_it(tmp_path: Path, late: str) -> None:
    """Its group is killed when its time is over, which leaves the outcome unknown, and when it ends."""
    sink = running(GROUP, timeout_secs=1.0 if late == "yes" else 20.0, TOLD=str(tmp_path / "told"), LATE=late)
    if late == "yes":
        with pytest.raises(UnknownOutcomeError):
            await sink.deliver(outgoing({}))
    else:
        await sink.deliver(outgoing({}))
    pids = (tmp_path / "told").read_text().split()
    assert len(pids) == 2
    # An orphan is reaped by whoever is init here, in its own time.
    assert not any(map(_lives, pids))


async def test_a_program_may_write_without_end_of_it_and_is_still_read() -> None:
    """What is past the bound is thrown away, so that the program does not block on it."""
    script = f"import sys; sys.stdout.write('x' * {OUTPUT_MAX_BYTES * 4}); sys.stderr.write('y' * 999999)"
    named = await running(script).deliver(outgoing({}))
    assert named is not None
    assert len(named.encode()) <= 256


def test_an_argument_that_a_command_does_not_take_is_refused() -> None:
    """So is a path that its folder cannot hold."""
    sink = running("")
    for args in ({"else": 1}, {"bundle": "/etc/passwd"}, {"bundle": "a/../../b"}, {"bundle": 7}):
        with pytest.raises(MalformedError):
            sink.accept(args)
    sink.accept({"title": {"any": ["json"]}, "bundle": ["site", "other/a.txt"]})
