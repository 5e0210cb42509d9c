"""``inbox``, ``read``, ``ack`` and ``wait``."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from mail4agent_api.codec import decode_value
from mail4agent_api.mail import AckRecorded, AckRefused, Message, ParticipantAddress, Position
from mail4agent_client import ClientError, SyncMailClient
from mail4agent_client.arguments import position
from mail4agent_daemon.cli.exits import Exit, sentence_of
from mail4agent_daemon.cli.layout import block, message_row, messages_table, show_whole, whole
from mail4agent_daemon.cli.recipients import complete_account, complete_room
from mail4agent_daemon.cli.verbs import Mail, verb

#: Ids in one request, a bound of the contract.
ACKS_AT_ONCE = 256
#: Messages in one request, a bound of the contract.
PAGE = 256
#: Seconds that one request may wait.
WAIT_AT_ONCE = 60
#: Ids that are read from standard input at most.
IDS_LIMIT = 100_000

Limit = Annotated[int, typer.Option("--limit", "-n", help="Messages at most, 1 to 256.")]
AfterId = Annotated[
    str | None, typer.Option("--after", metavar="ID", help="Only what came after this message (or MS/ID).")
]
BeforeId = Annotated[
    str | None,
    typer.Option("--before", metavar="ID", help="Only what came before this message, newest first."),
]
SentBy = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="ACCOUNT", help="Only from this account.", autocompletion=complete_account
    ),
]
Room = Annotated[
    str | None,
    typer.Option("--room", metavar="ROOM", help="Only from this room.", autocompletion=complete_room),
]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for function in (inbox, read, ack, wait):
        verb(app)(function)


def inbox(
    mail: Mail,
    *,
    unread: Annotated[bool, typer.Option("--unread", "-u", help="Only what is not acknowledged.")] = False,
    newest: Annotated[bool, typer.Option("--newest", help="Newest first.")] = False,
    limit: Limit = 50,
    wait: Annotated[
        int | None,
        typer.Option(
            "--wait", metavar="SECS", min=0, max=60, help="Wait so long for a message, at most 60 s."
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Follow: print each new message as it comes.")
    ] = False,
    acknowledge: Annotated[bool, typer.Option("--ack", help="Acknowledge what was printed.")] = False,
    sent_by: SentBy = None,
    room: Room = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="Only of this message's thread.")
    ] = None,
    correlation: Annotated[
        str | None, typer.Option("--correlation", help="Only with this correlation.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="ISO 8601, or milliseconds since 1970.")
    ] = None,
    after: AfterId = None,
    before: BeforeId = None,
) -> None:
    """List the inbox, oldest first.

    With --watch it prints what comes from now on (with --unread first what is not acknowledged, with --after
    what came after a message) until it is interrupted, across restarts of the daemon; with --json one message
    a line.
    """
    filters: dict[str, Any] = {"sent_by": sent_by, "room": room, "thread": thread, "correlation": correlation}
    if watch:
        if newest or before is not None or wait is not None or since is not None:
            raise typer.BadParameter(
                "does not go with --newest, --before, --wait or --since", param_hint="--watch"
            )
        _follow(mail, filters, after, unread=unread, acknowledge=acknowledge, limit=limit)
        return
    page = mail.client.inbox(
        limit=limit,
        wait_secs=wait,
        order="newest" if newest or before is not None else "oldest",
        unread_only=unread,
        since_unix_ms=None if since is None else _unix_ms(since),
        after=position_of(mail, after),
        before=position_of(mail, before),
        **filters,
    )
    if mail.as_json:
        mail.json(page)
    elif mail.for_person:
        if page.messages:
            mail.console.print(messages_table(page.messages))
        acknowledging = ", acknowledging what is shown" if acknowledge and page.messages else ""
        mail.console.print(f"{len(page.messages)} shown, {page.unread} unread{acknowledging}", style="dim")
    else:
        mail.rows(message_row(message) for message in page.messages)
    if acknowledge and page.messages:
        mail.client.ack_many(message_ids=[message.message_id for message in page.messages])


def _follow(
    mail: Mail, filters: dict[str, Any], after: str | None, *, unread: bool, acknowledge: bool, limit: int
) -> None:
    with mail.connect(keep_alive=True) as client:
        # A daemon that was never reached, or a wrong credential, is told at once; only a known one is waited
        # for.
        client.whoami()
        start: Any = "unread" if unread else "now"
        if after is not None:
            start = position_of(mail, after)
        for message in client.watch(
            start,
            ack=acknowledge,
            limit=limit,
            on_fault=lambda fault, secs: _away(mail, fault, secs),
            **filters,
        ):
            _show(mail, message)
            sys.stdout.flush()


def _show(mail: Mail, message: Message) -> None:
    if mail.as_json:
        mail.json(message)
    elif mail.for_person:
        mail.console.print(block(message))
    else:
        mail.rows([message_row(message)])


def _away(mail: Mail, fault: Exception, secs: float) -> None:
    said = sentence_of(fault) if isinstance(fault, ClientError) else "the daemon is busy"
    mail.note(f"mail4agent: {said}; trying again in {secs:.1f} s")


def read(mail: Mail, message_id: Annotated[str, typer.Argument(metavar="ID", help="The message.")]) -> None:
    """Print one message. Reading acknowledges nothing."""
    message = mail.client.get(message_id=message_id)
    if mail.as_json:
        mail.json(message)
    elif mail.for_person:
        show_whole(mail.console, message)
    else:
        mail.line(whole(message))


def ack(
    mail: Mail,
    message_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="The messages; - reads ids from standard input.")
    ],
) -> Exit:
    """Acknowledge messages.

    Each has its own outcome; the exit status is 1 when any was refused. A repeat gives the first
    acknowledgement.
    """
    ids = _ids(message_ids)
    outcomes: list[AckRecorded | AckRefused] = []
    for first in range(0, len(ids), ACKS_AT_ONCE):
        outcomes += mail.client.ack_many(message_ids=ids[first : first + ACKS_AT_ONCE]).outcomes
    if mail.as_json:
        mail.json_of(outcomes=outcomes)
    else:
        for outcome in outcomes:
            if isinstance(outcome, AckRecorded):
                mail.line(f"{outcome.ack.message_id} acknowledged")
            else:
                mail.note(f"{outcome.message_id} refused: {outcome.refusal.kind}")
    return Exit.REFUSED if any(isinstance(outcome, AckRefused) for outcome in outcomes) else Exit.OK


def _ids(arguments: list[str]) -> list[str]:
    """The ids given, with the first word of each line of standard input where there is a dash."""
    ids: list[str] = []
    for argument in arguments:
        if argument != "-":
            ids.append(argument)
            continue
        for line in sys.stdin:
            ids += line.split()[:1]
            if len(ids) > IDS_LIMIT:
                raise typer.BadParameter(f"more than {IDS_LIMIT} ids", param_hint="ID")
    return ids


def wait(
    mail: Mail,
    secs: Annotated[
        int, typer.Option("--secs", "-t", min=0, max=86_400, help="Seconds to wait at most.")
    ] = 25,
    after: AfterId = None,
    new: Annotated[bool, typer.Option("--new", help="Only for what comes from now on.")] = False,
) -> Exit:
    """Wait until there is mail.

    Ends with status 0 as soon as a message is not acknowledged (with --after or --new: as soon as somebody
    else's message stands after that one, or after the newest one now), and with status 5 when that is not so
    in time.
    """
    client = mail.client
    now = client.wait(wait_secs=0)
    start = now.newest if after is None else position_of(mail, after)
    is_position = new or after is not None
    me = client.whoami().address if is_position else None
    end = time.monotonic() + secs
    result, left = now, secs
    while True:
        there = _is_there(client, start, me) if me is not None else result.unread > 0
        if there or left <= 0:
            break
        result = client.wait(after=start, wait_secs=min(WAIT_AT_ONCE, left))
        if me is None:
            # What came may be acknowledged by another process already; it must not end the next wait too.
            start = result.newest
        left = round(end - time.monotonic())
    if mail.as_json:
        mail.json(result)
    elif there:
        mail.line(f"{result.unread} unread")
    else:
        mail.note("mail4agent: nothing arrived")
    return Exit.OK if there else Exit.NOTHING


def _is_there(client: SyncMailClient, after: Position | None, me: ParticipantAddress) -> bool:
    """Whether a message of somebody else stands behind a position; the caller's own posts end no wait."""
    while True:
        messages = client.inbox(after=after, limit=PAGE).messages
        if any(message.from_ != me for message in messages):
            return True
        if not messages:
            return False
        after = position(messages[-1])


def place_of(text: str) -> Position:
    """A position from ``MS/ID``. Raises MalformedError and TooLargeError for its parts."""
    unix_ms, slash, message_id = text.partition("/")
    if not (slash and unix_ms.isascii() and unix_ms.isdigit()):
        raise typer.BadParameter("must be MS/ID, as in 1700000000000/m4a_…")
    # Twenty digits reach past every time there is, and are still quick to read.
    return decode_value(Position, {"created_at_unix_ms": int(unix_ms[:21]), "message_id": message_id})


def position_of(mail: Mail, text: str | None) -> Position | None:
    """A position from ``MS/ID``, or from a message's id alone, which is looked up."""
    if text is None:
        return None
    return place_of(text) if "/" in text else position(mail.client.get(message_id=text))


def _unix_ms(text: str) -> int:
    if text.isascii() and text.isdigit():
        return int(text[:24])
    try:
        moment = datetime.fromisoformat(text)
        # A time beside the ends of the calendar may stand beyond them in another zone.
        moment = (moment if moment.tzinfo is not None else moment.astimezone()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            "must be ISO 8601 within the years 1 to 9999, or a whole number of milliseconds",
            param_hint="--since",
        ) from None
    return max(0, int(moment.timestamp() * 1000))
