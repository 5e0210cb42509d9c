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


class OutboxKind(StrEnum):
    """How a draft is reviewed. The settings say it of a tool, never the tool."""

    #: Prose: the arguments are what is read, and an edit before the release teaches.
    MESSAGE = "message"
    #: A publication: the files are what is read, and an edit is refused.
    PUBLISH = "publish"


class Status(StrEnum):
    """Where a draft stands. ``releasing``: an intent is open; nobody else's program takes it for pending."""

    PENDING = "pending"
    RELEASING = "releasing"
    SENT = "sent"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    SUPERSEDED = "superseded"


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
        if self.kind is not OutboxKind.MESSAGE or self.status != Status.SENT:
            return None
        return WritingOutcome.SENT_EDITED if self.edited() else WritingOutcome.SENT_UNCHANGED

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


def is_item_id(text: str) -> bool:
    """Whether a text has the shape of an id, asked before it becomes part of a path."""
    return _ID.match(text) is not None


def decoded(raw: bytes, id_: str | None = None) -> OutboxItem:
    """The item that a file holds, which lies under ``id_`` where that is given.

    Raises NotAnItemError, and NewerFileError for a later form, whatever else it holds.
    """
    if len(raw) > FILE_MAX_BYTES:
        raise NotAnItemError("is past the bound of a file")
    try:
        value = parse(raw)
    except RefusalError:
        raise NotAnItemError("is no JSON") from None
    if not isinstance(value, dict):
        raise NotAnItemError("is no object")
    return _Reader(cast(dict[str, Any], value)).item(id_)


class _Reader:
    """Takes the keys of one file, each of its type."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    def item(self, id_: str | None) -> OutboxItem:
        schema = None if self._value.get("schema") is None else self._whole("schema")
        if schema is not None and schema > OUTBOX_SCHEMA:
            raise NewerFileError
        self._value.pop("schema", None)
        found_id = self._text("id")
        if not is_item_id(found_id) or id_ not in {None, found_id}:
            raise NotAnItemError("is not the item of this place")
        ours = schema is not None
        # Keywords are judged in this order; what is left over is others'.
        return OutboxItem(
            id=found_id,
            status=self._text("status"),
            tool=self._text("tool"),
            kind=self._kind(),
            args_before=self._any("args_before"),
            args=self._any("args"),
            summary=self._text("summary"),
            session_id=self._maybe("session_id"),
            workspace=self._maybe("workspace"),
            taint=_taint(self._value.pop("taint", None)),
            created_at=self._text("created_at"),
            resolved_at=self._maybe("resolved_at"),
            reason=self._maybe("reason"),
            error=self._maybe("error"),
            schema=schema,
            release=self._intent() if ours else None,
            attempts=self._whole("attempts") if ours else 0,
            decided_by=self._maybe("decided_by") if ours else None,
            idempotency_key=self._maybe("idempotency_key") if ours else None,
            files=self._files() if ours else (),
            staged_by=self._maybe("staged_by") if ours else None,
            sink=self._maybe("sink") if ours else None,
            sent_as=self._maybe("sent_as") if ours else None,
            superseded_by=self._maybe("superseded_by") if ours else None,
            decided_at=self._maybe("decided_at") if ours else None,
            others=self._value,
        )

    def _any(self, key: str) -> Any:
        if key not in self._value:
            raise NotAnItemError(f"{key} is missing")
        return self._value.pop(key)

    def _text(self, key: str) -> str:
        value = self._value.pop(key, None)
        if not isinstance(value, str):
            raise NotAnItemError(f"{key} is no text")
        return value

    def _maybe(self, key: str) -> str | None:
        value = self._value.pop(key, None)
        if value is not None and not isinstance(value, str):
            raise NotAnItemError(f"{key} is no text")
        return value

    def _whole(self, key: str) -> int:
        value = self._value.pop(key, 0)
        if type(value) is not int or not 0 <= value <= _WHOLE_MAX:
            raise NotAnItemError(f"{key} is no whole number")
        return value

    def _kind(self) -> OutboxKind:
        try:
            return OutboxKind(self._value.pop("kind", OutboxKind.MESSAGE))
        except ValueError:
            # How it is to be reviewed is not known, so that it cannot be.
            raise NotAnItemError("kind is none that is known") from None

    def _intent(self) -> Intent | None:
        match self._value.pop("release", None):
            case None:
                return None
            case {"attempt": int(attempt), "by": str(by), "digest": str(digest), "started_at": str(started)}:
                return Intent(attempt, by, digest, started)
            case _:
                raise NotAnItemError("release is no intent")

    def _files(self) -> tuple[FileRecord, ...]:
        found = self._value.pop("files", None)
        if found is None:
            return ()
        if not isinstance(found, list):
            raise NotAnItemError("files is no list")
        return tuple(map(_file, cast(list[Any], found)))


def _taint(value: Any) -> Taint:
    """As ``recorded``; what most files say is known without making it again."""
    if isinstance(value, dict) and len(cast(dict[str, Any], value)) == 2:
        found = cast(dict[str, Any], value)
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
