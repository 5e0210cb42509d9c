"""``admin purge``, ``admin retention``, ``admin inbox`` and ``admin audit``."""

from __future__ import annotations

from typing import Annotated

import typer

from mail4agent_api.addresses import text_of
from mail4agent_daemon.cli.accounts import Account, Yes
from mail4agent_daemon.cli.layout import listing, message_row, messages_table
from mail4agent_daemon.cli.reading import Limit, place_of
from mail4agent_daemon.cli.recipients import complete_account, near_names
from mail4agent_daemon.cli.terminal import exact_time, short_time, styled, visible
from mail4agent_daemon.cli.verbs import Mail, confirmed, verb

#: Only the position itself: an operator may not read the message to look it up.
Place = Annotated[
    str | None, typer.Option("--after", metavar="MS/ID", help="Only what came after this position.")
]


def register(admin: typer.Typer) -> None:
    """Add the verbs."""
    group = typer.Typer(no_args_is_help=True, help="Delete for good.")
    verb(group, "account", as_operator=True, hint=near_names)(purge_account)
    verb(group, "message", as_operator=True)(purge_message)
    admin.add_typer(group, name="purge")
    verb(admin, as_operator=True)(retention)
    verb(admin, as_operator=True, hint=near_names)(inbox)
    verb(admin, as_operator=True)(audit)


def purge_account(mail: Mail, account: Account, yes: Yes = False) -> None:
    """Delete a removed account with its mail and free its name."""
    confirmed(mail, f"Delete {visible(account)} with all its mail?", yes)
    report = mail.client.admin_participant_purge(id=account)
    if mail.as_json:
        mail.json(report)
    else:
        mail.line(f"{report.messages} messages deleted")


def purge_message(
    mail: Mail,
    message_id: Annotated[str, typer.Argument(metavar="ID", help="The message.")],
    yes: Yes = False,
) -> None:
    """Delete one message."""
    confirmed(mail, f"Delete {visible(message_id)}?", yes)
    done = mail.client.admin_message_purge(message_id=message_id)
    if mail.as_json:
        mail.json(done)


def retention(mail: Mail, run: Annotated[bool, typer.Option("--run", help="Run it now.")] = False) -> None:
    """Report how long settled mail is kept and what the last run removed."""
    report = mail.client.admin_retention(run=run)
    if mail.as_json:
        mail.json(report)
        return
    kept = "for ever" if report.keep_days is None else f"{report.keep_days} days after it is settled"
    mail.line(f"mail is kept {kept}")
    if report.last_run_unix_ms is None:
        mail.line("no run yet")
    else:
        mail.line(
            f"last run {exact_time(report.last_run_unix_ms)}: {report.removed_messages} messages "
            f"and {report.removed_keys} idempotency keys removed"
        )


def inbox(
    mail: Mail,
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="account or account/s-…", autocompletion=complete_account)
    ],
    unread: Annotated[bool, typer.Option("--unread", "-u", help="Only what is not acknowledged.")] = False,
    limit: Limit = 50,
    after: Place = None,
) -> None:
    """List somebody's inbox, oldest first."""
    page = mail.client.admin_inbox(
        address=address,
        limit=limit,
        unread_only=unread,
        after=None if after is None else place_of(after),
    )
    if mail.as_json:
        mail.json(page)
    elif mail.for_person:
        mail.console.print(messages_table(page.messages))
        mail.console.print(f"{len(page.messages)} shown, {page.unread} unread", style="dim")
    else:
        mail.rows(message_row(message) for message in page.messages)


def audit(
    mail: Mail,
    before: Annotated[
        int | None, typer.Option("--before", metavar="NUMBER", help="Only what came before this entry.")
    ] = None,
    limit: Limit = 50,
) -> None:
    """List what operators did, newest first."""
    page = mail.client.admin_audit(before=before, limit=limit)
    if mail.as_json:
        mail.json(page)
    elif mail.for_person:
        rows = [
            [
                styled(str(entry.number), "cyan"),
                short_time(entry.at_unix_ms),
                styled(text_of(entry.actor)),
                styled(entry.operation),
                styled(entry.target or ""),
                styled(entry.detail, "dim"),
            ]
            for entry in page.entries
        ]
        mail.console.print(listing(("Number", "When", "Who", "Operation", "About", "Detail"), rows))
    else:
        mail.rows(
            (
                str(entry.number),
                exact_time(entry.at_unix_ms),
                text_of(entry.actor),
                visible(entry.operation),
                visible(entry.target or ""),
                visible(entry.detail),
            )
            for entry in page.entries
        )
