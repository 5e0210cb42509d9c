"""The daemon's own verbs: ``serve``, ``config``, ``doctor``, ``backup``, ``migrate``.

Each ends with 0 when it did what it says, with 1 when it did not (or found something that needs a person),
and with 2 when the settings cannot be used. With ``--json`` standard output is one JSON value, and a failure
is one on standard error.
"""

from __future__ import annotations

import gc
import json
import os
import shlex
import shutil
import sqlite3
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.output import OutputLostError, abandon_output, put
from mail4agent_daemon.cli.terminal import json_text, visible

if TYPE_CHECKING:
    from mail4agent_daemon.serving import Serving
    from mail4agent_daemon.settings import Effective

_PANEL = "Settings"
Home = Annotated[
    Path | None,
    typer.Option("--home", metavar="PATH", help="The data folder [M4A_HOME].", rich_help_panel=_PANEL),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="PATH",
        help="The settings file, instead of config.toml in the data folder.",
        rich_help_panel=_PANEL,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Bind = Annotated[
    str | None,
    typer.Option(
        "--bind",
        metavar="ADDRESS:PORT",
        help="Where to listen; port 0 takes a free one; none: only the UNIX socket.",
        rich_help_panel=_PANEL,
    ),
]
Socket = Annotated[
    bool | None,
    typer.Option(
        "--socket/--no-socket", help="Listen on daemon.sock in the data folder too.", rich_help_panel=_PANEL
    ),
]
AllowCleartext = Annotated[
    bool | None,
    typer.Option(
        "--allow-cleartext/--no-allow-cleartext",
        help="Listen beyond this machine without TLS.",
        rich_help_panel=_PANEL,
    ),
]
Attestation = Annotated[
    str | None,
    typer.Option(
        "--attestation",
        help="required, preferred or off: whether the process behind a connection is proved.",
        rich_help_panel=_PANEL,
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option("--log-level", help="debug, info, warning or error.", rich_help_panel=_PANEL),
]
LogFormat = Annotated[
    str | None, typer.Option("--log-format", help="auto, json or text.", rich_help_panel=_PANEL)
]
Demo = Annotated[bool, typer.Option("--demo", help="Let two demo accounts exchange a first conversation.")]
Target = Annotated[Path, typer.Argument(metavar="TARGET", help="A file that does not exist yet.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (serve, config, doctor, backup, migrate):
        app.command(verb.__name__)(verb)


def serve(
    *,
    demo: Demo = False,
    home: Home = None,
    config: Config = None,
    bind: Bind = None,
    socket: Socket = None,
    allow_cleartext: AllowCleartext = None,
    attestation: Attestation = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
    as_json: AsJson = False,
) -> None:
    """Run the daemon until it is told to stop."""
    flags = {
        "server.bind": bind,
        "server.socket": socket,
        "server.allow_cleartext": allow_cleartext,
        "identity.attestation": attestation,
        "log.level": log_level,
        "log.format": log_format,
    }
    # What a start makes stays; to look through it again and again for garbage is a tenth of the start.
    gc.disable()
    effective = _settings(home, config, flags, as_json=as_json)

    from mail4agent_daemon.serving import StartError, run_daemon

    def announce(serving: Serving) -> None:
        # What is there by now stays. A look of the collector at all of it takes as long as to list thousands
        # of drafts, and would fall into the first such list.
        gc.freeze()
        gc.enable()
        typer.echo(_announcement(serving, as_json=as_json))

    def show(line: str) -> None:
        typer.echo(visible(line), err=as_json)

    try:
        run_daemon(effective, announce, demo=show if demo else None)
    except StartError as fault:
        raise _failure("start_failed", str(fault), as_json=as_json) from fault
    # The process ends here. Without this the interpreter goes through all that it holds, several times,
    # before it does: after a thousand parked readers that takes as long as their answers did.
    gc.freeze()


def config(*, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Print the settings in force and where each comes from, as a config.toml."""
    from mail4agent_daemon.settings import toml_of

    effective = _settings(home, config, {}, as_json=as_json)
    if as_json:
        _print_json(
            {
                "home": str(effective.home),
                "config": str(effective.config),
                "database": effective.store,
                "settings": effective.settings.model_dump(mode="json"),
                "origins": dict(effective.origins),
            }
        )
    else:
        _print(visible(toml_of(effective), lines=True))


def doctor(*, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Look the data folder over; exit with 1 when something needs a person."""
    from mail4agent_daemon.checkup import examine

    findings = examine(_settings(home, config, {}, as_json=as_json))
    sound = all(finding.state != "bad" for finding in findings)
    if as_json:
        _print_json({"sound": sound, "findings": [finding.as_dict() for finding in findings]})
    else:
        for finding in findings:
            _print(f"{finding.state:4}  {finding.check}: {visible(finding.text)}")
    raise typer.Exit(Exit.OK if sound else Exit.REFUSED)


def backup(target: Target, *, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Write a consistent, checked copy of the mail, while the daemon runs or not."""
    effective = _settings(home, config, {}, as_json=as_json)
    if effective.settings.store.url is not None:
        fault = (
            f"the mail is in {effective.store}: the server's own tools make its backups, "
            "such as pg_dump -Fc; docs/postgres.md says more"
        )
    else:
        fault = _copy(effective.database, target)
    if fault is not None:
        raise _failure("backup_failed", fault, as_json=as_json)
    size = target.stat().st_size
    if as_json:
        _print_json({"target": str(target), "bytes": size})
    else:
        _print(f"{visible(str(target))}: {size} bytes, checked")


def _copy(source: Path, target: Path) -> str | None:
    """Copy and check; return what went wrong, when nothing was left at the target."""
    from mail4agent_core.mail.sqlite import StoreOpenError
    from mail4agent_core.mail.sqlite.store import copy_database
    from mail4agent_core.mail.sqlite.verify import verify

    try:
        copy_database(source, target)
    except FileExistsError:
        return f"{target} exists; a backup overwrites nothing"
    except FileNotFoundError:
        missing = source if not source.exists() else target.parent
        return f"{missing} does not exist"
    except OSError as fault:
        return f"{target} cannot be written: {fault.strerror}"
    except sqlite3.Error as fault:
        return f"{source} cannot be copied: {fault}"
    try:
        wrong = verify(target)
    except (sqlite3.Error, StoreOpenError) as fault:
        wrong = [str(fault)]
    if not wrong:
        return None
    # A copy that is not sound must not be found when one is needed.
    with suppress(OSError):
        target.unlink()
    return f"the copy of {source} is not sound and was removed: {wrong[0]}"


def migrate(*, home: Home = None, config: Config = None, as_json: AsJson = False) -> None:
    """Copy the mail of the data folder's file into the empty PostgreSQL database that is set."""
    effective = _settings(home, config, {}, as_json=as_json)
    url = effective.settings.store.url
    if url is None:
        message = "store.url is not set: it names the database to copy to"
        raise _failure("setting_invalid", message, as_json=as_json, status=Exit.USAGE)
    counts = _migrated(effective.database, url)
    if isinstance(counts, str):
        raise _failure("migrate_failed", counts, as_json=as_json)
    if as_json:
        _print_json({"target": effective.store, "rows": counts})
        return
    for table, count in counts.items():
        _print(f"{count:>12}  {table}")
    _print(visible(f"{effective.store}: every row was read again and is the file's"))


def _migrated(file: Path, url: str) -> dict[str, int] | str:
    """Copy; how many rows of each table there are, or what went wrong, when nothing was left there."""
    from mail4agent_core.mail.sqlite import StoreOpenError

    try:
        from mail4agent_core.mail.postgres.copying import copy_store
    except ImportError:
        return "psycopg is not installed: install mail4agent[postgres]"
    try:
        return copy_store(file, url)
    except StoreOpenError as fault:
        return str(fault)
    except FileNotFoundError:
        return f"{file} does not exist"
    except OSError as fault:
        return f"{file} cannot be copied beside itself: {fault.strerror}"
    except sqlite3.Error as fault:
        return f"{file} cannot be read: {fault}"


def _announcement(serving: Serving, *, as_json: bool) -> str:
    socket = None if serving.socket is None else str(serving.socket)
    if as_json:
        return _json(
            {
                "version": serving.version,
                "url": serving.url,
                "socket": socket,
                "home": str(serving.home),
                "key": str(serving.key),
            }
        )
    where = " and ".join(text for text in (serving.url, None if socket is None else f"unix:{socket}") if text)
    return visible(
        f"mail4agent {serving.version} listens on {where}\n"
        f"operator's key: {serving.key}\n"
        f"connect an agent: {_connect(serving)}",
        lines=True,
    )


def _connect(serving: Serving) -> str:
    """The command that connects a client to this daemon, as a shell reads it."""
    from mail4agent_client.settings import DEFAULT_URL
    from mail4agent_daemon.settings import home_of

    url = serving.client_url if serving.url is None else serving.url
    home = [] if serving.home == home_of(os.environ) else ["env", f"M4A_HOME={serving.home}"]
    where = [] if url == DEFAULT_URL else ["--url", url]
    return f"{shlex.join([*home, _script(), 'connect', 'claude', *where])}  (or codex, gemini, opencode, ...)"


def _settings(home: Path | None, config: Path | None, flags: dict[str, Any], *, as_json: bool) -> Effective:
    from mail4agent_daemon.settings import SettingsError, load

    try:
        return load(os.environ, home=home, config=config, flags=flags)
    except SettingsError as fault:
        raise _failure("setting_invalid", str(fault), as_json=as_json, status=Exit.USAGE) from fault


def _failure(kind: str, message: str, *, as_json: bool, status: Exit = Exit.REFUSED) -> typer.Exit:
    """Say why, and return how to end."""
    text = _json({"kind": kind, "message": message}) if as_json else f"mail4agent: {visible(message)}"
    typer.echo(text, err=True)
    return typer.Exit(status)


def _print(text: str, *, as_json: bool = False) -> None:
    try:
        put(text)
    except OutputLostError as fault:
        abandon_output()
        raise _failure(fault.kind, str(fault), as_json=as_json, status=Exit.OUTPUT_LOST) from None


def _print_json(value: object) -> None:
    _print(_json(value), as_json=True)


def _json(value: object) -> str:
    return json_text(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def _script() -> str:
    """How this person calls the script: by its name, or by its path where the shell would not find it."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "mail4agent" and shutil.which("mail4agent") is None else "mail4agent"
