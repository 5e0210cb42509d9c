# Generated from schemas/bundle/frontdoor.bundle.json by tools/generate.py; do not edit.

from typing import Annotated, Literal

from mail4agent_api._wire import JsonInteger, MaxUtf8Bytes, WireModel
from pydantic import ConfigDict, Field
from typing_extensions import TypeAliasType

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


FileBytes = TypeAliasType(
    "FileBytes",
    Annotated[
        int,
        Field(
            description="a whole number of bytes from 1 to 16777216",
            ge=1,
            json_schema_extra={"x-label": "max_bytes"},
            le=16777216,
            title="FileBytes",
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
    max_bytes: FileBytes = 8388608


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
