"""The conversations of docs/examples, played as a reader plays them, each role a process of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process import BOUND_SECS, DaemonProcess, served

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon for all of them."""
    with served(tmp_path_factory.mktemp("conversations") / "home") as running:
        yield running


def environment(daemon: DaemonProcess, **given: str) -> dict[str, str]:
    """What a role or the cast is started with."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
    return {**clean, "M4A_URL": f"http://127.0.0.1:{daemon.port}", **given}


def played(daemon: DaemonProcess, play: str) -> list[str]:
    """What all roles said, once each ended well."""
    command = [sys.executable, EXAMPLES / "cast.py", play]
    done = subprocess.run(
        command,
        env=environment(daemon, M4A_HOME=str(daemon.home)),
        capture_output=True,
        check=False,
        text=True,
        timeout=2 * BOUND_SECS,
    )
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines()]


@pytest.mark.promise("docs.conversations-run")
def test_two_agents_review_a_change_to_its_end(daemon: DaemonProcess) -> None:
    """One finds something, the other mends it, and the thread ends with an approval."""
    assert [line for line in played(daemon, "review") if line.startswith("author: ")] == [
        "author: asked for a review",
        "author: read: An empty line is read as the end of the file.",
        "author: answered with a correction",
        "author: read: approved",
        "author: merges the change",
    ]


@pytest.mark.promise("docs.conversations-run")
def test_a_room_of_four_hears_every_post_once(daemon: DaemonProcess) -> None:
    """The lead hears three answers; each of the three hears the two others before the end."""
    lines = played(daemon, "room")
    assert "lead: the pages are ready; the parser is ready; the store is ready" in lines
    ends = [line for line in lines if "heard" in line]
    assert len(ends) == 3
    assert all("heard 2 others before: we release: 3 of 3 are ready" in line for line in ends)


@pytest.mark.promise("docs.conversations-run")
def test_an_agent_that_waits_overnight_outlives_the_daemon(tmp_path: Path) -> None:
    """The daemon is killed while one sleeps, starts again at its place, and the work arrives and is done."""
    with served(tmp_path / "home") as before:
        secrets = {name: before.register(name) for name in ("owl", "lark")}
        port = before.port
        command = [sys.executable, EXAMPLES / "overnight.py"]
        owl = subprocess.Popen(
            [*command, "owl", "none", "lark"],
            env=environment(before, M4A_TOKEN=secrets["owl"]),
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert owl.stdout is not None
            assert owl.stdout.readline().strip() == "owl: sleeps until mail comes"
            before.kill()
            with served(tmp_path / "home", "--bind", f"127.0.0.1:{port}") as after:
                lark = subprocess.run(
                    [*command, "lark", "none", "owl"],
                    env=environment(after, M4A_TOKEN=secrets["lark"]),
                    capture_output=True,
                    check=False,
                    text=True,
                    timeout=2 * BOUND_SECS,
                )
                assert "found in the morning: done: the figures are in the table" in lark.stdout, lark.stderr
                assert owl.wait(BOUND_SECS) == 0
                assert owl.stdout.read().strip() == "owl: woke up for: please run the long benchmark"
        finally:
            owl.kill()
            owl.wait()
            if owl.stdout is not None:
                owl.stdout.close()
