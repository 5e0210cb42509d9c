# Generated from schemas/bundle/mail.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import (
    ByType,
    Declared,
    JsonInteger,
    MaxUtf8Bytes,
    WireModel,
    WireStr,
)
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

RefusedField = TypeAliasType(
    "RefusedField",
    Annotated[
        str,
        Field(
            description="the label of a field: 1 to 64 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 64, "x-label": "field"},
            max_length=64,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="RefusedField",
        ),
        MaxUtf8Bytes(64),
    ],
)


Reason = TypeAliasType(
    "Reason",
    Annotated[
        str,
        Field(
            description="a fixed sentence: 1 to 512 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 512, "x-label": "reason"},
            max_length=512,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Reason",
        ),
        MaxUtf8Bytes(512),
    ],
)


ItemId = TypeAliasType(
    "ItemId",
    Annotated[
        str,
        Field(
            description="the id of an item: 1 to 128 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 128, "x-label": "id"},
            max_length=128,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="ItemId",
        ),
        MaxUtf8Bytes(128),
    ],
)


RequestId = TypeAliasType(
    "RequestId",
    Annotated[
        str,
        Field(
            description="1 to 64 characters from A-Z, a-z, 0-9 and . _ -",
            json_schema_extra={"x-label": "request_id"},
            max_length=64,
            min_length=1,
            pattern="^[A-Za-z0-9._-]{1,64}$",
            title="RequestId",
        ),
    ],
)


class Malformed(WireModel):
    """
    a field is not what the contract says
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["malformed"] = "malformed"
    field: RefusedField
    reason: Reason


class Unauthenticated(WireModel):
    """
    no valid credential was presented
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unauthenticated"] = "unauthenticated"


class AttestationFailed(WireModel):
    """
    the process behind the connection could not be proved
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["attestation_failed"] = "attestation_failed"
    reason: Reason


class ForbiddenOrigin(WireModel):
    """
    the request comes from a web page that is not the daemon's own
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["forbidden_origin"] = "forbidden_origin"


class UnknownPath(WireModel):
    """
    nothing is served at this path
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unknown_path"] = "unknown_path"


class UnknownItem(WireModel):
    """
    no item has this id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unknown_item"] = "unknown_item"
    id: ItemId


class MethodNotAllowed(WireModel):
    """
    the path is served, but not with this method
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["method_not_allowed"] = "method_not_allowed"


class AlreadyExists(WireModel):
    """
    the id is taken
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["already_exists"] = "already_exists"
    id: ItemId


class IdRetired(WireModel):
    """
    the id belonged to a removed account and is not given again until it is purged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["id_retired"] = "id_retired"
    id: ItemId


class DraftChanged(WireModel):
    """
    the draft is no longer the one that was shown
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["draft_changed"] = "draft_changed"
    id: ItemId


class OutcomeUnknown(WireModel):
    """
    a release of this item was interrupted; a person settles it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["outcome_unknown"] = "outcome_unknown"
    id: ItemId


class LeaseLost(WireModel):
    """
    the lease of the box is not the caller's; it must be taken first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["lease_lost"] = "lease_lost"


class EpochChanged(WireModel):
    """
    the queue of the box is of another epoch; its numbers mean nothing here
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["epoch_changed"] = "epoch_changed"


class UnsupportedMediaType(WireModel):
    """
    the body must be application/json
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unsupported_media_type"] = "unsupported_media_type"


class ForbiddenHost(WireModel):
    """
    the Host header names another server
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["forbidden_host"] = "forbidden_host"


class Internal(WireModel):
    """
    the daemon failed; the request id finds the reason in its log
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["internal"] = "internal"
    request_id: RequestId


UnixMs = TypeAliasType(
    "UnixMs",
    Annotated[
        int,
        Field(
            description="a time in whole milliseconds since 1970-01-01 UTC, 0 to 2^64-1",
            ge=0,
            le=18446744073709551615,
            title="UnixMs",
        ),
        JsonInteger(),
    ],
)


Stamp = TypeAliasType(
    "Stamp",
    Annotated[
        int,
        Field(
            description="a time in whole milliseconds since 1970-01-01 UTC, 1 to 2^64-1; zero is no time",
            ge=1,
            le=18446744073709551615,
            title="Stamp",
        ),
        JsonInteger(),
    ],
)


U64 = TypeAliasType(
    "U64",
    Annotated[
        int,
        Field(
            description="a whole number from 0 to 2^64-1",
            ge=0,
            le=18446744073709551615,
            title="U64",
        ),
        JsonInteger(),
    ],
)


U32 = TypeAliasType(
    "U32",
    Annotated[
        int,
        Field(
            description="a whole number from 0 to 4294967295",
            ge=0,
            le=4294967295,
            title="U32",
        ),
        JsonInteger(),
    ],
)


Seconds = TypeAliasType(
    "Seconds",
    Annotated[
        int,
        Field(
            description="a whole number of seconds from 1 to 86400",
            ge=1,
            le=86400,
            title="Seconds",
        ),
        JsonInteger(),
    ],
)


Line = TypeAliasType(
    "Line",
    Annotated[
        str,
        Field(
            description="one line of text: at most 512 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 512},
            max_length=512,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Line",
        ),
        MaxUtf8Bytes(512),
    ],
)


Label = TypeAliasType(
    "Label",
    Annotated[
        str,
        Field(
            description="a display name: at most 512 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 512, "x-label": "label"},
            max_length=512,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Label",
        ),
        MaxUtf8Bytes(512),
    ],
)


Word = TypeAliasType(
    "Word",
    Annotated[
        str,
        Field(
            description="one line of text: 1 to 64 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 64},
            max_length=64,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Word",
        ),
        MaxUtf8Bytes(64),
    ],
)


Selector = TypeAliasType(
    "Selector",
    Annotated[
        str,
        Field(
            description="1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -",
            max_length=128,
            min_length=1,
            pattern="^[A-Za-z0-9._@+-]{1,128}$",
            title="Selector",
        ),
    ],
)


Capability = TypeAliasType(
    "Capability",
    Annotated[
        Literal[
            "mail:send",
            "mail:read",
            "mail:operator",
            "outbox:stage",
            "outbox:stamp",
            "outbox:review",
            "frontdoor:drain",
            "frontdoor:extract",
            "frontdoor:brief",
            "frontdoor:review",
            "note:deliver",
            "note:produce",
            "note:read",
            "mailbox:read",
        ],
        Field(description="the name of a capability", title="Capability"),
    ],
)


class Taint(WireModel):
    """
    the two legs of a conversation's taint, which are set and never cleared
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    private: bool
    untrusted: bool


AuditNumber = TypeAliasType(
    "AuditNumber",
    Annotated[
        int,
        Field(
            description="the number of an audit entry, from 1 to 9007199254740991",
            ge=1,
            json_schema_extra={"x-label": "audit number"},
            le=9007199254740991,
            title="AuditNumber",
        ),
        JsonInteger(),
    ],
)


AuditTarget = TypeAliasType(
    "AuditTarget",
    Annotated[
        str,
        Field(
            description="what an operation was about: 1 to 256 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 256},
            max_length=256,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="AuditTarget",
        ),
        MaxUtf8Bytes(256),
    ],
)


FindingState = TypeAliasType(
    "FindingState",
    Annotated[
        Literal["good", "note", "bad"],
        Field(description="good, note or bad", title="FindingState"),
    ],
)


class Finding(WireModel):
    """
    one thing that was looked at, how it is, and words for a person
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    check: Word
    state: FindingState
    text: Line


class CheckupRequest(WireModel):
    """
    look everything over; with database, read the whole database too
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    database: bool = False


class Checkup(WireModel):
    """
    what was found, the first bad thing being the first to mend
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    findings: Annotated[list[Finding], Field(max_length=256)]


class Setting(WireModel):
    """
    a setting in force, and where it comes from
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    name: Line
    value: Line | None = None
    origin: Line


class SettingsRequest(WireModel):
    """
    the settings in force
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


class SettingList(WireModel):
    """
    the settings in force, no secret among them
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    settings: Annotated[list[Setting], Field(max_length=1024)]


class DirectoryRequest(WireModel):
    """
    ask for the directory
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


class WhoAmIRequest(WireModel):
    """
    ask who the caller is
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


FlowSecs = TypeAliasType(
    "FlowSecs",
    Annotated[
        int,
        Field(
            description="a span of time in seconds from 1 to 604800, a week",
            ge=1,
            json_schema_extra={"x-label": "secs"},
            le=604800,
            title="FlowSecs",
        ),
        JsonInteger(),
    ],
)


class MessageId(WireStr, pattern="^m4a_[0-9a-f]{24}$", label="message id"):
    """m4a_ and 24 lower-case hexadecimal digits"""

    __slots__ = ()


class SessionId(WireStr, pattern="^s-[0-9a-f]{8,64}$", label="session id"):
    """s- and 8 to 64 lower-case hexadecimal digits"""

    __slots__ = ()


class ParticipantId(
    WireStr, pattern="^[A-Za-z0-9._@+-]{1,128}$", min_length=1, max_length=128, label="participant id"
):
    """1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -"""

    __slots__ = ()


class RoomId(WireStr, pattern="^[A-Za-z0-9._@+-]{1,128}$", min_length=1, max_length=128, label="room id"):
    """1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -"""

    __slots__ = ()


PageLimit = TypeAliasType(
    "PageLimit",
    Annotated[
        int,
        Field(
            description="a page length from 1 to 256",
            ge=1,
            json_schema_extra={"x-label": "limit"},
            le=256,
            title="PageLimit",
        ),
        JsonInteger(),
    ],
)


PageBytes = TypeAliasType(
    "PageBytes",
    Annotated[
        int,
        Field(
            description="a page size from 1 to 16777216 bytes",
            ge=1,
            json_schema_extra={"x-label": "max_bytes"},
            le=16777216,
            title="PageBytes",
        ),
        JsonInteger(),
    ],
)


PollSecs = TypeAliasType(
    "PollSecs",
    Annotated[
        int,
        Field(
            description="a wait in seconds from 0 to 65535; more than 60 counts as 60",
            ge=0,
            json_schema_extra={"x-label": "wait_secs"},
            le=65535,
            title="PollSecs",
        ),
        JsonInteger(),
    ],
)


WaitSecs = TypeAliasType(
    "WaitSecs",
    Annotated[
        int,
        Field(
            description="a wait in seconds from 0 to 60",
            ge=0,
            json_schema_extra={"x-label": "wait_secs"},
            le=60,
            title="WaitSecs",
        ),
        JsonInteger(),
    ],
)


PageOrder = TypeAliasType(
    "PageOrder",
    Annotated[
        Literal["oldest", "newest"],
        Field(description="oldest or newest", title="PageOrder"),
    ],
)


class MessageGetRequest(WireModel):
    """
    one message by its id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId


ListenerUrl = TypeAliasType(
    "ListenerUrl",
    Annotated[
        str,
        Field(
            description="http://127.0.0.1 or http://localhost with an optional port and an optional plain ASCII path and query, at most 512 bytes",
            json_schema_extra={"x-label": "url"},
            max_length=512,
            pattern="^http://(?:127[.]0[.]0[.]1|localhost)(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(?:[/?][A-Za-z0-9._~!$&'()*+,;=:@%/?-]{0,512})?$",
            title="ListenerUrl",
        ),
    ],
)


ListenerKey = TypeAliasType(
    "ListenerKey",
    Annotated[
        str,
        Field(
            description="whsec_ and the base64 of 24 to 64 bytes",
            json_schema_extra={"x-label": "key"},
            max_length=94,
            pattern="^whsec_(?:(?:[A-Za-z0-9+/]{4}){8,21}|(?:[A-Za-z0-9+/]{4}){8,21}[A-Za-z0-9+/][AQgw]==|(?:[A-Za-z0-9+/]{4}){8,20}[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)$",
            title="ListenerKey",
        ),
    ],
)


RingFailure = TypeAliasType(
    "RingFailure",
    Annotated[
        Literal[
            "refused",
            "unreachable",
            "timed_out",
            "bad_status",
            "redirected",
            "bad_response",
            "port_not_yours",
        ],
        Field(description="why a ring failed", title="RingFailure"),
    ],
)


class ListenerSetRequest(WireModel):
    """
    have a listener told of an account's mail; one that is there is replaced
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    account: ParticipantId
    url: ListenerUrl
    key: ListenerKey | None = None


class ListenerRemoveRequest(WireModel):
    """
    end an account's listener, or with session that of a session of it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    account: ParticipantId
    session: SessionId | None = None


class ListenerGetRequest(WireModel):
    """
    list the listeners of an account and of its sessions
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    account: ParticipantId


ListenerState = TypeAliasType(
    "ListenerState",
    Annotated[
        Literal["all", "failing", "dead"],
        Field(
            description="which listeners: all, those whose last ring failed, or those that are dead",
            json_schema_extra={"x-label": "state"},
            title="ListenerState",
        ),
    ],
)


class ListenerRetryRequest(WireModel):
    """
    try an account's listener again, or with session that of a session of it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    account: ParticipantId
    session: SessionId | None = None


class ListenRequest(WireModel):
    """
    have a listener of the caller's own told of its mail; null stops it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    url: ListenerUrl | None
    key: ListenerKey | None = None


RefKind = TypeAliasType(
    "RefKind",
    Annotated[
        str,
        Field(
            description="1 to 128 characters from A-Z, a-z, 0-9 and . _ @ + -",
            json_schema_extra={"x-label": "ref kind"},
            max_length=128,
            min_length=1,
            pattern="^[A-Za-z0-9._@+-]{1,128}$",
            title="RefKind",
        ),
    ],
)


RefLocator = TypeAliasType(
    "RefLocator",
    Annotated[
        str,
        Field(
            description="one line of text: 1 to 512 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 512, "x-label": "ref locator"},
            max_length=512,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="RefLocator",
        ),
        MaxUtf8Bytes(512),
    ],
)


RefDigest = TypeAliasType(
    "RefDigest",
    Annotated[
        str,
        Field(
            description="1 to 128 lower-case hexadecimal digits",
            json_schema_extra={"x-label": "ref digest"},
            max_length=128,
            min_length=1,
            pattern="^[0-9a-f]{1,128}$",
            title="RefDigest",
        ),
    ],
)


class MessageRef(WireModel):
    """
    a reference that the mailbox keeps and returns as it is, and never resolves
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: RefKind
    locator: RefLocator
    digest: RefDigest | None = None


Body = TypeAliasType(
    "Body",
    Annotated[
        str,
        Field(
            description="text of at most 65536 bytes of UTF-8; of the control characters only line feed and tab",
            json_schema_extra={"x-maxUtf8Bytes": 65536},
            max_length=65536,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="Body",
        ),
        MaxUtf8Bytes(65536),
    ],
)


Correlation = TypeAliasType(
    "Correlation",
    Annotated[
        str,
        Field(
            description="one line of text: 1 to 512 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 512},
            max_length=512,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Correlation",
        ),
        MaxUtf8Bytes(512),
    ],
)


class Position(WireModel):
    """
    the place of a message in the order of commits
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    created_at_unix_ms: UnixMs
    message_id: MessageId


Secret = TypeAliasType(
    "Secret",
    Annotated[
        str,
        Field(
            description="64 lower-case hexadecimal digits",
            json_schema_extra={"x-label": "secret"},
            pattern="^[0-9a-f]{64}$",
            title="Secret",
        ),
    ],
)


AttestationPolicy = TypeAliasType(
    "AttestationPolicy",
    Annotated[
        Literal["inherit", "required", "preferred", "off"],
        Field(
            description="inherit (as the daemon is set), required, preferred or off",
            title="AttestationPolicy",
        ),
    ],
)


class ParticipantRegistration(WireModel):
    """
    register an account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId
    label: Label | None = None
    may_send: bool = False
    may_read: bool = False
    operator: bool = False
    attestation: AttestationPolicy = "inherit"


class IssuedSecret(WireModel):
    """
    an account's new secret, shown this once
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId
    secret: Secret


class ParticipantRotateRequest(WireModel):
    """
    replace an account's secret; the old one is dead at once
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId


class ParticipantRevokeRequest(WireModel):
    """
    kill an account's secret without a new one
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId


class ParticipantRemoveRequest(WireModel):
    """
    remove an account; its id is retired
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId


class ParticipantPurgeRequest(WireModel):
    """
    delete a removed account with its mail and free its id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId


class PurgeReport(WireModel):
    """
    how many messages were deleted
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    messages: U32


class ParticipantPermitRequest(WireModel):
    """
    grant and revoke capabilities, and set the attestation policy; both must be true to hold outbox:stage and outbox:review together
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId
    grant: Annotated[list[Capability], Field(max_length=32)] = []
    revoke: Annotated[list[Capability], Field(max_length=32)] = []
    both: bool = False
    attestation: AttestationPolicy | None = None


class ParticipantRecord(WireModel):
    """
    an account as an operator sees it; never its secret
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId
    label: Label | None = None
    capabilities: Annotated[list[Capability], Field(max_length=32)]
    created_at_unix_ms: Stamp
    secret_issued_at_unix_ms: Stamp | None = None
    removed_at_unix_ms: Stamp | None = None
    attestation: AttestationPolicy = "inherit"


class ParticipantListRequest(WireModel):
    """
    accounts by id, the removed ones included
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    after: ParticipantId | None = None
    limit: PageLimit = 256


class ParticipantList(WireModel):
    """
    a page of accounts
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    participants: Annotated[list[ParticipantRecord], Field(max_length=256)]


RoomPosting = TypeAliasType(
    "RoomPosting",
    Annotated[
        Literal["open", "members"],
        Field(description="open (any sender may post) or members", title="RoomPosting"),
    ],
)


class RoomCreateRequest(WireModel):
    """
    create a room
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: RoomId
    posting: RoomPosting = "open"


class RoomMemberRequest(WireModel):
    """
    a room and an account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    room: RoomId
    participant: ParticipantId


class RoomRemoveRequest(WireModel):
    """
    remove a room and its mail
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    room: RoomId


class RoomListRequest(WireModel):
    """
    rooms by id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    after: RoomId | None = None
    limit: PageLimit = 256


class RoomRecord(WireModel):
    """
    a room as an operator sees it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: RoomId
    posting: RoomPosting
    members: U32
    messages: U32
    created_at_unix_ms: Stamp


class RoomList(WireModel):
    """
    a page of rooms
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    rooms: Annotated[list[RoomRecord], Field(max_length=256)]


class RoomMembersRequest(WireModel):
    """
    the members of a room by id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    room: RoomId
    after: ParticipantId | None = None
    limit: PageLimit = 256


class RoomMembers(WireModel):
    """
    a page of a room's members
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    room: RoomId
    members: Annotated[list[ParticipantId], Field(max_length=256)]


DeclaredText = TypeAliasType(
    "DeclaredText",
    Annotated[
        Declared[
            Annotated[
                str,
                Field(
                    description="one line of text: at most 512 bytes of UTF-8, no control characters",
                    json_schema_extra={"x-maxUtf8Bytes": 512, "x-declared": True},
                    max_length=512,
                    pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
                    title="DeclaredText",
                ),
                MaxUtf8Bytes(512),
            ]
        ],
        Field(),
    ],
)


class SessionAttested(WireModel):
    """
    proved by the kernel
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    pid: U32
    started_at_unix_ms: UnixMs
    exe: Annotated[Line | None, Field(json_schema_extra={"x-label": "attested exe"})] = None


class SessionCorroborated(WireModel):
    """
    read out of the process's own command line: real, but no proof
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    provider_session_id: Annotated[
        DeclaredText | None,
        Field(json_schema_extra={"x-label": "corroborated provider_session_id"}),
    ] = None
    model: Annotated[DeclaredText | None, Field(json_schema_extra={"x-label": "corroborated model"})] = None
    cwd: Annotated[DeclaredText | None, Field(json_schema_extra={"x-label": "corroborated cwd"})] = None


class SessionDeclared(WireModel):
    """
    said by the session about itself
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    working_on: Annotated[Line | None, Field(json_schema_extra={"x-label": "declared working_on"})] = None
    role: Annotated[Line | None, Field(json_schema_extra={"x-label": "declared role"})] = None
    parent: SessionId | None = None


class SessionCard(WireModel):
    """
    one session, by provenance
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    attested: SessionAttested
    corroborated: SessionCorroborated
    declared: SessionDeclared


class SessionEntry(WireModel):
    """
    a session as the directory reports it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: SessionId
    card: SessionCard
    last_seen_unix_ms: UnixMs
    live: bool


class StatusRequest(WireModel):
    """
    what the calling session says about itself from now on; what is left out is cleared
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    working_on: Annotated[Line | None, Field(json_schema_extra={"x-label": "declared working_on"})] = None
    role: Annotated[Line | None, Field(json_schema_extra={"x-label": "declared role"})] = None
    parent: SessionId | None = None


class Status(WireModel):
    """
    the calling session's card after the change
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    card: SessionCard


class SessionIssueRequest(WireModel):
    """
    ask for a credential that means the account and a session of its own
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


class ThreadRequest(WireModel):
    """
    the messages of one thread that the caller may read or wrote, oldest first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    limit: PageLimit = 50
    after: Position | None = None


SearchQuery = TypeAliasType(
    "SearchQuery",
    Annotated[
        str,
        Field(
            description="words to find, and phrases in double quotes: 1 to 512 bytes of UTF-8 on one line",
            json_schema_extra={"x-maxUtf8Bytes": 512, "x-label": "query"},
            max_length=512,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="SearchQuery",
        ),
        MaxUtf8Bytes(512),
    ],
)


class SearchRequest(WireModel):
    """
    messages the caller may read that hold every word and phrase, newest first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    query: SearchQuery
    limit: PageLimit = 20
    before: Position | None = None
    room: RoomId | None = None
    sent_by: ParticipantId | None = None


class SentRequest(WireModel):
    """
    what the caller's exact address sent, newest first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    limit: PageLimit = 50
    before: Position | None = None


ToldLimit = TypeAliasType(
    "ToldLimit",
    Annotated[
        int,
        Field(
            description="a number of messages to tell of, from 1 to 32",
            ge=1,
            json_schema_extra={"x-label": "limit"},
            le=32,
            title="ToldLimit",
        ),
        JsonInteger(),
    ],
)


class ToldRequest(WireModel):
    """
    the oldest unread messages that the caller was not told of before; they count as told by this
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    limit: ToldLimit = 16


AddressText = TypeAliasType(
    "AddressText",
    Annotated[
        str,
        Field(
            description="an address as text: account, account/s-... or #room",
            max_length=195,
            min_length=1,
            pattern="^(?:#[A-Za-z0-9._@+-]{1,128}|[A-Za-z0-9._@+-]{1,128}(?:/s-[0-9a-f]{8,64})?)$",
            title="AddressText",
        ),
    ],
)


ToolPollSecs = TypeAliasType(
    "ToolPollSecs",
    Annotated[
        int,
        Field(
            description="a wait in seconds from 0 to 65535; more than 50 counts as 50",
            ge=0,
            json_schema_extra={"x-label": "wait_secs"},
            le=65535,
            title="ToolPollSecs",
        ),
        JsonInteger(),
    ],
)


ToolPageLimit = TypeAliasType(
    "ToolPageLimit",
    Annotated[
        int,
        Field(
            description="a page length from 1 to 50",
            ge=1,
            json_schema_extra={"x-label": "limit"},
            le=50,
            title="ToolPageLimit",
        ),
        JsonInteger(),
    ],
)


ToolTokens = TypeAliasType(
    "ToolTokens",
    Annotated[
        int,
        Field(
            description="a bound of a reply from 1000 to 8000 tokens",
            ge=1000,
            json_schema_extra={"x-label": "max_tokens"},
            le=8000,
            title="ToolTokens",
        ),
        JsonInteger(),
    ],
)


ToolOffset = TypeAliasType(
    "ToolOffset",
    Annotated[
        int,
        Field(
            description="a place in a body in bytes of UTF-8, from 0 to 65536",
            ge=0,
            json_schema_extra={"x-label": "from_byte"},
            le=65536,
            title="ToolOffset",
        ),
        JsonInteger(),
    ],
)


Boundary = TypeAliasType(
    "Boundary",
    Annotated[
        str,
        Field(
            description="16 lower-case hexadecimal digits that are in no text of the reply",
            pattern="^[0-9a-f]{16}$",
            title="Boundary",
        ),
    ],
)


UntrustedText = TypeAliasType(
    "UntrustedText",
    Annotated[
        str,
        Field(
            description="text of others between two lines that carry the boundary: at most 65536 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 65536},
            max_length=65536,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="UntrustedText",
        ),
        MaxUtf8Bytes(65536),
    ],
)


class ToolMessage(WireModel):
    """
    a message: what the mailbox vouches for, and between boundary lines what its sender wrote
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    from_: Annotated[AddressText, Field(alias="from")]
    to: AddressText
    created_at_unix_ms: Stamp
    reply_to: MessageId | None = None
    text: UntrustedText
    body_bytes: ToolOffset
    cut: bool


class ToolSendResult(WireModel):
    """
    the message's id, and the caller's own address
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    from_: Annotated[AddressText, Field(alias="from")]


class ToolInboxRequest(WireModel):
    """
    one page of the caller's inbox, small enough for a model
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    unread_only: bool = True
    order: PageOrder = "oldest"
    after: Annotated[
        Position | None,
        Field(description="next of an earlier page: go on behind it, in the same order"),
    ] = None
    limit: ToolPageLimit = 20
    wait_secs: Annotated[
        ToolPollSecs,
        Field(description="wait so long while the page is empty; at most 50"),
    ] = 0
    thread: Annotated[MessageId | None, Field(description="any message of the thread")] = None
    sent_by: ParticipantId | None = None
    room: RoomId | None = None
    max_tokens: ToolTokens = 2000


class ToolInboxResult(WireModel):
    """
    a page of an inbox, how much is unread, and where the next page begins
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    boundary: Boundary
    messages: Annotated[list[ToolMessage], Field(max_length=50)]
    unread: U32
    next: Position | None = None


class ToolGetRequest(WireModel):
    """
    one message by its id, or a further part of its body
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    from_byte: Annotated[ToolOffset, Field(description="next_byte of an earlier part")] = 0
    max_tokens: ToolTokens = 2000


class ToolGetResult(WireModel):
    """
    a message, and where the rest of its body begins
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    boundary: Boundary
    message: ToolMessage
    next_byte: ToolOffset | None = None


class ToolAckResult(WireModel):
    """
    the message, and when it was first acknowledged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    acked_at_unix_ms: Stamp


class ToolWhoAmIResult(WireModel):
    """
    who the caller is, and the first of its rooms
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    address: AddressText
    label: Label | None = None
    rooms: Annotated[list[RoomId], Field(max_length=50)]
    rooms_left: U32
    working_on: Line | None = None
    role: Line | None = None


class ToolStatusResult(WireModel):
    """
    what the calling session says about itself
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    working_on: Line | None = None
    role: Line | None = None
    parent: SessionId | None = None


PeerState = TypeAliasType(
    "PeerState",
    Annotated[
        Literal["account", "live", "dead", "member", "open"],
        Field(
            description="account, live or dead for a session, member or open for a room",
            title="PeerState",
        ),
    ],
)


class ToolPeer(WireModel):
    """
    an address that mail can go to
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    address: AddressText
    state: PeerState


class ToolPeersRequest(WireModel):
    """
    whom the caller can write to
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    dead: Annotated[bool, Field(description="dead sessions too")] = False
    after: Annotated[AddressText | None, Field(description="next of an earlier page")] = None
    max_tokens: ToolTokens = 2000


class ToolPeersResult(WireModel):
    """
    addresses in order, and between boundary lines what they say of themselves
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    boundary: Boundary
    peers: Annotated[list[ToolPeer], Field(max_length=256)]
    text: UntrustedText
    next: AddressText | None = None


class ToolWaitRequest(WireModel):
    """
    wait for mail without reading it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    after: Annotated[
        Position | None,
        Field(description="newest of an earlier wait, or next of a page; without it, mail from now on"),
    ] = None
    wait_secs: Annotated[ToolPollSecs, Field(description="at most 50")] = 25


class ToolWaitResult(WireModel):
    """
    how much is unread, the newest position, and what can be done next
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    unread: U32
    newest: Position | None = None
    then: Line


class Done(WireModel):
    """
    it is done
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


class MessagePurgeRequest(WireModel):
    """
    delete one message
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId


class RetentionRequest(WireModel):
    """
    report on retention; with run, first run it now
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    run: bool = False


class RetentionReport(WireModel):
    """
    the rule in force, and what the last run removed
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    keep_days: U32 | None = None
    last_run_unix_ms: Stamp | None = None
    removed_messages: U32
    removed_keys: U32


class Health(WireModel):
    """
    the daemon wrote to and read from its store within the last two seconds
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    ok: bool
    service: Word
    version: Word
    started_at: Word
    uptime_secs: U64
    dependencies: Annotated[list[Word], Field(max_length=64)]
    background_tasks: Annotated[list[Word], Field(max_length=64)]


class UnknownParticipant(WireModel):
    """
    no account is registered under this id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unknown_participant"] = "unknown_participant"
    participant: ParticipantId


class UnknownRoom(WireModel):
    """
    no room has this id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unknown_room"] = "unknown_room"
    room: RoomId


class UnknownSession(WireModel):
    """
    no session has this id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unknown_session"] = "unknown_session"
    session: SessionId


class SessionAccountMismatch(WireModel):
    """
    the session belongs to another account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["session_account_mismatch"] = "session_account_mismatch"
    session: SessionId
    expected: ParticipantId
    presented: ParticipantId


class UnknownMessage(WireModel):
    """
    no message has this id
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["unknown_message"] = "unknown_message"
    message_id: MessageId


class NotAddressedToYou(WireModel):
    """
    the message is not addressed to the caller
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["not_addressed_to_you"] = "not_addressed_to_you"
    message_id: MessageId


class PermissionDenied(WireModel):
    """
    the caller lacks a capability
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["permission_denied"] = "permission_denied"
    need: Word


class TooLarge(WireModel):
    """
    a field is past its bound; for texts both numbers are bytes of UTF-8
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["too_large"] = "too_large"
    field: RefusedField
    limit: U64
    actual: U64


class StoreUnavailable(WireModel):
    """
    the store could not complete the operation; nothing was changed
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["store_unavailable"] = "store_unavailable"
    operation: Word


class SessionNotLive(WireModel):
    """
    the session is not live, and nobody else may ever read its mail
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["session_not_live"] = "session_not_live"
    session: SessionId
    last_seen_unix_ms: UnixMs


class IdempotencyConflict(WireModel):
    """
    the key was used for other content
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["idempotency_conflict"] = "idempotency_conflict"
    idempotency_key: Selector


class NotPending(WireModel):
    """
    the item is not pending
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["not_pending"] = "not_pending"
    id: ItemId
    status: Word


class MailboxFull(WireModel):
    """
    no room is left; something must be removed first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["mailbox_full"] = "mailbox_full"
    scope: Word


class LeaseHeld(WireModel):
    """
    another drain holds the lease of the box
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["lease_held"] = "lease_held"
    retry_after_secs: Seconds


class RequestTooLarge(WireModel):
    """
    the request body is past the limit, in bytes
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["request_too_large"] = "request_too_large"
    limit: U64


class RateLimited(WireModel):
    """
    too many requests
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["rate_limited"] = "rate_limited"
    retry_after_secs: Seconds


class Overloaded(WireModel):
    """
    the daemon is at a limit; try again
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["overloaded"] = "overloaded"
    retry_after_secs: Seconds


MailError = TypeAliasType(
    "MailError",
    Annotated[
        UnknownParticipant
        | UnknownRoom
        | UnknownSession
        | SessionAccountMismatch
        | UnknownMessage
        | NotAddressedToYou
        | PermissionDenied
        | Malformed
        | TooLarge
        | StoreUnavailable,
        Field(
            description="a refusal of the original's family",
            discriminator="kind",
            title="MailError",
        ),
    ],
)


Refusal = TypeAliasType(
    "Refusal",
    Annotated[
        UnknownParticipant
        | UnknownRoom
        | UnknownSession
        | SessionAccountMismatch
        | UnknownMessage
        | NotAddressedToYou
        | PermissionDenied
        | Malformed
        | TooLarge
        | StoreUnavailable
        | Unauthenticated
        | AttestationFailed
        | ForbiddenOrigin
        | UnknownPath
        | UnknownItem
        | MethodNotAllowed
        | SessionNotLive
        | IdempotencyConflict
        | AlreadyExists
        | IdRetired
        | DraftChanged
        | NotPending
        | OutcomeUnknown
        | MailboxFull
        | LeaseHeld
        | LeaseLost
        | EpochChanged
        | RequestTooLarge
        | UnsupportedMediaType
        | ForbiddenHost
        | RateLimited
        | Overloaded
        | Internal,
        Field(description="a refusal", discriminator="kind", title="Refusal"),
    ],
)


class AckRequest(WireModel):
    """
    acknowledge one message as the caller
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId


class AckManyRequest(WireModel):
    """
    acknowledge 1 to 256 messages as the caller; each has its own outcome
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_ids: Annotated[list[MessageId], Field(max_length=256, min_length=1)]


class AckRefused(WireModel):
    """
    why this message was not acknowledged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["refused"] = "refused"
    message_id: MessageId
    refusal: Refusal


class DirectAddress(WireModel):
    """
    one account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["direct"] = "direct"
    participant: ParticipantId


class SessionAddress(WireModel):
    """
    one session of an account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["session"] = "session"
    participant: ParticipantId
    session: SessionId


class RoomAddress(WireModel):
    """
    a room
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["room"] = "room"
    room: RoomId


Address = TypeAliasType(
    "Address",
    Annotated[
        DirectAddress | SessionAddress | RoomAddress,
        Field(
            description="an address: an account (direct), one of its sessions (session) or a room (room)",
            discriminator="kind",
            title="Address",
        ),
    ],
)


ParticipantAddress = TypeAliasType(
    "ParticipantAddress",
    Annotated[
        DirectAddress | SessionAddress,
        Field(
            description="a participant address (direct or session), not a room",
            discriminator="kind",
            title="ParticipantAddress",
        ),
    ],
)


class AuditEntry(WireModel):
    """
    one administrative operation that was carried out
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    number: AuditNumber
    at_unix_ms: UnixMs
    actor: ParticipantAddress
    operation: Word
    target: AuditTarget | None = None
    detail: Line


class AuditRequest(WireModel):
    """
    audit entries, the newest first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    before: AuditNumber | None = None
    limit: PageLimit = 50


class AuditPage(WireModel):
    """
    a page of audit entries
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    entries: Annotated[list[AuditEntry], Field(max_length=256)]


class Participant(WireModel):
    """
    a registered account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId
    label: Label | None = None


class DirectoryEntry(WireModel):
    """
    an account and its sessions; never a secret or a capability
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: ParticipantId
    label: Label | None = None
    sessions: Annotated[list[SessionEntry], Field(validate_default=True)] = []


class RoomEntry(WireModel):
    """
    a room, and whether the caller is in it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: RoomId
    member: bool


class Directory(WireModel):
    """
    every account and room, as the caller sees them
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    participants: list[DirectoryEntry]
    rooms: list[RoomEntry]


class WhoAmI(WireModel):
    """
    who the credential and the connection proved the caller to be
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    address: ParticipantAddress
    label: Label | None = None
    rooms: list[RoomId]
    card: SessionCard | None = None


class FlowRequest(WireModel):
    """
    who wrote to whom of late, those who wrote most first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    secs: FlowSecs = 3600
    limit: PageLimit = 50


class FlowPair(WireModel):
    """
    what one account, its sessions included, wrote to an account with its sessions or to a room
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    from_: Annotated[ParticipantAddress, Field(alias="from")]
    to: Address
    messages: U64
    last_at_unix_ms: UnixMs


class Flow(WireModel):
    """
    who wrote to whom since a time, those who wrote most first, and how much that is of all
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    since_unix_ms: UnixMs
    pairs: Annotated[list[FlowPair], Field(max_length=256)]
    total_pairs: U64
    total_messages: U64


class InboxRequest(WireModel):
    """
    one page of the caller's inbox
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"x-exclusive": [["after", "before"]]},
    )
    since_unix_ms: UnixMs | None = None
    limit: PageLimit = 50
    wait_secs: PollSecs | None = None
    after: Position | None = None
    before: Position | None = None
    order: PageOrder = "oldest"
    unread_only: bool = False
    thread: MessageId | None = None
    sent_by: ParticipantId | None = None
    room: RoomId | None = None
    correlation: Correlation | None = None
    max_bytes: PageBytes = 1048576


class UnreadCountRequest(WireModel):
    """
    how many messages a participant has not acknowledged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    target: ParticipantAddress


class UnreadCount(WireModel):
    """
    the number of readable messages, not its own, that this reader has not acknowledged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    target: ParticipantAddress
    unread: U32


class WaitRequest(WireModel):
    """
    wait until a readable message that is not the caller's own stands after a position
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    after: Position | None = None
    wait_secs: WaitSecs = 25


class WaitResult(WireModel):
    """
    the caller's unread count and the newest position it can read
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    unread: U32
    newest: Position | None = None


class ListenerRecord(WireModel):
    """
    a listener with what became of its rings; never its key
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    owner: ParticipantAddress
    url: ListenerUrl
    signed: bool
    outstanding: U32
    rung: U64
    given_up: U64
    last_rung_at_unix_ms: Stamp | None = None
    last_failed_at_unix_ms: Stamp | None = None
    failure: RingFailure | None = None


class ListenerList(WireModel):
    """
    an account's listener and its sessions' own
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    listeners: Annotated[list[ListenerRecord], Field(max_length=65)]


class ListenerListRequest(WireModel):
    """
    list the listeners of every account by their owners
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    state: ListenerState = "failing"
    after: ParticipantAddress | None = None
    limit: PageLimit = 50


class ListenerStanding(WireModel):
    """
    a listener and how it stands: dead once it failed five times in a row
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    listener: ListenerRecord
    dead: bool
    failures: U32
    failing_since_unix_ms: Stamp | None = None
    retry_at_unix_ms: Stamp | None = None


class ListenerPage(WireModel):
    """
    listeners by their owners, and how many of that state there are in all
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    listeners: Annotated[list[ListenerStanding], Field(max_length=256)]
    total: U32


class Listening(WireModel):
    """
    a listener, null when there is none
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    listener: ListenerRecord | None = None


class Message(WireModel):
    """
    a message as it is stored: immutable, posted once
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"x-notEqual": [["reply_to", "message_id"]]},
    )
    message_id: MessageId
    from_: Annotated[ParticipantAddress, Field(alias="from")]
    to: Address
    subject: Line
    body: Body
    reply_to: MessageId | None = None
    correlation: Correlation | None = None
    refs: Annotated[list[MessageRef], Field(max_length=8, validate_default=True)] = []
    created_at_unix_ms: Stamp


class DeliveryNotification(WireModel):
    """
    mail has arrived for an account
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    account: ParticipantId
    to: Address
    message_id: MessageId
    from_: Annotated[Address, Field(alias="from")]


class SendRequest(WireModel):
    """
    post one message as the caller
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    to: Address
    subject: Line
    body: Body
    reply_to: MessageId | None = None
    correlation: Correlation | None = None
    refs: Annotated[list[MessageRef], Field(max_length=8, validate_default=True)] = []
    idempotency_key: Selector | None = None
    allow_dead: bool = False


class SendResponse(WireModel):
    """
    the message's id, and the caller's own address
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    from_: Annotated[ParticipantAddress, Field(alias="from")]


class SendManyRequest(WireModel):
    """
    post 1 to 100 messages as the caller; each has its own outcome
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    messages: Annotated[list[SendRequest], Field(max_length=100, min_length=1)]


class SendAccepted(WireModel):
    """
    the message was posted, or had been under this key
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["sent"] = "sent"
    message_id: MessageId
    from_: Annotated[ParticipantAddress, Field(alias="from")]


class SendRefused(WireModel):
    """
    why this message was not posted
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["refused"] = "refused"
    refusal: Refusal


SendOutcome = TypeAliasType(
    "SendOutcome",
    Annotated[
        SendAccepted | SendRefused,
        Field(
            description="what became of one message (sent or refused)",
            discriminator="kind",
            title="SendOutcome",
        ),
    ],
)


class SendManyResponse(WireModel):
    """
    one outcome for each message, in the order given
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    outcomes: Annotated[list[SendOutcome], Field(max_length=100)]


class IssuedSession(WireModel):
    """
    a session and its secret, shown this once
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    address: ParticipantAddress
    secret: Secret


class ThreadPage(WireModel):
    """
    a page of a thread
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    messages: Annotated[list[Message], Field(max_length=256)]


class SearchPage(WireModel):
    """
    a page of found messages
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    messages: Annotated[list[Message], Field(max_length=256)]


class Notice(WireModel):
    """
    that a message came, without its body; room when it was posted to one
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    from_: Annotated[ParticipantAddress, Field(alias="from")]
    room: RoomId | None = None
    subject: Line
    created_at_unix_ms: Stamp


class Told(WireModel):
    """
    what the caller is told of now, whether more such messages stand after them, its unread count, and the newest position it can read
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    unread: U32
    messages: Annotated[list[Notice], Field(max_length=32)]
    more: bool
    newest: Position | None = None


Recipient = TypeAliasType(
    "Recipient",
    Annotated[
        AddressText | Address,
        Field(
            description="an address as text (account, account/s-... or #room) or as the tagged object",
            json_schema_extra={"x-byType": True},
            title="Recipient",
        ),
        ByType(),
    ],
)


class ToolSendRequest(WireModel):
    """
    post one message as the caller
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    to: Recipient
    subject: Line
    body: Body
    reply_to: Annotated[MessageId | None, Field(description="the message that this answers")] = None
    correlation: Correlation | None = None
    refs: Annotated[list[MessageRef], Field(max_length=8, validate_default=True)] = []
    idempotency_key: Annotated[
        Selector | None,
        Field(description="a repeat with the same key sends nothing twice"),
    ] = None
    allow_dead: Annotated[bool, Field(description="send to a session that is not live")] = False


class InboxOfRequest(WireModel):
    """
    one page of a named participant's inbox, as an operator
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    address: ParticipantAddress
    limit: PageLimit = 50
    after: Position | None = None
    unread_only: bool = False


class Ack(WireModel):
    """
    an acknowledgement: the exact address that gave it and the time of the first one
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message_id: MessageId
    reader: ParticipantAddress
    acked_at_unix_ms: Stamp


class AckResponse(WireModel):
    """
    the acknowledgement on record
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    ack: Ack


class AckRecorded(WireModel):
    """
    the acknowledgement on record
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["acked"] = "acked"
    ack: Ack


AckOutcome = TypeAliasType(
    "AckOutcome",
    Annotated[
        AckRecorded | AckRefused,
        Field(
            description="what became of one acknowledgement (acked or refused)",
            discriminator="kind",
            title="AckOutcome",
        ),
    ],
)


class AckManyResponse(WireModel):
    """
    one outcome for each message asked for, in the order asked
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    outcomes: Annotated[list[AckOutcome], Field(max_length=256)]


class InboxPage(WireModel):
    """
    a page of an inbox, and how many messages the reader has not acknowledged
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    messages: Annotated[list[Message], Field(max_length=256)]
    unread: U32


class SentMessage(WireModel):
    """
    a sent message, the first 64 acknowledgements of it and their number, and whether nobody can read it any more
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    message: Message
    acks: Annotated[list[Ack], Field(max_length=64)]
    acknowledged: U32
    undeliverable: bool


class SentPage(WireModel):
    """
    a page of sent messages
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    sent: Annotated[list[SentMessage], Field(max_length=256)]
