"""``listen`` and ``admin listener``: set, get, remove."""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import ListenerRecord, ListenerStanding, ListenerState
from mail4agent_client import SyncMailClient
from mail4agent_daemon.cli.accounts import Account
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.recipients import near_names
from mail4agent_daemon.cli.terminal import exact_time, short_time, styled
from mail4agent_daemon.cli.verbs import Mail, verb

#: No key is longer, with its line feed.
_KEY_FILE_MAX = 256
_KEY_BYTES = 32
_PAGE = 256
Owner = Annotated[
    str, typer.Argument(metavar="OWNER", help="An account, or a session as ACCOUNT/s-….", show_default=False)
]
Url = Annotated[str, typer.Argument(metavar="LISTENER", help="http://127.0.0.1:PORT/PATH.")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", metavar="PATH", help="Sign with the key in this file (whsec_…)."),
]
NewKey = Annotated[
    Path | None,
    typer.Option(
        "--new-key", metavar="PATH", help="Sign with a new key, written to this new file (mode 0600)."
    ),
]


class State(StrEnum):
    """Which listeners are listed."""

    all = "all"
    failing = "failing"
    dead = "dead"


def register(app: typer.Typer) -> None:
    """Add the verb of a session."""
    verb(app)(listen)


def register_admin(admin: typer.Typer) -> None:
    """Add the operator's group."""
    group = typer.Typer(no_args_is_help=True, help="Who is told when mail comes for an account.")
    verb(group, "set", as_operator=True, hint=near_names)(set_listener)
    verb(group, as_operator=True, hint=near_names)(get)
    verb(group, "list", as_operator=True)(list_listeners)
    verb(group, as_operator=True, hint=near_names)(retry)
    verb(group, as_operator=True, hint=near_names)(remove)
    admin.add_typer(group, name="listener")


def listen(
    mail: Mail,
    listener: Annotated[
        str | None, typer.Argument(metavar="[LISTENER]", help="http://127.0.0.1:PORT/ or …/doorbell.")
    ] = None,
    *,
    stop: Annotated[bool, typer.Option("--stop", help="Be rung no more.")] = False,
    key_file: KeyFile = None,
    new_key: NewKey = None,
) -> None:
    """Have a listener of one's own session rung when mail comes for it."""
    if stop == (listener is not None):
        raise typer.BadParameter("give LISTENER or --stop, one of them", param_hint="LISTENER")
    if stop:
        if key_file is not None or new_key is not None:
            raise typer.BadParameter("needs no key", param_hint="--stop")
        now = mail.client.listen(url=None)
    else:
        with _key(key_file, new_key) as key:
            now = mail.client.listen(url=listener, key=key)
    if mail.as_json:
        mail.json(now)


def set_listener(
    mail: Mail, account: Account, listener: Url, *, key_file: KeyFile = None, new_key: NewKey = None
) -> None:
    """Have a listener rung when mail comes for an account or its sessions. One that is there is replaced."""
    with _key(key_file, new_key) as key:
        done = mail.client.admin_listener(account=account, url=listener, key=key)
    if mail.as_json:
        mail.json(done)


def get(mail: Mail, account: Account) -> None:
    """Show an account's listener and its sessions' own, with what became of their rings."""
    found = mail.client.admin_listener_get(account=account)
    if mail.as_json:
        mail.json(found)
    elif mail.for_person:
        rows = [
            [styled(text_of(each.owner), "cyan"), *_counts(each), _state(each, short_time), styled(each.url)]
            for each in found.listeners
        ]
        mail.console.print(listing(("Owner", "Waiting", "Rung", "Given up", "State", "Listener"), rows))
    else:
        for each in found.listeners:
            signed = "signed" if each.signed else "unsigned"
            mail.rows([[text_of(each.owner), each.url, signed, *_counts(each), _state(each, exact_time)]])


def list_listeners(
    mail: Mail,
    *,
    state: Annotated[State, typer.Option("--state", help="Which: all, failing or dead.")] = State.failing,
) -> None:
    """List the listeners that fail, of every account; one is dead once it failed five times in a row."""
    found = list(_pages(mail.client, state.value))
    if mail.as_json:
        mail.json_of(listeners=found)
    elif mail.for_person:
        rows = [
            [
                styled(text_of(each.listener.owner), "cyan"),
                *_counts(each.listener),
                _standing(each, short_time),
                styled(each.listener.url),
            ]
            for each in found
        ]
        mail.console.print(listing(("Owner", "Waiting", "Rung", "Given up", "State", "Listener"), rows))
    else:
        for each in found:
            shown = each.listener
            mail.rows([[text_of(shown.owner), shown.url, *_counts(shown), _standing(each, exact_time)]])


def _pages(client: SyncMailClient, state: ListenerState) -> Iterator[ListenerStanding]:
    """Page after page."""
    after = None
    while True:
        page = client.admin_listener_list(state=state, after=after, limit=_PAGE)
        yield from page.listeners
        if len(page.listeners) < _PAGE:
            return
        after = page.listeners[-1].listener.owner


def retry(mail: Mail, owner: Owner) -> None:
    """Try the listener of an account, or of a session, again at once."""
    account, session = _parts(owner)
    found = mail.client.admin_listener_retry(account=account, session=session)
    if mail.as_json:
        mail.json(found)
    elif found.listener is None:
        mail.note(f"{owner} has no listener.")


def remove(mail: Mail, owner: Owner) -> None:
    """End the listener of an account, or of a session; what waits to be rung is dropped."""
    account, session = _parts(owner)
    done = mail.client.admin_listener_remove(account=account, session=session)
    if mail.as_json:
        mail.json(done)


def _parts(owner: str) -> tuple[str, str | None]:
    """The account and the session of an owner's text address."""
    account, slash, session = owner.partition("/")
    return account, session if slash else None


def _standing(standing: ListenerStanding, time: Callable[[int], str]) -> str:
    shown = _state(standing.listener, time)
    if standing.failing_since_unix_ms is None:
        return shown
    kind = "dead" if standing.dead else "failing"
    return f"{kind} since {time(standing.failing_since_unix_ms)}: {shown}"


def _counts(listener: ListenerRecord) -> list[str]:
    return [str(listener.outstanding), str(listener.rung), str(listener.given_up)]


def _state(listener: ListenerRecord, time: Callable[[int], str]) -> str:
    if listener.failure is not None and listener.last_failed_at_unix_ms is not None:
        return f"{listener.failure} {time(listener.last_failed_at_unix_ms)}"
    return "answers" if listener.last_rung_at_unix_ms is not None else "not rung yet"


@contextmanager
def _key(key_file: Path | None, new_key: Path | None) -> Iterator[str | None]:
    """The key to sign with, None for none. A file made for it goes when the daemon did not take it."""
    if key_file is not None and new_key is not None:
        raise typer.BadParameter("give --key-file or --new-key, not both", param_hint="--new-key")
    if new_key is None:
        yield None if key_file is None else _read(key_file)
        return
    key = _written(new_key)
    try:
        yield key
    except BaseException:
        new_key.unlink(missing_ok=True)
        raise


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_KEY_FILE_MAX)
    except OSError as failure:
        raise typer.BadParameter(f"cannot be read: {failure.strerror}", param_hint="--key-file") from None
    if not raw.isascii():
        raise typer.BadParameter("holds no key", param_hint="--key-file")
    return raw.decode().strip()


def _written(path: Path) -> str:
    key = f"whsec_{base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()}"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{key}\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise typer.BadParameter("exists; give it as --key-file", param_hint="--new-key") from None
    except OSError as failure:
        raise typer.BadParameter(f"cannot be written: {failure.strerror}", param_hint="--new-key") from None
    return key
