# Generated from schemas/bundle/frontdoor.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import JsonInteger, MaxUtf8Bytes, WireModel
from mail4agent_api.mail import (
    U32,
    U64,
    Boundary,
    Line,
    Taint,
    ToolTokens,
    UntrustedText,
)
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType


class BriefFields(WireModel):
    """
    an object of typed values under the names of declared fields
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )


class RequestValues(WireModel):
    """
    an object of values under the names of their fields
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )


ReadingText = TypeAliasType(
    "ReadingText",
    Annotated[
        str,
        Field(
            description="the account of an extractor, of at most 8192 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 8192, "x-label": "reading"},
            max_length=8192,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="ReadingText",
        ),
        MaxUtf8Bytes(8192),
    ],
)


FreeTextNames = TypeAliasType(
    "FreeTextNames",
    Annotated[
        list[Line],
        Field(
            description="the names of the values that are prose, at most 200",
            json_schema_extra={"x-label": "free_text"},
            max_length=200,
            title="FreeTextNames",
        ),
    ],
)


FormTypeId = TypeAliasType(
    "FormTypeId",
    Annotated[
        str,
        Field(
            description="1 to 64 characters from a-z, 0-9 and _ -",
            json_schema_extra={"x-label": "id"},
            max_length=64,
            min_length=1,
            pattern="^[a-z0-9_-]{1,64}$",
            title="FormTypeId",
        ),
    ],
)


FormName = TypeAliasType(
    "FormName",
    Annotated[
        str,
        Field(
            description="1 to 64 characters from a-z, 0-9 and _ -",
            json_schema_extra={"x-label": "name"},
            max_length=64,
            min_length=1,
            pattern="^[a-z0-9_-]{1,64}$",
            title="FormName",
        ),
    ],
)


FormVersion = TypeAliasType(
    "FormVersion",
    Annotated[
        int,
        Field(
            description="a whole number from 1 to 1000000",
            ge=1,
            json_schema_extra={"x-label": "version"},
            le=1000000,
            title="FormVersion",
        ),
        JsonInteger(),
    ],
)


FormLabel = TypeAliasType(
    "FormLabel",
    Annotated[
        str,
        Field(
            description="one line of text: 1 to 200 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 200},
            max_length=200,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="FormLabel",
        ),
        MaxUtf8Bytes(200),
    ],
)


FormProse = TypeAliasType(
    "FormProse",
    Annotated[
        str,
        Field(
            description="text of at most 2000 bytes of UTF-8; of the control characters only line feed and tab",
            json_schema_extra={"x-maxUtf8Bytes": 2000},
            max_length=2000,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="FormProse",
        ),
        MaxUtf8Bytes(2000),
    ],
)


FormPattern = TypeAliasType(
    "FormPattern",
    Annotated[
        str,
        Field(
            description="a regular expression: 1 to 256 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 256, "x-label": "pattern"},
            max_length=256,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="FormPattern",
        ),
        MaxUtf8Bytes(256),
    ],
)


OptionValue = TypeAliasType(
    "OptionValue",
    Annotated[
        str,
        Field(
            description="one line of text: 1 to 128 bytes of UTF-8, no control characters",
            json_schema_extra={"x-maxUtf8Bytes": 128},
            max_length=128,
            min_length=1,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="OptionValue",
        ),
        MaxUtf8Bytes(128),
    ],
)


TextLength = TypeAliasType(
    "TextLength",
    Annotated[
        int,
        Field(
            description="a whole number of characters from 1 to 100000",
            ge=1,
            json_schema_extra={"x-label": "max_length"},
            le=100000,
            title="TextLength",
        ),
        JsonInteger(),
    ],
)


EmailLength = TypeAliasType(
    "EmailLength",
    Annotated[
        int,
        Field(
            description="a whole number of characters from 6 to 254",
            ge=6,
            json_schema_extra={"x-label": "max_length"},
            le=254,
            title="EmailLength",
        ),
        JsonInteger(),
    ],
)


UrlLength = TypeAliasType(
    "UrlLength",
    Annotated[
        int,
        Field(
            description="a whole number of characters from 12 to 2048",
            ge=12,
            json_schema_extra={"x-label": "max_length"},
            le=2048,
            title="UrlLength",
        ),
        JsonInteger(),
    ],
)


FormInteger = TypeAliasType(
    "FormInteger",
    Annotated[
        int,
        Field(
            description="a whole number from -9007199254740991 to 9007199254740991",
            ge=-9007199254740991,
            le=9007199254740991,
            title="FormInteger",
        ),
        JsonInteger(),
    ],
)


FormDate = TypeAliasType(
    "FormDate",
    Annotated[
        str,
        Field(
            description="a date, written YYYY-MM-DD",
            max_length=10,
            min_length=10,
            pattern="^[0-9-]{10}$",
            title="FormDate",
        ),
    ],
)


ChoiceCount = TypeAliasType(
    "ChoiceCount",
    Annotated[
        int,
        Field(
            description="a whole number of choices from 1 to 200",
            ge=1,
            json_schema_extra={"x-label": "max_choices"},
            le=200,
            title="ChoiceCount",
        ),
        JsonInteger(),
    ],
)


FormFileBytes = TypeAliasType(
    "FormFileBytes",
    Annotated[
        int,
        Field(
            description="a whole number of bytes from 1 to 16777216",
            ge=1,
            json_schema_extra={"x-label": "max_bytes"},
            le=16777216,
            title="FormFileBytes",
        ),
        JsonInteger(),
    ],
)


FileKind = TypeAliasType(
    "FileKind",
    Annotated[
        Literal["pdf", "png", "jpeg", "jpg"],
        Field(
            description="pdf, png, jpeg or jpg",
            json_schema_extra={"x-label": "accept"},
            title="FileKind",
        ),
    ],
)


class FieldOption(WireModel):
    """
    one choice: what is submitted and what is shown for it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    value: OptionValue
    label: FormLabel


ConditionOp = TypeAliasType(
    "ConditionOp",
    Annotated[
        Literal[
            "eq", "ne", "in", "not_in", "gt", "gte", "lt", "lte", "present", "absent", "is_true", "is_false"
        ],
        Field(
            description="eq, ne, in, not_in, gt, gte, lt, lte, present, absent, is_true or is_false",
            json_schema_extra={"x-label": "op"},
            title="ConditionOp",
        ),
    ],
)


class ShowWhen(WireModel):
    """
    when something is shown: another field or acknowledgment, and what must hold of it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    field: FormName
    op: ConditionOp
    value: OptionValue | None = None
    values: Annotated[list[OptionValue], Field(max_length=200)] = []


class TextField(WireModel):
    """
    a line of free text
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["text"] = "text"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    max_length: TextLength
    pattern: FormPattern | None = None


class LongTextField(WireModel):
    """
    free text of several lines
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["long_text"] = "long_text"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    max_length: TextLength


class EmailField(WireModel):
    """
    an address of email
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["email"] = "email"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    max_length: EmailLength = 254


class UrlField(WireModel):
    """
    an address of a page, http or https
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["url"] = "url"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    max_length: UrlLength = 2048


class DateField(WireModel):
    """
    a day
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["date"] = "date"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    min: FormDate | None = None
    max: FormDate | None = None


class IntegerField(WireModel):
    """
    a whole number
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["integer"] = "integer"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    min: FormInteger | None = None
    max: FormInteger | None = None


class SelectField(WireModel):
    """
    one of several choices
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["select"] = "select"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    options: Annotated[list[FieldOption], Field(max_length=200, min_length=1)]


class MultiSelectField(WireModel):
    """
    some of several choices
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["multi_select"] = "multi_select"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    options: Annotated[list[FieldOption], Field(max_length=200, min_length=1)]
    max_choices: ChoiceCount | None = None


class BoolField(WireModel):
    """
    yes or no
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["bool"] = "bool"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None


class FileField(WireModel):
    """
    a file of a kind that is accepted
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    kind: Literal["file"] = "file"
    name: FormName
    label: FormLabel
    help: FormProse | None = None
    required: bool = False
    show_when: ShowWhen | None = None
    accept: Annotated[list[FileKind], Field(max_length=4, min_length=1)] = ["pdf", "png", "jpeg"]
    max_bytes: FormFileBytes = 8388608


FormField = TypeAliasType(
    "FormField",
    Annotated[
        TextField
        | LongTextField
        | EmailField
        | UrlField
        | DateField
        | IntegerField
        | SelectField
        | MultiSelectField
        | BoolField
        | FileField,
        Field(
            description="a field of one of ten kinds: text, long_text, email, url, date, integer, select, multi_select, bool or file",
            discriminator="kind",
            title="FormField",
        ),
    ],
)


class Acknowledgment(WireModel):
    """
    what must be agreed to before a form is sent
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: FormName
    label: FormLabel
    description: FormProse | None = None


class FormStep(WireModel):
    """
    one page of a form: the fields on it, and when it is shown
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: FormName
    title: FormLabel
    description: FormProse | None = None
    fields: Annotated[list[FormName], Field(max_length=100, min_length=1)]
    show_when: ShowWhen | None = None


VerificationHours = TypeAliasType(
    "VerificationHours",
    Annotated[
        int,
        Field(
            description="a whole number of hours from 1 to 720",
            ge=1,
            json_schema_extra={"x-label": "expires_hours"},
            le=720,
            title="VerificationHours",
        ),
        JsonInteger(),
    ],
)


class FormVerification(WireModel):
    """
    which field holds the address that is proved, and for how long the link is good
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    field: FormName
    expires_hours: VerificationHours = 48


class FormConfirmation(WireModel):
    """
    what is said when a form has been sent
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    heading: FormLabel
    body: FormProse
    expect_reply_within: FormLabel | None = None


RetainDays = TypeAliasType(
    "RetainDays",
    Annotated[
        int,
        Field(
            description="a whole number of days from 1 to 3650",
            ge=1,
            json_schema_extra={"x-label": "retain_days"},
            le=3650,
            title="RetainDays",
        ),
        JsonInteger(),
    ],
)


ManifestKind = TypeAliasType(
    "ManifestKind",
    Annotated[
        Literal["request"],
        Field(
            description="request; bookings are not taken",
            json_schema_extra={"x-label": "kind"},
            title="ManifestKind",
        ),
    ],
)


class RequestTypeManifest(WireModel):
    """
    what may be asked at the front door, and in which fields
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    id: FormTypeId
    version: FormVersion
    title: FormLabel
    description: FormProse | None = None
    kind: ManifestKind = "request"
    retain_days: RetainDays | None = None
    fields: Annotated[list[FormField], Field(max_length=100, min_length=1)]
    steps: Annotated[list[FormStep], Field(max_length=20, validate_default=True)] = []
    acknowledgments: Annotated[list[Acknowledgment], Field(max_length=20, validate_default=True)] = []
    verification: FormVerification | None = None
    confirmation: FormConfirmation | None = None


FileChunk = TypeAliasType(
    "FileChunk",
    Annotated[
        str,
        Field(
            description="a piece of a file: at most 65536 characters of base64url without padding",
            json_schema_extra={"x-label": "data"},
            max_length=65536,
            pattern="^[A-Za-z0-9_-]*$",
            title="FileChunk",
        ),
    ],
)


RequestLimit = TypeAliasType(
    "RequestLimit",
    Annotated[
        int,
        Field(
            description="a number of requests from 1 to 256",
            ge=1,
            json_schema_extra={"x-label": "limit"},
            le=256,
            title="RequestLimit",
        ),
        JsonInteger(),
    ],
)


BriefLimit = TypeAliasType(
    "BriefLimit",
    Annotated[
        int,
        Field(
            description="a number of requests from 1 to 16",
            ge=1,
            json_schema_extra={"x-label": "limit"},
            le=16,
            title="BriefLimit",
        ),
        JsonInteger(),
    ],
)


class UnreadableFile(WireModel):
    """
    a file of the store that is no request, and why
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    name: Line
    reason: Line


class RequestFile(WireModel):
    """
    an object of a file, as it lies there
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )


class ProseTexts(WireModel):
    """
    lists of a stranger's texts under the names of their values
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )


class FrontdoorNextRequest(WireModel):
    """
    how many briefs to give at most
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    limit: BriefLimit = 5


class FrontdoorReconcileRequest(WireModel):
    """
    nothing: every request that waits for a draft is looked at
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )


ToolTextOffset = TypeAliasType(
    "ToolTextOffset",
    Annotated[
        int,
        Field(
            description="a place in a text in bytes of UTF-8, from 0 to 16777216",
            ge=0,
            json_schema_extra={"x-label": "from_byte"},
            le=16777216,
            title="ToolTextOffset",
        ),
        JsonInteger(),
    ],
)


RequestSeq = TypeAliasType(
    "RequestSeq",
    Annotated[
        int,
        Field(
            description="the number of a request, from 1 to 2^53-1",
            ge=1,
            json_schema_extra={"x-label": "seq"},
            le=9007199254740991,
            title="RequestSeq",
        ),
        JsonInteger(),
    ],
)


RequestTypeId = TypeAliasType(
    "RequestTypeId",
    Annotated[
        str,
        Field(
            description="1 to 64 characters from a-z, 0-9 and _ -",
            json_schema_extra={"x-label": "type_id"},
            max_length=64,
            min_length=1,
            pattern="^[a-z0-9_-]{1,64}$",
            title="RequestTypeId",
        ),
    ],
)


RequestTypeVersion = TypeAliasType(
    "RequestTypeVersion",
    Annotated[
        int,
        Field(
            description="the version of a request type, from 1 to 1000000",
            ge=1,
            json_schema_extra={"x-label": "type_version"},
            le=1000000,
            title="RequestTypeVersion",
        ),
        JsonInteger(),
    ],
)


RequestState = TypeAliasType(
    "RequestState",
    Annotated[
        Literal[
            "drained",
            "extracted",
            "extraction_failed",
            "triaged",
            "awaiting_me",
            "needs_info",
            "answered",
            "closed",
        ],
        Field(
            description="the state of a request",
            json_schema_extra={"x-label": "state"},
            title="RequestState",
        ),
    ],
)


RequestTime = TypeAliasType(
    "RequestTime",
    Annotated[
        str,
        Field(
            description="a time of RFC 3339, 20 to 40 characters",
            json_schema_extra={"x-label": "time"},
            max_length=40,
            min_length=20,
            pattern="^[0-9TZ.\\u003a+-]{20,40}$",
            title="RequestTime",
        ),
    ],
)


RequestField = TypeAliasType(
    "RequestField",
    Annotated[
        str,
        Field(
            description="the name of a field: 1 to 64 characters from a-z, 0-9 and _ -",
            json_schema_extra={"x-label": "field"},
            max_length=64,
            min_length=1,
            pattern="^[a-z0-9_-]{1,64}$",
            title="RequestField",
        ),
    ],
)


BoxEpoch = TypeAliasType(
    "BoxEpoch",
    Annotated[
        str,
        Field(
            description="1 to 64 characters from A-Z, a-z, 0-9 and . _ -",
            json_schema_extra={"x-label": "box_epoch"},
            max_length=64,
            min_length=1,
            pattern="^[A-Za-z0-9._-]{1,64}$",
            title="BoxEpoch",
        ),
    ],
)


ReplyAddress = TypeAliasType(
    "ReplyAddress",
    Annotated[
        str,
        Field(
            description="one bare email address of 6 to 254 characters",
            json_schema_extra={"x-label": "reply_to"},
            max_length=254,
            min_length=6,
            pattern="^[A-Za-z0-9._%+@-]{6,254}$",
            title="ReplyAddress",
        ),
    ],
)


RequestFileDigest = TypeAliasType(
    "RequestFileDigest",
    Annotated[
        str,
        Field(
            description="sha256: and 64 lower-case hexadecimal digits",
            json_schema_extra={"x-label": "sha256"},
            pattern="^sha256:[0-9a-f]{64}$",
            title="RequestFileDigest",
        ),
    ],
)


FileType = TypeAliasType(
    "FileType",
    Annotated[
        Literal["application/pdf", "image/png", "image/jpeg"],
        Field(
            description="the content type of a file: pdf, png or jpeg",
            json_schema_extra={"x-label": "content_type"},
            title="FileType",
        ),
    ],
)


FileBytes = TypeAliasType(
    "FileBytes",
    Annotated[
        int,
        Field(
            description="the size of a file, from 1 byte to 16 MiB",
            ge=1,
            json_schema_extra={"x-label": "size"},
            le=16777216,
            title="FileBytes",
        ),
        JsonInteger(),
    ],
)


RequestDraftId = TypeAliasType(
    "RequestDraftId",
    Annotated[
        str,
        Field(
            description="1 to 80 characters from A-Z, a-z, 0-9 and _ -",
            json_schema_extra={"x-label": "draft id"},
            max_length=80,
            min_length=1,
            pattern="^[A-Za-z0-9_-]{1,80}$",
            title="RequestDraftId",
        ),
    ],
)


RequestNote = TypeAliasType(
    "RequestNote",
    Annotated[
        str,
        Field(
            description="a note of at most 2048 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 2048, "x-label": "note"},
            max_length=2048,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="RequestNote",
        ),
        MaxUtf8Bytes(2048),
    ],
)


RequestReason = TypeAliasType(
    "RequestReason",
    Annotated[
        str,
        Field(
            description="a reason of 1 to 2048 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 2048, "x-label": "reason"},
            max_length=2048,
            min_length=1,
            pattern="^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$",
            title="RequestReason",
        ),
        MaxUtf8Bytes(2048),
    ],
)


Urgency = TypeAliasType(
    "Urgency",
    Annotated[
        str,
        Field(
            description="a claimed urgency of at most 16 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 16, "x-label": "urgency_claimed"},
            max_length=16,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="Urgency",
        ),
        MaxUtf8Bytes(16),
    ],
)


ExtractedLine = TypeAliasType(
    "ExtractedLine",
    Annotated[
        str,
        Field(
            description="one extracted line of at most 480 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 480, "x-label": "extracted"},
            max_length=480,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="ExtractedLine",
        ),
        MaxUtf8Bytes(480),
    ],
)


ExtractedDate = TypeAliasType(
    "ExtractedDate",
    Annotated[
        str,
        Field(
            description="an extracted date of at most 160 bytes of UTF-8",
            json_schema_extra={"x-maxUtf8Bytes": 160, "x-label": "date"},
            max_length=160,
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
            title="ExtractedDate",
        ),
        MaxUtf8Bytes(160),
    ],
)


class BriefExtraction(WireModel):
    """
    what a run is told of the prose
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    topic: ExtractedLine
    urgency_claimed: Urgency
    dates_mentioned: Annotated[list[ExtractedDate], Field(max_length=8)]
    institution: ExtractedLine


class BriefAttachment(WireModel):
    """
    the measurements of a file
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    field: RequestField
    size: FileBytes
    content_type: FileType
    sha256: RequestFileDigest


class FrontdoorBrief(WireModel):
    """
    a request without a word that a stranger wrote
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    type: RequestTypeId
    received: RequestTime
    reply_to: ReplyAddress | None = None
    fields: BriefFields
    extracted: BriefExtraction
    attachments: Annotated[list[BriefAttachment], Field(max_length=16)]
    note: RequestNote | None = None
    taint: Taint


class RequestAttachment(WireModel):
    """
    a file that came with a request, and where it rests
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )
    field: RequestField
    filename: Line
    size: FileBytes
    sha256: RequestFileDigest
    content_type: FileType
    id: Line | None = None
    path: Line | None = None


class RequestExtraction(WireModel):
    """
    what the quarantined pass made of the prose
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )
    reading: ReadingText = ""
    topic: ExtractedLine = ""
    urgency_claimed: Urgency = ""
    dates_mentioned: Annotated[list[ExtractedDate], Field(max_length=8)] = []
    institution: ExtractedLine = ""
    reads_like_instructions: bool = False


class FrontdoorRecord(WireModel):
    """
    a request, with what its writers know of it and this contract does not
    """

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
    )
    seq: RequestSeq
    type_id: RequestTypeId
    state: RequestState
    created_at: RequestTime
    drained_at: RequestTime
    valid: bool = False
    invalid_reason: RequestNote | None = None
    values: RequestValues
    free_text: FreeTextNames | None = None
    reply_to: ReplyAddress | None = None
    extraction: RequestExtraction | None = None
    extraction_error: RequestNote | None = None
    triage_session: Line | None = None
    outbox: Annotated[list[RequestDraftId], Field(max_length=256)] = []
    note: RequestNote | None = None
    note_by_person: bool = False
    attachments: Annotated[list[RequestAttachment], Field(max_length=16, validate_default=True)] = []
    type_version: RequestTypeVersion | None = None
    box_seq: RequestSeq | None = None
    box_epoch: BoxEpoch | None = None
    box_digest: RequestFileDigest | None = None


class IngestedFile(WireModel):
    """
    the bytes of an attachment, in pieces of base64url that are joined
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    field: RequestField
    data: Annotated[list[FileChunk], Field(max_length=256, min_length=1)]


class FrontdoorIngestRequest(WireModel):
    """
    one drained submission with the bytes of its files
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    box_epoch: BoxEpoch
    record: FrontdoorRecord
    files: Annotated[list[IngestedFile], Field(max_length=16, validate_default=True)] = []


class FrontdoorReceipt(WireModel):
    """
    the number that a submission has here; it may be acknowledged to the box
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    valid: bool
    repeated: bool


class FrontdoorListRequest(WireModel):
    """
    which requests to list, the lowest numbers first
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    state: RequestState | None = None
    after: U64 = 0
    limit: RequestLimit = 50


class RequestSummary(WireModel):
    """
    one request in a list
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    type_id: RequestTypeId | None = None
    state: RequestState | None = None
    valid: bool
    topic: ExtractedLine | None = None
    reads_like_instructions: bool
    received: RequestTime | None = None
    drained_at: RequestTime | None = None
    attachments: U32
    duplicate: bool


class FrontdoorList(WireModel):
    """
    requests, how many there are, and what could not be read
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    requests: Annotated[list[RequestSummary], Field(max_length=256)]
    total: U64
    unreadable: Annotated[list[UnreadableFile], Field(max_length=64)]
    unreadable_total: U64


class FrontdoorGetRequest(WireModel):
    """
    the number of a request
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq


class FrontdoorItem(WireModel):
    """
    a whole request for a person, prose and all
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    record: RequestFile
    fields: BriefFields
    prose: ProseTexts
    briefed: bool


class FrontdoorBriefs(WireModel):
    """
    briefs of extracted requests, oldest first, and how many may be told to no run
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    briefs: Annotated[list[FrontdoorBrief], Field(max_length=16)]
    withheld: U64


class FrontdoorExtractRequest(WireModel):
    """
    which requests to extract: one, or the oldest that wait for it
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq | None = None
    retry: bool = False
    limit: BriefLimit = 1


class FrontdoorMoved(WireModel):
    """
    a request and the states that it went between
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    from_: Annotated[RequestState, Field(alias="from")]
    to: RequestState


class FrontdoorTriagedRequest(WireModel):
    """
    the drafts that a run staged for a request; none are a triage too
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    drafts: Annotated[list[RequestDraftId], Field(max_length=16)] = []


class FrontdoorNeedsInfoRequest(WireModel):
    """
    a request that waits for its sender, and for what
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    note: RequestNote | None = None


class FrontdoorCloseRequest(WireModel):
    """
    a request to be closed, and why
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    reason: RequestReason


class FrontdoorReopenRequest(WireModel):
    """
    a request to be taken up again
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq


class FrontdoorReconciled(WireModel):
    """
    the requests whose drafts were decided, the first 256 of them
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    moved: Annotated[list[FrontdoorMoved], Field(max_length=256)]
    total: U64


class ToolBriefsRequest(WireModel):
    """
    briefs of requests, few enough for a model
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    limit: BriefLimit = 5
    seq: Annotated[RequestSeq | None, Field(description="this request alone")] = None
    from_byte: Annotated[ToolTextOffset, Field(description="next_byte of an earlier part, with its seq")] = 0
    max_tokens: ToolTokens = 2000


class ToolBrief(WireModel):
    """
    a request: what the daemon vouches for, and between boundary lines its brief
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    seq: RequestSeq
    type: RequestTypeId
    received: RequestTime
    taint: Taint
    text: UntrustedText
    text_bytes: ToolTextOffset
    cut: bool


class ToolBriefsResult(WireModel):
    """
    briefs, oldest first, how many were left out for want of room, how many may be told to no run, and where the rest of one that was cut begins
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    boundary: Boundary
    briefs: Annotated[list[ToolBrief], Field(max_length=16)]
    left: U32
    withheld: U64
    next_byte: ToolTextOffset | None = None


class FrontdoorExtracted(WireModel):
    """
    what became of requests that were extracted, and how many still wait
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
    )
    moved: Annotated[list[FrontdoorMoved], Field(max_length=16)]
    left: U64
