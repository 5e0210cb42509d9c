"""Accounts and rooms as administration asks for them, within a transaction."""

from mail4agent_api.errors import MalformedError, UnknownParticipantError, UnknownRoomError
from mail4agent_api.mail import ParticipantId, ParticipantRecord, RoomId

from .identity import OPERATOR
from .records import Account
from .store import Registry


def active_account(registry: Registry, participant: ParticipantId) -> Account:
    """An account that is registered and not removed. Raises UnknownParticipantError."""
    account = registry.account(participant)
    if account is None or account.removed_at is not None:
        raise UnknownParticipantError(participant=participant)
    return account


def known_room(registry: Registry, room: RoomId) -> None:
    """Raise UnknownRoomError where a room is not there."""
    if not registry.has_room(room):
        raise UnknownRoomError(room=room)


def not_the_last_operator(registry: Registry, account: Account) -> None:
    """Raise MalformedError for the last account that holds mail:operator and a secret."""
    if (
        OPERATOR in account.capabilities
        and account.secret_issued_at is not None
        and registry.live_operators() == 1
    ):
        raise MalformedError(
            field="participant id", reason="must not be the last account that holds mail:operator (at /id)"
        )


def record_of(account: Account) -> ParticipantRecord:
    """An account as an operator is shown it."""
    return ParticipantRecord(
        id=account.id,
        label=account.label,
        # The store keeps only what the contract lists.
        capabilities=sorted(account.capabilities),  # pyright: ignore[reportArgumentType]
        created_at_unix_ms=account.created_at,
        secret_issued_at_unix_ms=account.secret_issued_at,
        removed_at_unix_ms=account.removed_at,
        attestation=account.attestation,
    )
