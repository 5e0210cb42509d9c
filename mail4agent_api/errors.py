# Generated from schemas/common/refusal.schema.json by tools/generate.py; do not edit.

"""One exception class for each kind of refusal."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from mail4agent_api.mail import (
    AlreadyExists,
    AttestationFailed,
    DraftChanged,
    EpochChanged,
    ForbiddenHost,
    ForbiddenOrigin,
    IdRetired,
    IdempotencyConflict,
    Internal,
    LeaseHeld,
    LeaseLost,
    MailboxFull,
    Malformed,
    MessageId,
    MethodNotAllowed,
    NotAddressedToYou,
    NotPending,
    OutcomeUnknown,
    Overloaded,
    ParticipantId,
    PermissionDenied,
    RateLimited,
    Refusal,
    RequestTooLarge,
    RoomId,
    SessionAccountMismatch,
    SessionId,
    SessionNotLive,
    StoreUnavailable,
    TooLarge,
    Unauthenticated,
    UnknownItem,
    UnknownMessage,
    UnknownParticipant,
    UnknownPath,
    UnknownRoom,
    UnknownSession,
    UnsupportedMediaType,
)


class RefusalError(Exception):
    """A refusal on its way: the wire object and the HTTP status that the contract gives its kind."""

    status: ClassVar[int]

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.kind)
        self._refusal: Any = refusal

    @property
    def refusal(self) -> Refusal:
        """The wire object."""
        return self._refusal

    @property
    def kind(self) -> str:
        """The refusal's kind, the tag of the wire object."""
        return self.refusal.kind


class UnknownParticipantError(RefusalError):
    """No account is registered under this id."""

    status: ClassVar[int] = 404

    def __init__(self, *, participant: ParticipantId) -> None:
        super().__init__(UnknownParticipant(participant=participant))

    @property
    def refusal(self) -> UnknownParticipant:
        """The wire object."""
        return self._refusal


class UnknownRoomError(RefusalError):
    """No room has this id."""

    status: ClassVar[int] = 404

    def __init__(self, *, room: RoomId) -> None:
        super().__init__(UnknownRoom(room=room))

    @property
    def refusal(self) -> UnknownRoom:
        """The wire object."""
        return self._refusal


class UnknownSessionError(RefusalError):
    """No session has this id."""

    status: ClassVar[int] = 404

    def __init__(self, *, session: SessionId) -> None:
        super().__init__(UnknownSession(session=session))

    @property
    def refusal(self) -> UnknownSession:
        """The wire object."""
        return self._refusal


class SessionAccountMismatchError(RefusalError):
    """The session belongs to another account."""

    status: ClassVar[int] = 409

    def __init__(self, *, session: SessionId, expected: ParticipantId, presented: ParticipantId) -> None:
        super().__init__(SessionAccountMismatch(session=session, expected=expected, presented=presented))

    @property
    def refusal(self) -> SessionAccountMismatch:
        """The wire object."""
        return self._refusal


class UnknownMessageError(RefusalError):
    """No message has this id."""

    status: ClassVar[int] = 404

    def __init__(self, *, message_id: MessageId) -> None:
        super().__init__(UnknownMessage(message_id=message_id))

    @property
    def refusal(self) -> UnknownMessage:
        """The wire object."""
        return self._refusal


class NotAddressedToYouError(RefusalError):
    """The message is not addressed to the caller."""

    status: ClassVar[int] = 403

    def __init__(self, *, message_id: MessageId) -> None:
        super().__init__(NotAddressedToYou(message_id=message_id))

    @property
    def refusal(self) -> NotAddressedToYou:
        """The wire object."""
        return self._refusal


class PermissionDeniedError(RefusalError):
    """The caller lacks a capability."""

    status: ClassVar[int] = 403

    def __init__(self, *, need: str) -> None:
        super().__init__(PermissionDenied(need=need))

    @property
    def refusal(self) -> PermissionDenied:
        """The wire object."""
        return self._refusal


class MalformedError(RefusalError):
    """A field is not what the contract says."""

    status: ClassVar[int] = 400

    def __init__(self, *, field: str, reason: str) -> None:
        super().__init__(Malformed(field=field, reason=reason))

    @property
    def refusal(self) -> Malformed:
        """The wire object."""
        return self._refusal


class TooLargeError(RefusalError):
    """A field is past its bound; for texts both numbers are bytes of utf-8."""

    status: ClassVar[int] = 400

    def __init__(self, *, field: str, limit: int, actual: int) -> None:
        super().__init__(TooLarge(field=field, limit=limit, actual=actual))

    @property
    def refusal(self) -> TooLarge:
        """The wire object."""
        return self._refusal


class StoreUnavailableError(RefusalError):
    """The store could not complete the operation; nothing was changed."""

    status: ClassVar[int] = 503

    def __init__(self, *, operation: str) -> None:
        super().__init__(StoreUnavailable(operation=operation))

    @property
    def refusal(self) -> StoreUnavailable:
        """The wire object."""
        return self._refusal


class UnauthenticatedError(RefusalError):
    """No valid credential was presented."""

    status: ClassVar[int] = 401

    def __init__(self) -> None:
        super().__init__(Unauthenticated())

    @property
    def refusal(self) -> Unauthenticated:
        """The wire object."""
        return self._refusal


class AttestationFailedError(RefusalError):
    """The process behind the connection could not be proved."""

    status: ClassVar[int] = 401

    def __init__(self, *, reason: str) -> None:
        super().__init__(AttestationFailed(reason=reason))

    @property
    def refusal(self) -> AttestationFailed:
        """The wire object."""
        return self._refusal


class ForbiddenOriginError(RefusalError):
    """The request comes from a web page that is not the daemon's own."""

    status: ClassVar[int] = 403

    def __init__(self) -> None:
        super().__init__(ForbiddenOrigin())

    @property
    def refusal(self) -> ForbiddenOrigin:
        """The wire object."""
        return self._refusal


class UnknownPathError(RefusalError):
    """Nothing is served at this path."""

    status: ClassVar[int] = 404

    def __init__(self) -> None:
        super().__init__(UnknownPath())

    @property
    def refusal(self) -> UnknownPath:
        """The wire object."""
        return self._refusal


class UnknownItemError(RefusalError):
    """No item has this id."""

    status: ClassVar[int] = 404

    def __init__(self, *, id: str) -> None:
        super().__init__(UnknownItem(id=id))

    @property
    def refusal(self) -> UnknownItem:
        """The wire object."""
        return self._refusal


class MethodNotAllowedError(RefusalError):
    """The path is served, but not with this method."""

    status: ClassVar[int] = 405

    def __init__(self) -> None:
        super().__init__(MethodNotAllowed())

    @property
    def refusal(self) -> MethodNotAllowed:
        """The wire object."""
        return self._refusal


class SessionNotLiveError(RefusalError):
    """The session is not live, and nobody else may ever read its mail."""

    status: ClassVar[int] = 409

    def __init__(self, *, session: SessionId, last_seen_unix_ms: int) -> None:
        super().__init__(SessionNotLive(session=session, last_seen_unix_ms=last_seen_unix_ms))

    @property
    def refusal(self) -> SessionNotLive:
        """The wire object."""
        return self._refusal


class IdempotencyConflictError(RefusalError):
    """The key was used for other content."""

    status: ClassVar[int] = 409

    def __init__(self, *, idempotency_key: str) -> None:
        super().__init__(IdempotencyConflict(idempotency_key=idempotency_key))

    @property
    def refusal(self) -> IdempotencyConflict:
        """The wire object."""
        return self._refusal


class AlreadyExistsError(RefusalError):
    """The id is taken."""

    status: ClassVar[int] = 409

    def __init__(self, *, id: str) -> None:
        super().__init__(AlreadyExists(id=id))

    @property
    def refusal(self) -> AlreadyExists:
        """The wire object."""
        return self._refusal


class IdRetiredError(RefusalError):
    """The id belonged to a removed account and is not given again until it is purged."""

    status: ClassVar[int] = 409

    def __init__(self, *, id: str) -> None:
        super().__init__(IdRetired(id=id))

    @property
    def refusal(self) -> IdRetired:
        """The wire object."""
        return self._refusal


class DraftChangedError(RefusalError):
    """The draft is no longer the one that was shown."""

    status: ClassVar[int] = 409

    def __init__(self, *, id: str) -> None:
        super().__init__(DraftChanged(id=id))

    @property
    def refusal(self) -> DraftChanged:
        """The wire object."""
        return self._refusal


class NotPendingError(RefusalError):
    """The item is not pending."""

    status: ClassVar[int] = 409

    def __init__(self, *, id: str, status: str) -> None:
        super().__init__(NotPending(id=id, status=status))

    @property
    def refusal(self) -> NotPending:
        """The wire object."""
        return self._refusal


class OutcomeUnknownError(RefusalError):
    """A release of this item was interrupted; a person settles it."""

    status: ClassVar[int] = 409

    def __init__(self, *, id: str) -> None:
        super().__init__(OutcomeUnknown(id=id))

    @property
    def refusal(self) -> OutcomeUnknown:
        """The wire object."""
        return self._refusal


class MailboxFullError(RefusalError):
    """No room is left; something must be removed first."""

    status: ClassVar[int] = 409

    def __init__(self, *, scope: str) -> None:
        super().__init__(MailboxFull(scope=scope))

    @property
    def refusal(self) -> MailboxFull:
        """The wire object."""
        return self._refusal


class LeaseHeldError(RefusalError):
    """Another drain holds the lease of the box."""

    status: ClassVar[int] = 409

    def __init__(self, *, retry_after_secs: int) -> None:
        super().__init__(LeaseHeld(retry_after_secs=retry_after_secs))

    @property
    def refusal(self) -> LeaseHeld:
        """The wire object."""
        return self._refusal


class LeaseLostError(RefusalError):
    """The lease of the box is not the caller's; it must be taken first."""

    status: ClassVar[int] = 409

    def __init__(self) -> None:
        super().__init__(LeaseLost())

    @property
    def refusal(self) -> LeaseLost:
        """The wire object."""
        return self._refusal


class EpochChangedError(RefusalError):
    """The queue of the box is of another epoch; its numbers mean nothing here."""

    status: ClassVar[int] = 409

    def __init__(self) -> None:
        super().__init__(EpochChanged())

    @property
    def refusal(self) -> EpochChanged:
        """The wire object."""
        return self._refusal


class RequestTooLargeError(RefusalError):
    """The request body is past the limit, in bytes."""

    status: ClassVar[int] = 413

    def __init__(self, *, limit: int) -> None:
        super().__init__(RequestTooLarge(limit=limit))

    @property
    def refusal(self) -> RequestTooLarge:
        """The wire object."""
        return self._refusal


class UnsupportedMediaTypeError(RefusalError):
    """The body must be application/json."""

    status: ClassVar[int] = 415

    def __init__(self) -> None:
        super().__init__(UnsupportedMediaType())

    @property
    def refusal(self) -> UnsupportedMediaType:
        """The wire object."""
        return self._refusal


class ForbiddenHostError(RefusalError):
    """The host header names another server."""

    status: ClassVar[int] = 421

    def __init__(self) -> None:
        super().__init__(ForbiddenHost())

    @property
    def refusal(self) -> ForbiddenHost:
        """The wire object."""
        return self._refusal


class RateLimitedError(RefusalError):
    """Too many requests."""

    status: ClassVar[int] = 429

    def __init__(self, *, retry_after_secs: int) -> None:
        super().__init__(RateLimited(retry_after_secs=retry_after_secs))

    @property
    def refusal(self) -> RateLimited:
        """The wire object."""
        return self._refusal


class OverloadedError(RefusalError):
    """The daemon is at a limit; try again."""

    status: ClassVar[int] = 503

    def __init__(self, *, retry_after_secs: int) -> None:
        super().__init__(Overloaded(retry_after_secs=retry_after_secs))

    @property
    def refusal(self) -> Overloaded:
        """The wire object."""
        return self._refusal


class InternalError(RefusalError):
    """The daemon failed; the request id finds the reason in its log."""

    status: ClassVar[int] = 500

    def __init__(self, *, request_id: str) -> None:
        super().__init__(Internal(request_id=request_id))

    @property
    def refusal(self) -> Internal:
        """The wire object."""
        return self._refusal


_CLASSES: Mapping[str, type[RefusalError]] = {
    "unknown_participant": UnknownParticipantError,
    "unknown_room": UnknownRoomError,
    "unknown_session": UnknownSessionError,
    "session_account_mismatch": SessionAccountMismatchError,
    "unknown_message": UnknownMessageError,
    "not_addressed_to_you": NotAddressedToYouError,
    "permission_denied": PermissionDeniedError,
    "malformed": MalformedError,
    "too_large": TooLargeError,
    "store_unavailable": StoreUnavailableError,
    "unauthenticated": UnauthenticatedError,
    "attestation_failed": AttestationFailedError,
    "forbidden_origin": ForbiddenOriginError,
    "unknown_path": UnknownPathError,
    "unknown_item": UnknownItemError,
    "method_not_allowed": MethodNotAllowedError,
    "session_not_live": SessionNotLiveError,
    "idempotency_conflict": IdempotencyConflictError,
    "already_exists": AlreadyExistsError,
    "id_retired": IdRetiredError,
    "draft_changed": DraftChangedError,
    "not_pending": NotPendingError,
    "outcome_unknown": OutcomeUnknownError,
    "mailbox_full": MailboxFullError,
    "lease_held": LeaseHeldError,
    "lease_lost": LeaseLostError,
    "epoch_changed": EpochChangedError,
    "request_too_large": RequestTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "forbidden_host": ForbiddenHostError,
    "rate_limited": RateLimitedError,
    "overloaded": OverloadedError,
    "internal": InternalError,
}


def error_of(refusal: Refusal) -> RefusalError:
    """Return the exception of a refusal's kind, holding that very refusal."""
    error = _CLASSES[refusal.kind]
    made = error.__new__(error)
    RefusalError.__init__(made, refusal)
    return made


#: The HTTP status of each kind.
STATUS: Mapping[str, int] = MappingProxyType({kind: error.status for kind, error in _CLASSES.items()})
