"""The files in deploy/ fit the daemon that they start."""

import configparser
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from mail4agent_daemon.cli import application
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.settings import Settings, load

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))


class Unit(configparser.RawConfigParser):
    """A unit file: keys keep their case, and a repeated one adds to the first."""

    def optionxform(self, optionstr: str) -> str:
        """Leave the key as it is."""
        return optionstr


def unit_of(path: Path) -> Unit:
    """Read a unit file."""
    unit = Unit(strict=False, delimiters=["="], comment_prefixes=["#"])
    unit.read(path)
    return unit


@pytest.mark.promise("daemon.settings-are-checked")
def test_the_example_settings_are_the_defaults() -> None:
    """What stands in the example changes nothing, and no setting is missing from it."""
    example = DEPLOY / "config.example.toml"
    assert load({}, config=example).settings == Settings()
    shown = re.sub(
        r"^# ((?:tls_\w+|base_url|name|url|key_file|types_key_file) = )",
        r"\1",
        example.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    written = tomllib.loads(shown)
    known = {section: set(values) for section, values in Settings().model_dump().items()}
    # A secret is taken from the environment, never from a file.
    known["model"].remove("key")
    known["box"] -= {"key", "types_key"}
    assert {section: set(values) for section, values in written.items()} == known


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_the_daemon_as_its_command_line_is(path: Path) -> None:
    """Each flag in the unit is one of serve's."""
    program, *rest = shlex.split(unit_of(path)["Service"]["ExecStart"])
    command: Any = typer.main.get_command(application())
    verbs = ["frontdoor", "serve"] if "intake" in path.name else ["serve"]
    for verb in verbs:
        command = command.commands[verb]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    assert (Path(program).name, rest[: len(verbs)]) == ("mail4agent", verbs)
    assert {word for word in rest if word.startswith("-")} <= known


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_leaves_the_daemon_the_time_it_takes_to_stop(path: Path) -> None:
    """systemd waits for readiness to be told, and longer for the end than the daemon needs."""
    service = unit_of(path)["Service"]
    assert service["Type"] == "notify"
    assert int(service["TimeoutStopSec"]) > Limits().graceful_stop_secs
    assert service["UMask"] == "0077"


def test_the_units_are_here() -> None:
    """One for a user, one for a machine, one for the machine of an intake."""
    assert [path.name for path in UNITS] == [
        "mail4agent-intake.service",
        "mail4agent-system.service",
        "mail4agent.service",
    ]


def test_the_composition_sets_what_the_daemon_knows() -> None:
    """Two daemons with homes of their own share one database, and every variable is a setting of theirs."""
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    daemons = [composed["services"][name] for name in ("one", "two")]
    for each in daemons:
        given = {name: value for name, value in each["environment"].items() if name.startswith("M4A_")}
        effective = load(given)
        assert effective.settings.store.url == "postgresql://mail4agent@database/mail4agent"
        assert effective.settings.server.allow_cleartext
        assert "mail.localhost" in effective.settings.server.names
        assert int(each["stop_grace_period"].removesuffix("s")) > Limits().graceful_stop_secs
    assert daemons[0]["volumes"] != daemons[1]["volumes"]
