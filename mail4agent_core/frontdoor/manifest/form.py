"""The one validator of submissions: every problem at once, values coerced, what is shown worked out from
them.

Which fields are free text follows from their kind and is declared nowhere: whatever somebody can type is
prose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from mail4agent_api.frontdoor import (
    EmailField,
    FileField,
    LongTextField,
    RequestTypeManifest,
    ShowWhen,
    TextField,
    UrlField,
)

from .checks import Fault, conditions_of, faults
from .conditions import holds
from .values import Declared, InvalidValueError, Value, coerced, is_blank

#: Members of one submission; more are not looked at.
VALUES_MAX = 200
_FREE = (TextField, LongTextField, EmailField, UrlField)
_AGREED = frozenset(("true", "on", "1", "yes"))


class Phase(Enum):
    """When a submission is validated: before its files may come, or when it is whole."""

    SUBMIT = "submit"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong with a submission: the declared field, empty for the submission itself, and a fixed
    sentence.

    Neither holds anything that was submitted.
    """

    field: str
    says: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What a submission came to: its values as they are kept, and its problems, sorted by field.

    With problems the values are those that were good; such a submission is not valid.
    """

    values: Mapping[str, Value]
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


class ManifestError(ValueError):
    """The parts of a manifest do not fit together."""

    def __init__(self, found: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(map(str, found)))
        self.faults = found


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form, as whoever guards its values needs it."""

    declared: Declared

    @property
    def name(self) -> str:
        """The key of its value in a submission."""
        return self.declared.name

    @property
    def free_text(self) -> bool:
        """Whether somebody can type into it whatever he likes."""
        return isinstance(self.declared, _FREE)

    @property
    def kind(self) -> str:
        """One of the ten kinds."""
        return self.declared.kind

    def check(self, value: object) -> bool:
        """Whether a stored value is one of this field, in its own type already."""
        if is_blank(value):
            return False
        try:
            kept = coerced(self.declared, value)
        except InvalidValueError:
            return False
        return type(kept) is type(value) and kept == value


class Form:
    """A manifest whose parts fit together."""

    def __init__(self, manifest: RequestTypeManifest) -> None:
        """Raise ManifestError when they do not."""
        found = faults(manifest)
        if found:
            raise ManifestError(found)
        self.manifest = manifest
        self.fields = tuple(FormField(field) for field in manifest.fields)
        self._declared: dict[str, Declared] = {field.name: field for field in manifest.fields}
        #: The ids of what must be agreed to, as declared; each is kept as true among the values.
        self.acknowledgments = tuple(each.id for each in manifest.acknowledgments)
        self._shown_by = conditions_of(manifest)

    @property
    def id(self) -> str:
        """What names the type."""
        return self.manifest.id

    @property
    def version(self) -> int:
        """Which of its versions this is."""
        return self.manifest.version

    @property
    def reply_field(self) -> str | None:
        """The field whose address is proved, so that an answer may go there."""
        return None if self.manifest.verification is None else self.manifest.verification.field

    def validate(self, values: Mapping[str, Any]) -> dict[str, Any] | tuple[Problem, ...]:
        """The values of a whole submission as they are kept, or every problem."""
        checked = self.checked(values)
        return dict(checked.values) if checked.valid else checked.problems

    def checked(self, values: object, phase: Phase = Phase.COMPLETE) -> Checked:
        """Hold a submission against the form. Total: whatever is given, problems are what comes of it."""
        if not isinstance(values, Mapping):
            return Checked({}, (Problem("", "must be an object of fields"),))
        given = cast(Mapping[object, object], values)
        if len(given) > VALUES_MAX:
            return Checked({}, (Problem("", f"must have at most {VALUES_MAX} fields"),))
        problems = [Problem("", "has a field that the form does not have")] * (
            1 if any(name not in self._declared and name not in self.acknowledgments for name in given) else 0
        )
        kept: dict[str, Value] = {}
        faulty: set[str] = set()
        for name, field in self._declared.items():
            value = given.get(name)
            if is_blank(value):
                continue
            if phase is Phase.SUBMIT and isinstance(field, FileField):
                problems.append(Problem(name, "is not taken before the address is proved"))
                faulty.add(name)
                continue
            try:
                kept[name] = coerced(field, value)
            except InvalidValueError as failure:
                problems.append(Problem(name, str(failure)))
                faulty.add(name)
        for name in self.acknowledgments:
            if _agrees(given.get(name)):
                kept[name] = True
            else:
                problems.append(Problem(name, "must be agreed to"))
                faulty.add(name)
        problems += self._hidden_and_missing(kept, faulty, phase)
        return Checked(kept, tuple(sorted(problems)))

    def shown(self, values: Mapping[str, Value]) -> frozenset[str]:
        """The fields that are asked for with values that were checked."""
        known: dict[str, bool | None] = {}
        return frozenset(name for name in self._declared if self._shown(name, values, set(), known))

    def _hidden_and_missing(self, kept: Mapping[str, Value], faulty: set[str], phase: Phase) -> list[Problem]:
        out: list[Problem] = []
        known: dict[str, bool | None] = {}
        for name, field in self._declared.items():
            shown = self._shown(name, kept, faulty, known)
            if shown is False and (name in kept or name in faulty):
                out.append(Problem(name, "is not asked for with these answers"))
            due = phase is Phase.COMPLETE or not isinstance(field, FileField)
            if shown and field.required and due and name not in kept and name not in faulty:
                out.append(Problem(name, "is required"))
        return out

    def _shown(
        self, name: str, kept: Mapping[str, Value], faulty: set[str], known: dict[str, bool | None]
    ) -> bool | None:
        """Whether a field is shown; None when that hangs on one whose value is faulty.

        A field that is not shown counts as not filled in. ``faults`` has seen to it that this ends.
        """
        if name not in known:
            answers = [self._holds(condition, kept, faulty, known) for condition in self._shown_by[name]]
            known[name] = False if False in answers else None if None in answers else True
        return known[name]

    def _holds(
        self, condition: ShowWhen, kept: Mapping[str, Value], faulty: set[str], known: dict[str, bool | None]
    ) -> bool | None:
        read = condition.field
        field = self._declared.get(read)
        if field is None:
            # An acknowledgment: what was not agreed to is a problem of its own.
            return holds(condition, kept, None)
        shown = self._shown(read, kept, faulty, known)
        if shown is None or (shown and read in faulty):
            return None
        return holds(condition, kept if shown else {}, field)


def _agrees(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in _AGREED)
