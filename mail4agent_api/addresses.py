"""The text form of an address, as a person writes it: ``account``, ``account/s-…``, ``#room``.

Neither id allows ``#`` or ``/``, so the three forms cannot be taken for each other. On the wire an address is
the tagged object.
"""

from .mail import (
    Address,
    DirectAddress,
    ParticipantAddress,
    ParticipantId,
    RoomAddress,
    RoomId,
    SessionAddress,
    SessionId,
)


def text_of(address: Address) -> str:
    """Return the text form of an address."""
    match address:
        case RoomAddress():
            return f"#{address.room}"
        case SessionAddress():
            return f"{address.participant}/{address.session}"
        case DirectAddress():
            return str(address.participant)


def address_of(text: str) -> Address:
    """Parse the text form. Raises MalformedError or TooLargeError naming the id that is wrong."""
    if text.startswith("#"):
        return RoomAddress(room=RoomId(text[1:]))
    return participant_of(text)


def participant_of(text: str) -> ParticipantAddress:
    """Parse the text form of an account or a session.

    Raises MalformedError or TooLargeError naming the id that is wrong.
    """
    participant, slash, session = text.partition("/")
    if slash:
        return SessionAddress(participant=ParticipantId(participant), session=SessionId(session))
    return DirectAddress(participant=ParticipantId(participant))


def account_of(address: Address) -> ParticipantId | None:
    """Return the account that an address names, None for a room."""
    return None if isinstance(address, RoomAddress) else address.participant
