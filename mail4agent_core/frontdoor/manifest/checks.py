"""What a schema cannot say of a manifest: whether its parts fit together.

A manifest that passes describes a form which somebody can fill in, whose every condition can hold, and whose
address for the answer is proved.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mail4agent_api.frontdoor import (
    BoolField,
    DateField,
    EmailField,
    FileField,
    FormStep,
    IntegerField,
    MultiSelectField,
    RequestTypeManifest,
    SelectField,
    ShowWhen,
    TextField,
)

from . import shapes
from .conditions import ORDERING, PRESENCE, SEVERAL, SINGLE, TRUTHS
from .patterns import PatternError, whole
from .values import Declared, real_date, whole_number

#: Bytes of all files of one submission, and how many files it may have.
FILES_MAX_BYTES = 33_554_432
FILES_MAX = 16
_PLACEHOLDER = re.compile(r"\{([a-z0-9_-]{1,64})\}")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not fit: where in the manifest, and what. Both are for the manifest's author."""

    where: str
    says: str

    def __str__(self) -> str:
        return f"{self.where} {self.says}"


def faults(manifest: RequestTypeManifest) -> tuple[Fault, ...]:
    """Everything that does not fit, in the order of the manifest; nothing for a good one."""
    return tuple(
        Fault(where, says)
        for part in (_names, _fields, _files, _steps, _conditions, _cycles, _verification, _confirmation)
        for where, says in part(manifest)
    )


Found = Iterator[tuple[str, str]]


def _by_name(manifest: RequestTypeManifest) -> dict[str, Declared]:
    return {field.name: field for field in manifest.fields}


def _names(manifest: RequestTypeManifest) -> Found:
    kinds = {
        "field": [field.name for field in manifest.fields],
        "acknowledgment": [each.id for each in manifest.acknowledgments],
        "step": [step.id for step in manifest.steps],
    }
    for kind, names in kinds.items():
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{kind} {name}", "is there more than once"
            if name[0] in "_-" and kind != "step":
                yield f"{kind} {name}", "must begin with a letter or a digit"
    for name in kinds["acknowledgment"]:
        if name in kinds["field"]:
            yield f"acknowledgment {name}", "has the name of a field"


def _fields(manifest: RequestTypeManifest) -> Found:
    for field in manifest.fields:
        where = f"field {field.name}"
        match field:
            case TextField() if field.pattern is not None:
                try:
                    whole(field.pattern)
                except PatternError as failure:
                    yield where, f"has a pattern that {failure}"
            case SelectField() | MultiSelectField():
                values = [option.value for option in field.options]
                if len(set(values)) < len(values):
                    yield where, "offers a value more than once"
                if any(value.strip(shapes.BLANKS) != value for value in values):
                    yield where, "offers a value that begins or ends with a blank"
                if isinstance(field, MultiSelectField) and (field.max_choices or 0) > len(values):
                    yield where, "allows more choices than it offers"
            case DateField():
                bounds = [bound for bound in (field.min, field.max) if bound is not None]
                if any(real_date(bound) is None for bound in bounds):
                    yield where, "has a bound that is no day of the calendar"
                elif bounds != sorted(bounds):
                    yield where, "has a min after its max"
            case IntegerField():
                if field.min is not None and field.max is not None and field.min > field.max:
                    yield where, "has a min above its max"
            case _:
                pass


def _files(manifest: RequestTypeManifest) -> Found:
    files = [field for field in manifest.fields if isinstance(field, FileField)]
    if len(files) > FILES_MAX:
        yield "fields", f"has more than {FILES_MAX} files"
    if sum(field.max_bytes for field in files) > FILES_MAX_BYTES:
        yield "fields", f"allows files of more than {FILES_MAX_BYTES} bytes in all"


def _steps(manifest: RequestTypeManifest) -> Found:
    if not manifest.steps:
        return
    known = _by_name(manifest)
    placed = Counter(name for step in manifest.steps for name in step.fields)
    for step in manifest.steps:
        for name in step.fields:
            if name not in known:
                yield f"step {step.id}", f"has the field {name}, which is not declared"
    for name in known:
        if placed[name] != 1:
            yield f"field {name}", "is on no step" if not placed[name] else "is on more than one step"


def steps_of(manifest: RequestTypeManifest) -> dict[str, FormStep]:
    """The step that each field is on."""
    return {name: step for step in manifest.steps for name in step.fields}


def conditions_of(manifest: RequestTypeManifest) -> dict[str, list[ShowWhen]]:
    """What must hold for each field to be shown: its own condition and that of its step."""
    steps = steps_of(manifest)
    out: dict[str, list[ShowWhen]] = {}
    for field in manifest.fields:
        step = steps.get(field.name)
        candidates = (field.show_when, step.show_when if step is not None else None)
        out[field.name] = [condition for condition in candidates if condition is not None]
    return out


def _conditions(manifest: RequestTypeManifest) -> Found:
    known = _by_name(manifest)
    agreed = {each.id for each in manifest.acknowledgments}
    shown = [(f"field {field.name}", field.show_when) for field in manifest.fields]
    shown += [(f"step {step.id}", step.show_when) for step in manifest.steps]
    for where, condition in shown:
        if condition is None:
            continue
        if condition.field in known:
            yield from _operand(where, condition, known[condition.field])
        elif condition.field in agreed:
            yield from _operand(where, condition, None)
        else:
            yield where, f"is shown by {condition.field}, which is no field and no acknowledgment"


def _operand(where: str, condition: ShowWhen, field: Declared | None) -> Found:
    """Whether the operator speaks of what the field holds, and its operand is one that it could hold."""
    op = condition.op
    if (condition.value is not None) != (op in SINGLE) or bool(condition.values) != (op in SEVERAL):
        yield where, f"is shown by {op}, which takes {_takes(op)}"
        return
    truth = field is None or isinstance(field, BoolField)
    allowed = PRESENCE
    if truth:
        allowed = PRESENCE | TRUTHS | {"eq", "ne"}
    elif isinstance(field, DateField | IntegerField):
        allowed = PRESENCE | SINGLE | SEVERAL
    elif not isinstance(field, FileField):
        allowed = PRESENCE | SEVERAL | (SINGLE - ORDERING)
    if op not in allowed:
        yield where, f"is shown by {op} of {condition.field}, which never holds"
        return
    operands = [condition.value] if condition.value is not None else condition.values
    for operand in operands:
        if truth:
            fits = operand in {"true", "false"}
        else:
            match field:
                case IntegerField():
                    fits = whole_number(operand) is not None
                case DateField():
                    fits = real_date(operand) is not None
                case SelectField() | MultiSelectField():
                    fits = operand in {option.value for option in field.options}
                case _:
                    fits = True
        if not fits:
            yield where, f"is shown by a value that {condition.field} never has"
            return


def _takes(op: str) -> str:
    if op in SINGLE:
        return "a value"
    return "values" if op in SEVERAL else "no value"


def _cycles(manifest: RequestTypeManifest) -> Found:
    """A field must not decide, over however many others, whether it is itself shown."""
    reads: Mapping[str, list[str]] = {
        name: [condition.field for condition in conditions]
        for name, conditions in conditions_of(manifest).items()
    }
    for name in reads:
        seen: set[str] = set()
        waiting = list(reads[name])
        while waiting:
            other = waiting.pop()
            if other not in seen:
                seen.add(other)
                waiting += reads.get(other, [])
        if name in seen:
            yield f"field {name}", "is shown by what it decides itself"


def _verification(manifest: RequestTypeManifest) -> Found:
    if manifest.verification is None:
        return
    name = manifest.verification.field
    field = _by_name(manifest).get(name)
    if not isinstance(field, EmailField):
        yield "verification", f"names {name}, which is no field of the kind email"
    elif not field.required or conditions_of(manifest)[name]:
        yield "verification", f"names {name}, which may be left out; it must be required and always shown"


def _confirmation(manifest: RequestTypeManifest) -> Found:
    if manifest.confirmation is None:
        return
    known = _by_name(manifest)
    for key, text in (("heading", manifest.confirmation.heading), ("body", manifest.confirmation.body)):
        for name in _PLACEHOLDER.findall(text):
            if name not in known:
                yield f"confirmation {key}", f"has a place for {name}, which is no field"
