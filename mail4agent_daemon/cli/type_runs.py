"""One run of a verb of ``frontdoor types``: its folder, the manifests it reads, and how it fails."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mail4agent_api.errors import UnknownItemError
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import AsJson, Mail

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
COMMON: dict[str, tuple[Any, Any]] = {"root": (Root, None), "as_json": (AsJson, False)}
Id = Annotated[str, typer.Argument(metavar="ID", help="The type.")]
Version = Annotated[
    int | None, typer.Option("--version", min=1, help="One of its versions; without it the current.")
]
File = Annotated[
    Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="A manifest, TOML or JSON.")
]


What = Annotated[
    str, typer.Argument(metavar="FILE", help="A manifest, TOML or JSON, or the ID of a type of this machine.")
]
_ID = re.compile(r"[a-z0-9_-]{1,64}")


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


def read(file: Path) -> tuple[bytes, Any]:
    """The bytes of a manifest, and its language. Raises BadParameter."""
    from mail4agent_core.frontdoor.manifest import MANIFEST_MAX_BYTES

    try:
        with file.open("rb") as source:
            raw = source.read(MANIFEST_MAX_BYTES + 1)
    except OSError as failure:
        raise typer.BadParameter(f"{file} cannot be read: {failure.strerror}", param_hint="FILE") from None
    return raw, "json" if file.suffix == ".json" else "toml"


def source_of(run: Types, what: str) -> tuple[bytes, Any]:
    """The bytes and the language of a file, or of the type of that id on this machine.

    Raises UnknownItemError, BadParameter.
    """
    if Path(what).is_file():
        return read(Path(what))
    found = run.one(what, None) if _ID.fullmatch(what) else None
    source = None if found is None else run.folder.source(found)
    if source is None:
        raise UnknownItemError(id=what[:128] or "FILE")
    return source


def unusable(run: Types, failure: Exception) -> Exit:
    """Say why the folder cannot be used; ``failure`` has words for a person."""
    if run.as_json:
        message = json.dumps({"kind": "types_unusable", "message": str(failure)})
        typer.echo(json_text(message.encode()), err=True)
    else:
        typer.echo(f"mail4agent: {visible(str(failure))}", err=True)
    return Exit.REFUSED


def row(form: Form) -> list[str]:
    """A type, for a list."""
    title = visible(form.manifest.title).replace("\t", " ")
    return [form.id, str(form.version), f"{len(form.fields)} fields", title]


def summary(form: Form) -> dict[str, Any]:
    """A type, for programs."""
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
