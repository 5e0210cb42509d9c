"""``connect`` and ``disconnect``: the programs in which agents run."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mail4agent_api.codec import decode_value
from mail4agent_api.mail import ParticipantId
from mail4agent_client.settings import Secret
from mail4agent_daemon.cli.home import operator_key
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import Mail, verb

if TYPE_CHECKING:
    from mail4agent_client import SyncMailClient
    from mail4agent_daemon.connect.plan import Request


class ClientName(StrEnum):
    """A client that can be connected."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"


Client = Annotated[ClientName, typer.Argument(metavar="CLIENT", help=", ".join(ClientName))]
Project = Annotated[
    bool, typer.Option("--project", help="The files of the project in this folder, not the person's own.")
]
As = Annotated[
    str | None, typer.Option("--as", metavar="ACCOUNT", help="The account's name; otherwise the client's.")
]
ByFile = Annotated[
    bool,
    typer.Option(
        "--file", help="Write the client's file, even where the client is not here or has a command."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    verb(app, as_operator=True)(connect)
    verb(app, as_operator=True)(disconnect)


def connect(
    mail: Mail,
    client: Client,
    *,
    account: As = None,
    project: Project = False,
    by_file: ByFile = False,
    hooks: Annotated[
        bool, typer.Option("--hooks/--no-hooks", help="Tell the agent of mail by the client's hooks.")
    ] = True,
    wake: Annotated[
        bool,
        typer.Option("--wake/--no-wake", help="Let mail start a turn of an agent that is idle (claude)."),
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put ours in the place of another server of the same name.")
    ] = False,
    only_print: Annotated[
        bool, typer.Option("--print", help="Show what would be written; change nothing.")
    ] = False,
) -> None:
    """Give a client an account and its configuration, and prove that it works."""
    if wake and (client is not ClientName.CLAUDE or not hooks):
        raise typer.BadParameter("goes with claude and its hooks alone", param_hint="--wake")
    # Who sends mail does not wait for what connecting needs.
    from mail4agent_daemon.connect import connecting, plan, proof

    given = {
        "project": project,
        "by_file": by_file,
        "hooks": hooks,
        "wake": wake,
        "replace": replace,
    }
    request = _request(mail, client, client if account is None else account, **given)
    if only_print:
        _show(mail, plan.shown(plan.targets_of(request, plan.launch_of(request))))
        return
    done = connecting.connect(request, mail.client, lambda secret: _as(mail, secret))
    proved = proof.proved(done.launch, os.environ)
    files = [str(each) for each in done.files]
    if mail.as_json:
        _print_json(
            mail,
            {
                "client": client.value,
                "account": done.account,
                "files": files,
                "changed": done.changed,
                "command": [done.launch.command, *done.launch.args],
                "protocol": proved.revision,
                "tools": list(proved.tools),
            },
        )
        return
    what = "is connected" if done.changed else "was connected already"
    mail.line(
        visible(
            f"{request.client.title} {what} as {done.account}: its command answers with"
            f" {len(proved.tools)} tools ({' and '.join(files)})."
        )
    )
    mail.note("Sessions that run now see it when they are started again.")


def disconnect(
    mail: Mail, client: Client, *, account: As = None, project: Project = False, by_file: ByFile = False
) -> None:
    """Take back what connect did: the configuration, the key file and the secret. The mail stays."""
    from mail4agent_daemon.connect import connecting

    request = _request(mail, client, account or "", project=project, by_file=by_file)
    done = connecting.disconnect(request, mail.client)
    files = [str(each) for each in done.files]
    if mail.as_json:
        _print_json(
            mail,
            {"client": client.value, "account": done.account, "files": files, "revoked": done.revoked},
        )
        return
    secret = "its secret is revoked" if done.revoked else "its secret stays, another place uses it"
    mail.line(
        visible(
            f"{request.client.title} is disconnected from {done.account} ({' and '.join(files)}); {secret}."
        )
    )


def _request(mail: Mail, client: ClientName, account: str, **given: Any) -> Request:
    from mail4agent_daemon.connect.clients import CLIENTS, Surroundings
    from mail4agent_daemon.connect.faults import ConnectError
    from mail4agent_daemon.connect.plan import Request

    if account:
        decode_value(ParticipantId, account)
    try:
        here = Path.cwd()
    except OSError:
        raise ConnectError("file_unusable", "the folder that you stand in is gone; go to another") from None
    where = Surroundings(os.environ, Path.home(), here)
    home = operator_key().parent
    return Request(CLIENTS[client], str(account), where, home, mail.url, **given)


def _as(mail: Mail, secret: Secret) -> SyncMailClient:
    return mail.connect(token=secret)


def _show(mail: Mail, files: list[tuple[Path, str]]) -> None:
    if mail.as_json:
        _print_json(mail, {"files": [{"path": str(path), "text": text} for path, text in files]})
        return
    for path, text in files:
        mail.line(visible(f"# {path}"))
        mail.line(visible(text, lines=True))


def _print_json(mail: Mail, value: object) -> None:
    mail.line(json_text(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")))
