"""A drain that stays, as a process; and what a person is told while one runs."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from mail4agent_daemon.cli import application
from mail4agent_daemon.drain.box import BoxKeyError
from mail4agent_daemon.drain.draining import Drain, Tally
from mail4agent_daemon.drain.following import Pauses, follow
from tests.daemon.intake.house import House, house, serving
from tests.daemon.intake.manifests import VISIT
from tests.process import BOUND_SECS

from .home import Home, home_of


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with the type visit."""
    with home_of(tmp_path_factory.mktemp("follow"), VISIT) as made:
        yield made


def _visit(box: House) -> str:
    """Have a visit in the queue; its address."""
    address = box.fresh()
    answer = box.confirmed("visit", {"visitor_email": address})
    assert answer.json["step"] == "queued", answer.body
    return address


@contextmanager
def _following(home: Home, box: House) -> Iterator[subprocess.Popen[bytes]]:
    """``drain --follow``, killed at the end of the block where it still runs."""
    command = [sys.executable, "-m", "mail4agent_daemon", "frontdoor", "drain", "--follow", "--json"]
    environment = {**os.environ, **home.environment(box.url, box.drain)}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _tally(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The next line of what became of rows, as soon as it is there."""
    assert process.stdout is not None
    ready = select.select([process.stdout], [], [], BOUND_SECS)[0]
    assert ready, "nothing was said"
    return json.loads(process.stdout.readline())


@pytest.mark.promise("drain.follows-until-it-is-stopped")
def test_a_drain_that_follows_brings_home_what_comes_and_gives_the_lease_back(
    home: Home, tmp_path: Path
) -> None:
    """One line a page, also after the box was started anew; SIGTERM ends it well and frees the box."""
    with house(tmp_path / "box", VISIT) as box, _following(home, box) as process:
        addresses = [_visit(box)]
        assert _tally(process)["written"] == 1
        box.process.send_signal(signal.SIGTERM)
        box.process.wait(BOUND_SECS)
        settings = box.folder / "intake.toml"
        settings.write_text(settings.read_text().replace("127.0.0.1:0", f"127.0.0.1:{box.port}"))
        with serving(box.folder, box.mails, box.drain, box.types) as again:
            addresses.append(_visit(again))
            assert _tally(process)["acknowledged"] == 1
            process.send_signal(signal.SIGTERM)
            assert process.wait(BOUND_SECS) == 0
            assert again.box("lease", {"holder": "elsewhere", "secs": 5}).status == 200
    assert [each["reply_to"] for each in home.records()][-2:] == addresses


@pytest.mark.promise("drain.tells-a-person-how-far-it-is")
def test_a_person_is_told_how_far_a_drain_is_and_a_script_only_its_end(home: Home, tmp_path: Path) -> None:
    """After each page on standard error; with --json there is one object and nothing else."""
    with house(tmp_path / "box", VISIT) as box:
        environment = home.environment(box.url, box.drain)
        _visit(box)
        person = CliRunner().invoke(application(), ["frontdoor", "drain"], env=environment)
        _visit(box)
        script = home.run(box.url, box.drain)
    assert person.stderr == "mail4agent: rows looked at: 1, home and out of the box: 1\n"
    assert person.stdout == "1 drained, 1 written, 0 already held, 0 invalid, 1 acknowledged, 0 left\n"
    assert (json.loads(script.stdout)["written"], script.stderr) == (1, "")


@dataclass
class _LeavesOne:
    """A drain whose first page leaves a row in the box; each wait ends a moment before its time is over."""

    at: float = 0.0
    waits: list[int] = field(default_factory=list[int])

    def page(self, wait_secs: int) -> Tally | None:
        self.waits.append(wait_secs)
        if len(self.waits) == 1:
            return Tally(drained=1, left=1)
        if len(self.waits) > 9:
            raise BoxKeyError("enough")
        # A long poll that the box ends half a second early.
        self.at += wait_secs - 0.5 if wait_secs else 0.001
        return None

    def from_the_beginning(self) -> None:
        raise BoxKeyError("looked again")


@pytest.mark.promise("drain.follows-until-it-is-stopped")
def test_rows_that_were_left_are_waited_for_and_never_asked_for_without_a_pause() -> None:
    """While there is time left until they are looked at again, each call waits for some of it."""
    drain = _LeavesOne()
    pauses = Pauses(lambda _: None, lambda: 0.0)
    with pytest.raises(BoxKeyError, match="looked again"):
        follow(
            cast("Drain", drain),
            pauses,
            lambda _: None,
            lambda _: None,
            clock=lambda: drain.at,
            tell=lambda _: None,
        )
    assert drain.waits == [25, 25, 25, 11, 1]
