"""The first start, and every repair of it: afterwards the key file of the home authenticates an operator.

The key is on disk before its digest is registered. A stop between the two leaves a key that opens nothing
yet; the next start registers that very key, or replaces it where the account has another one.

What an operator did on purpose stays done: where the account ``operator`` was removed, lost its secret or its
capability, and others administer, nothing is repaired.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from mail4agent_api.mail import ParticipantId
from mail4agent_core.clock import Clock
from mail4agent_core.ids import Ids, digest_of
from mail4agent_core.mail.identity import OPERATOR
from mail4agent_core.mail.records import Account
from mail4agent_core.mail.store import MailStore, Registry

from .log import Log

KEY_NAME = "operator.key"
#: Where a new key is written first. One name, so that what a kill leaves there is used again.
PARTIAL_NAME = ".operator.key.partial"
OPERATOR_ID = ParticipantId("operator")
LABEL = "bootstrap operator"
#: All but what would let it stage what it reviews, and read a stranger's request in brief.
CAPABILITIES = frozenset(
    (
        "mail:send",
        "mail:read",
        "mail:operator",
        "outbox:review",
        "frontdoor:drain",
        "frontdoor:extract",
        "frontdoor:review",
        "note:deliver",
        "note:produce",
        "note:read",
        "mailbox:read",
    )
)
_SECRET = re.compile(r"[0-9a-f]{64}\n?\Z")


class KeyFileError(Exception):
    """The key file cannot be read or written; the message says why and what helps."""


async def ensure_operator(  # all that a first start touches
    home: Path, store: MailStore, clock: Clock, ids: Ids, log: Log, *, shared: bool = False
) -> None:
    """Make the key file and the account agree. Raises KeyFileError, and what the store raises.

    Of a store that is ``shared``, the key of an operator who administers is in the home of another daemon:
    it is left alone.
    """
    path = home / KEY_NAME
    secret = read_key(path)
    known = None if secret is None else await store.authenticate(digest_of(secret))
    if known is not None and OPERATOR in known.capabilities:
        return
    account, others = await store.look(_administration)
    if others and not _administers(account):
        log.info("operator_set_aside", account=OPERATOR_ID)
        return
    if shared and _administers(account):
        log.info("operator_key_elsewhere", account=OPERATOR_ID)
        return
    if secret is None or known is not None or account is not None:
        # A key that opens nothing although the account exists is an old one: others may know it. One that is
        # another account's cannot be this one's too.
        secret = ids.secret()
        write_key(path, secret)
    digest, now = digest_of(secret), clock.now_ms()

    def register(registry: Registry) -> str:
        account = registry.account(OPERATOR_ID)
        if account is not None and account.removed_at is not None:
            # Nobody administers any more: the id is given again, without the old mail.
            registry.erase(OPERATOR_ID)
            account = None
        if shared and _administers(account):
            # Another daemon registered it in the same moment.
            return "operator_key_elsewhere"
        if account is None:
            registry.add_account(OPERATOR_ID, LABEL, digest, CAPABILITIES, now)
            return "operator_registered"
        registry.set_secret(OPERATOR_ID, digest, now)
        registry.set_capabilities(OPERATOR_ID, account.capabilities | {OPERATOR})
        return "operator_key_replaced"

    log.info(await store.change(register), key=str(path))


def _administration(registry: Registry) -> tuple[Account | None, bool]:
    """The bootstrap operator's account, and whether anybody administers."""
    return registry.account(OPERATOR_ID), registry.live_operators() > 0


def _administers(account: Account | None) -> bool:
    return (
        account is not None
        and account.removed_at is None
        and account.secret_issued_at is not None
        and OPERATOR in account.capabilities
    )


def read_key(path: Path) -> str | None:
    """The secret in a key file; None when there is none that holds a secret. Raises KeyFileError."""
    try:
        # NONBLOCK: a pipe that somebody put there must not hold the start up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            text = os.read(descriptor, 128).decode("ascii")
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return None
    except OSError as failure:
        raise KeyFileError(
            f"{path} cannot be read: {failure.strerror}; move it away, or mend it"
        ) from failure
    return text.strip() if _SECRET.match(text) else None


def write_key(path: Path, secret: str) -> None:
    """Put a secret into a key file, 0600, as a whole or not at all, and durably. Raises KeyFileError."""
    partial = path.with_name(PARTIAL_NAME)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(partial, flags, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(f"{secret}\n".encode("ascii"))
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as failure:
        raise KeyFileError(
            f"{path} cannot be written: {failure.strerror}; make room, or mend what is there, and start again"
        ) from failure
