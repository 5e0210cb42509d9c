"""``frontdoor serve``: the public intake, a server of its own that knows nothing of home."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.terminal import visible

if TYPE_CHECKING:
    from mail4agent_daemon.intake.settings import IntakeSettings

Folder = Annotated[
    Path,
    typer.Option(
        "--folder",
        metavar="PATH",
        help="The folder of the box, with its intake.toml; never that of a daemon.",
        file_okay=False,
    ),
]
Init = Annotated[
    str | None,
    typer.Option(
        "--init",
        metavar="URL",
        help="Write a first intake.toml for this public address, print its keys, end.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command("serve")(serve)


def serve(*, folder: Folder, init: Init = None, as_json: AsJson = False) -> None:
    """Serve the forms and the box to strangers and to home; or make the settings and keys of one."""
    from mail4agent_daemon.intake.serving import IntakeStartError, run_intake
    from mail4agent_daemon.intake.settings import NAME, IntakeSettingsError, made_settings

    folder = folder.absolute()
    if init is not None:
        try:
            keys = made_settings(folder, init)
        except IntakeSettingsError as fault:
            raise _failure("setting_invalid", str(fault), as_json=as_json, status=Exit.USAGE) from fault
        if as_json:
            typer.echo(json.dumps({"settings": str(folder / NAME), "drain": keys.drain, "types": keys.types}))
        else:
            typer.echo(
                f"{visible(str(folder / NAME))} is written; see to its [smtp].\n"
                "These keys are shown once. Keep them at home, in private files; the box has their digests.\n"
                f"drain: {keys.drain}\ntypes: {keys.types}"
            )
        return

    def announce(url: str, settings: IntakeSettings) -> None:
        if as_json:
            typer.echo(json.dumps({"url": url, "public_url": settings.public_url}))
        else:
            typer.echo(f"the intake of {visible(settings.public_url)} listens on {url}")

    try:
        run_intake(folder, announce)
    except IntakeSettingsError as fault:
        raise _failure("setting_invalid", str(fault), as_json=as_json, status=Exit.USAGE) from fault
    except IntakeStartError as fault:
        raise _failure("start_failed", str(fault), as_json=as_json) from fault


def _failure(kind: str, message: str, *, as_json: bool, status: Exit = Exit.REFUSED) -> typer.Exit:
    """Say why, and return how to end."""
    text = json.dumps({"kind": kind, "message": message}) if as_json else f"mail4agent: {visible(message)}"
    typer.echo(text, err=True)
    return typer.Exit(status)
