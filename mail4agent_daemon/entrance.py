"""What every door does with a request before it looks at a byte of its body.

The credential is believed, and the right to call is known, first. A wrong secret is answered late, the
account pays for the request, and the process behind the connection is looked for: all of it here, so that no
rule of it stands twice.
"""

from collections.abc import MutableMapping
from typing import Any

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    MalformedError,
    MethodNotAllowedError,
    UnauthenticatedError,
    UnsupportedMediaTypeError,
)
from mail4agent_api.operations import Operation

from .auth import bearer_digest
from .delays import Delays
from .dispatch import Call, Dispatch, Receive
from .identity import acts_for_parent
from .rates import cost_of

Scope = MutableMapping[str, Any]
Headers = list[tuple[bytes, bytes]]

JSON = b"application/json"


class Entrance:
    """Lets requests in."""

    def __init__(self, dispatch: Dispatch, delays: Delays) -> None:
        self._dispatch = dispatch
        self._delays = delays

    async def admit(self, row: Operation, scope: Scope, receive: Receive) -> Call:
        """Identify who calls an operation and return the call, its body yet to be read.

        Raises MalformedError and what identifying raises.
        """
        state, headers = scope["state"], scope["headers"]
        link = state.get("link")
        try:
            call = Call(
                row,
                bearer_digest(headers),
                b"",
                receive,
                link,
                for_parent=acts_for_parent(headers),
                cost=cost_of(state.get("body_bytes", 0)),
            )
            try:
                await self._dispatch.identify(call)
            finally:
                if call.caller is not None:
                    state["account"] = text_of(call.caller.address)
                    self._delays.passed(link)
        except UnauthenticatedError:
            await self._delays.failed(link, headers)
            raise
        return call


def allow(scope: Scope, *methods: str) -> None:
    """Refuse any other method of the path. Raises MethodNotAllowedError."""
    if scope["method"] not in methods:
        scope["state"]["allow"] = methods
        raise MethodNotAllowedError


def no_query(scope: Scope) -> None:
    """Refuse a query: it would be taken for a parameter that counts, and end up in the logs of a proxy."""
    if scope["query_string"]:
        raise MalformedError(field="request", reason="must have no query string; parameters go into the body")


def needs_json(headers: Headers, *, lenient: bool = False) -> None:
    """Refuse a body that is not plain JSON; ``lenient`` takes any type that is not packed.

    Raises UnsupportedMediaTypeError.
    """
    if not _is_plain(headers) or not (lenient or _is_json(headers)):
        raise UnsupportedMediaTypeError


def _is_plain(headers: Headers) -> bool:
    """Nothing is unpacked: what is small on the wire could be large here."""
    return all(value.lower() == b"identity" for name, value in headers if name == b"content-encoding")


def _is_json(headers: Headers) -> bool:
    kinds = [value for name, value in headers if name == b"content-type"]
    if len(kinds) != 1:
        return False
    kind, _, parameters = kinds[0].lower().partition(b";")
    # JSON has one encoding; a parameter may repeat it.
    return kind.strip() == JSON and parameters.strip().replace(b'"', b"") in (b"", b"charset=utf-8")
