"""The first start, and every repair of it. After a start, the key file of the home authenticates an operator.

The key is on disk before its digest is registered. A stop between the two leaves a key that opens nothing yet; the next start registers that very key.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from mail4agent_api.mail import ParticipantId
from mail4agent_core.clock import Clock
from mail4agent_core.ids import Ids, digest_of
from mail4agent_core.mail.identity import OPERATOR
from mail4agent_core.mail.store import MailStore, Registry

from .log import Log

KEY_NAME = "operator.key"
OPERATOR_ID = ParticipantId("operator")
LABEL = "bootstrap operator"
#: All but what would let it stage what it reviews, and read a stranger's request in brief.
CAPABILITIES = frozenset(
    ("mail:send", "mail:read", "mail:operator", "outbox:review", "frontdoor:drain", "frontdoor:extract", "frontdoor:review", "note:deliver", "note:produce", "note:read", "mailbox:read")
)  # fmt: skip
_SECRET = re.compile(r"[0-9a-f]{64}\n?\Z")


async def ensure_operator(home: Path, store: MailStore, clock: Clock, ids: Ids, log: Log) -> None:
    """Make the key file and the account agree. Raises OSError when the file cannot be written, and what the store raises."""
    path = home / KEY_NAME
    secret = read_key(path)
    present = await store.look(lambda registry: registry.account(OPERATOR_ID))
    if present is not None and present.removed_at is not None:
        if await store.look(lambda registry: registry.live_operators()):
            return  # it was removed on purpose, and others administer
        log.warning("no_operator", account=OPERATOR_ID)
    if secret is not None:
        known = await store.authenticate(digest_of(secret))
        if known is not None and OPERATOR in known.capabilities:
            return
    if secret is None or present is not None:
        # A key that opens nothing although the account exists is an old one: it may be known to others.
        secret = ids.secret()
        write_key(path, secret)
    digest = digest_of(secret)
    now = clock.now_ms()

    def register(registry: Registry) -> str:
        account = registry.account(OPERATOR_ID)
        if account is not None and account.removed_at is not None:
            # Nobody administers any more: the id is given again, without the old mail.
            registry.erase(OPERATOR_ID)
            account = None
        if account is None:
            registry.add_account(OPERATOR_ID, LABEL, digest, CAPABILITIES, now)
            return "operator_registered"
        registry.set_secret(OPERATOR_ID, digest, now)
        registry.set_capabilities(OPERATOR_ID, account.capabilities | {OPERATOR})
        return "operator_key_replaced"

    log.info(await store.change(register), key=str(path))


def read_key(path: Path) -> str | None:
    """The secret in a key file; None when there is none that could be one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            text = file.read(128).decode("ascii")
        except (OSError, UnicodeDecodeError):
            return None
    return text.strip() if _SECRET.match(text) else None


def write_key(path: Path, secret: str) -> None:
    """Put a secret into a key file, 0600, as a whole or not at all, durable when this returns. Raises OSError."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
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
