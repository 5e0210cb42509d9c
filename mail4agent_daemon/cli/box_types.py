"""``frontdoor types push`` and ``list``: the request types of this machine beside those of the box.

The box has a type first, and this machine keeps its copy only then: a copy that the box never took would make
every submission that it takes meanwhile invalid at home.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import MalformedError
from mail4agent_core.files import FolderError
from mail4agent_daemon.cli.boxes import box_for_types, effective, failed, told
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.terminal import visible
from mail4agent_daemon.cli.type_runs import Types, What, row, source_of, summary, unusable

if TYPE_CHECKING:
    from mail4agent_api.intake import BoxPushed, BoxType
    from mail4agent_core.frontdoor.manifest import Form


@told
def push(run: Types, what: What) -> Exit:
    """Make a manifest the current one of its type in the box, and then on this machine."""
    from mail4agent_api.intake import BoxPushRequest
    from mail4agent_core.frontdoor.manifest import Form, ManifestError, TypeFolderError, read_manifest

    raw, language = source_of(run, what)
    try:
        form = Form(read_manifest(raw, language))
    except ManifestError as failure:
        for fault in failure.faults:
            typer.echo(f"mail4agent: {visible(str(fault))}", err=True)
        return Exit.REFUSED
    _check_room(form)
    try:
        # Before the box is asked: what it took could not be taken back.
        run.folder.check(form)
        asked = decode_value(BoxPushRequest, {"language": language, "text": raw.decode()})
        pushed = box_for_types(effective()).push(asked)
        run.folder.add(raw, language)
    except (FolderError, TypeFolderError) as failure:
        return unusable(run, failure)
    _print(run, pushed)
    return Exit.OK


def _check_room(form: Form) -> None:
    """Raise MalformedError for a form that takes files which home could not take in."""
    from mail4agent_api.frontdoor import FileField
    from mail4agent_daemon.drain.rows import FILES_MAX_BYTES

    files = [each.declared for each in form.fields]
    total = sum(each.max_bytes for each in files if isinstance(each, FileField))
    if total > FILES_MAX_BYTES:
        raise MalformedError(
            field="max_bytes", reason=f"of all files must come to at most {FILES_MAX_BYTES} bytes"
        )


def _print(run: Types, pushed: BoxPushed) -> None:
    if run.as_json:
        run.json(pushed)
        return
    type_ = pushed.type
    run.rows([[type_.id, str(type_.version), _stand(type_), "held" if pushed.repeated else "taken"]])
    if not type_.served and type_.current:
        run.note("mail4agent: it proves no address, so that the box serves it to nobody")


def _stand(type_: BoxType) -> str:
    """How a type stands in the box."""
    return "served" if type_.served else "not served" if type_.current else "older"


@told
def list_(
    run: Types,
    *,
    local: Annotated[bool, typer.Option("--local", help="Do not ask the box.")] = False,
) -> Exit:
    """List the types of this machine with their versions, beside those of the box where one is set; files
    that are none are for ``check``.
    """
    from mail4agent_core.frontdoor.manifest import Form
    from mail4agent_daemon.drain.box import BoxError

    try:
        every = run.folder.every()
    except FolderError as failure:
        return unusable(run, failure)
    forms = [each for each in every if isinstance(each, Form)]
    settings = None if local else effective()
    ended, theirs = Exit.OK, None
    if settings is not None and settings.settings.box.url is not None:
        try:
            theirs = box_for_types(settings).types().types
        except BoxError as failure:
            # What is here can be shown all the same.
            ended = failed(run, failure)
    _list(run, forms, theirs)
    if len(forms) < len(every):
        run.note(f"mail4agent: {len(every) - len(forms)} files are no types; see frontdoor types check")
    return ended


def _list(run: Types, forms: Sequence[Form], theirs: Sequence[BoxType] | None) -> None:
    box = {(each.id, each.version): each for each in theirs or ()}
    ours = {(form.id, form.version) for form in forms}
    if run.as_json:
        found = [summary(form) for form in forms]
        if theirs is not None:
            for form, each in zip(forms, found, strict=True):
                each["box"] = _beside(run, form, box.get((form.id, form.version)))
        shown: dict[str, Any] = {"types": found}
        if theirs is not None:
            shown["box_only"] = [each.model_dump() for key, each in box.items() if key not in ours]
        run.value(shown)
        return
    if theirs is None:
        run.rows(row(form) for form in forms)
        return
    run.rows([*row(form), _said(_beside(run, form, box.get((form.id, form.version))))] for form in forms)
    run.rows(
        [each.id, str(each.version), "in the box alone", "", _stand(each)]
        for key, each in box.items()
        if key not in ours
    )


def _beside(run: Types, form: Form, theirs: BoxType | None) -> dict[str, Any] | None:
    """How the box has a type of this machine; None where it has none of that version."""
    if theirs is None:
        return None
    source = run.folder.source(form)
    digest = None if source is None else f"sha256:{hashlib.sha256(source[0]).hexdigest()}"
    return {"stand": _stand(theirs), "same": digest == theirs.sha256}


def _said(beside: dict[str, Any] | None) -> str:
    if beside is None:
        return "not in the box"
    return beside["stand"] if beside["same"] else f"{beside['stand']}, another text"
