"""The pages: rendered on the server, complete without a script, with nothing from another origin.

Everything that somebody typed, and everything of a manifest, is escaped by the templates.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from mail4agent_api.frontdoor import (
    BoolField,
    DateField,
    EmailField,
    FileField,
    IntegerField,
    MultiSelectField,
    SelectField,
    ShowWhen,
    TextField,
    UrlField,
)
from mail4agent_core.frontdoor.manifest import Form, Problem
from mail4agent_core.frontdoor.manifest.checks import conditions_of, steps_of

_PLACEHOLDER = re.compile(r"\{([a-z0-9_-]{1,64})\}")
#: Longer values are shown cut where a confirmation repeats them.
_SHOWN_MAX = 200
HTML = "text/html; charset=utf-8"
ASSETS = {"/intake.css": "text/css; charset=utf-8", "/intake.js": "text/javascript; charset=utf-8"}
_WORDS = {
    "eq": "is", "in": "is one of", "ne": "is not", "not_in": "is none of", "gt": "is above",
    "gte": "is at least", "lt": "is below", "lte": "is at most", "present": "is filled in",
    "absent": "is left empty", "is_true": "is yes", "is_false": "is no",
}  # fmt: skip
_INPUTS: dict[type, str] = {
    TextField: "text", EmailField: "email", UrlField: "url", DateField: "date", IntegerField: "number",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    """A field as a template needs it."""

    declared: Any
    input: str
    given: Any
    problem: str
    when: str
    conditions: str
    described: str

    @property
    def name(self) -> str:
        """The field's name."""
        return self.declared.name

    @property
    def options(self) -> list[tuple[str, str]]:
        """Value and label of each choice."""
        return [(option.value, option.label) for option in self.declared.options]

    def has(self, value: str) -> bool:
        """Whether a choice was made before."""
        return value in self.given if isinstance(self.given, list) else value == self.given


class Pages:
    """Renders. ``public_url`` is where the pages are, ``language`` what they are written in."""

    def __init__(self, public_url: str, language: str) -> None:
        self._site = urlsplit(public_url).netloc
        self._environment = Environment(
            loader=PackageLoader("mail4agent_daemon.intake", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(language=language, site=self._site)
        self.assets = {
            path: files("mail4agent_daemon.intake").joinpath(f"static{path}").read_bytes() for path in ASSETS
        }

    def form(
        self, form: Form, given: Mapping[str, Any] | None = None, problems: tuple[Problem, ...] = ()
    ) -> Response:
        """A form; with problems, as it was filled in and with each problem beside its field."""
        told = _told(problems)
        given = given or {}
        steps = steps_of(form.manifest)
        shown = {each.name: _shown(form, each.declared, given, told) for each in form.fields}
        groups: list[tuple[str | None, list[Shown]]] = []
        if form.manifest.steps:
            groups = [(step.title, [shown[name] for name in step.fields]) for step in form.manifest.steps]
        else:
            groups = [(None, list(shown.values()))]
        agreed = [
            (each, given.get(each.id) not in (None, "", False), told.get(each.id, ""))
            for each in form.manifest.acknowledgments
        ]
        return self._page(
            "form.html",
            400 if problems else 200,
            form=form.manifest,
            groups=groups,
            agreed=agreed,
            summary=_summary(form, problems),
            stepped=bool(steps),
        )

    def files(self, form: Form, fields: tuple[str, ...], problems: tuple[Problem, ...] = ()) -> Response:
        """What files are still to come."""
        told = _told(problems)
        shown = [_shown(form, each.declared, {}, told) for each in form.fields if each.name in fields]
        return self._page(
            "files.html",
            400 if problems else 200,
            form=form.manifest,
            fields=shown,
            summary=_summary(form, problems),
        )

    def sent(self, form: Form) -> Response:
        """That a mail is under way."""
        hours = form.manifest.verification.expires_hours if form.manifest.verification else 48
        return self._page("sent.html", 200, form=form.manifest, hours=hours)

    def confirm(self, form: Form) -> Response:
        """The button that confirms."""
        return self._page("confirm.html", 200, form=form.manifest)

    def done(self, form: Form, values: Mapping[str, Any]) -> Response:
        """That the submission is whole, in the words of its type."""
        said = form.manifest.confirmation
        heading = _filled(said.heading, values) if said else "Thank you"
        body = _filled(said.body, values) if said else "What you sent has arrived."
        within = said.expect_reply_within if said else None
        return self._page("done.html", 200, form=form.manifest, heading=heading, body=body, within=within)

    def refused(self, status: int, heading: str, text: str) -> Response:
        """A refusal, for a person."""
        return self._page("refused.html", status, heading=heading, text=text)

    def _page(self, template: str, status: int, **values: Any) -> Response:
        text = self._environment.get_template(template).render(**values)
        return Response(text.encode("utf-8", "replace"), status, media_type=HTML)


def _told(problems: tuple[Problem, ...]) -> dict[str, str]:
    """One sentence a field: its problems, joined."""
    told: dict[str, list[str]] = {}
    for problem in problems:
        told.setdefault(problem.field, []).append(problem.says)
    return {name: "; ".join(said) for name, said in told.items()}


def _summary(form: Form, problems: tuple[Problem, ...]) -> list[tuple[str, str, str]]:
    """Of each problem the id of its field, the field's label and what is wrong."""
    labels = {each.name: each.declared.label for each in form.fields}
    labels |= {each.id: each.label for each in form.manifest.acknowledgments}
    return [(each.field, labels.get(each.field, "This form"), each.says) for each in problems]


def _shown(form: Form, declared: Any, given: Mapping[str, Any], told: Mapping[str, str]) -> Shown:
    conditions = conditions_of(form.manifest)[declared.name]
    value = given.get(declared.name, "")
    if not isinstance(value, list):
        value = ("true" if value else "false") if isinstance(value, bool) else str(value)
    described = [f"help-{declared.name}"] if _has_help(declared, conditions) else []
    described += [f"error-{declared.name}"] if told.get(declared.name) else []
    return Shown(
        declared,
        _INPUTS.get(type(declared), ""),
        value,
        told.get(declared.name, ""),
        " and ".join(_when(form, condition) for condition in conditions),
        json.dumps([each.model_dump(mode="json") for each in conditions]) if conditions else "",
        " ".join(described),
    )


def _has_help(declared: Any, conditions: list[ShowWhen]) -> bool:
    return bool(declared.help or conditions or isinstance(declared, FileField) or _bounds(declared))


def _bounds(declared: Any) -> bool:
    return isinstance(declared, MultiSelectField) and declared.max_choices is not None


def _when(form: Form, condition: ShowWhen) -> str:
    """A condition in words, for whoever has no script."""
    names = {each.name: each.declared for each in form.fields}
    field = names.get(condition.field)
    if field is None:
        return "you agree below"
    operands = [condition.value] if condition.value is not None else list(condition.values)
    if isinstance(field, SelectField | MultiSelectField):
        labels = {option.value: option.label for option in field.options}
        operands = [labels.get(each, each) for each in operands]
    elif isinstance(field, BoolField):
        operands = ["yes" if each == "true" else "no" for each in operands]
    said = f"“{field.label}” {_WORDS[condition.op]}"
    return f"{said} {', '.join(f'“{each}”' for each in operands)}" if operands else said


def _filled(text: str, values: Mapping[str, Any]) -> str:
    """A text of the manifest with the values that it has places for."""

    def value(found: re.Match[str]) -> str:
        given = values.get(found[1], "")
        said = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
        return said if len(said) <= _SHOWN_MAX else said[: _SHOWN_MAX - 1] + "…"

    return _PLACEHOLDER.sub(value, text)
