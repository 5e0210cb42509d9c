"""One staged draft as its file holds it, ``<id>.json``.

The original's fields come first, in its order, then ours, then what others added, in the order in which it
was found. A file of the original loads: what it does not say has the original's meaning, save taint, whose
absence means both legs. ``args_before`` is never changed: it is what the draft was when it was staged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isinf
from typing import Any, cast

from mail4agent_api.codec import parse
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Taint
from mail4agent_core.taint import BOTH, recorded

from .canonical import canonical, same, sorted_keys
from .outcome import WritingOutcome

#: The form of our files. The original's have no ``schema``.
OUTBOX_SCHEMA = 2
#: The greatest file that is read, in bytes.
FILE_MAX_BYTES = 8_388_608
_WHOLE_MAX = 2**32 - 1
#: What names an item and may stand in front of ``.json``: no separator and no dot leads elsewhere.
_ID = re.compile(r"[A-Za-z0-9_-]{1,80}\Z")
_TAINTS = {
    (private, untrusted): recorded({"private": private, "untrusted": untrusted})
    for private in (False, True)
    for untrusted in (False, True)
}
_HEX = re.compile(r"[0-9a-f]{64}\Z")
_TEXTS = ("id", "status", "tool", "summary", "created_at")
_MAYBES = ("session_id", "workspace", "resolved_at", "reason", "error")
_OUR_MAYBES = (
    *_MAYBES,
    "decided_by", "idempotency_key", "staged_by", "sink", "sent_as", "superseded_by", "decided_at",
)  # fmt: skip
# Asked of every file of a list, so by maps and sets without a loop of Python's.
_TEXT = frozenset({str})
_TEXT_OR_NONE = frozenset({str, type(None)})
_PLAIN = frozenset({str, type(None), bool, int})
_NESTS = frozenset({dict, list})
_KEYS = frozenset({*_TEXTS, *_MAYBES, "kind", "args_before", "args", "taint", "schema"})
_OUR_KEYS = frozenset({*_OUR_MAYBES, "release", "attempts", "files"})
_KEYS_OF_OURS = _KEYS | _OUR_KEYS


class OutboxKind(StrEnum):
    """How a draft is reviewed. The settings say it of a tool, never the tool."""

    #: Prose: the arguments are what is read, and an edit before the release teaches.
    MESSAGE = "message"
    #: A publication: the files are what is read, and an edit is refused.
    PUBLISH = "publish"


_KINDS = {kind.value: kind for kind in OutboxKind}


class Status(StrEnum):
    """Where a draft stands. ``releasing``: an intent is open; nobody else's program takes it for pending."""

    PENDING = "pending"
    RELEASING = "releasing"
    SENT = "sent"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


#: A member of an enumeration is looked up by a call, for each of ten thousand files.
_SENT = Status.SENT.value


class NotAnItemError(Exception):
    """A file holds no item. The message says why, without a word of the file."""


class NewerFileError(NotAnItemError):
    """A file has a later form than this program reads."""

    def __init__(self) -> None:
        super().__init__("has a later form than this program reads")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that the sink will read, as it was when the draft was staged."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Intent:
    """A release that was begun: on disk before the sink is called, and open until its outcome is recorded."""

    attempt: int
    by: str
    digest: str
    started_at: str


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One staged outbound action."""

    id: str
    #: One of ``Status``; a file of another program may say something else, which is no state to act on.
    status: str
    #: The tool that a release carries out, by its name.
    tool: str
    args_before: Any
    #: What a release carries out. An edit changes it.
    args: Any
    #: One line for a list.
    summary: str
    created_at: str
    kind: OutboxKind = OutboxKind.MESSAGE
    #: The session that drafted it, where it is known.
    session_id: str | None = None
    #: The folder that the call was made in; relative paths among the arguments mean it.
    workspace: str | None = None
    #: What the conversation had read when it was staged.
    taint: Taint = BOTH
    resolved_at: str | None = None
    #: Why it was rejected or withdrawn.
    reason: str | None = None
    #: Why the last attempt to release it failed. It stays pending.
    error: str | None = None
    #: None in a file of the original.
    schema: int | None = None
    release: Intent | None = None
    attempts: int = 0
    #: Who took the last decision: an address, or ``user:`` and a name of the operating system.
    decided_by: str | None = None
    idempotency_key: str | None = None
    files: tuple[FileRecord, ...] = ()
    #: The address that staged it.
    staged_by: str | None = None
    #: What carried it out, as the release found it.
    sink: str | None = None
    #: The far side's name for what was sent.
    sent_as: str | None = None
    #: The draft that stands in its place.
    superseded_by: str | None = None
    #: When the last decision was taken, that of an edit too.
    decided_at: str | None = None
    #: What others wrote into the file.
    others: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def edited(self) -> bool:
        """Whether what leaves is another than was drafted. 1, 1.0 and true are three values."""
        return not same(self.args, self.args_before)

    def writing_outcome(self) -> WritingOutcome | None:
        """What it says about drafting: nothing, unless it is a message that was sent."""
        return writing_outcome(self.kind, self.status, edited=self.edited())

    def mineable_as_writing(self) -> bool:
        """Whether its difference is a correction of somebody's writing."""
        return self.writing_outcome() is WritingOutcome.SENT_EDITED

    def changed(self, **values: Any) -> OutboxItem:
        """The item in another state, in today's form."""
        return replace(replace(self, schema=OUTBOX_SCHEMA), **values)

    def encoded(self) -> bytes:
        """The bytes of its file. Raises MalformedError for arguments that are no JSON."""
        canonical(self.args)
        value: dict[str, Any] = {
            "id": self.id,
            "status": self.status,
            "tool": self.tool,
            "kind": str(self.kind),
            "args_before": sorted_keys(self.args_before),
            "args": sorted_keys(self.args),
            "summary": self.summary,
            "session_id": self.session_id,
            "workspace": self.workspace,
            "taint": {"private": self.taint.private, "untrusted": self.taint.untrusted},
            "created_at": self.created_at,
            "resolved_at": self.resolved_at,
            "reason": self.reason,
            "error": self.error,
        }
        if self.schema is not None:
            intent = self.release
            value |= {
                "schema": self.schema,
                "release": None
                if intent is None
                else {
                    "attempt": intent.attempt,
                    "by": intent.by,
                    "digest": intent.digest,
                    "started_at": intent.started_at,
                },
                "attempts": self.attempts,
                "decided_by": self.decided_by,
                "idempotency_key": self.idempotency_key,
                "files": [
                    {"path": file.path, "size": file.size, "sha256": file.sha256} for file in self.files
                ],
                "staged_by": self.staged_by,
                "sink": self.sink,
                "sent_as": self.sent_as,
                "superseded_by": self.superseded_by,
                "decided_at": self.decided_at,
            }
        return json.dumps({**value, **self.others}, ensure_ascii=False, indent=2, allow_nan=False).encode()


def writing_outcome(kind: OutboxKind, status: str, *, edited: bool) -> WritingOutcome | None:
    """What a draft of a kind and status says about drafting; None where it says nothing."""
    if status != _SENT or kind is not OutboxKind.MESSAGE:
        return None
    return WritingOutcome.SENT_EDITED if edited else WritingOutcome.SENT_UNCHANGED


def is_item_id(text: str) -> bool:
    """Whether a text has the shape of an id, asked before it becomes part of a path."""
    return _ID.match(text) is not None


def decoded(raw: bytes, id_: str | None = None) -> OutboxItem:
    """The item that a file holds, which lies under ``id_`` where that is given. Raises as ``checked``."""
    value = checked(raw, id_)
    get = value.get
    ours = get("schema") is not None
    # A file of the original may have our keys too: they are others' then.
    our = (value if ours else dict[str, Any]()).get
    known = _KEYS_OF_OURS if ours else _KEYS
    return OutboxItem(
        id=value["id"],
        status=value["status"],
        tool=value["tool"],
        kind=kind_of(value),
        args_before=value["args_before"],
        args=value["args"],
        summary=value["summary"],
        session_id=get("session_id"),
        workspace=get("workspace"),
        taint=taint_of(value),
        created_at=value["created_at"],
        resolved_at=get("resolved_at"),
        reason=get("reason"),
        error=get("error"),
        schema=get("schema"),
        release=_intent(our("release")),
        attempts=our("attempts") or 0,
        decided_by=our("decided_by"),
        idempotency_key=our("idempotency_key"),
        files=_files(our("files")),
        staged_by=our("staged_by"),
        sink=our("sink"),
        sent_as=our("sent_as"),
        superseded_by=our("superseded_by"),
        decided_at=our("decided_at"),
        others={key: each for key, each in value.items() if key not in known},
    )


def checked(raw: bytes, id_: str | None = None) -> dict[str, Any]:
    """The object of an item's file, in which each member has its type.

    In one pass without an object for any part: a list does this to every file. Raises NotAnItemError, and
    NewerFileError for a later form, whatever else it holds.
    """
    if len(raw) > FILE_MAX_BYTES:
        raise NotAnItemError("is past the bound of a file")
    try:
        found = parse(raw)
    except RefusalError:
        raise NotAnItemError("is no JSON") from None
    if not isinstance(found, dict):
        raise NotAnItemError("is no object")
    value = cast("dict[str, Any]", found)
    get = value.get
    ours = get("schema") is not None
    if ours and _whole(value, "schema") > OUTBOX_SCHEMA:
        raise NewerFileError
    if not _TEXT.issuperset(map(type, map(get, _TEXTS))):
        raise _no_text(value, _TEXTS, _TEXT)
    if not is_item_id(value["id"]) or id_ not in {None, value["id"]}:
        raise NotAnItemError("is not the item of this place")
    maybes = _OUR_MAYBES if ours else _MAYBES
    if not _TEXT_OR_NONE.issuperset(map(type, map(get, maybes))):
        raise _no_text(value, maybes, _TEXT_OR_NONE)
    kind_of(value)
    if "args" not in value or "args_before" not in value:
        raise NotAnItemError(f"{'args' if 'args_before' in value else 'args_before'} is missing")
    if ours:
        _intent(get("release"))
        _whole(value, "attempts")
        if get("files") != []:
            _files(get("files"))
    # First what most files are, without a loop of Python's.
    if not (
        (_KEYS_OF_OURS if ours else _KEYS).issuperset(value)
        and type(args := value["args"]) is dict
        and type(before := value["args_before"]) is dict
        and _PLAIN.issuperset(map(type, cast("dict[str, Any]", args).values()))
        and _PLAIN.issuperset(map(type, cast("dict[str, Any]", before).values()))
    ) and _is_past_json(value):
        raise NotAnItemError("has a number that JSON has not")
    return value


def _is_past_json(value: dict[str, Any]) -> bool:
    """Whether there is a number without a text of JSON: 1e400 is read as infinity.

    Such a draft could be neither shown nor decided, nor its file written back.
    """
    level: list[Any] = [value]
    while level:
        below: list[Any] = []
        for part in level:
            parts = cast("list[Any]", [*part.values()] if type(part) is dict else part)
            if not _PLAIN.issuperset(map(type, parts)):
                if any(type(each) is float and isinf(each) for each in parts):
                    return True
                below += [each for each in parts if type(each) in _NESTS]
        level = below
    return False


def _no_text(value: dict[str, Any], keys: tuple[str, ...], types: frozenset[type]) -> NotAnItemError:
    """Names the first member that is of none of these types."""
    return NotAnItemError(f"{next(key for key in keys if type(value.get(key)) not in types)} is no text")


def kind_of(value: dict[str, Any]) -> OutboxKind:
    """The kind that a file's object names. Raises NotAnItemError."""
    named = value.get("kind", OutboxKind.MESSAGE)
    kind = _KINDS.get(named) if isinstance(named, str) else None
    if kind is None:
        # How it is to be reviewed is not known, so that it cannot be.
        raise NotAnItemError("kind is none that is known")
    return kind


def _whole(value: dict[str, Any], key: str) -> int:
    found = value.get(key, 0)
    if type(found) is not int or not 0 <= found <= _WHOLE_MAX:
        raise NotAnItemError(f"{key} is no whole number")
    return found


def _intent(value: Any) -> Intent | None:
    match value:
        case None:
            return None
        case {"attempt": int(attempt), "by": str(by), "digest": str(digest), "started_at": str(started)}:
            return Intent(attempt, by, digest, started)
        case _:
            raise NotAnItemError("release is no intent")


def _files(found: Any) -> tuple[FileRecord, ...]:
    if found is None:
        return ()
    if not isinstance(found, list):
        raise NotAnItemError("files is no list")
    return tuple(map(_file, cast(list[Any], found)))


def taint_of(item: dict[str, Any]) -> Taint:
    """As ``recorded``; what most files say is known without making it again."""
    value = item.get("taint")
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if len(found) == 2:
            private, untrusted = found.get("private"), found.get("untrusted")
            if isinstance(private, bool) and isinstance(untrusted, bool):
                return _TAINTS[private, untrusted]
    return BOTH


def _file(value: Any) -> FileRecord:
    match value:
        case {"path": str(path), "size": int(size), "sha256": str(sha256)} if _HEX.match(sha256):
            return FileRecord(path, size, sha256)
        case _:
            raise NotAnItemError("files has what is no file")
