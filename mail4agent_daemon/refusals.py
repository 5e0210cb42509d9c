"""Refusals as HTTP: the one place that decides their headers. The status of each kind is the contract's."""

from collections.abc import Iterable

from mail4agent_api.codec import encode
from mail4agent_api.errors import InternalError, MalformedError, RefusalError
from mail4agent_api.mail import Overloaded, RateLimited

Headers = list[tuple[bytes, bytes]]

JSON = (b"content-type", b"application/json")
CLOSE = (b"connection", b"close")
#: What a 401 asks for.
CHALLENGE = b"Bearer"
#: The field named by a refusal of a request that is none.
REQUEST = "request"


def malformed_request(reason: str) -> MalformedError:
    """The refusal of bytes that are no acceptable HTTP request. ``reason`` is a fixed sentence of ours."""
    return MalformedError(field=REQUEST, reason=reason)


def refusal_response(
    error: RefusalError,
    *,
    allow: Iterable[str] = (),
    challenge: bytes = CHALLENGE,
    request_id: str = "unknown",
) -> tuple[int, Headers, bytes]:
    """Return status, headers and body of a refusal.

    ``allow`` names the methods of the path, for 405, and ``challenge`` the credential, for 401. A refusal
    that cannot be encoded is our fault, not the caller's, and becomes ``internal`` with ``request_id``.
    """
    try:
        body = encode(error.refusal)
    except RefusalError:
        error = InternalError(request_id=request_id)
        body = encode(error.refusal)
    headers: Headers = [JSON, (b"content-length", b"%d" % len(body)), (b"cache-control", b"no-store")]
    if error.status == 401:
        headers.append((b"www-authenticate", challenge))
    elif error.status == 405:
        headers.append((b"allow", ", ".join(sorted(allow)).encode("ascii")))
    elif error.status in (429, 503):
        headers.append((b"retry-after", b"%d" % _retry_after_secs(error)))
    return error.status, headers, body


def _retry_after_secs(error: RefusalError) -> int:
    refusal = error.refusal
    return refusal.retry_after_secs if isinstance(refusal, RateLimited | Overloaded) else 1
