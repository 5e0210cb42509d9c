"""``msg``: the file mailboxes of this machine, read and written without a daemon.

Who runs a command is found out, not said: with a live session among the processes that started it, it is that
session. What is shown to a session arms its conversation first, as its harness would have.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Taint
from mail4agent_core.files import FolderError
from mail4agent_core.mailbox import AgentMarker, Duplicate, MailboxStore, Sent, StoredMessage, render_delivery
from mail4agent_core.mailbox.admission import USER
from mail4agent_core.mailbox.outcomes import Known
from mail4agent_core.mailbox.watch import watch as watched
from mail4agent_core.taint import BOTH, CLEAN, merged
from mail4agent_daemon.cli.bodies import Body, BodyFile, body_of
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.terminal import json_text, styled, visible
from mail4agent_daemon.cli.verbs import AsJson, Mail, verb

#: Characters of a text that a list shows.
GIST = 60

Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="PATH",
        help="Where the mailboxes are [M4A_MESSAGES_DIR, or messages in the daemon's folder].",
        rich_help_panel="Mailboxes and output",
    ),
]
_COMMON: dict[str, tuple[Any, Any]] = {"root": (Root, None), "as_json": (AsJson, False)}

Recipient = Annotated[
    str | None,
    typer.Option("--to", metavar="PRODUCER", help="Whose mailbox; a session's own is the default."),
]
SessionName = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Who claimed the messages; a session is itself."),
]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="The messages, or how their ids begin.")]


class Mailboxes(Mail):
    """One run of a verb of ``msg``. It asks no daemon."""

    def __init__(self, root: Path | None, as_json: bool) -> None:
        super().__init__(None, None, False, as_json)
        self._root = root

    @cached_property
    def store(self) -> MailboxStore:
        """The mailboxes. Raises FolderError."""
        return MailboxStore.open(self._root or _root_of_the_machine())

    @cached_property
    def caller(self) -> AgentMarker | None:
        """The session that runs this command, None for a person."""
        return self.store.registry.caller()

    def arm(self, messages: Iterable[StoredMessage]) -> None:
        """Before messages are shown to a session: let its conversation take in their taint."""
        taint = CLEAN
        for message in messages:
            taint = merged(taint, message.effective_taint())
        if self.caller is not None:
            self.store.registry.arm(self.caller.session_id, taint)

    def value(self, value: Any) -> None:
        """Print one JSON value on a line of its own."""
        self.line(json_text(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")))

    def close(self) -> None:
        """Let the mailboxes go."""
        store = self.__dict__.get("store")
        if store is not None:
            store.close()


def _root_of_the_machine() -> Path:
    configured = os.environ.get("M4A_MESSAGES_DIR")
    if configured:
        return Path(configured).absolute()
    from mail4agent_daemon.settings import home_of

    return home_of(os.environ) / "messages"


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    for name, function in (
        ("send", send), ("list", list_), ("show", show), ("claim", claim), ("confirm", confirm),
        ("dismiss", dismiss), ("agents", agents), ("watch", watch),
    ):  # fmt: skip
        verb(app, name, make=Mailboxes, common=_COMMON)(_with_folders(function))


def _with_folders(function: Callable[..., Any]) -> Callable[..., Any]:
    """A folder that cannot be used ends a verb with words for the person who owns it."""

    @wraps(function)
    def run(run_: Mailboxes, **given: Any) -> Any:
        try:
            return function(run_, **given)
        except FolderError as failure:
            if run_.as_json:
                message = json.dumps({"kind": "mailbox_unusable", "message": str(failure)})
                typer.echo(json_text(message.encode()), err=True)
            else:
                typer.echo(f"mail4agent: {visible(str(failure))}", err=True)
            return Exit.REFUSED

    return run


def send(
    run: Mailboxes,
    to: Annotated[str, typer.Argument(metavar="TO", help="The producer to leave it for.")],
    body: Body = None,
    file: BodyFile = None,
    *,
    sender: Annotated[
        str, typer.Option("--from", metavar="PRODUCER", help="Who sends; a session is always itself.")
    ] = USER,
    reply_to: Annotated[
        str | None, typer.Option("--reply-to", metavar="ID", help="The message that this answers.")
    ] = None,
    require_known: Annotated[
        bool, typer.Option("--require-known", help="Refuse a recipient that never ran on this machine.")
    ] = False,
) -> None:
    """Leave a short text for another session.

    It waits until the producer's next session takes it. Only a person at a terminal sends without taint.
    """
    text = body_of(body, file)
    caller = run.caller
    if caller is not None:
        if sender not in {USER, caller.producer}:
            run.note(f"mail4agent: this command runs in a session of {caller.producer}, which is the sender")
        name, session, taint = caller.producer, caller.session_id, BOTH
    else:
        name, session, taint = sender, None, _taint_of(sender)
    try:
        outcome = run.store.send(to, name, session, text, reply_to, taint, require_known=require_known)
    except RefusalError as refusal:
        if refusal.kind == "unknown_item":
            run.note(f"mail4agent: {_about(to, run.store.known(to))}")
        raise
    if run.as_json:
        known = outcome.recipient
        recipient = {"seen": known.seen, "live": known.live, "near": list(known.near)}
        kind = "sent" if isinstance(outcome, Sent) else "duplicate"
        run.value({"kind": kind, "id": outcome.id, "recipient": recipient})
        return
    run.line(outcome.id)
    if isinstance(outcome, Duplicate):
        run.note("mail4agent: the same text is pending already; nothing was written")
    run.note(f"mail4agent: {_about(to, outcome.recipient)}")


def _taint_of(sender: str) -> Taint:
    """What a sender outside any session has read: nothing, when it is a person at a terminal."""
    person = sender == USER and sys.stdin is not None and sys.stdin.isatty()
    return CLEAN if person else BOTH


def _about(to: str, known: Known) -> str:
    if known.live:
        return f"{visible(to)} is running now"
    if known.seen:
        return f"{visible(to)} is not running now"
    meant = f"; did you mean {' or '.join(known.near)}?" if known.near else ""
    return f"{visible(to)} was never seen on this machine{meant}"


def list_(
    run: Mailboxes,
    to: Recipient = None,
    every: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    bad: Annotated[
        bool, typer.Option("--bad", help="Files that were no messages and were set aside.")
    ] = False,
) -> None:
    """List what waits: id, status, sender, recipient, taint and the beginning of the text."""
    recipients = run.store.recipients() if to is None else [to]
    if bad:
        names = [(recipient, name) for recipient in recipients for name in run.store.set_aside(recipient)]
        if run.as_json:
            run.value({"bad": [{"to": recipient, "file": _spelled(name)} for recipient, name in names]})
        else:
            run.rows([recipient, visible(name).replace("\t", " ")] for recipient, name in names)
        return
    found = [message for recipient in recipients for message in run.store.messages_for(recipient)]
    waiting = [message for message in found if every or message.status in {"pending", "leased", "dead"}]
    run.arm(waiting)
    if run.as_json:
        run.value({"messages": [_value(message) for message in waiting]})
    elif run.for_person:
        rows = [
            [styled(m.id, "cyan"), styled(m.status), styled(m.from_), styled(m.to), styled(_mark(m), "red"),
             styled(_gist(m))]
            for m in waiting
        ]  # fmt: skip
        run.console.print(listing(("Message", "Status", "From", "To", "Taint", "Text"), rows))
    else:
        run.rows(_row(message) for message in waiting)


def _spelled(name: str) -> str:
    """The name of a file as text: a byte of it that is no UTF-8 as an escape."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _row(message: StoredMessage) -> list[str]:
    parts = [message.id, message.status, message.from_, message.to, _mark(message), _gist(message)]
    return [visible(part).replace("\t", " ") for part in parts]


def _mark(message: StoredMessage) -> str:
    taint = message.effective_taint()
    return " ".join(name for name, leg in (("private", taint.private), ("untrusted", taint.untrusted)) if leg)


def _gist(message: StoredMessage) -> str:
    line = message.body.strip().split("\n", 1)[0]
    return line if len(line) <= GIST else f"{line[: GIST - 1]}…"


def _value(message: StoredMessage) -> dict[str, Any]:
    """A message for a program: its file, with the taint that counts."""
    value = json.loads(message.encoded())
    return {**value, "taint": message.effective_taint().model_dump()}


def show(
    run: Mailboxes,
    id_: Annotated[str, typer.Argument(metavar="ID", help="The message, or how its id begins.")],
) -> None:
    """Print one message. It stays as it is."""
    message = run.store.message(id_)
    run.arm([message])
    if run.as_json:
        run.value(_value(message))
    elif run.caller is not None:
        run.line(visible(render_delivery(message, True), lines=True))
    else:
        head = [
            ("id", message.id), ("status", message.status), ("from", message.from_),
            ("session", message.from_session), ("to", message.to), ("date", message.created_at),
            ("reply to", message.reply_to), ("taint", _mark(message)), ("delivered to", message.delivered_to),
        ]  # fmt: skip
        lines = [f"{name}: {visible(value)}" for name, value in head if value]
        # Indented, so that no text can pass for the lines above it.
        body = [f"    {line}" for line in visible(message.body, lines=True).split("\n")]
        run.line("\n".join([*lines, "", *body]))


def claim(
    run: Mailboxes,
    to: Recipient = None,
    session: SessionName = None,
    lease: Annotated[
        int | None,
        typer.Option("--lease", metavar="SECS", help="For so long; confirm ends it. Without it: for good."),
    ] = None,
) -> None:
    """Take everything pending of one mailbox, and print it as it reads in a conversation."""
    recipient, holder = _holder(run, to, session)
    # Before anything is taken: where the session cannot be armed nothing may be shown, and nothing is lost.
    run.arm(run.store.pending_for(recipient))
    claimed = run.store.claim(recipient, holder, lease)
    run.arm(claimed)
    if run.as_json:
        run.value({"messages": [_value(message) for message in claimed]})
    else:
        for message in claimed:
            run.line(visible(render_delivery(message, True), lines=True))


def _holder(run: Mailboxes, to: str | None, session: str | None) -> tuple[str, str]:
    """Whose mailbox is meant, and who takes from it."""
    caller = run.caller
    if caller is not None:
        if to not in {None, caller.producer} or session not in {None, caller.session_id}:
            raise typer.BadParameter(
                f"a session of {caller.producer} takes its own messages", param_hint="--to"
            )
        return caller.producer, caller.session_id
    if to is None:
        raise typer.BadParameter("name the mailbox", param_hint="--to")
    return to, session or USER


def confirm(run: Mailboxes, ids: Ids, session: SessionName = None) -> Exit:
    """Say that what was claimed under a lease has been dealt with."""
    confirmed: list[str] = []
    lost: list[str] = []
    for id_ in ids:
        message = run.store.message(id_)
        _, holder = _holder(run, message.to, session)
        done = run.store.confirm(message.to, holder, [message.id])
        confirmed += done.confirmed
        lost += done.lost
    if run.as_json:
        run.value({"confirmed": confirmed, "lost": lost})
    else:
        run.rows([id_, "delivered"] for id_ in confirmed)
        for id_ in lost:
            run.note(f"mail4agent: {id_} is not held any more")
    return Exit.REFUSED if lost else Exit.OK


def dismiss(
    run: Mailboxes,
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="The messages.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Everything that waits.")] = False,
    to: Recipient = None,
) -> None:
    """Set messages aside unread, so that their places are free. The files stay."""
    if bool(ids) == every:
        raise typer.BadParameter("give ids, or --all", param_hint="ID")
    chosen = list(ids or [])
    if every:
        recipients = run.store.recipients() if to is None else [to]
        found = [message for recipient in recipients for message in run.store.messages_for(recipient)]
        chosen = [message.id for message in found if message.status in {"pending", "dead"}]
    done = [run.store.dismiss(id_).id for id_ in chosen]
    if run.as_json:
        run.value({"dismissed": done})
    else:
        run.rows([id_, "dismissed"] for id_ in done)


def agents(run: Mailboxes) -> None:
    """List the sessions that are running: producer, session, process, since when."""
    found = run.store.agents()
    if run.as_json:
        names = ("producer", "session_id", "pid", "started_at")
        run.value({"agents": [{name: getattr(each, name) for name in names} for each in found]})
    else:
        run.rows([each.producer, each.session_id, str(each.pid), visible(each.started_at)] for each in found)


def watch(run: Mailboxes, to: Recipient = None) -> None:
    """Print what is put into a mailbox, as it comes, until interrupted. Nothing is claimed."""
    recipient, _ = _holder(run, to, None)
    shown: set[str] = set()
    for pending in watched(run.store, recipient):
        for message in pending:
            if message.id not in shown:
                run.arm([message])
                if run.as_json:
                    run.value(_value(message))
                else:
                    run.rows([_row(message)])
        shown = {message.id for message in pending}
