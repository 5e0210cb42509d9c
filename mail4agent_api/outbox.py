# Generated from schemas/bundle/outbox.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import JsonInteger, MaxUtf8Bytes, WireModel, WireStr
from mail4agent_api.frontdoor import ToolTextOffset
from mail4agent_api.mail import (
    U32,
    Body,
    Boundary,
    Line,
    PageLimit,
    Refusal,
    Selector,
    Taint,
    ToolPageLimit,
    ToolTokens,
    UntrustedText,
    Word,
)
from mail4agent_api.mailbox import MailboxTime
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType


class OutboxTallyRequest(WireModel):
    """
    nothing to say
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


Permille = TypeAliasType(
    "Permille",
    Annotated[
        int,
        Field(
            description="a share in thousandths, 0 to 1000",
            ge=0,
            le=1000,
            title="Permille",
        ),
        JsonInteger(),
    ],
)


class OutboxTally(WireModel):
    """
    released messages, and the share that left as drafted; null where none left
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    unchanged: U32
    edited: U32
    sent: U32
    unchanged_permille: Permille | None = None


DraftPiece = TypeAliasType(
    "DraftPiece",
    Annotated[
        str,
        Field(
            description="a piece of a shown text: 1 to 16384 bytes of UTF-8; of the control characters only line feed and tab",
            json_schema_extra={"x-maxUtf8Bytes": 16384},
            max_length=16384,
            min_length=1,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="DraftPiece",
        ),
        MaxUtf8Bytes(16384),
    ],
)


class DraftRow(WireModel):
    """
    an argument as it is shown: the pieces of its text, to be joined with nothing between
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    name: DraftPiece
    text: Annotated[list[DraftPiece], Field(max_length=128)]


HiddenCount = TypeAliasType(
    "HiddenCount",
    Annotated[
        int,
        Field(
            description="how many characters are shown as numbers, 0 to 16777216",
            ge=0,
            le=16777216,
            title="HiddenCount",
        ),
        JsonInteger(),
    ],
)


class DraftShown(WireModel):
    """
    every argument once: whom and what it is about, the prose, and all else
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    headers: Annotated[list[DraftRow], Field(max_length=12)]
    body: DraftRow | None = None
    other: Annotated[list[DraftRow], Field(max_length=64)]
    hidden: HiddenCount


DraftWarning = TypeAliasType(
    "DraftWarning",
    Annotated[
        Literal[
            "private",
            "untrusted",
            "hidden_characters",
            "edited",
            "no_sink",
            "outcome_unknown",
            "failed_before",
            "files_changed",
        ],
        Field(
            description="private, untrusted, hidden_characters, edited, no_sink, outcome_unknown, failed_before or files_changed",
            title="DraftWarning",
        ),
    ],
)


class OutboxId(WireStr, pattern="^[A-Za-z0-9_-]{1,80}$", min_length=1, max_length=80, label="outbox id"):
    """1 to 80 characters from A-Z, a-z, 0-9 and _ -"""

    __slots__ = ()


class ToolName(WireStr, pattern="^[A-Za-z0-9._-]{1,128}$", min_length=1, max_length=128, label="tool"):
    """the name of a tool: 1 to 128 characters from A-Z, a-z, 0-9 and . _ -"""

    __slots__ = ()


class DraftDigest(WireStr, pattern="^sha256:[0-9a-f]{64}$", label="draft digest"):
    """sha256: and 64 lower-case hexadecimal digits"""

    __slots__ = ()


FileDigest = TypeAliasType(
    "FileDigest",
    Annotated[
        str,
        Field(
            description="64 lower-case hexadecimal digits",
            json_schema_extra={"x-label": "file digest"},
            pattern="^[0-9a-f]{64}$",
            title="FileDigest",
        ),
    ],
)


DraftPath = TypeAliasType(
    "DraftPath",
    Annotated[
        str,
        Field(
            description="a path: 1 to 4096 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 4096, "x-label": "path"},
            max_length=4096,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="DraftPath",
        ),
        MaxUtf8Bytes(4096),
    ],
)


Decider = TypeAliasType(
    "Decider",
    Annotated[
        str,
        Field(
            description="who decides: 1 to 256 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 256, "x-label": "decider"},
            max_length=256,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Decider",
        ),
        MaxUtf8Bytes(256),
    ],
)


DecisionReason = TypeAliasType(
    "DecisionReason",
    Annotated[
        str,
        Field(
            description="why: 1 to 2048 bytes of UTF-8; of the control characters only line feed and tab",
            json_schema_extra={"x-maxUtf8Bytes": 2048, "x-label": "reason"},
            max_length=2048,
            min_length=1,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="DecisionReason",
        ),
        MaxUtf8Bytes(2048),
    ],
)


OutboxStatus = TypeAliasType(
    "OutboxStatus",
    Annotated[
        Literal["pending", "releasing", "sent", "rejected", "withdrawn", "superseded"],
        Field(
            description="pending, releasing, sent, rejected, withdrawn or superseded",
            json_schema_extra={"x-label": "status"},
            title="OutboxStatus",
        ),
    ],
)


OutboxKind = TypeAliasType(
    "OutboxKind",
    Annotated[
        Literal["message", "publish"],
        Field(
            description="message or publish",
            json_schema_extra={"x-label": "kind"},
            title="OutboxKind",
        ),
    ],
)


OutboxSchema = TypeAliasType(
    "OutboxSchema",
    Annotated[
        int,
        Field(
            description="the version of the file's form, 2 to 1000000",
            ge=2,
            le=1000000,
            title="OutboxSchema",
        ),
        JsonInteger(),
    ],
)


OutboxAttempt = TypeAliasType(
    "OutboxAttempt",
    Annotated[
        int,
        Field(
            description="the number of an attempt, 1 to 4294967295",
            ge=1,
            le=4294967295,
            title="OutboxAttempt",
        ),
        JsonInteger(),
    ],
)


class DraftArguments(WireModel):
    """
    the arguments of a tool call, an object
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )


class DraftFile(WireModel):
    """
    a file as it was when the draft was staged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    path: DraftPath
    size: U32
    sha256: FileDigest


class ReleaseIntent(WireModel):
    """
    a release that was begun and has no outcome
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    attempt: OutboxAttempt
    by: Decider
    digest: DraftDigest
    started_at: MailboxTime


class OutboxItem(WireModel):
    """
    one staged draft; without taint both legs count, without schema it is the original's
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    status: OutboxStatus
    tool: ToolName
    kind: OutboxKind = "message"
    args_before: DraftArguments
    args: DraftArguments
    summary: Body
    session_id: Selector | None = None
    workspace: DraftPath | None = None
    taint: Taint | None = None
    created_at: MailboxTime
    resolved_at: MailboxTime | None = None
    reason: DecisionReason | None = None
    error: DecisionReason | None = None
    schema_: Annotated[OutboxSchema | None, Field(alias="schema")] = None
    release: ReleaseIntent | None = None
    attempts: U32 = 0
    decided_by: Decider | None = None
    idempotency_key: Selector | None = None
    files: Annotated[list[DraftFile], Field(max_length=256, validate_default=True)] = []
    staged_by: Decider | None = None
    sink: Line | None = None
    sent_as: Line | None = None
    superseded_by: OutboxId | None = None
    decided_at: MailboxTime | None = None


class StampedTaint(WireModel):
    """
    what a harness says of the conversation; a leg that is left out is set
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    private: bool = True
    untrusted: bool = True


class OutboxStaged(WireModel):
    """
    the draft that waits for a person
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    digest: DraftDigest
    summary: Line
    status: OutboxStatus
    repeated: bool


class OutboxListRequest(WireModel):
    """
    which drafts, and how many; without status those that wait or are in doubt
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    status: OutboxStatus | None = None
    all: bool = False
    kind: OutboxKind | None = None
    tool: ToolName | None = None
    after: OutboxId | None = None
    limit: PageLimit = 50


class OutboxEntry(WireModel):
    """
    a draft as a list shows it; what its file says otherwise is null
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    status: Word
    tool: Line
    kind: OutboxKind
    summary: Line
    session_id: Selector | None = None
    staged_by: Decider | None = None
    taint: Taint
    edited: bool
    created_at: MailboxTime | None = None
    resolved_at: MailboxTime | None = None
    attempts: U32
    outcome_unknown: bool
    error: DecisionReason | None = None
    reason: DecisionReason | None = None
    decided_by: Decider | None = None
    superseded_by: OutboxId | None = None


class OutboxList(WireModel):
    """
    drafts, oldest first, how many there are in all, and how many files are none
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    drafts: Annotated[list[OutboxEntry], Field(max_length=256)]
    total: U32
    unreadable: U32


class OutboxGetRequest(WireModel):
    """
    one draft by its whole id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId


class OutboxWithdrawRequest(WireModel):
    """
    take back a draft that nobody has decided
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    reason: DecisionReason | None = None


class OutboxSupersedeRequest(WireModel):
    """
    stage a draft in the place of one that nobody has decided
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    args: DraftArguments
    workspace: DraftPath | None = None
    taint: StampedTaint | None = None
    idempotency_key: Selector | None = None


class ToolStageRequest(WireModel):
    """
    stage a tool call that a person releases
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    tool: ToolName
    args: DraftArguments
    workspace: Annotated[DraftPath | None, Field(description="the folder that files of the draft lie in")] = (
        None
    )
    idempotency_key: Annotated[
        Selector | None,
        Field(description="a repeat with the same key stages nothing twice"),
    ] = None


class ToolSupersedeRequest(WireModel):
    """
    stage a draft in the place of one that nobody has decided
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    args: DraftArguments
    workspace: Annotated[DraftPath | None, Field(description="the folder that files of the draft lie in")] = (
        None
    )
    idempotency_key: Annotated[
        Selector | None,
        Field(description="a repeat with the same key stages nothing twice"),
    ] = None


class ToolStageResult(WireModel):
    """
    the draft that waits for a person
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    status: OutboxStatus
    repeated: bool


class ToolDraftsRequest(WireModel):
    """
    the caller's own drafts; without status those that wait or are in doubt
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    status: OutboxStatus | None = None
    all: bool = False
    after: Annotated[OutboxId | None, Field(description="next of an earlier page")] = None
    limit: ToolPageLimit = 20
    max_tokens: ToolTokens = 2000


ToolDraftStatus = TypeAliasType(
    "ToolDraftStatus",
    Annotated[
        Literal["pending", "releasing", "sent", "rejected", "withdrawn", "superseded", "unknown"],
        Field(
            description="pending, releasing, sent, rejected, withdrawn, superseded, or unknown where a file says none of them",
            json_schema_extra={"x-label": "status"},
            title="ToolDraftStatus",
        ),
    ],
)


class ToolDraft(WireModel):
    """
    a draft: what the daemon vouches for
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    status: ToolDraftStatus
    edited: bool
    outcome_unknown: bool
    created_at: MailboxTime | None = None
    superseded_by: OutboxId | None = None


class ToolDraftsResult(WireModel):
    """
    drafts, oldest first, between boundary lines a line on each, how many there are, and where the next page begins
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    boundary: Boundary
    drafts: Annotated[list[ToolDraft], Field(max_length=50)]
    text: UntrustedText
    total: U32
    next: OutboxId | None = None


class ToolDraftRequest(WireModel):
    """
    one draft of the caller's own, or a further part of it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    from_byte: Annotated[ToolTextOffset, Field(description="next_byte of an earlier part")] = 0
    max_tokens: ToolTokens = 2000


class ToolDraftResult(WireModel):
    """
    a draft, between boundary lines what it says, and where the rest of that begins
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    boundary: Boundary
    draft: ToolDraft
    text: UntrustedText
    text_bytes: ToolTextOffset
    cut: bool
    next_byte: ToolTextOffset | None = None


class ToolWithdrawResult(WireModel):
    """
    the draft that was taken back
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    status: ToolDraftStatus


class OutboxEditRequest(WireModel):
    """
    give a message other arguments; refused when it changed since it was read
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    digest: DraftDigest
    args: DraftArguments


class OutboxReleaseRequest(WireModel):
    """
    release the draft that was read
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    digest: DraftDigest


class OutboxReleased(WireModel):
    """
    what came of a release: it left, or certainly nothing did and the draft waits on
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    sent: bool
    status: OutboxStatus
    attempts: U32
    sent_as: Line | None = None
    error: DecisionReason | None = None


class DraftNamed(WireModel):
    """
    a draft as it was read
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    digest: DraftDigest


class OutboxRejectRequest(WireModel):
    """
    reject 1 to 100 drafts for one reason; each has an outcome of its own
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    drafts: Annotated[list[DraftNamed], Field(max_length=100, min_length=1)]
    reason: DecisionReason


class DraftRejected(WireModel):
    """
    the draft is rejected
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["rejected"] = "rejected"
    id: OutboxId


class DraftKept(WireModel):
    """
    the draft is as it was, and why
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["refused"] = "refused"
    id: OutboxId
    refusal: Refusal


RejectOutcome = TypeAliasType(
    "RejectOutcome",
    Annotated[
        DraftRejected | DraftKept,
        Field(
            description="what became of one rejection (rejected or refused)",
            discriminator="kind",
            title="RejectOutcome",
        ),
    ],
)


class OutboxRejected(WireModel):
    """
    an outcome for each draft that was named, in that order
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    outcomes: Annotated[list[RejectOutcome], Field(max_length=100)]


class OutboxSettleRequest(WireModel):
    """
    say whether a draft left whose outcome is unknown
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: OutboxId
    sent: bool


class OutboxDraft(WireModel):
    """
    a whole draft, and the digest that a decision on it names
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    entry: OutboxEntry
    digest: DraftDigest
    args: DraftArguments | None = None
    args_before: DraftArguments | None = None
    view: DraftShown
    workspace: DraftPath | None = None
    sink: Line | None = None
    files: Annotated[list[DraftFile], Field(max_length=256)]
    warnings: Annotated[list[DraftWarning], Field(max_length=8)]
    release: ReleaseIntent | None = None
    sent_as: Line | None = None
    decided_at: MailboxTime | None = None


class OutboxStageRequest(WireModel):
    """
    stage a tool call that a person releases; only a holder of outbox:stamp gives its taint
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    tool: ToolName
    args: DraftArguments
    workspace: DraftPath | None = None
    taint: StampedTaint | None = None
    idempotency_key: Selector | None = None
