# Generated from schemas/bundle/intake.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import JsonInteger, MaxUtf8Bytes, WireModel
from mail4agent_api.frontdoor import (
    BoxEpoch,
    FileBytes,
    FileType,
    RequestField,
    RequestFileDigest,
    RequestSeq,
    RequestTime,
    RequestTypeId,
    RequestTypeVersion,
    RequestValues,
)
from mail4agent_api.mail import U32, U64
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType


class BoxReleased(WireModel):
    """
    whether the lease was the caller's
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    released: bool


class BoxAcked(WireModel):
    """
    how many rows were deleted; one that was gone is not counted
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    deleted: U32


class BoxType(WireModel):
    """
    one version of a request type in the box
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: RequestTypeId
    version: RequestTypeVersion
    sha256: RequestFileDigest
    current: bool
    served: bool


class BoxPushed(WireModel):
    """
    the type that a manifest became, and whether it was there already
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    type: BoxType
    repeated: bool


class BoxListRequest(WireModel):
    """
    nothing
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


class BoxTypes(WireModel):
    """
    the request types of the box: current versions, and older ones that something still waits under
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    types: Annotated[list[BoxType], Field(max_length=1000)]


BoxHolder = TypeAliasType(
    "BoxHolder",
    Annotated[
        str,
        Field(
            description="the name of a drain: 1 to 64 characters from A-Z, a-z, 0-9 and . _ -",
            json_schema_extra={"x-label": "holder"},
            max_length=64,
            min_length=1,
            pattern="^[A-Za-z0-9._-]{1,64}$",
            title="BoxHolder",
        ),
    ],
)


BoxLeaseSecs = TypeAliasType(
    "BoxLeaseSecs",
    Annotated[
        int,
        Field(
            description="a whole number of seconds from 5 to 600",
            ge=5,
            json_schema_extra={"x-label": "secs"},
            le=600,
            title="BoxLeaseSecs",
        ),
        JsonInteger(),
    ],
)


BoxWaitSecs = TypeAliasType(
    "BoxWaitSecs",
    Annotated[
        int,
        Field(
            description="a whole number of seconds from 0 to 25",
            ge=0,
            json_schema_extra={"x-label": "wait_secs"},
            le=25,
            title="BoxWaitSecs",
        ),
        JsonInteger(),
    ],
)


BoxQueueLimit = TypeAliasType(
    "BoxQueueLimit",
    Annotated[
        int,
        Field(
            description="a number of rows from 1 to 100",
            ge=1,
            json_schema_extra={"x-label": "limit"},
            le=100,
            title="BoxQueueLimit",
        ),
        JsonInteger(),
    ],
)


BoxBlob = TypeAliasType(
    "BoxBlob",
    Annotated[
        str,
        Field(
            description="32 lower-case hexadecimal digits",
            json_schema_extra={"x-label": "blob"},
            pattern="^[0-9a-f]{32}$",
            title="BoxBlob",
        ),
    ],
)


ManifestLanguage = TypeAliasType(
    "ManifestLanguage",
    Annotated[
        Literal["toml", "json"],
        Field(
            description="toml or json",
            json_schema_extra={"x-label": "language"},
            title="ManifestLanguage",
        ),
    ],
)


ManifestText = TypeAliasType(
    "ManifestText",
    Annotated[
        str,
        Field(
            description="text of 1 to 262144 bytes of UTF-8; of the control characters only those that end lines, and tab",
            json_schema_extra={"x-maxUtf8Bytes": 262144, "x-label": "text"},
            max_length=262144,
            min_length=1,
            pattern="^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$",
            title="ManifestText",
        ),
        MaxUtf8Bytes(262144),
    ],
)


UploadName = TypeAliasType(
    "UploadName",
    Annotated[
        str,
        Field(
            description="the name that a stranger gave a file: 1 to 255 bytes of UTF-8 without control characters",
            json_schema_extra={"x-maxUtf8Bytes": 255, "x-label": "filename"},
            max_length=255,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="UploadName",
        ),
        MaxUtf8Bytes(255),
    ],
)


SubmissionStep = TypeAliasType(
    "SubmissionStep",
    Annotated[
        Literal["confirm_by_mail", "awaiting_upload", "queued"],
        Field(
            description="confirm_by_mail, awaiting_upload or queued",
            json_schema_extra={"x-label": "step"},
            title="SubmissionStep",
        ),
    ],
)


UploadPath = TypeAliasType(
    "UploadPath",
    Annotated[
        str,
        Field(
            description="the path at which the files of a submission are taken",
            json_schema_extra={"x-label": "upload"},
            pattern="^/u/[A-Za-z0-9_-]{43}$",
            title="UploadPath",
        ),
    ],
)


IntakeToken = TypeAliasType(
    "IntakeToken",
    Annotated[
        str,
        Field(
            description="43 characters from A-Z, a-z, 0-9 and _ -",
            json_schema_extra={"x-label": "token"},
            pattern="^[A-Za-z0-9_-]{43}$",
            title="IntakeToken",
        ),
    ],
)


class BoxLeaseRequest(WireModel):
    """
    who is to hold the lease of the box, and for how long; its holder renews it so
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    holder: BoxHolder
    secs: BoxLeaseSecs = 60


class BoxLease(WireModel):
    """
    the lease is the caller's for so many seconds; the epoch of the box's queue
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    epoch: BoxEpoch
    secs: BoxLeaseSecs


class BoxReleaseRequest(WireModel):
    """
    who gives the lease back
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    holder: BoxHolder


class BoxQueueRequest(WireModel):
    """
    rows of the queue past a number, the lowest first; with a wait for the first one
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    holder: BoxHolder
    epoch: BoxEpoch | None = None
    after: U64 = 0
    wait_secs: BoxWaitSecs = 0
    limit: BoxQueueLimit = 50


class BoxAttachment(WireModel):
    """
    a file of a submission, as the box measured it, and where its bytes are
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    field: RequestField
    filename: UploadName
    size: FileBytes
    sha256: RequestFileDigest
    content_type: FileType
    blob: BoxBlob


class BoxRow(WireModel):
    """
    a confirmed submission; its values are all but its files
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    type_id: RequestTypeId
    type_version: RequestTypeVersion
    created_at: RequestTime
    values: RequestValues
    attachments: Annotated[list[BoxAttachment], Field(max_length=16)]


class BoxQueue(WireModel):
    """
    rows of one epoch, and the number to go on after
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    epoch: BoxEpoch
    rows: Annotated[list[BoxRow], Field(max_length=100)]
    last: U64


class BoxAckRequest(WireModel):
    """
    rows of one epoch that are safe at home; they are deleted with their files
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    holder: BoxHolder
    epoch: BoxEpoch
    seqs: Annotated[list[RequestSeq], Field(max_length=100, min_length=1)]


class BoxPushRequest(WireModel):
    """
    a manifest as its author wrote it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    language: ManifestLanguage
    text: ManifestText


class SubmissionState(WireModel):
    """
    what is to happen next to a submission, and where its files are taken
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    step: SubmissionStep
    upload: UploadPath | None = None
