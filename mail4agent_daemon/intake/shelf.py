"""The request types of the box: what was pushed, by id and version, as forms that are ready to use.

The current version of each type is served when it has ``[verification]``. Older ones stay for as long as
something waits that was sent under them.
"""

import hashlib
import sqlite3
from collections.abc import Callable
from typing import cast

from mail4agent_api.errors import AlreadyExistsError, MailboxFullError, MalformedError, RefusalError
from mail4agent_api.intake import BoxPushed, BoxPushRequest, BoxType
from mail4agent_core.frontdoor.manifest import Form, ManifestError, read_manifest
from mail4agent_core.frontdoor.manifest.reading import Language

TYPES_MAX = 1_000


class Shelf:
    """Forms by id and version. Changed by the database's thread, read by anybody."""

    def __init__(self) -> None:
        self._forms: dict[tuple[str, int], Form] = {}
        self._current: dict[str, int] = {}

    def load(self, db: sqlite3.Connection) -> None:
        """Take what the database has; a text that is no manifest any more is as good as none."""
        forms: dict[tuple[str, int], Form] = {}
        current: dict[str, int] = {}
        rows = db.execute("SELECT id, version, language, text, current FROM type").fetchall()
        for type_id, version, language, text, is_current in rows:
            form = self._forms.get((type_id, version)) or _form(text, language)
            if form is not None:
                forms[type_id, version] = form
                if is_current:
                    current[type_id] = version
        self._forms, self._current = forms, current

    def served(self, type_id: str) -> Form | None:
        """The current version of a type, where strangers may fill it in."""
        version = self._current.get(type_id)
        form = None if version is None else self._forms.get((type_id, version))
        return form if form is not None and form.reply_field is not None else None

    def of(self, type_id: str, version: int) -> Form | None:
        """One version of a type."""
        return self._forms.get((type_id, version))

    def push(self, request: BoxPushRequest) -> Callable[[sqlite3.Connection], BoxPushed]:
        """The job that makes a manifest the current version of its type.

        Raises MalformedError and TooLargeError for what is no manifest; the job raises AlreadyExistsError
        where the version has another text, MalformedError where it is below the current one.
        """
        raw = request.text.encode()
        language = cast("Language", request.language)
        try:
            form = Form(read_manifest(raw, language))
        except ManifestError as failure:
            raise MalformedError(
                field="text", reason=f"must fit together: {_cut(str(failure.faults[0]))}"
            ) from None
        digest = "sha256:" + hashlib.sha256(raw).hexdigest()

        def run(db: sqlite3.Connection) -> BoxPushed:
            known = db.execute(
                "SELECT text, current FROM type WHERE id = ? AND version = ?", (form.id, form.version)
            ).fetchone()
            newest: int = db.execute(
                "SELECT coalesce(max(version), 0) FROM type WHERE id = ?", (form.id,)
            ).fetchone()[0]
            if known is not None:
                if known[0] != request.text:
                    raise AlreadyExistsError(id=f"{form.id}@{form.version}")
                return BoxPushed(type=self._described(form, digest, current=bool(known[1])), repeated=True)
            if newest > form.version:
                raise MalformedError(
                    field="version", reason="must be greater than the version that is served"
                )
            if db.execute("SELECT count(*) FROM type").fetchone()[0] >= TYPES_MAX:
                raise MailboxFullError(scope="types")
            db.execute("UPDATE type SET current = 0 WHERE id = ?", (form.id,))
            db.execute(
                "INSERT INTO type VALUES (?, ?, ?, ?, ?, 1)",
                (form.id, form.version, language, request.text, digest),
            )
            tidy(db)
            return BoxPushed(type=self._described(form, digest, current=True), repeated=False)

        return run

    def listed(self, db: sqlite3.Connection) -> list[BoxType]:
        """Every version in the box, by id and version."""
        rows = db.execute("SELECT id, version, sha256, current FROM type ORDER BY id, version").fetchall()
        found: list[BoxType] = []
        for type_id, version, digest, current in rows:
            form = self._forms.get((type_id, version))
            if form is not None:
                found.append(self._described(form, digest, current=bool(current)))
        return found

    def _described(self, form: Form, digest: str, *, current: bool) -> BoxType:
        return BoxType(
            id=form.id,
            version=form.version,
            sha256=digest,
            current=current,
            served=current and form.reply_field is not None,
        )


def tidy(db: sqlite3.Connection) -> None:
    """Forget the texts of versions that are not current and under which nothing waits."""
    db.execute(
        "DELETE FROM type WHERE current = 0"
        " AND NOT EXISTS (SELECT 1 FROM pending p WHERE (p.type_id, p.type_version) = (type.id, version))"
        " AND NOT EXISTS (SELECT 1 FROM queue q WHERE (q.type_id, q.type_version) = (type.id, version))"
    )


def _form(text: str, language: str) -> Form | None:
    try:
        return Form(read_manifest(text.encode(), cast("Language", language)))
    except (ManifestError, RefusalError):
        return None


def _cut(text: str) -> str:
    """A fault of a manifest for its author, who holds the types key; names in it are ASCII."""
    return text[:300]
