"""The daemon's own verbs: ``serve``, ``config``, ``doctor``, ``backup``."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

#: A start that did not succeed, a backup that was not made, findings that need a person.
EXIT_FAILED = 1

Home = Annotated[Path | None, typer.Option("--home", help="The data folder (M4A_HOME).")]
Config = Annotated[Path | None, typer.Option("--config", help="The settings file, instead of config.toml in the home.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (serve, config, doctor, backup):
        app.command(verb.__name__)(verb)


def serve(
    bind: Annotated[str | None, typer.Option("--bind", help="Address and port; port 0 takes a free one; none: only the UNIX socket.")] = None,
    home: Home = None,
    config: Config = None,
    socket: Annotated[bool | None, typer.Option("--socket/--no-socket", help="Listen on the UNIX socket in the home too.")] = None,
    allow_cleartext: Annotated[bool | None, typer.Option("--allow-cleartext", help="Listen beyond this machine without TLS.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Let two demo accounts exchange a first conversation.")] = False,
) -> None:
    """Run the daemon until it is told to stop."""
    from mail4agent_daemon.serving import StartError, run_daemon
    from mail4agent_daemon.settings import SettingsError

    flags = {"server.bind": bind, "server.socket": socket, "server.allow_cleartext": allow_cleartext}
    try:
        run_daemon(_settings(home, config, flags), demo=demo)
    except (StartError, SettingsError) as fault:
        _fail(str(fault))


def config(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Print the settings in force and where each comes from."""
    effective = _settings(home, config, {})
    values = effective.settings.model_dump(mode="json")
    if as_json:
        print(json.dumps({"home": str(effective.home), "settings": values, "origins": dict(effective.origins)}, indent=2))
        return
    print(f"home = {effective.home}")
    for section, fields in values.items():
        print(f"\n[{section}]")
        for key, value in fields.items():
            origin = effective.origins.get(f"{section}.{key}", "default")
            print(f"{key} = {'none' if value is None else json.dumps(value)}  # {origin}")


def doctor(home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Look the data folder over; exit with 1 when something needs a person."""
    from mail4agent_daemon.checkup import examine

    findings = examine(_settings(home, config, {}))
    if as_json:
        print(json.dumps({"findings": [finding.as_dict() for finding in findings]}, indent=2))
    else:
        for finding in findings:
            print(f"{finding.state.upper():5} {finding.check}: {finding.text}")
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(EXIT_FAILED)


def backup(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="A file that does not exist yet.")],
    home: Home = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Write a consistent copy of the mail, while the daemon runs or not."""
    from mail4agent_core.mail.sqlite import StoreOpenError
    from mail4agent_core.mail.sqlite.store import copy_database
    from mail4agent_core.mail.sqlite.verify import verify

    source = _settings(home, config, {}).database
    try:
        copy_database(source, target)
        wrong = verify(target)
    except FileExistsError:
        _fail(f"{target} exists; a backup overwrites nothing")
    except FileNotFoundError:
        _fail(f"{source} does not exist, or the folder of {target} does not")
    except (OSError, sqlite3.Error, StoreOpenError) as fault:
        _fail(f"no backup was made: {fault}")
    if wrong:
        _fail(f"the copy is not sound: {wrong[0]}")
    size = target.stat().st_size
    print(json.dumps({"target": str(target), "bytes": size}) if as_json else f"{target}: {size} bytes, checked")


def _settings(home: Path | None, config: Path | None, flags: dict[str, Any]) -> Any:
    from mail4agent_daemon.settings import SettingsError, load

    try:
        return load(os.environ, home=home, config=config, flags=flags)
    except SettingsError as fault:
        _fail(str(fault))


def _fail(message: str) -> NoReturn:
    print(f"mail4agent: {message}", file=sys.stderr)
    raise typer.Exit(EXIT_FAILED)
