# Generated from schemas/bundle/mailbox.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import JsonInteger, WireModel, WireStr
from mail4agent_api.mail import U32, U64, Body, PageLimit, Taint, Word
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

BootId = TypeAliasType(
    "BootId",
    Annotated[
        str,
        Field(
            description="the boot of the machine: 36 characters from 0-9, a-f and -",
            pattern="^[0-9a-f-]{36}$",
            title="BootId",
        ),
    ],
)


class ProducerName(WireStr, pattern="^[a-z0-9_-]{1,64}$", min_length=1, max_length=64, label="producer name"):
    """1 to 64 characters from a-z, 0-9 and _ -"""

    __slots__ = ()


class MailboxSession(
    WireStr, pattern="^[A-Za-z0-9._-]{1,128}$", min_length=1, max_length=128, label="session"
):
    """1 to 128 characters from A-Z, a-z, 0-9 and . _ -"""

    __slots__ = ()


class MailboxMessageId(
    WireStr, pattern="^[A-Za-z0-9_-]{1,80}$", min_length=1, max_length=80, label="mailbox message id"
):
    """1 to 80 characters from A-Z, a-z, 0-9 and _ -"""

    __slots__ = ()


MailboxTime = TypeAliasType(
    "MailboxTime",
    Annotated[
        str,
        Field(
            description="a time of RFC 3339 in UTC, 20 to 40 characters",
            json_schema_extra={"x-label": "time"},
            max_length=40,
            min_length=20,
            pattern="^[0-9TZ.\\u003a+-]{20,40}$",
            title="MailboxTime",
        ),
    ],
)


MailboxStatus = TypeAliasType(
    "MailboxStatus",
    Annotated[
        Literal["pending", "leased", "delivered", "dismissed", "dead"],
        Field(
            description="pending, leased, delivered, dismissed or dead",
            json_schema_extra={"x-label": "status"},
            title="MailboxStatus",
        ),
    ],
)


MailboxAttempt = TypeAliasType(
    "MailboxAttempt",
    Annotated[
        int,
        Field(
            description="a whole number of deliveries from 1 to 1000",
            ge=1,
            le=1000,
            title="MailboxAttempt",
        ),
        JsonInteger(),
    ],
)


MailboxSchema = TypeAliasType(
    "MailboxSchema",
    Annotated[
        int,
        Field(
            description="the version of the file's form, 2 to 1000000",
            ge=2,
            le=1000000,
            title="MailboxSchema",
        ),
        JsonInteger(),
    ],
)


MailboxSeal = TypeAliasType(
    "MailboxSeal",
    Annotated[
        str,
        Field(
            description="64 lower-case hexadecimal digits",
            json_schema_extra={"x-label": "seal"},
            pattern="^[0-9a-f]{64}$",
            title="MailboxSeal",
        ),
    ],
)


class MailboxListRequest(WireModel):
    """
    whose messages, which, and how many
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    to: ProducerName | None = None
    all: bool = False
    status: MailboxStatus | None = None
    limit: PageLimit = 50


class MailboxShowRequest(WireModel):
    """
    one message by its whole id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: MailboxMessageId


class AgentMarker(WireModel):
    """
    one live session: its producer, its process and since when
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    producer: ProducerName
    session_id: MailboxSession
    pid: U32
    started_at: MailboxTime
    process_start: U64 | None = None
    boot: BootId | None = None


class MailboxLease(WireModel):
    """
    who holds a message until when, and which delivery of it this is
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    session: MailboxSession
    until: MailboxTime
    attempt: MailboxAttempt


class MailboxMessage(WireModel):
    """
    one message with its taint, its state and who has it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: MailboxMessageId
    status: MailboxStatus
    from_: Annotated[ProducerName, Field(alias="from")]
    from_session: MailboxSession | None = None
    to: ProducerName
    body: Body
    reply_to: MailboxMessageId | None = None
    taint: Taint
    taint_recorded: bool
    created_at: MailboxTime
    delivered_at: MailboxTime | None = None
    delivered_to: MailboxSession | None = None
    dismissed_at: MailboxTime | None = None
    schema_: Annotated[MailboxSchema, Field(alias="schema")]
    lease: MailboxLease | None = None
    attempts: U32
    dead_at: MailboxTime | None = None
    seal: MailboxSeal


class MailboxEntry(WireModel):
    """
    a message as it stands, without its text; what its file says otherwise is null
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: MailboxMessageId
    status: Word
    from_: Annotated[ProducerName, Field(alias="from")]
    from_session: MailboxSession | None = None
    to: ProducerName
    reply_to: MailboxMessageId | None = None
    taint: Taint
    created_at: MailboxTime | None = None
    delivered_at: MailboxTime | None = None
    delivered_to: MailboxSession | None = None
    dismissed_at: MailboxTime | None = None
    dead_at: MailboxTime | None = None
    lease: MailboxLease | None = None
    attempts: U32
    body_bytes: U32


class MailboxList(WireModel):
    """
    messages of file mailboxes, by recipient and in the order of sending, and how many there are in all
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    messages: Annotated[list[MailboxEntry], Field(max_length=256)]
    total: U32


class MailboxText(WireModel):
    """
    a message with its text, of which what no text of the contract may hold is replaced
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    entry: MailboxEntry
    body: Body
