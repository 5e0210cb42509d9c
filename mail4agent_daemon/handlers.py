"""Which function answers which row of the table of operations."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from mail4agent_api.mail import (
    IssuedSecret,
    IssuedSession,
    ParticipantRotateRequest,
    SendManyRequest,
    SendManyResponse,
    SessionIssueRequest,
)
from mail4agent_api.operations import OPERATIONS
from mail4agent_core.mail.administration import Administration
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.wire import Wire

from .bootstrap import KEY_NAME, OPERATOR_ID, KeyFileError, write_key
from .dispatch import Call, Handler
from .frontdoor_desk import FrontdoorDesk
from .log import Log
from .mailboxes import Mailboxes
from .note_desk import NoteDesk
from .outbox_desk import OutboxDesk
from .polling import Polling
from .rates import Rates


def handlers(  # noqa: PLR0917  # a seam each
    engine: MailEngine,
    administration: Administration,
    polling: Polling,
    mailboxes: Mailboxes,
    notes: NoteDesk,
    outbox: OutboxDesk,
    *,
    frontdoor: FrontdoorDesk,
    home: Path,
    log: Log,
    rates: Rates,
    listening: Mapping[str, Handler],
    house: Mapping[str, Handler],
) -> dict[str, Handler]:
    """One handler for each row that needs a credential.

    It is the engine's method of that name, save for the operations that the daemon adds something to;
    ``listening`` are those on listeners, ``house`` those on the daemon itself.
    """
    seams: dict[str, object] = {
        "mail": engine,
        "admin": administration,
        "mailbox": mailboxes,
        "note": notes,
        "frontdoor": frontdoor,
        "outbox": outbox,
    }
    own: dict[str, Handler] = {
        "mail.inbox": polling.inbox,
        "mail.wait": polling.wait,
        "mail.send_many": _batch(engine, rates),
        "mail.session": _issue(engine),
        "admin.participant.rotate": _rotation(administration, home, log),
        **listening,
        **house,
    }
    table: dict[str, Handler] = {}
    for name, row in OPERATIONS.items():
        if row.authenticated:
            seam, _, verb = name.partition(".")
            table[name] = own.get(name) or _plain(getattr(seams[seam], verb.replace(".", "_")))
    return table


def _plain(method: Callable[[Caller, Any], Awaitable[Any]]) -> Handler:
    async def answer(call: Call, caller: Caller, request: Any) -> Any:  # noqa: ARG001  a handler may want the call
        return await method(caller, request)

    return answer


def _issue(engine: MailEngine) -> Handler:
    """Only the secret that was presented issues, and only while it is the account's."""

    async def answer(call: Call, caller: Caller, request: SessionIssueRequest) -> IssuedSession:
        return await engine.session(caller, request, call.digest)

    return answer


def _batch(engine: MailEngine, rates: Rates) -> Handler:
    """Each message beyond the first costs what a request does; all are refused or none."""

    async def answer(call: Call, caller: Caller, request: SendManyRequest) -> Wire[SendManyResponse]:  # noqa: ARG001
        rates.admit_account(str(caller.account), len(request.messages) - 1)
        return await engine.send_many(caller, request)

    return answer


def _rotation(administration: Administration, home: Path, log: Log) -> Handler:
    """The key file follows the bootstrap operator's secret.

    A stop in between leaves an old key, which the next start replaces.
    """
    # Two rotations at once: the file must end up with the secret that was committed last.
    one_by_one = asyncio.Lock()

    async def answer(call: Call, caller: Caller, request: ParticipantRotateRequest) -> IssuedSecret:  # noqa: ARG001
        async with one_by_one:
            issued = await administration.participant_rotate(caller, request)
            if issued.id == OPERATOR_ID:
                try:
                    await asyncio.to_thread(write_key, home / KEY_NAME, issued.secret)
                except KeyFileError as failure:
                    log.failed("operator_key_not_written", failure)
        return issued

    return answer
