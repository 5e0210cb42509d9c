"""``mail4agent console``, at a terminal and away from one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mail4agent_daemon.cli import application
from tests.daemon.review.person import Person
from tests.process import served

from .test_signing_in import Door


@dataclass
class Room:
    """A daemon, and a person at a terminal with rosa's key."""

    door: Door
    person: Person
    environment: dict[str, str]
    folder: Path


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """One for a module."""
    folder = tmp_path_factory.mktemp("verb")
    home = folder / "home"
    home.mkdir(0o700)
    person = Person(folder)
    try:
        with served(home) as daemon:
            door = Door(daemon)
            key = folder / "rosa.key"
            key.touch(0o600)
            key.write_text(door.add("rosa", "outbox:review"))
            environment = {"M4A_URL": door.origin, "M4A_TOKEN_FILE": str(key)}
            yield Room(door, person, environment, folder)
    finally:
        person.close()


@pytest.mark.promise("console.code-signs-in-once")
def test_the_printed_address_signs_in_once(room: Room) -> None:
    """Its code becomes rosa's sign-in, and is then good for nothing."""
    with room.person.at(room.environment, "console", "--print") as terminal:
        assert terminal.ended() == 0
        found = re.search(rf"{room.door.origin}/console/enter#(\S+)", terminal.seen)
    assert found is not None
    assert room.door.is_in(room.door.sign_in(found[1]))
    assert room.door.post("/console/signin", {"secret": found[1]}).status == 401


@pytest.mark.promise("console.code-signs-in-once")
def test_the_browser_is_given_the_address_and_the_terminal_is_not(room: Room) -> None:
    """What BROWSER names is started with it."""
    browser, opened = room.folder / "browser", room.folder / "opened"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o700)
    with room.person.at({**room.environment, "BROWSER": f"{browser} %s"}, "console") as terminal:
        assert terminal.ended() == 0
        assert "#" not in terminal.seen
    assert opened.read_text().startswith(f"{room.door.origin}/console/enter#")


@pytest.mark.promise("console.code-signs-in-once")
def test_below_an_agent_no_code_is_asked_for(room: Room) -> None:
    """The command says why, and shows no address."""
    with room.person.at(room.environment, "console", "--print", agent="claude") as terminal:
        assert terminal.ended() == 1
        assert "is the agent program" in " ".join(terminal.seen.split())
        assert "/console/enter" not in terminal.seen


@pytest.mark.promise("console.code-signs-in-once")
def test_without_a_terminal_no_code_is_asked_for(room: Room) -> None:
    """A script is refused, in words and as JSON."""
    run = CliRunner().invoke(application(), ["console", "--print", "--json"], env=room.environment)
    assert (run.exit_code, '"not_a_person"' in run.stderr, run.stdout) == (1, True, "")


@pytest.mark.promise("console.code-signs-in-once")
def test_a_code_needs_a_secret(room: Room) -> None:
    """Nobody without one is given a code, and a cookie is none."""
    cookie = room.door.sign_in((room.folder / "rosa.key").read_text())
    kind = {"Content_Type": "application/json"}
    assert room.door.ask("POST", "/console/code", b"{}", **kind).status == 401
    assert room.door.ask("POST", "/console/code", b"{}", **kind, Cookie=cookie).status == 401
