"""``console``: open the console in a browser, signed in, without a secret that anybody types or sees.

The daemon gives a code that signs in once, within a minute. It stands behind the ``#`` of the address, which
a browser sends nowhere.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Final

import typer

from mail4agent_api.codec import decode
from mail4agent_api.errors import RefusalError, error_of
from mail4agent_api.mail import Refusal
from mail4agent_client.errors import AnswerInvalidError
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.output import put
from mail4agent_daemon.cli.reviewer import NotAPersonError, require_person
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import Mail, verb

_PATH: Final = "/console/code"
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{16,128}")
_ANSWER_MAX: Final = 65_536


def register(app: typer.Typer) -> None:
    """Add the verb."""
    verb(app, "console", as_operator=True)(console)


def console(
    mail: Mail,
    printed: Annotated[
        bool, typer.Option("--print", help="Print the address, which signs in once within a minute.")
    ] = False,
) -> Any:
    """Open the console in your browser, signed in."""
    # Few runs open a browser.
    import webbrowser

    if mail.settings.socket is not None:
        raise typer.BadParameter("a browser needs an address of http or https", param_hint="--url")
    try:
        require_person(mail)
    except NotAPersonError as failure:
        if mail.as_json:
            said = json.dumps({"kind": failure.kind, "reason": failure.reason}).encode()
            typer.echo(json_text(said), err=True)
        else:
            typer.echo(f"mail4agent: {visible(failure.reason)}", err=True)
        return Exit.REFUSED
    address = f"{mail.settings.base}/console/enter#{_code(mail)}"
    if mail.as_json:
        put(json_text(json.dumps({"address": address}).encode()))
    elif printed or not webbrowser.open(address):
        put(address)
    else:
        put("The console is open in your browser.")
    return Exit.OK


def _code(mail: Mail) -> str:
    """A code of the daemon. Raises RefusalError, ClientError."""
    import httpx2

    from mail4agent_client.connection import Connection
    from mail4agent_client.exchange import Ask

    # The request is no operation of the contract: it is between this command and its daemon.
    ask = Ask("POST", _PATH, b"{}", authenticated=True, wait_secs=0)
    link = Connection(mail.settings, keep_alive=False, max_answer_bytes=_ANSWER_MAX, session="parent")
    pool: dict[str, Any] = link.pool_arguments()
    try:
        with httpx2.HTTPTransport(**pool) as transport:
            answer = transport.handle_request(link.request(ask))
            link.check_head(answer.status_code, answer.headers)
            raw = bytearray()
            for chunk in answer.iter_raw():
                raw += chunk
                link.check_size(len(raw))
    except (httpx2.TransportError, TimeoutError) as failure:
        fault = link.fault(failure, ask)
    else:
        return _told(answer.status_code, bytes(raw))
    raise fault


def _told(status: int, raw: bytes) -> str:
    try:
        held = json.loads(raw)
        if status == 200 and _CODE.fullmatch(held["code"]):
            return held["code"]
        refusal_type: Any = Refusal
        found = error_of(decode(refusal_type, raw))
    except (ValueError, KeyError, TypeError, RefusalError):
        found = AnswerInvalidError(status, "it is no code")
    raise found
