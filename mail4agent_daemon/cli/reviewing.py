"""A person's decisions on drafts: read the whole draft, then send, edit, reject or keep it.

Every decision names the digest of what was shown. A draft that changed meanwhile is shown again. There is no
way to release a draft that was not printed in full first, and none to release by number.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

from mail4agent_api.errors import DraftChangedError, MalformedError, OutcomeUnknownError, RefusalError
from mail4agent_api.outbox import DraftArguments, DraftNamed, OutboxDraft, OutboxReleased
from mail4agent_client import SyncMailClient
from mail4agent_core.outbox.shown import hidden, shown, shown_line
from mail4agent_core.outbox.view import DraftView, with_body
from mail4agent_daemon.cli.draft_text import arguments_of, columns_of, folded, whole
from mail4agent_daemon.cli.drafts import chosen, draft_of, entries
from mail4agent_daemon.cli.editing import edited
from mail4agent_daemon.cli.exits import Exit, sentence_of
from mail4agent_daemon.cli.reviewer import require_person
from mail4agent_daemon.cli.verbs import Mail

#: Seconds that a release may take: what the daemon gives a sink, and the time to begin and to record it.
RELEASE_SECS = 150.0
_KEYS = "[s]end  [e]dit  [r]eject  [k]eep  [q]uit"
_END = ""
_CHANGED = "It changed since it was shown. Nothing was done; here it is as it is:"

Ids = Annotated[list[str] | None, typer.Argument(metavar="ID...", help="The drafts, or how their ids begin.")]
Everything = Annotated[bool, typer.Option("--all", help="Every draft that waits.")]
Kind = Annotated[
    Literal["message", "publish"] | None, typer.Option("--kind", help="With --all: message or publish.")
]
Tool = Annotated[str | None, typer.Option("--tool", help="With --all: those of one tool.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The draft, or how its id begins.")]


def _say(mail: Mail) -> Callable[[str], None]:
    """How a person is told: with ``--json`` standard output is for the answer alone."""
    return (lambda text: typer.echo(text, err=True)) if mail.as_json else mail.line


def _show(mail: Mail, draft: OutboxDraft) -> None:
    say = _say(mail)
    for line in whole(draft, _columns(mail)):
        say(line)


def _columns(mail: Mail) -> int | None:
    return columns_of(sys.stderr if mail.as_json else sys.stdout)


def _say_of_another(mail: Mail, text: str) -> None:
    """Say what holds words of a draft or of a far side, none of them at the left edge of the terminal."""
    say = _say(mail)
    for line in folded(text, _columns(mail)):
        say(line)


def _forget_what_was_typed() -> None:
    """Drop keys that were typed before the question: they would decide a draft that nobody has read yet."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _asked(mail: Mail, question: str) -> str | None:
    """What the person answers; None at the end of input, which decides nothing."""
    _forget_what_was_typed()
    typer.echo(question, nl=False, err=mail.as_json)
    try:
        return input().strip()
    except (EOFError, UnicodeDecodeError):
        typer.echo("", err=mail.as_json)
        return None


def release(
    mail: Mail, ids: Ids = None, *, everything: Everything = False, kind: Kind = None, tool: Tool = None
) -> Exit:
    """Let drafts leave, each printed in full before one question for all of them."""
    require_person(mail)
    drafts = chosen(mail, ids or [], everything=everything, kind=kind, tool=tool)
    if not drafts:
        raise typer.BadParameter("no draft waits", param_hint="ID")
    for draft in drafts:
        _show(mail, draft)
        _say(mail)(_END)
    many = "this draft" if len(drafts) == 1 else f"these {len(drafts)} drafts"
    if (_asked(mail, f"Release {many}? [y/N] ") or "").lower() not in {"y", "yes"}:
        _say(mail)("Nothing was released.")
        return Exit.REFUSED
    outcomes = [_released(mail, draft) for draft in drafts]
    if mail.as_json:
        mail.line(json.dumps({"outcomes": outcomes}))
    return Exit.OK if all(each["sent"] for each in outcomes) else Exit.REFUSED


def _released(mail: Mail, draft: OutboxDraft) -> dict[str, Any]:
    """Release what was shown, say what came of it, and return that."""
    say, id_ = _say(mail), str(draft.entry.id)
    try:
        answer = _release(mail, draft)
    except RefusalError as refusal:
        if isinstance(refusal, DraftChangedError):
            say(f"{id_}: {_CHANGED}")
            _show(mail, mail.client.outbox_get(id=id_))
        else:
            say(f"{id_}: {_unreleased(refusal, id_)}")
        return {"id": id_, "sent": False, "refusal": refusal.kind}
    _say_of_another(mail, f"{id_}: {_came_of(answer)}")
    return {"id": id_, "sent": answer.sent}


def _release(mail: Mail, draft: OutboxDraft) -> OutboxReleased:
    client: SyncMailClient
    with mail.connect(answer_secs=RELEASE_SECS) as client:
        return client.outbox_release(id=str(draft.entry.id), digest=str(draft.digest))


def _came_of(answer: OutboxReleased) -> str:
    if answer.sent:
        return f"sent as {shown_line(answer.sent_as)}" if answer.sent_as else "sent"
    return f"not sent, and it waits on: {shown_line(answer.error or 'nobody says why')}"


def _unreleased(refusal: RefusalError, id_: str) -> str:
    if isinstance(refusal, OutcomeUnknownError):
        return (
            "nobody knows whether it left. Find out where it was to go, then say so with"
            f" mail4agent outbox settle {id_} --sent, or --not-sent"
        )
    return sentence_of(refusal)


def reject(
    mail: Mail,
    ids: Ids = None,
    *,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; asked for when not given.")] = None,
    everything: Everything = False,
    kind: Kind = None,
    tool: Tool = None,
) -> Exit:
    """Reject drafts for one reason, which whoever drafted them can read."""
    require_person(mail)
    drafts = chosen(mail, ids or [], everything=everything, kind=kind, tool=tool)
    if not drafts:
        raise typer.BadParameter("no draft waits", param_hint="ID")
    for draft in drafts:
        _say_of_another(mail, f"{draft.entry.id}  {shown_line(draft.entry.summary)}")
    if not reason:
        reason = _asked(mail, "Reason: ")
    if not reason:
        raise typer.BadParameter("a rejection needs a reason", param_hint="--reason")
    return Exit.OK if _rejected(mail, drafts, reason) else Exit.REFUSED


def _rejected(mail: Mail, drafts: list[OutboxDraft], reason: str) -> bool:
    say, done = _say(mail), True
    for begin in range(0, len(drafts), 100):
        named = [DraftNamed(id=each.entry.id, digest=each.digest) for each in drafts[begin : begin + 100]]
        answer = mail.client.outbox_reject(drafts=named, reason=reason)
        if mail.as_json:
            mail.json(answer)
        for outcome in answer.outcomes:
            if outcome.kind == "rejected":
                say(f"{outcome.id}: rejected")
            else:
                done = False
                say(f"{outcome.id}: not rejected ({outcome.refusal.kind})")
    return done


def settle(
    mail: Mail,
    id_: Id,
    *,
    sent: Annotated[
        bool | None, typer.Option("--sent/--not-sent", help="Whether it left, as you found out.")
    ] = None,
) -> None:
    """Say whether a draft left whose outcome nobody knows."""
    require_person(mail)
    if sent is None:
        raise typer.BadParameter("say whether it left", param_hint="--sent, --not-sent")
    draft = draft_of(mail, id_)
    _show(mail, draft)
    entry = mail.client.outbox_settle(id=str(draft.entry.id), sent=sent)
    if mail.as_json:
        mail.json(entry)
    else:
        mail.line(f"{entry.id}: {'sent' if sent else 'not sent, and it waits on'}")


def edit(
    mail: Mail,
    id_: Id,
    *,
    arguments: Annotated[
        bool, typer.Option("--arguments", help="Edit every argument, as JSON, and not the prose alone.")
    ] = False,
) -> Exit:
    """Change a draft in an editor (VISUAL, EDITOR or vi), then print it as it is."""
    require_person(mail)
    draft = _edited(mail, draft_of(mail, id_), arguments=arguments)
    if draft is None:
        return Exit.REFUSED
    if mail.as_json:
        mail.json(draft)
    else:
        _show(mail, draft)
    return Exit.OK


def _edited(mail: Mail, draft: OutboxDraft, *, arguments: bool = False) -> OutboxDraft | None:
    """The draft with what the person made of it; None when nothing was saved. Raises EditorError."""
    say, args = _say(mail), arguments_of(draft.args)
    if draft.entry.kind == "publish":
        say("A publication is not edited here: reject it with a reason, and have it drafted anew.")
        return None
    view = DraftView.of(args)
    if view.body is None or arguments:
        before = json.dumps(args, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        after, changed = edited(before, ".json", os.environ), None
        try:
            changed = json.loads(after)
        except (ValueError, RecursionError):
            say("It is no JSON any more; nothing was saved.")
        if not isinstance(changed, dict):
            return None
    else:
        if hidden(view.body):
            say(f"The text holds {hidden(view.body)} characters that an editor may not show.")
        after = edited(view.body, ".md", os.environ)
        changed = with_body(args, after)
    if changed == args:
        say("Nothing was changed.")
        return draft
    try:
        return mail.client.outbox_edit(
            id=str(draft.entry.id), digest=str(draft.digest), args=DraftArguments(**changed or {})
        )
    except DraftChangedError:
        say("It changed while the editor was open; nothing was saved. This is the text that you left:")
        for line in shown(after).split("\n"):
            say(f"  | {line}")
        return None


def review(mail: Mail, ids: Ids = None, *, kind: Kind = None, tool: Tool = None) -> Exit:
    """Walk through the drafts that wait, one at a time: read it whole, then decide, or keep it."""
    require_person(mail)
    say = _say(mail)
    if ids:
        named = [str(each.entry.id) for each in chosen(mail, ids, everything=False, kind=kind, tool=tool)]
    else:
        named = [str(each.id) for each in entries(mail, kind=kind, tool=tool)]
    if not named:
        say("No draft waits.")
        return Exit.OK
    walk = _Walk(mail)
    for number, id_ in enumerate(named, start=1):
        say(f"--- {number} of {len(named)}")
        if not walk.one(id_):
            break
    say(f"{walk.sent} sent, {walk.rejected} rejected, {len(named) - walk.sent - walk.rejected} kept")
    return Exit.REFUSED if walk.failed else Exit.OK


class _Walk:
    """One person's way through the drafts, and what came of them."""

    def __init__(self, mail: Mail) -> None:
        self._mail = mail
        self._say = _say(mail)
        self.sent = self.rejected = self.failed = 0

    def one(self, id_: str) -> bool:
        """Show a draft until something is decided about it; False when the person goes."""
        draft = self._mail.client.outbox_get(id=id_)
        while True:
            _show(self._mail, draft)
            if draft.entry.status != "pending":
                self._say(f"It does not wait. {_hint(draft)}".rstrip())
                return True
            try:
                following = self._decided(draft)
            except (DraftChangedError, MalformedError) as refusal:
                self._say(_CHANGED if isinstance(refusal, DraftChangedError) else sentence_of(refusal))
                following = self._mail.client.outbox_get(id=id_)
            if isinstance(following, bool):
                return following
            draft = following

    def _decided(self, draft: OutboxDraft) -> bool | OutboxDraft:
        """What the person says: go on, go, or show this."""
        while True:
            answer = _asked(self._mail, f"{_KEYS}: ")
            match None if answer is None else answer.lower():
                case None | "q" | "quit":
                    return False
                case "" | "k" | "keep":
                    return True
                case "s" | "send":
                    self._send(draft)
                    return True
                case "e" | "edit":
                    found = _edited(self._mail, draft)
                    return self._mail.client.outbox_get(id=str(draft.entry.id)) if found is None else found
                case "r" | "reject":
                    reason = _asked(self._mail, "Reason: ")
                    if reason:
                        done = _rejected(self._mail, [draft], reason)
                        self.rejected += done
                        self.failed += not done
                        return True
                    self._say("A rejection needs a reason; nothing was done.")
                case _:
                    self._say("That is none of them.")

    def _send(self, draft: OutboxDraft) -> None:
        """Raises DraftChangedError, for which the draft is shown again."""
        id_ = str(draft.entry.id)
        try:
            answer = _release(self._mail, draft)
        except DraftChangedError:
            raise
        except RefusalError as refusal:
            self.failed += 1
            self._say(f"{id_}: {_unreleased(refusal, id_)}")
            return
        self.sent += answer.sent
        self.failed += not answer.sent
        _say_of_another(self._mail, f"{id_}: {_came_of(answer)}")


def _hint(draft: OutboxDraft) -> str:
    entry = draft.entry
    return _unreleased(OutcomeUnknownError(id=entry.id), entry.id) if entry.outcome_unknown else ""
