"""Finding drafts: by a whole id or its beginning, or all that wait; from the daemon, or from their folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mail4agent_api.errors import MalformedError, UnknownItemError
from mail4agent_api.outbox import OutboxDraft, OutboxEntry

if TYPE_CHECKING:
    from mail4agent_daemon.cli.verbs import Mail

PAGE = 256
#: An id as a store makes it: nothing is looked for that begins so.
_WHOLE = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
_NAMED_MAX = 8


def entries(mail: Mail, **wanted: Any) -> Iterator[OutboxEntry]:
    """Every draft that is asked for, page by page."""
    after = None
    while True:
        page = mail.client.outbox_list(after=after, limit=PAGE, **wanted).drafts
        yield from page
        if len(page) < PAGE:
            return
        after = str(page[-1].id)


def id_of(mail: Mail, given: str) -> str:
    """The whole id that begins so.

    Raises UnknownItemError for none, MalformedError where several begin so, which it names.
    """
    if _WHOLE.fullmatch(given):
        return given
    found = [str(each.id) for each in entries(mail, all=True) if each.id.startswith(given)]
    return _the_one(given, found)


def _the_one(given: str, found: Sequence[str]) -> str:
    if given in found:
        return given
    if not given or not found:
        raise (
            UnknownItemError(id=given)
            if given
            else MalformedError(field="outbox id", reason="must not be empty")
        )
    if len(found) > 1:
        named = ", ".join(found[:_NAMED_MAX]) + (", …" if len(found) > _NAMED_MAX else "")
        raise MalformedError(field="outbox id", reason=f"matches {len(found)} drafts: {named}")
    return found[0]


def draft_of(mail: Mail, given: str) -> OutboxDraft:
    """A whole draft, by its id or the beginning of it. Raises as ``id_of``."""
    return mail.client.outbox_get(id=id_of(mail, given))


def chosen(
    mail: Mail, ids: Sequence[str], *, everything: bool, kind: str | None, tool: str | None
) -> list[OutboxDraft]:
    """The drafts that are named, each once, or with ``everything`` all that wait, of a kind and tool."""
    if bool(ids) == everything:
        raise typer.BadParameter("name drafts, or give --all", param_hint="ID")
    if ids:
        if kind is not None or tool is not None:
            raise typer.BadParameter("are for --all; here drafts are named", param_hint="--kind, --tool")
        whole = dict.fromkeys(id_of(mail, each) for each in ids)
    else:
        whole = dict.fromkeys(str(each.id) for each in entries(mail, status="pending", kind=kind, tool=tool))
    return [mail.client.outbox_get(id=each) for each in whole]


def entries_in(root: Path) -> list[OutboxEntry]:
    """Every draft of a folder, read without a daemon. Raises FolderError."""
    from mail4agent_core.outbox.store import OutboxStore
    from mail4agent_core.outbox.wire import entry_of

    store = OutboxStore.open_existing(root)
    if store is None:
        return []
    with store:
        return [entry_of(each, in_flight=store.in_flight(each.id)) for each in store.rows().rows]


def draft_in(root: Path, given: str) -> OutboxDraft:
    """A draft of a folder. Its sink is the daemon's to know, so that the digest is not one to release by.

    Raises FolderError, also for a file that cannot be read as a draft, UnknownItemError, MalformedError.
    """
    from mail4agent_core.files import FolderError
    from mail4agent_core.outbox.digest import digest_of
    from mail4agent_core.outbox.store import OutboxStore, UnreadableItemError
    from mail4agent_core.outbox.wire import draft_of as whole_of

    store = OutboxStore.open_existing(root)
    if store is None:
        raise UnknownItemError(id=given)
    with store:
        try:
            item = store.item(given)
        except UnreadableItemError as failure:
            raise FolderError(str(failure)) from None
        return whole_of(
            item,
            digest_of(item, item.sink),
            item.sink,
            in_flight=store.in_flight(item.id),
            intact=store.copies.are_as_recorded(item.id, item.files),
        )
