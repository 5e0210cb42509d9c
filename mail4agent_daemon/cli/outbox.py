"""``outbox``: the drafts that wait for a person, and what a person decides about them.

To look needs no terminal. To decide does: see ``reviewer``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mail4agent_core.files import FolderError
from mail4agent_daemon.cli import reviewing
from mail4agent_daemon.cli.draft_text import columns_of, in_order, row, whole
from mail4agent_daemon.cli.drafts import draft_in, draft_of, entries, entries_in, id_of
from mail4agent_daemon.cli.editing import EditorError
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.reviewer import NotAPersonError
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import Mail, verb

Status = Literal["pending", "releasing", "sent", "rejected", "withdrawn", "superseded"]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="PATH",
        help="Read this folder of drafts, without a daemon.",
        file_okay=False,
        exists=True,
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="The draft, or how its id begins.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    group = typer.Typer(
        no_args_is_help=True, help="Drafts that wait for a person: read, edit, release or reject them."
    )
    for name, function in (
        ("list", list_),
        ("show", show),
        ("review", reviewing.review),
        ("release", reviewing.release),
        ("reject", reviewing.reject),
        ("edit", reviewing.edit),
        ("settle", reviewing.settle),
        ("withdraw", withdraw),
        ("tally", tally),
    ):
        verb(group, name, as_operator=True)(_told(function))
    app.add_typer(group, name="outbox")


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is nobody's refusal ends a verb with words for the person."""

    @wraps(function)
    def run(mail: Mail, **given: Any) -> Any:
        try:
            return function(mail, **given)
        except (NotAPersonError, EditorError) as failure:
            _say(mail, failure.kind, failure.reason)
        except FolderError as failure:
            _say(mail, "outbox_unusable", str(failure))
        return Exit.REFUSED

    return run


def _say(mail: Mail, kind: str, reason: str) -> None:
    if mail.as_json:
        typer.echo(json_text(json.dumps({"kind": kind, "reason": reason}).encode()), err=True)
    else:
        typer.echo(f"mail4agent: {visible(reason)}", err=True)


def list_(
    mail: Mail,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    status: Annotated[Status | None, typer.Option("--status", help="Those of one status.")] = None,
    kind: Annotated[
        Literal["message", "publish"] | None, typer.Option("--kind", help="message or publish.")
    ] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Those of one tool.")] = None,
    root: Root = None,
) -> None:
    """List the drafts that wait, messages first: id, status, kind, taint, whether edited, and what it is."""
    if root is None:
        found = list(entries(mail, all=everything, status=status, kind=kind, tool=tool))
    else:
        waiting = {"pending", "releasing"}
        found = [
            each
            for each in entries_in(root)
            if (each.status == status if status else everything or each.status in waiting)
            and kind in {None, each.kind}
            and tool in {None, each.tool}
        ]
    found = in_order(found)
    if mail.as_json:
        mail.json_of(drafts=found)
    elif not mail.for_person:
        mail.rows(row(each) for each in found)
    elif found:
        names = ("Id", "Status", "Kind", "Taint", "Edited", "What")
        mail.console.print(listing(names, [row(each) for each in found]))
    else:
        mail.note("No draft waits.")


def show(mail: Mail, id_: Id, *, root: Root = None) -> None:
    """Print a whole draft: what must be known of it, every argument, its files, and what was changed."""
    draft = draft_of(mail, id_) if root is None else draft_in(root, id_)
    if mail.as_json:
        mail.json(draft)
        return
    for line in whole(draft, columns_of(sys.stdout)):
        mail.line(line)


def withdraw(
    mail: Mail,
    id_: Id,
    *,
    reason: Annotated[str | None, typer.Option("--reason", help="Why, for the record.")] = None,
) -> None:
    """Take back a draft of one's own that nobody has decided."""
    entry = mail.client.outbox_withdraw(id=id_of(mail, id_), reason=reason)
    if mail.as_json:
        mail.json(entry)
    else:
        mail.line(f"withdrawn {entry.id}")


def tally(mail: Mail) -> None:
    """Say how many messages left as they were drafted, and how many a person edited first."""
    found = mail.client.outbox_tally()
    if mail.as_json:
        mail.json(found)
        return
    share = "-" if found.unchanged_permille is None else f"{found.unchanged_permille / 10:.1f} %"
    mail.rows([[f"sent {found.sent}", f"unchanged {found.unchanged}", f"edited {found.edited}", share]])
