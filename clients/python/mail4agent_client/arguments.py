"""Keyword arguments of a method become its request.

An address may be in text form, a position may be the message that stands there, a list may be any sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from mail4agent_api._wire import WireModel
from mail4agent_api.addresses import address_of, participant_of
from mail4agent_api.codec import decode_value
from mail4agent_api.mail import Address, Message, ParticipantAddress, Position

Q = TypeVar("Q", bound=WireModel)
T = TypeVar("T")


def request_of(
    kind: type[Q], request: Q | None, fields: Mapping[str, Any], **converters: Callable[[Any], Any]
) -> Q:
    """The request itself, or one made of keyword arguments. Raises MalformedError or TooLargeError, as the
    daemon would.
    """
    if request is not None:
        if fields:
            raise TypeError(f"give a {kind.__name__} or its fields, not both")
        return request
    values = {
        name: value if value is None or name not in converters else converters[name](value)
        for name, value in fields.items()
    }
    return decode_value(kind, values)


def address(value: Address | str) -> Address:
    """An address from its text form: ``account``, ``account/s-...`` or ``#room``."""
    return address_of(value) if isinstance(value, str) else value


def participant(value: ParticipantAddress | str) -> ParticipantAddress:
    """The address of an account or a session from its text form."""
    return participant_of(value) if isinstance(value, str) else value


def position(value: Position | Message) -> Position:
    """The position of a message in the order of commits."""
    if isinstance(value, Message):
        return Position(created_at_unix_ms=value.created_at_unix_ms, message_id=value.message_id)
    return value


def listed(value: Sequence[T]) -> list[T]:
    """A list of the same items. A text is a sequence too, but never meant as one here, so it stays what it is
    and is refused.
    """
    return value if isinstance(value, str) else list(value)  # pyright: ignore[reportReturnType]
