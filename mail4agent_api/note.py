# Generated from schemas/bundle/note.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import JsonInteger, MaxUtf8Bytes, WireModel, WireStr
from mail4agent_api.mail import U32, U64, Selector, UnixMs
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

Author = TypeAliasType(
    "Author",
    Annotated[
        str,
        Field(
            description="who replies: 1 to 64 characters from a-z, 0-9 and -",
            json_schema_extra={"x-label": "author"},
            max_length=64,
            min_length=1,
            pattern="^[a-z0-9-]{1,64}$",
            title="Author",
        ),
    ],
)


class JournalObject(WireModel):
    """
    an object of labels or of a payload, whose members depend on the kind
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )


NoteOperationKind = TypeAliasType(
    "NoteOperationKind",
    Annotated[
        Literal["note-delivered"],
        Field(
            description="the kind of an operation that delivers a note: note-delivered",
            title="NoteOperationKind",
        ),
    ],
)


CarrySchema = TypeAliasType(
    "CarrySchema",
    Annotated[
        Literal["agent.note@1"],
        Field(
            description="what an entry of a carry store holds: agent.note@1",
            title="CarrySchema",
        ),
    ],
)


class ReachedQueued(WireModel):
    """
    nobody was taking a turn; the next turn to open takes it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    reached: Literal["queued"] = "queued"


class ReachedWorker(WireModel):
    """
    the worker's turn was live and was reopened with it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    reached: Literal["worker"] = "worker"


class ReachedSupervisor(WireModel):
    """
    the judge's turn was live and decided again with it in hand
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    reached: Literal["supervisor"] = "supervisor"


class ReachedCarried(WireModel):
    """
    no turn took it; the node's next dispatch carries it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    reached: Literal["carried"] = "carried"


class DeliveredQueued(WireModel):
    """
    the note is durable and not answered yet; it is not to be sent again
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["queued"] = "queued"


class OfferQueued(WireModel):
    """
    nobody is taking a turn; the next turn to open takes the note
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["queued"] = "queued"


class NoteId(WireStr, pattern="^note_[0-9a-f]{24}$", label="note id"):
    """note_ and 24 lower-case hexadecimal digits"""

    __slots__ = ()


RunName = TypeAliasType(
    "RunName",
    Annotated[
        str,
        Field(
            description="the name of a run: 1 to 128 characters from A-Z, a-z, 0-9 and . _ -",
            json_schema_extra={"x-label": "run"},
            max_length=128,
            min_length=1,
            pattern="^[A-Za-z0-9._-]{1,128}$",
            title="RunName",
        ),
    ],
)


NodeId = TypeAliasType(
    "NodeId",
    Annotated[
        str,
        Field(
            description="the id of a node: 1 to 8192 bytes of UTF-8 without null characters",
            json_schema_extra={"x-maxUtf8Bytes": 8192, "x-label": "node"},
            max_length=8192,
            min_length=1,
            pattern="^[^\\u0000]*$",
            title="NodeId",
        ),
        MaxUtf8Bytes(8192),
    ],
)


NoteText = TypeAliasType(
    "NoteText",
    Annotated[
        str,
        Field(
            description="the text of a note: 1 to 16384 bytes of UTF-8 without null characters",
            json_schema_extra={"x-maxUtf8Bytes": 16384, "x-label": "text"},
            max_length=16384,
            min_length=1,
            pattern="^[^\\u0000]*$",
            title="NoteText",
        ),
        MaxUtf8Bytes(16384),
    ],
)


Criterion = TypeAliasType(
    "Criterion",
    Annotated[
        str,
        Field(
            description="the criterion of a note: 1 to 2048 bytes of UTF-8 without null characters",
            json_schema_extra={"x-maxUtf8Bytes": 2048, "x-label": "criterion"},
            max_length=2048,
            min_length=1,
            pattern="^[^\\u0000]*$",
            title="Criterion",
        ),
        MaxUtf8Bytes(2048),
    ],
)


CompletionReason = TypeAliasType(
    "CompletionReason",
    Annotated[
        str,
        Field(
            description="what a judge said of finished work: at most 16384 bytes of UTF-8 without null characters",
            json_schema_extra={"x-maxUtf8Bytes": 16384, "x-label": "completion reason"},
            max_length=16384,
            pattern="^[^\\u0000]*$",
            title="CompletionReason",
        ),
        MaxUtf8Bytes(16384),
    ],
)


RunText = TypeAliasType(
    "RunText",
    Annotated[
        str,
        Field(
            description="what a program of the run wrote: at most 4096 bytes of UTF-8 without null characters",
            json_schema_extra={"x-maxUtf8Bytes": 4096},
            max_length=4096,
            pattern="^[^\\u0000]*$",
            title="RunText",
        ),
        MaxUtf8Bytes(4096),
    ],
)


Instruction = TypeAliasType(
    "Instruction",
    Annotated[
        str,
        Field(
            description="the instruction of a turn: at most 16384 bytes of UTF-8 without null characters",
            json_schema_extra={"x-maxUtf8Bytes": 16384, "x-label": "instruction"},
            max_length=16384,
            pattern="^[^\\u0000]*$",
            title="Instruction",
        ),
        MaxUtf8Bytes(16384),
    ],
)


RunWord = TypeAliasType(
    "RunWord",
    Annotated[
        str,
        Field(
            description="a word of a run's record: 1 to 256 bytes of UTF-8 on one line, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 256},
            max_length=256,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="RunWord",
        ),
        MaxUtf8Bytes(256),
    ],
)


RunTime = TypeAliasType(
    "RunTime",
    Annotated[
        str,
        Field(
            description="a time in UTC to the millisecond: YYYY-MM-DDTHH:MM:SS.mmmZ",
            max_length=24,
            min_length=24,
            pattern="^[0-9TZ.\\u003a-]{24}$",
            title="RunTime",
        ),
    ],
)


Addressee = TypeAliasType(
    "Addressee",
    Annotated[
        Literal["worker", "supervisor", "both"],
        Field(
            description="whose task a note updates: worker, supervisor or both",
            json_schema_extra={"x-label": "addressee"},
            title="Addressee",
        ),
    ],
)


Party = TypeAliasType(
    "Party",
    Annotated[
        Literal["worker", "supervisor"],
        Field(
            description="a side of the conversation: worker or supervisor",
            json_schema_extra={"x-label": "party"},
            title="Party",
        ),
    ],
)


DeliverWhen = TypeAliasType(
    "DeliverWhen",
    Annotated[
        Literal["live", "next"],
        Field(
            description="live, which attempts the running turn, or next",
            json_schema_extra={"x-label": "deliver"},
            title="DeliverWhen",
        ),
    ],
)


ReachedWord = TypeAliasType(
    "ReachedWord",
    Annotated[
        Literal["queued", "worker", "supervisor", "judged-with", "carried"],
        Field(
            description="what became of a note: queued, worker, supervisor, judged-with or carried",
            json_schema_extra={"x-label": "reached"},
            title="ReachedWord",
        ),
    ],
)


NoteEvidence = TypeAliasType(
    "NoteEvidence",
    Annotated[
        Literal["delivered-origin", "opening-task", "instruction-text", "answering-turn"],
        Field(
            description="what a presentation was decided from: delivered-origin, opening-task, instruction-text or answering-turn",
            json_schema_extra={"x-label": "evidence"},
            title="NoteEvidence",
        ),
    ],
)


NotePlacement = TypeAliasType(
    "NotePlacement",
    Annotated[
        Literal["composed", "delivered-since"],
        Field(
            description="where a standing note sits: composed or delivered-since",
            json_schema_extra={"x-label": "placement"},
            title="NotePlacement",
        ),
    ],
)


TurnRole = TypeAliasType(
    "TurnRole",
    Annotated[
        Literal["assistant", "user", "system"],
        Field(
            description="who takes a turn: assistant is the worker, user the supervisor",
            json_schema_extra={"x-label": "role"},
            title="TurnRole",
        ),
    ],
)


TurnOrigin = TypeAliasType(
    "TurnOrigin",
    Annotated[
        Literal["task", "supervisor", "delivered"],
        Field(
            description="what a turn opened on: task, supervisor or delivered",
            json_schema_extra={"x-label": "origin"},
            title="TurnOrigin",
        ),
    ],
)


JournalSource = TypeAliasType(
    "JournalSource",
    Annotated[
        Literal["agentgraph", "vcs", "pipeline"],
        Field(
            description="who wrote a record: agentgraph, vcs or pipeline",
            json_schema_extra={"x-label": "source"},
            title="JournalSource",
        ),
    ],
)


JournalPhase = TypeAliasType(
    "JournalPhase",
    Annotated[
        Literal["development", "integrate", "review", "release"],
        Field(
            description="a phase of a record: development, integrate, review or release",
            json_schema_extra={"x-label": "phase"},
            title="JournalPhase",
        ),
    ],
)


JournalVersion = TypeAliasType(
    "JournalVersion",
    Annotated[
        int,
        Field(
            description="the version of an envelope, 1 or 2",
            ge=1,
            le=2,
            title="JournalVersion",
        ),
        JsonInteger(),
    ],
)


JournalLimit = TypeAliasType(
    "JournalLimit",
    Annotated[
        int,
        Field(
            description="a whole number of records from 1 to 256",
            ge=1,
            le=256,
            title="JournalLimit",
        ),
        JsonInteger(),
    ],
)


class NoteCommand(WireModel):
    """
    the command of a reply envelope that delivers a note
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    op: Literal["note"] = "note"
    id: NodeId
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None
    deliver: DeliverWhen = "live"
    persist: bool = True


ReplyCommand = TypeAliasType(
    "ReplyCommand",
    Annotated[
        NoteCommand,
        Field(
            description="a command of a reply envelope; those of other seams are not here",
            discriminator="op",
            title="ReplyCommand",
        ),
    ],
)


class ReplyEnvelope(WireModel):
    """
    a reply to a run: notes for its nodes, in order
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    version: U32 | None = None
    author: Author = "planner"
    completion: bool | None = None
    message: RunText | None = None
    reason: RunText | None = None
    commands: Annotated[list[ReplyCommand], Field(max_length=64, validate_default=True)] = []


class JournalArtifact(WireModel):
    """
    a file that a record refers to
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: RunWord
    kind: RunWord
    bytes: U64


class JournalEnvelope(WireModel):
    """
    one record of a journal: who wrote what when
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    v: JournalVersion
    ts: RunTime
    stream: RunWord
    seq: U64
    source: JournalSource
    kind: RunWord
    phase: JournalPhase | None = None
    labels: JournalObject
    payload: JournalObject
    artifacts: Annotated[list[JournalArtifact], Field(max_length=256, validate_default=True)] = []


NoteIds = TypeAliasType(
    "NoteIds",
    Annotated[
        list[NoteId],
        Field(
            description="the notes that a turn opened on",
            json_schema_extra={"x-label": "note ids"},
            max_length=64,
            title="NoteIds",
        ),
    ],
)


class TurnStarted(WireModel):
    """
    a turn that a party of a node's conversation opened
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    node: NodeId
    member: RunWord
    turn: U64
    role: TurnRole
    instruction: Instruction
    instruction_truncated: bool = False
    started_at: RunTime
    origin: TurnOrigin | None = None
    note_ids: NoteIds | None = None


class NoteObject(WireModel):
    """
    a note: whose task it updates, what it says and what it binds
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None


class NoteOffer(WireModel):
    """
    a note on its way to the conversation of a node, the body of a message
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    node: NodeId
    note_id: NoteId
    note: NoteObject


class RecordedNote(WireModel):
    """
    a note as the run's record carries it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None
    reached: ReachedWord
    completion_reason: CompletionReason | None = None
    note_id: NoteId | None = None


class NoteDelivered(WireModel):
    """
    the operation that a committed note is
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: NoteOperationKind
    node: NodeId
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None
    reached: ReachedWord
    completion_reason: CompletionReason | None = None
    note_id: NoteId | None = None
    shown_to: Annotated[list[Party], Field(max_length=2)] = []
    routed_to: Annotated[list[Party], Field(max_length=2)] = []
    offered_at: RunTime | None = None
    idempotency_key: Selector | None = None
    request: RunWord | None = None


class NoteShown(WireModel):
    """
    one presentation of a note to a party
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None
    reached: ReachedWord
    completion_reason: CompletionReason | None = None
    note_id: NoteId | None = None
    party: Party
    turn: U64
    evidence: NoteEvidence


class CarriedNote(WireModel):
    """
    the note of an entry of a carry store
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None
    note_id: NoteId | None = None


class CarryRecord(WireModel):
    """
    an entry of a carry store
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    ts: RunTime
    schema_: Annotated[CarrySchema, Field(alias="schema")]
    message: CarriedNote


class ReachedJudgedWith(WireModel):
    """
    the judge decided with it in hand that the work is complete
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    reached: Literal["judged-with"] = "judged-with"
    completion_reason: CompletionReason


Reached = TypeAliasType(
    "Reached",
    Annotated[
        ReachedQueued | ReachedWorker | ReachedSupervisor | ReachedJudgedWith | ReachedCarried,
        Field(
            description="what became of a note, as the run records it",
            discriminator="reached",
            title="Reached",
        ),
    ],
)


class DeliveredTo(WireModel):
    """
    the run recorded what became of the note
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["to"] = "to"
    reached: Reached


Delivered = TypeAliasType(
    "Delivered",
    Annotated[
        DeliveredTo | DeliveredQueued,
        Field(
            description="what a delivery answered",
            discriminator="kind",
            title="Delivered",
        ),
    ],
)


class OfferInterrupted(WireModel):
    """
    the live turn of this party takes the note
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["interrupted"] = "interrupted"
    party: Party


class OfferJudgedWith(WireModel):
    """
    the judge decided with the note in hand that the work is complete
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["judged_with"] = "judged_with"
    completion_reason: CompletionReason


class OfferConversationCompleted(WireModel):
    """
    the conversation is over and the work is passed
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["conversation_completed"] = "conversation_completed"
    completion_reason: CompletionReason


class OfferMemberSettled(WireModel):
    """
    the member that ran the conversation has ended
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["member_settled"] = "member_settled"
    outcome: RunText


class OfferNoConversation(WireModel):
    """
    there is no conversation to hand the note to
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["no_conversation"] = "no_conversation"
    reason: RunText


OfferAnswer = TypeAliasType(
    "OfferAnswer",
    Annotated[
        OfferQueued
        | OfferInterrupted
        | OfferJudgedWith
        | OfferConversationCompleted
        | OfferMemberSettled
        | OfferNoConversation,
        Field(
            description="what a conversation answered to a note that it was offered",
            discriminator="kind",
            title="OfferAnswer",
        ),
    ],
)


class NoteRequest(WireModel):
    """
    a note for a node of a run, and when it may reach it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    node: NodeId
    addressee: Addressee
    text: NoteText
    criterion: Criterion | None = None
    deliver: DeliverWhen = "live"
    persist: bool = True
    idempotency_key: Selector | None = None


class NoteReceipt(WireModel):
    """
    what became of a note, whom it was shown and whom it is owed to
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    note_id: NoteId
    run: RunName
    node: NodeId
    delivered: Delivered
    shown_to: Annotated[list[Party], Field(max_length=2)]
    owed_to: Annotated[list[Party], Field(max_length=2)]
    repeated: bool


class NoteStandingRequest(WireModel):
    """
    the node of a run whose notes are asked for
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    node: NodeId


class StandingNote(WireModel):
    """
    a note that the current dispatch holds, and where it sits
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    note: RecordedNote
    placement: NotePlacement
    read: bool


class NoteStanding(WireModel):
    """
    the notes that stand for a node, that it owes, and that no turn could decide
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    node: NodeId
    standing: Annotated[list[StandingNote], Field(max_length=256)]
    owed: Annotated[list[RecordedNote], Field(max_length=256)]
    undecidable: Annotated[list[RecordedNote], Field(max_length=256)]


class NoteEventsRequest(WireModel):
    """
    turns to append to the journal of a run, in order
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    events: Annotated[list[TurnStarted], Field(max_length=64, min_length=1)]


class NodePresentation(WireModel):
    """
    a presentation and the node whose note it is of
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    node: NodeId
    shown: NoteShown


class NotePresentations(WireModel):
    """
    the presentations that turns showed
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    presentations: Annotated[list[NodePresentation], Field(max_length=256)]


class NoteJournalRequest(WireModel):
    """
    a stretch of the journal of a run
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    after: U64 = 0
    limit: JournalLimit = 100


class NoteJournal(WireModel):
    """
    records of a journal, and where the next stretch begins
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    records: Annotated[list[JournalEnvelope], Field(max_length=256)]
    next: U64
    unreadable: U64
    torn_bytes: U64


class NoteRunsRequest(WireModel):
    """
    runs by name
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    after: RunName | None = None
    limit: JournalLimit = 100


class NoteRun(WireModel):
    """
    a run, how long its journal is, and when that was written last
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: RunName
    journal_bytes: U64
    changed_at_unix_ms: UnixMs


class NoteRuns(WireModel):
    """
    a page of runs by name, and how many there are in all
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    runs: Annotated[list[NoteRun], Field(max_length=256)]
    total: U32
