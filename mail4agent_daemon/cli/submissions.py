"""``frontdoor ingest``: a submission made by hand, taken in as if a drain had brought it.

What somebody asked by telephone or on paper gets the same checks, the same quarantine and the same states.
The same file brought again is the same request.
"""

from __future__ import annotations

import base64
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from mail4agent_api.codec import decode_value, parse
from mail4agent_api.errors import MalformedError, TooLargeError
from mail4agent_api.frontdoor import FrontdoorIngestRequest
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.verbs import Mail

#: Bytes of a submission without its files; the contract's own bound of a record is checked on what was read.
FILE_MAX_BYTES = 2 * 1024 * 1024
#: Bytes of one attached file.
ATTACHED_MAX_BYTES = 16 * 1024 * 1024
_CHUNK = 65_536
_KEYS = frozenset(("type_id", "type_version", "created_at", "values"))
_MAGIC = ((b"%PDF-", "application/pdf"), (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


def ingest(
    mail: Mail,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help='JSON: {"type_id": …, "values": {…}}, and type_version or created_at where you know them.',
        ),
    ],
    *,
    attach: Annotated[
        list[str] | None,
        typer.Option("--attach", metavar="FIELD=PATH", help="A PDF, PNG or JPEG for a field; repeat it."),
    ] = None,
) -> Exit:
    """Take in a submission that was made by hand; print its number, and what is wrong with it."""
    raw = _read(file, FILE_MAX_BYTES)
    submission = _submission(raw)
    files = dict(_attached(each) for each in attach or [])
    created = submission.get("created_at") or _written_at(file)
    record: dict[str, Any] = {
        "seq": 1,
        "type_id": submission.get("type_id"),
        "state": "drained",
        "created_at": created,
        "drained_at": created,
        "valid": True,
        "values": submission.get("values"),
        "attachments": [_measured(field, path, content) for field, (path, content) in files.items()],
    }
    if submission.get("type_version") is not None:
        record["type_version"] = submission["type_version"]
    # Each submission by hand is a box of its own: known again by its content, numbered by home.
    digest = hashlib.sha256(raw + b"".join(hashlib.sha256(content).digest() for _, content in files.values()))
    asked = {
        "box_epoch": f"hand-{digest.hexdigest()[:48]}",
        "record": record,
        "files": [{"field": field, "data": _chunks(content)} for field, (_, content) in files.items()],
    }
    receipt = mail.client.frontdoor_ingest(decode_value(FrontdoorIngestRequest, asked))
    if mail.as_json:
        mail.json(receipt)
    else:
        word = "invalid" if not receipt.valid else "held" if receipt.repeated else "taken"
        mail.rows([[str(receipt.seq), word]])
    if receipt.valid:
        return Exit.OK
    for line in _problems(record):
        mail.note(f"mail4agent: {line}")
    return Exit.REFUSED


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as source:
            raw = source.read(most + 1)
    except OSError as failure:
        raise typer.BadParameter(f"{path} cannot be read: {failure.strerror}", param_hint="FILE") from None
    if len(raw) > most:
        raise TooLargeError(field="request", limit=most, actual=len(raw))
    return raw


def _submission(raw: bytes) -> dict[str, Any]:
    value = parse(raw)
    if not isinstance(value, dict) or not value.keys() <= _KEYS:
        raise MalformedError(
            field="request", reason="must be an object of type_id, values, type_version and created_at"
        )
    return cast("dict[str, Any]", value)


def _written_at(path: Path) -> str:
    """When the file was written: the same each time that it is brought."""
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _attached(given: str) -> tuple[str, tuple[Path, bytes]]:
    field, equals, name = given.partition("=")
    if not (field and equals and name):
        raise typer.BadParameter("must be FIELD=PATH", param_hint="--attach")
    path = Path(name)
    return field, (path, _read(path, ATTACHED_MAX_BYTES))


def _measured(field: str, path: Path, content: bytes) -> dict[str, Any]:
    kind = next((kind for magic, kind in _MAGIC if content.startswith(magic)), None)
    if kind is None:
        raise typer.BadParameter(f"{path} is no PDF, PNG or JPEG", param_hint="--attach")
    return {
        "field": field,
        "filename": path.name,
        "size": len(content),
        "sha256": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "content_type": kind,
        "path": "",
    }


def _chunks(content: bytes) -> list[str]:
    text = base64.urlsafe_b64encode(content).decode().rstrip("=")
    return [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]


def _problems(record: dict[str, Any]) -> list[str]:
    """What is wrong with a submission, where its type is on this machine."""
    from mail4agent_core.frontdoor.manifest import TypeFolder
    from mail4agent_daemon.settings import TYPES_NAME, home_of

    type_ = TypeFolder(home_of(os.environ) / TYPES_NAME)(record["type_id"], record.get("type_version"))
    if type_ is None:
        return [f"there is no usable type of that name in {home_of(os.environ) / TYPES_NAME}"]
    measured = {
        each["field"]: {key: each[key] for key in ("filename", "size", "sha256", "content_type")}
        for each in record["attachments"]
    }
    found = type_.checked({**record["values"], **measured}).problems
    return [f"{problem.field or 'the submission'} {problem.says}" for problem in found]
