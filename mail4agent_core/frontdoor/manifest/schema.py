"""The JSON Schema (2020-12) of a type's submissions, for whoever makes them in another language.

It describes a whole submission in its kept form: numbers as numbers, choices as lists, texts without blanks
at their ends. What a browser posts is coerced to that. Fields that are shown under a condition are there
and not required: the schema says less than the validator, and only there.
"""

from typing import Any

from mail4agent_api.frontdoor import (
    BoolField,
    DateField,
    EmailField,
    FileField,
    IntegerField,
    LongTextField,
    MultiSelectField,
    SelectField,
    TextField,
    UrlField,
)

from . import shapes
from .checks import conditions_of
from .form import Form
from .patterns import whole
from .values import Declared, content_types

#: In Python ``$`` also stands before a last line feed.
_ONE_LINE = {"not": {"pattern": "\\n"}}


def submission_schema(form: Form) -> dict[str, Any]:
    """The schema of one version's submissions."""
    manifest = form.manifest
    conditional = {name for name, conditions in conditions_of(manifest).items() if conditions}
    required = [field.name for field in manifest.fields if field.required and field.name not in conditional]
    described = {"description": manifest.description} if manifest.description else {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:mail4agent:request:{form.id}:v{form.version}",
        "title": manifest.title,
        **described,
        "type": "object",
        "additionalProperties": False,
        "required": [*required, *form.acknowledgments],
        "properties": {
            **{field.name: _titled(field) for field in manifest.fields},
            **{each.id: {"title": each.label, "const": True} for each in manifest.acknowledgments},
        },
    }


def _titled(field: Declared) -> dict[str, Any]:
    described = {"description": field.help} if field.help else {}
    return {"title": field.label, **described, **_of(field)}


def _of(field: Declared) -> dict[str, Any]:
    match field:
        case TextField():
            own = [] if field.pattern is None else [{"pattern": whole(field.pattern)}]
            return {**_text(field.max_length, shapes.LINE, *own), **_ONE_LINE}
        case LongTextField():
            return {**_text(field.max_length, shapes.LINES), "not": {"pattern": "\\n$"}}
        case EmailField():
            local = {"pattern": shapes.EMAIL_LOCAL}
            return {**_text(field.max_length, shapes.EMAIL, local), "format": "email", **_ONE_LINE}
        case UrlField():
            return {**_text(field.max_length, shapes.URL), "format": "uri", **_ONE_LINE}
        case DateField():
            bounds = {"formatMinimum": field.min, "formatMaximum": field.max}
            given = {key: bound for key, bound in bounds.items() if bound is not None}
            return {"type": "string", "format": "date", "pattern": shapes.DATE, **_ONE_LINE, **given}
        case IntegerField():
            least = -shapes.INTEGER_MAX if field.min is None else field.min
            most = shapes.INTEGER_MAX if field.max is None else field.max
            return {"type": "integer", "minimum": least, "maximum": most}
        case SelectField():
            return {"enum": [option.value for option in field.options]}
        case MultiSelectField():
            offered = [option.value for option in field.options]
            most = field.max_choices or len(offered)
            return {
                "type": "array", "items": {"enum": offered}, "uniqueItems": True, "minItems": 1,
                "maxItems": most,
            }  # fmt: skip
        case BoolField():
            return {"type": "boolean"}
        case FileField():
            return _file(field)


def _text(most: int, pattern: str, *further: dict[str, Any]) -> dict[str, Any]:
    together = {"allOf": list(further)} if further else {}
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": pattern, **together}


def _file(field: FileField) -> dict[str, Any]:
    name = {"allOf": [{"not": {"enum": [".", ".."]}}], "pattern": shapes.FILE_NAME, "type": "string"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["filename", "size", "sha256", "content_type"],
        "properties": {
            "filename": {**name, **_ONE_LINE},
            "size": {"type": "integer", "minimum": 1, "maximum": field.max_bytes},
            "sha256": {"type": "string", "pattern": shapes.SHA256, **_ONE_LINE},
            "content_type": {"enum": content_types(field)},
            "attachment_id": {"type": "string", "pattern": shapes.ATTACHMENT_ID, **_ONE_LINE},
        },
    }
