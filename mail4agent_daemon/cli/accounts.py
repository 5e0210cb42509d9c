"""``admin account``: add, list, rotate, revoke, permit, remove."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from mail4agent_api.mail import ParticipantRecord
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.recipients import complete_account, near_names
from mail4agent_daemon.cli.secret_files import SecretFile, issued
from mail4agent_daemon.cli.terminal import styled, visible
from mail4agent_daemon.cli.verbs import Mail, confirmed, verb

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", autocompletion=complete_account)]
Capabilities = Annotated[
    list[str] | None, typer.Option(metavar="CAPABILITY", help="Such as mail:send; may be repeated.")
]


class Policy(StrEnum):
    """What is asked of the processes that act for an account."""

    INHERIT = "inherit"
    REQUIRED = "required"
    PREFERRED = "preferred"
    OFF = "off"


_ATTESTATION = typer.Option(
    "--attestation",
    help="Whether the kernel must prove the account's processes; inherit: as the daemon is set.",
)
Attestation = Annotated[Policy, _ATTESTATION]
NewAttestation = Annotated[Policy | None, _ATTESTATION]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def register(admin: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Accounts and their secrets.")
    verb(group, as_operator=True)(add)
    verb(group, "list", as_operator=True)(list_accounts)
    for function in (rotate, revoke, permit, remove):
        verb(group, as_operator=True, hint=near_names)(function)
    admin.add_typer(group, name="account")


def add(
    mail: Mail,
    account: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The new account's name.")],
    *,
    label: Annotated[str | None, typer.Option("--label", help="A name for people.")] = None,
    send: Annotated[bool, typer.Option("--send/--no-send", help="Whether it may send.")] = True,
    read: Annotated[bool, typer.Option("--read/--no-read", help="Whether it may read its mail.")] = True,
    operator: Annotated[bool, typer.Option("--operator", help="Make it an operator.")] = False,
    attestation: Attestation = Policy.INHERIT,
    secret_file: SecretFile = None,
) -> None:
    """Register an account and hand over its secret, this once."""
    issued(
        mail,
        secret_file,
        lambda: mail.client.admin_participant(
            id=account,
            label=label,
            may_send=send,
            may_read=read,
            operator=operator,
            attestation=attestation.value,
        ),
        replace=False,
    )


def list_accounts(mail: Mail) -> None:
    """List every account, the removed ones too."""
    accounts: list[ParticipantRecord] = []
    while True:
        page = mail.client.admin_participant_list(after=accounts[-1].id if accounts else None)
        if not page.participants:
            break
        accounts += page.participants
    if mail.as_json:
        mail.json_of(participants=accounts)
    elif mail.for_person:
        rows = [
            [styled(each.id, "cyan"), _state(each), styled(each.label or ""), " ".join(each.capabilities)]
            for each in accounts
        ]
        mail.console.print(listing(("Account", "State", "Label", "Capabilities"), rows, widest=20))
    else:
        mail.rows(
            (str(each.id), _state(each), " ".join(each.capabilities), visible(each.label or ""))
            for each in accounts
        )


def _state(account: ParticipantRecord) -> str:
    if account.removed_at_unix_ms is not None:
        return "removed"
    if account.secret_issued_at_unix_ms is None:
        return "no secret"
    return "active" if account.attestation == "inherit" else f"active, {account.attestation}"


def rotate(mail: Mail, account: Account, secret_file: SecretFile = None) -> None:
    """Replace an account's secret; the old one is dead at once."""
    issued(mail, secret_file, lambda: mail.client.admin_participant_rotate(id=account), replace=True)


def revoke(mail: Mail, account: Account) -> None:
    """Kill an account's secret without a new one."""
    done = mail.client.admin_participant_revoke(id=account)
    if mail.as_json:
        mail.json(done)


def permit(  # noqa: PLR0917  # one parameter an option
    mail: Mail,
    account: Account,
    grant: Capabilities = None,
    revoke: Capabilities = None,
    both: Annotated[
        bool, typer.Option("--both", help="Let one account both stage and review.", hidden=True)
    ] = False,
    attestation: NewAttestation = None,
) -> None:
    """Grant and revoke capabilities, and set what is asked of the account's processes."""
    given: dict[str, Any] = {"grant": grant or [], "revoke": revoke or []}
    if attestation is not None:
        given["attestation"] = attestation.value
    account_now = mail.client.admin_participant_permit(id=account, both=both, **given)
    if mail.as_json:
        mail.json(account_now)
    else:
        mail.line(" ".join(account_now.capabilities))
        if account_now.attestation != "inherit":
            mail.line(f"attestation: {account_now.attestation}")


def remove(mail: Mail, account: Account, yes: Yes = False) -> None:
    """Remove an account. Its name is given to nobody else until its mail is purged."""
    confirmed(mail, f"Remove the account {visible(account)}?", yes)
    done = mail.client.admin_participant_remove(id=account)
    if mail.as_json:
        mail.json(done)
