"""The account of a client: registered once, its secret in a file that only its owner can open.

An account of that name that somebody else registered is never taken over, and a secret that still works is
never replaced: another client of this account may be running on it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from mail4agent_api.errors import (
    AlreadyExistsError,
    AttestationFailedError,
    RefusalError,
    UnauthenticatedError,
)
from mail4agent_api.mail import ParticipantRecord
from mail4agent_client import ClientError, SettingInvalidError, SyncMailClient
from mail4agent_client.settings import Secret, read_token
from mail4agent_core.files import Folder

from . import records
from .faults import ConnectError
from .records import Record

#: Makes a client that carries a credential.
ClientWith = Callable[[Secret], SyncMailClient]


def found(operator: SyncMailClient, name: str) -> ParticipantRecord | None:
    """The account of a name, a removed one too. Raises what the client raises."""
    after: str | None = None
    while True:
        page = operator.admin_participant_list(after=after).participants
        for each in page:
            if each.id == name:
                return each
        if not page:
            return None
        after = page[-1].id


def check_own(account: ParticipantRecord | None, record: Record | None, name: str, label: str) -> None:
    """Raise ConnectError where the account is somebody else's."""
    if account is None:
        return
    if account.removed_at_unix_ms is not None:
        raise ConnectError(
            "account_taken",
            f"the account {name} was removed and its name is kept; choose another with --as, or purge it",
        )
    is_ours = record is not None and (
        record.created_at_unix_ms == account.created_at_unix_ms
        # A run that was stopped between the account and its record.
        or (record.created_at_unix_ms == 0 and account.label == label)
    )
    if not is_ours:
        raise ConnectError(
            "account_taken", f"an account {name} is there that connect did not make; choose a name with --as"
        )


def ensured(
    operator: SyncMailClient,
    client_with: ClientWith,
    folder: Folder,
    *,
    record: Record,
    account: ParticipantRecord | None,
    label: str,
) -> tuple[Record, bool]:
    """Make the account and its key file agree. Returns the record, and whether the account was registered.

    Raises ConnectError, and what the client raises.
    """
    name = record.account
    if account is not None:
        record = replace(record, created_at_unix_ms=account.created_at_unix_ms)
        if works(client_with, folder, name):
            return record, False
    _keep(folder, name, "0" * 64)
    if account is not None:
        _keep(folder, name, operator.admin_participant_rotate(id=name).secret)
        return record, False
    # Told first, so that a stop in the middle leaves an account that the next run knows for its own.
    records.write(folder, replace(record, created_at_unix_ms=0))
    try:
        secret = operator.admin_participant(id=name, label=label, may_send=True, may_read=True).secret
    except AlreadyExistsError:
        _forget(folder, name)
        raise ConnectError(
            "account_taken", f"an account {name} was registered by somebody else just now"
        ) from None
    except RefusalError:
        _forget(folder, name)
        raise
    try:
        _keep(folder, name, secret)
    except ConnectError:
        unmade(operator, folder, name)
        raise
    made = found(operator, name)
    return replace(record, created_at_unix_ms=0 if made is None else made.created_at_unix_ms), True


def works(client_with: ClientWith, folder: Folder, name: str) -> bool:
    """Whether the stored secret is the account's. Raises what the client raises."""
    try:
        secret = read_token("token_file", folder.path / records.key_name(name))
    except SettingInvalidError:
        return False
    with client_with(secret) as client:
        try:
            return client.whoami().address.participant == name
        except UnauthenticatedError:
            return False
        except AttestationFailedError:
            # The secret is right: only who uses it here is not proved.
            return True


def unmade(operator: SyncMailClient, folder: Folder, name: str) -> None:
    """Take back an account that was registered a moment ago, so that nothing is left of it."""
    with suppress(RefusalError, ClientError):
        operator.admin_participant_remove(id=name)
        operator.admin_participant_purge(id=name)
    _forget(folder, name)


def _keep(folder: Folder, name: str, secret: str) -> None:
    file = records.key_name(name)
    try:
        folder.write(file, f"{secret}\n".encode("ascii"))
    except OSError as failure:
        raise ConnectError(
            "file_unusable", f"{folder.path / file} cannot be written: {failure.strerror}"
        ) from None


def _forget(folder: Folder, name: str) -> None:
    folder.remove(records.key_name(name))
    records.remove(folder, name)
