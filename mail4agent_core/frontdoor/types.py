"""What the front door asks of a request type: the ports that ``manifest`` implements.

Without the local type of a request nothing that it holds is known to be typed, so the daemon hands it to no
run.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

#: A parsed JSON value.
Json = Any


class RequestField(Protocol):
    """One field of a request type."""

    @property
    def name(self) -> str:
        """Its name among the values: 1 to 64 of a-z, 0-9, ``-`` and ``_``."""
        ...

    @property
    def kind(self) -> str:
        """One of the ten kinds; ``file`` is the one whose value is measurements of an attachment."""
        ...

    @property
    def free_text(self) -> bool:
        """Whether a stranger chooses its words. It follows from the kind."""
        ...

    def check(self, value: Json) -> bool:
        """Whether a coerced value is one that this field allows. Raises nothing."""
        ...


class RequestType(Protocol):
    """A request type: which fields there are and what they may hold."""

    @property
    def id(self) -> str:
        """Its name, which stands in the file names of its requests."""
        ...

    @property
    def version(self) -> int:
        """The version of its form."""
        ...

    @property
    def fields(self) -> Sequence[RequestField]:
        """The fields in declared order."""
        ...

    @property
    def acknowledgments(self) -> Sequence[str]:
        """The ids of what a sender must agree to; a valid submission holds each as true."""
        ...

    @property
    def reply_field(self) -> str | None:
        """The email field whose address was proved by a click; None for a type without one."""
        ...

    def validate(self, values: Mapping[str, Json]) -> dict[str, Json] | Sequence[object]:
        """The coerced values, or every problem. Keys with a leading underscore are unknown fields here."""
        ...


class Types(Protocol):
    """Where local request types are found."""

    def __call__(self, type_id: str, version: int | None) -> RequestType | None:
        """The type of that id, of that version when one is named; None where there is none."""
        ...


def no_types(type_id: str, version: int | None) -> None:  # noqa: ARG001  a port's shape
    """No local type is known."""
    return
