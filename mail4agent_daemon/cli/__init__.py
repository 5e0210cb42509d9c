"""The script ``mail4agent``: a daemon's verbs, an operator's and those of mail. See docs/cli.md."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final

import typer

from mail4agent_daemon.cli.exits import STATUSES

#: The modules of this package and their verbs, in the order of the help. To import all of them takes longer
#: than most verbs do, so that a run imports the one that has its verb.
VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "daemon": ("serve", "config", "doctor", "backup", "migrate"),
    "posting": ("send", "reply"),
    "reading": ("inbox", "read", "ack", "wait"),
    "threads": ("thread", "search", "sent"),
    "people": ("whoami", "peers"),
    "sessions": ("status", "session"),
    "listeners": ("listen",),
    "notes": ("note",),
    "outbox": ("outbox",),
    "bridges": ("mcp-stdio",),
    "clients": ("connect", "disconnect"),
    "frontdoor": ("frontdoor",),
}
#: As ``VERBS``, of the verbs after ``admin``.
ADMIN_VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    "accounts": ("account",),
    "rooms": ("room",),
    "upkeep": ("retention", "inbox", "audit", "purge"),
    "listeners": ("listener",),
}
_ADMIN, _MESSAGES = "admin", "msg"


def application(words: Sequence[str] = ()) -> typer.Typer:
    """Every verb. Where ``words``, a command line, begin with a verb: at least that one."""
    app = typer.Typer(
        name="mail4agent",
        help="Durable mail between agents.",
        epilog=STATUSES,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    # Without one, an application of one verb would take no verb.
    app.callback()(_nothing)
    verb, after = [*words, "", ""][:2]
    known = verb in {_ADMIN, _MESSAGES} or any(verb in verbs for verbs in VERBS.values())
    for noun, verbs in VERBS.items():
        if not known or verb in verbs:
            import_module(f"{__name__}.{noun}").register(app)
    if not known or verb == _ADMIN:
        app.add_typer(_admin(after), name=_ADMIN)
    if not known or verb == _MESSAGES:
        messages = typer.Typer(
            no_args_is_help=True,
            help="Short texts between sessions on this machine; no daemon.",
            epilog=STATUSES,
        )
        import_module(f"{__name__}.mailboxes").register(messages)
        app.add_typer(messages, name=_MESSAGES)
    return app


def _admin(verb: str) -> typer.Typer:
    admin = typer.Typer(
        no_args_is_help=True, help="Accounts, rooms and upkeep, as an operator.", epilog=STATUSES
    )
    admin.callback()(_nothing)
    known = any(verb in verbs for verbs in ADMIN_VERBS.values())
    for noun, verbs in ADMIN_VERBS.items():
        if not known or verb in verbs:
            module = import_module(f"{__name__}.{noun}")
            (module.register_admin if noun == "listeners" else module.register)(admin)
    return admin


def _nothing() -> None:
    pass


def main() -> None:
    """Run the script."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its escape, not a traceback.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    application(sys.argv[1:])()
