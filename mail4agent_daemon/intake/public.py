"""What strangers reach: forms, the links that confirm them, and the files that come after."""

import json
import os
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from mail4agent_api.codec import encode
from mail4agent_api.errors import (
    MalformedError,
    OverloadedError,
    TooLargeError,
    UnknownPathError,
    UnsupportedMediaTypeError,
)
from mail4agent_api.frontdoor import FileField
from mail4agent_api.intake import SubmissionState
from mail4agent_core.clock import Clock
from mail4agent_core.frontdoor.manifest import Form, Phase, Problem, submission_schema

from .bodies import filled, json_values, pairs_of
from .budgets import Buckets, spend
from .database import Database
from .links import new_token
from .pages import Pages
from .paths import body_of, wants_page
from .settings import BudgetSettings
from .shelf import Shelf
from .submissions import Submissions
from .uploads import OVERHEAD_BYTES, boundary_of, uploads_of
from .visitors import Visitors

#: A form or a JSON object: three times what a record may hold, because each byte may be three encoded ones.
FORM_MAX_BYTES = 3_145_728
#: What a drain can take in of one submission besides its files.
VALUES_MAX_BYTES = 900_000
_BUTTON_MAX_BYTES = 1_024
_FULL_RETRY_SECS = 600
_FORM = b"application/x-www-form-urlencoded"


class Public:
    """The answers of the public paths."""

    def __init__(
        self,
        database: Database,
        shelf: Shelf,
        pages: Pages,
        *,
        clock: Clock,
        folder: Path,
        budgets: BudgetSettings,
        visitors: Visitors,
        now: Callable[[], float],
        owed: Callable[[], None],
        queued: Callable[[], None],
    ) -> None:
        self._database = database
        self._shelf = shelf
        self._pages = pages
        self._clock = clock
        self._folder = folder
        self._budgets = budgets
        self._visitors = visitors
        self._submissions = Submissions(shelf, budgets)
        self._requests = Buckets(budgets.requests_per_minute, 60, now)
        self._sent = Buckets(budgets.submissions_per_hour, 3_600, now)
        self._of_network = Buckets(budgets.network_submissions_per_hour, 3_600, now)
        self._owed = owed
        self._queued = queued

    def admit(self, scope: MutableMapping[str, Any]) -> None:
        """Count a request, whatever it asks. Raises RateLimitedError."""
        self._requests.take(self._visitors(scope).address)

    async def show(self, request: Request) -> Response:
        """An empty form."""
        return self._pages.form(self._form(request))

    async def schema(self, request: Request) -> Response:
        """The JSON Schema of a whole submission."""
        body = json.dumps(submission_schema(self._form(request)), ensure_ascii=False).encode()
        return Response(body, media_type="application/schema+json")

    async def submit(self, request: Request) -> Response:
        """Take a form, or give it back with what is wrong."""
        form = self._form(request)
        kind = _kind(request)
        visitor = self._visitors(request.scope)
        self._sent.check(visitor.address)
        self._of_network.check(visitor.network)
        self._refuse_without_room()
        request.scope["state"]["body_max_bytes"] = FORM_MAX_BYTES
        raw = await body_of(request)
        given: dict[str, Any]
        problems: list[Problem] = []
        if kind == _FORM:
            given, problems = filled(form, pairs_of(raw))
        else:
            given = json_values(raw)
        page = wants_page(request.scope["headers"])
        checked = form.checked(given, Phase.SUBMIT)
        wrong = tuple(sorted({*problems, *checked.problems}))
        if wrong:
            return self._pages.form(form, given, wrong) if page else _refuse(wrong)
        values = dict(checked.values)
        size = len(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"))
        if size > VALUES_MAX_BYTES:
            raise TooLargeError(field="values", limit=VALUES_MAX_BYTES, actual=size)
        self._sent.take(visitor.address)
        self._of_network.take(visitor.network)
        assert form.reply_field is not None
        address = str(values[form.reply_field])
        await self._database.run(self._submissions.sent(form, values, address, self._clock.now_ms()))
        self._owed()
        return self._pages.sent(form) if page else _state(SubmissionState(step="confirm_by_mail"))

    async def confirm(self, request: Request) -> Response:
        """The button; nothing is changed, whoever follows the link."""
        found = self._submissions.found(_token(request), "confirm", self._clock.now_ms())
        return self._pages.confirm((await self._database.run(found)).form)

    async def confirmed(self, request: Request) -> Response:
        """The button was pressed."""
        request.scope["state"]["body_max_bytes"] = _BUTTON_MAX_BYTES
        await body_of(request)
        upload = new_token()
        job = self._submissions.confirmed(_token(request), upload, self._clock.now_ms())
        pending, waits = await self._database.run(job)
        page = wants_page(request.scope["headers"])
        if waits:
            path = f"/u/{upload}"
            state = SubmissionState(step="awaiting_upload", upload=path)
            return RedirectResponse(path, 303) if page else _state(state)
        self._queued()
        return self._done(pending.form, pending.values, page=page)

    async def files(self, request: Request) -> Response:
        """What files are still to come."""
        found = self._submissions.found(_token(request), "upload", self._clock.now_ms())
        pending = await self._database.run(found)
        return self._pages.files(pending.form, pending.files)

    async def upload(self, request: Request) -> Response:
        """Take all files at once. When one is not good the token stays, for another try."""
        token = _token(request)
        pending = await self._database.run(self._submissions.found(token, "upload", self._clock.now_ms()))
        boundary = boundary_of(request.scope["headers"])
        self._refuse_without_room()
        most = OVERHEAD_BYTES + sum(
            field.max_bytes
            for field in pending.form.manifest.fields
            if isinstance(field, FileField) and field.name in pending.files
        )
        request.scope["state"]["body_max_bytes"] = most
        network = self._visitors(request.scope).network
        declared = request.scope["state"]["body_bytes"]
        await self._database.run(
            lambda db: spend(
                db,
                "upload",
                network,
                amount=most if declared is None else declared,
                most=self._budgets.upload_bytes_per_network_per_day,
                now_ms=self._clock.now_ms(),
            )
        )
        raw = await body_of(request)
        uploads, problems = uploads_of(raw, boundary, pending.files)
        given = {**pending.values, **{each.field: each.measured for each in uploads}}
        refused = {each.field for each in problems}
        # A field whose file was refused is not also missing.
        further = [each for each in pending.form.checked(given).problems if each.field not in refused]
        wrong = tuple(sorted({*problems, *further}))
        page = wants_page(request.scope["headers"])
        if wrong:
            return self._pages.files(pending.form, pending.files, wrong) if page else _refuse(wrong)
        await self._database.run(self._submissions.completed(token, uploads, self._clock.now_ms()))
        self._queued()
        return self._done(pending.form, pending.values, page=page)

    def _done(self, form: Form, values: Any, *, page: bool) -> Response:
        return self._pages.done(form, values) if page else _state(SubmissionState(step="queued"))

    def _form(self, request: Request) -> Form:
        form = self._shelf.served(request.path_params["type"])
        if form is None:
            raise UnknownPathError
        return form

    def _refuse_without_room(self) -> None:
        """Raise OverloadedError while the disk has too little room."""
        found = os.statvfs(self._folder)
        if found.f_bavail * found.f_frsize < self._budgets.free_bytes_min:
            raise OverloadedError(retry_after_secs=_FULL_RETRY_SECS)


def _kind(request: Request) -> bytes:
    """The content type of a submission, one of two. Raises UnsupportedMediaTypeError."""
    headers = request.scope["headers"]
    kinds = [value for name, value in headers if name == b"content-type"]
    packed = any(name == b"content-encoding" and value.lower() != b"identity" for name, value in headers)
    if len(kinds) != 1 or packed:
        raise UnsupportedMediaTypeError
    kind, _, parameters = kinds[0].lower().partition(b";")
    plain = parameters.strip().replace(b'"', b"") in (b"", b"charset=utf-8")
    if kind.strip() not in (_FORM, b"application/json") or not plain:
        raise UnsupportedMediaTypeError
    return kind.strip()


def _token(request: Request) -> str:
    return request.path_params["token"]


def _refuse(problems: tuple[Problem, ...]) -> Response:
    """The first problem, as a program is told. Always raises MalformedError."""
    first = problems[0]
    raise MalformedError(field=first.field or "request", reason=first.says)


def _state(state: SubmissionState) -> Response:
    return Response(encode(state), media_type="application/json")
