"""``frontdoor types starters`` and ``preview``: the types that come with the program, and how one looks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mail4agent_api.errors import UnknownItemError
from mail4agent_core.files import FolderError
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.terminal import visible
from mail4agent_daemon.cli.type_runs import Types, What, row, source_of, summary, unusable

if TYPE_CHECKING:
    from mail4agent_core.frontdoor.manifest import Form


def starters(
    run: Types,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Starters to add; without any, list them.")
    ] = None,
    *,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="PATH",
            help="Write them into this folder, to be changed, instead of adding them.",
            file_okay=False,
            exists=True,
        ),
    ] = None,
) -> Exit:
    """List the types that come with the program, add some of them to this machine, or give them out."""
    from mail4agent_core.frontdoor.manifest import Form, TypeFolderError, read_manifest
    from mail4agent_daemon.starters import STARTERS, starter

    if unknown := [each for each in ids or [] if each not in STARTERS]:
        raise UnknownItemError(id=unknown[0][:128])
    chosen = list(ids or STARTERS)
    forms = [Form(read_manifest(starter(each), "toml")) for each in chosen]
    try:
        for each in chosen if export is not None or ids else []:
            if export is None:
                run.folder.add(starter(each), "toml")
            else:
                _given_out(export / f"{each}.toml", starter(each))
    except (FolderError, TypeFolderError) as failure:
        return unusable(run, failure)
    _print(run, forms)
    return Exit.OK


def preview(
    run: Types,
    what: What,
    *,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="PATH", help="The file of HTML to write; one that is there is kept."),
    ],
) -> Exit:
    """Write the form of a manifest, as strangers will see it, into a file that a browser opens."""
    from mail4agent_core.frontdoor.manifest import Form, ManifestError, read_manifest
    from mail4agent_daemon.intake.preview import previewed

    try:
        form = Form(read_manifest(*source_of(run, what)))
        _given_out(out, previewed(form))
    except ManifestError as failure:
        for fault in failure.faults:
            typer.echo(f"mail4agent: {visible(str(fault))}", err=True)
        return Exit.REFUSED
    except FolderError as failure:
        return unusable(run, failure)
    _print(run, [form])
    return Exit.OK


def _given_out(path: Path, raw: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(raw)
    except OSError as failure:
        raise FolderError(f"{path} cannot be written: {failure.strerror}") from None


def _print(run: Types, forms: list[Form]) -> None:
    if run.as_json:
        run.value({"types": [summary(form) for form in forms]})
    else:
        run.rows(row(form) for form in forms)
