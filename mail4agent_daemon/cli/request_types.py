"""``frontdoor types``: the manifests of this machine, looked at and added without a daemon."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mail4agent_api.errors import RefusalError, UnknownItemError
from mail4agent_core.files import FolderError
from mail4agent_daemon.cli.exits import Exit, sentence_of
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import AsJson, Mail, verb

if TYPE_CHECKING:
    from mail4agent_core.frontdoor.manifest import Form, TypeFolder

Root = Annotated[
    Path | None,
    typer.Option(
        "--types",
        metavar="PATH",
        help="The folder of types [types in the data folder, M4A_HOME].",
        rich_help_panel="Folder and output",
    ),
]
_COMMON: dict[str, tuple[Any, Any]] = {"root": (Root, None), "as_json": (AsJson, False)}
Id = Annotated[str, typer.Argument(metavar="ID", help="The type.")]
Version = Annotated[
    int | None, typer.Option("--version", min=1, help="One of its versions; without it the current.")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A manifest, TOML or JSON.")
]


class Types(Mail):
    """One run of a verb of ``types``. It asks no daemon."""

    def __init__(self, root: Path | None, as_json: bool) -> None:
        super().__init__(None, None, False, as_json)
        self._root = root

    @property
    def folder(self) -> TypeFolder:
        """The folder of types."""
        from mail4agent_core.frontdoor.manifest import TypeFolder
        from mail4agent_daemon.settings import TYPES_NAME, home_of

        return TypeFolder(self._root or home_of(os.environ) / TYPES_NAME)

    def one(self, type_id: str, version: int | None) -> Form:
        """A usable type. Raises UnknownItemError."""
        found = self.folder(type_id, version)
        if found is None:
            raise UnknownItemError(id=type_id if version is None else f"{type_id}@{version}")
        return found

    def value(self, value: Any) -> None:
        """Print one JSON value on a line of its own."""
        self.line(json_text(json.dumps(value, ensure_ascii=False).encode()))


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    group = typer.Typer(no_args_is_help=True, help="Request types: what may be asked, in which fields.")
    for name, function in (
        ("check", check),
        ("add", add),
        ("list", list_),
        ("show", show),
        ("schema", schema),
    ):
        verb(group, name, make=Types, common=_COMMON)(function)
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
            return _unusable(run, failure)
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
    from mail4agent_core.frontdoor.manifest import Form, ManifestError, read_manifest

    try:
        Form(read_manifest(*_read(file)))
    except ManifestError as failure:
        return [str(fault) for fault in failure.faults]
    except RefusalError as refusal:
        return [sentence_of(refusal)]
    return []


def _read(file: Path) -> tuple[bytes, Any]:
    from mail4agent_core.frontdoor.manifest import MANIFEST_MAX_BYTES

    try:
        with file.open("rb") as source:
            raw = source.read(MANIFEST_MAX_BYTES + 1)
    except OSError as failure:
        raise typer.BadParameter(f"{file} cannot be read: {failure.strerror}", param_hint="FILE") from None
    return raw, "json" if file.suffix == ".json" else "toml"


def add(run: Types, file: File) -> Exit:
    """Make a manifest the current one of its type; the one that was stays under its version."""
    from mail4agent_core.frontdoor.manifest import ManifestError, TypeFolderError

    try:
        form = run.folder.add(*_read(file))
    except ManifestError as failure:
        for fault in failure.faults:
            typer.echo(f"mail4agent: {visible(str(fault))}", err=True)
        return Exit.REFUSED
    except (FolderError, TypeFolderError) as failure:
        return _unusable(run, failure)
    if run.as_json:
        run.value(_summary(form))
    else:
        run.rows([_row(form)])
    return Exit.OK


def _unusable(run: Types, failure: Exception) -> Exit:
    if run.as_json:
        message = json.dumps({"kind": "types_unusable", "message": str(failure)})
        typer.echo(json_text(message.encode()), err=True)
    else:
        typer.echo(f"mail4agent: {visible(str(failure))}", err=True)
    return Exit.REFUSED


def list_(run: Types) -> Exit:
    """List the types of this machine with their versions; files that are none are for ``check``."""
    from mail4agent_core.frontdoor.manifest import Form

    try:
        every = run.folder.every()
    except FolderError as failure:
        return _unusable(run, failure)
    forms = [each for each in every if isinstance(each, Form)]
    if run.as_json:
        run.value({"types": [_summary(form) for form in forms]})
    else:
        run.rows(_row(form) for form in forms)
    if len(forms) < len(every):
        run.note(f"mail4agent: {len(every) - len(forms)} files are no types; see frontdoor types check")
    return Exit.OK


def _row(form: Form) -> list[str]:
    title = visible(form.manifest.title).replace("\t", " ")
    return [form.id, str(form.version), f"{len(form.fields)} fields", title]


def _summary(form: Form) -> dict[str, Any]:
    return {
        "id": form.id,
        "version": form.version,
        "title": form.manifest.title,
        "reply_field": form.reply_field,
        "fields": [
            {
                "name": field.name,
                "kind": field.kind,
                "required": field.declared.required,
                "free_text": field.free_text,
            }
            for field in form.fields
        ],
        "acknowledgments": list(form.acknowledgments),
    }


def show(run: Types, type_id: Id, *, version: Version = None) -> None:
    """Print a type: each field with its kind, whether it is required, and whether it is free text."""
    form = run.one(type_id, version)
    if run.as_json:
        run.value(_summary(form))
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
