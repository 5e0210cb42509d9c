"""``frontdoor types``: the manifests of this machine, looked at and added without a daemon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mail4agent_api.errors import RefusalError
from mail4agent_core.files import FolderError
from mail4agent_daemon.cli import box_types, starter_types
from mail4agent_daemon.cli.exits import Exit, sentence_of
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.type_runs import COMMON, File, Id, Types, Version, read, row, summary, unusable
from mail4agent_daemon.cli.verbs import verb

if TYPE_CHECKING:
    from mail4agent_core.frontdoor.manifest import Form


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    group = typer.Typer(no_args_is_help=True, help="Request types: what may be asked, in which fields.")
    for name, function in (
        ("check", check),
        ("add", add),
        ("list", box_types.list_),
        ("show", show),
        ("schema", schema),
        ("push", box_types.push),
        ("starters", starter_types.starters),
        ("preview", starter_types.preview),
    ):
        verb(group, name, make=Types, common=COMMON)(function)
    app.add_typer(group, name="types")


def check(
    run: Types,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            exists=True,
            dir_okay=False,
            help="Manifests; without any, those of the folder.",
        ),
    ] = None,
) -> Exit:
    """Say everything that is wrong with manifests; exit with 1 when something is."""
    from mail4agent_core.frontdoor.manifest import UnreadableType

    if files:
        found = {str(file): _reasons(file) for file in files}
    else:
        try:
            every = run.folder.every()
        except FolderError as failure:
            return unusable(run, failure)
        found = {
            each.name if isinstance(each, UnreadableType) else f"{each.id}@{each.version}": (
                list(each.reasons) if isinstance(each, UnreadableType) else []
            )
            for each in every
        }
    if run.as_json:
        run.value({"checked": [{"file": name, "faults": faults} for name, faults in found.items()]})
    else:
        run.rows(
            [visible(name).replace("\t", " "), visible(fault).replace("\t", " ")]
            for name, faults in found.items()
            for fault in faults or ["good"]
        )
    return Exit.REFUSED if any(found.values()) else Exit.OK


def _reasons(file: Path) -> list[str]:
    from mail4agent_core.frontdoor.manifest import Form, ManifestError, misshapen, read_manifest

    raw, language = read(file)
    try:
        Form(read_manifest(raw, language))
    except ManifestError as failure:
        return [str(fault) for fault in failure.faults]
    except RefusalError:
        return [sentence_of(refusal) for refusal in misshapen(raw, language)]
    return []


def add(run: Types, file: File) -> Exit:
    """Make a manifest the current one of its type; the one that was stays under its version."""
    from mail4agent_core.frontdoor.manifest import ManifestError, TypeFolderError

    try:
        form = run.folder.add(*read(file))
    except ManifestError as failure:
        for fault in failure.faults:
            typer.echo(f"mail4agent: {visible(str(fault))}", err=True)
        return Exit.REFUSED
    except (FolderError, TypeFolderError) as failure:
        return unusable(run, failure)
    if run.as_json:
        run.value(summary(form))
    else:
        run.rows([row(form)])
    return Exit.OK


def show(run: Types, type_id: Id, *, version: Version = None) -> None:
    """Print a type: each field with its kind, whether it is required, and whether it is free text."""
    form = run.one(type_id, version)
    if run.as_json:
        run.value(summary(form))
        return
    for line in _lines(form):
        run.line(line)


def _lines(form: Form) -> Iterator[str]:
    yield f"{form.id}, version {form.version}: {visible(form.manifest.title)}"
    yield f"answers go to: {form.reply_field or 'nobody; no address is proved'}"
    for field in form.fields:
        declared = field.declared
        shown = f" when {declared.show_when.field} {declared.show_when.op}" if declared.show_when else ""
        need = ("required" if declared.required else "optional") + shown
        prose = "free text" if field.free_text else "typed"
        yield "\t".join((field.name, field.kind, need, prose, visible(declared.label).replace("\t", " ")))
    for each in form.manifest.acknowledgments:
        yield "\t".join(
            (each.id, "acknowledgment", "required", "typed", visible(each.label).replace("\t", " "))
        )


def schema(run: Types, type_id: Id, *, version: Version = None) -> None:
    """Print the JSON Schema (2020-12) of a type's submissions."""
    from mail4agent_core.frontdoor.manifest import submission_schema

    made = submission_schema(run.one(type_id, version))
    run.line(json_text(json.dumps(made, indent=None if run.as_json else 2, ensure_ascii=False).encode()))
