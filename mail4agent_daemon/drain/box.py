"""The box as home asks it. Home dials, the box never does; nothing of the environment takes part.

No proxy, no redirect, no answer that is unpacked, and every answer is bounded in bytes and in time: the box
stands in the open, and somebody else may have taken it over.
"""

from __future__ import annotations

import ssl
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx2
from pydantic import SecretStr

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode, parse
from mail4agent_api.errors import RefusalError, error_of
from mail4agent_api.intake import (
    BoxAcked,
    BoxAckRequest,
    BoxLease,
    BoxLeaseRequest,
    BoxListRequest,
    BoxPushed,
    BoxPushRequest,
    BoxQueueRequest,
    BoxReleased,
    BoxReleaseRequest,
    BoxTypes,
)
from mail4agent_api.mail import Refusal
from mail4agent_client.deadline import DeadlineTransport, answer_within
from mail4agent_core.files import named

#: Bytes of a page: what a box gives at a time, with the escapes of its JSON.
PAGE_MAX_BYTES: Final = 32 * 1024 * 1024
ANSWER_MAX_BYTES: Final = 2 * 1024 * 1024
REFUSAL_MAX_BYTES: Final = 65_536
KEY_MAX_BYTES: Final = 4_096
ANSWER_SECS: Final = 30.0
BLOB_SECS: Final = 300.0
CONNECT_SECS: Final = 10.0

B = TypeVar("B", bound=WireModel)


class BoxError(Exception):
    """The box gave no answer of the contract; the message is for a person and holds nothing of the box."""

    kind = "box_unreachable"


class BoxKeyError(BoxError):
    """There is no key that a header can carry."""

    kind = "box_key_missing"


class BoxRefusedError(BoxError):
    """The box refused, by the contract."""

    def __init__(self, refusal: RefusalError) -> None:
        super().__init__(f"the box refused: {refusal.kind}")
        self.refusal = refusal
        self.kind = refusal.kind


def key_of(key: SecretStr | Path | None) -> str:
    """The key, from its file where that is named. Raises BoxKeyError."""
    if key is None:
        raise BoxKeyError("no key to the box is set; name its file in the section [box]")
    if isinstance(key, Path):
        try:
            raw = named(key, KEY_MAX_BYTES)
        except OSError as failure:
            raise BoxKeyError(f"{key} cannot be read: {failure.strerror}") from None
        text = raw.decode("utf-8", "replace").strip() if len(raw) <= KEY_MAX_BYTES else ""
    else:
        text = key.get_secret_value().strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise BoxKeyError("the key to the box is none that a header can carry")
    return text


@cache
def _tls() -> ssl.SSLContext:
    """The certificates that the machine trusts, read once."""
    return ssl.create_default_context()


class BoxClient:
    """One key's calls. ``url`` has no slash at its end."""

    def __init__(self, url: str, key: str, tls: ssl.SSLContext | None = None) -> None:
        self._url = url
        self._key = key
        self._tls = tls

    def lease(self, holder: str, secs: int) -> BoxLease:
        """Take the lease, or renew it. Raises BoxError."""
        return self._ask("/box/lease", BoxLeaseRequest(holder=holder, secs=secs), BoxLease)

    def release(self, holder: str) -> BoxReleased:
        """Give the lease back. Raises BoxError."""
        return self._ask("/box/release", BoxReleaseRequest(holder=holder), BoxReleased)

    def queue(self, holder: str, epoch: str, after: int, *, wait_secs: int, limit: int) -> Any:
        """A page as the parsed JSON that it is: each row is judged for itself. Raises BoxError."""
        asked = BoxQueueRequest(holder=holder, epoch=epoch, after=after, wait_secs=wait_secs, limit=limit)
        raw = self._exchange("POST", "/box/queue", encode(asked), PAGE_MAX_BYTES, ANSWER_SECS + wait_secs)
        try:
            return parse(raw)
        except RefusalError:
            pass
        raise BoxError("the box gave a page that is no JSON")

    def blob(self, blob: str, most: int) -> bytes:
        """The bytes of a file, at most one more than ``most``. Raises BoxError."""
        return self._exchange("GET", f"/box/blob/{blob}", None, most, BLOB_SECS, cut=True)

    def ack(self, holder: str, epoch: str, seqs: list[int]) -> BoxAcked:
        """Have rows deleted. Raises BoxError."""
        return self._ask("/box/ack", BoxAckRequest(holder=holder, epoch=epoch, seqs=seqs), BoxAcked)

    def push(self, request: BoxPushRequest) -> BoxPushed:
        """Make a manifest the current one of its type. Raises BoxError."""
        return self._ask("/box/types/push", request, BoxPushed)

    def types(self) -> BoxTypes:
        """The request types of the box. Raises BoxError."""
        return self._ask("/box/types/list", BoxListRequest(), BoxTypes)

    def _ask(self, path: str, request: WireModel, kind: type[B]) -> B:
        raw = self._exchange("POST", path, encode(request), ANSWER_MAX_BYTES, ANSWER_SECS)
        try:
            return decode(kind, raw)
        except RefusalError:
            pass
        raise BoxError("the box gave an answer that the contract does not have")

    def _exchange(
        self, method: str, path: str, body: bytes | None, most: int, secs: float, *, cut: bool = False
    ) -> bytes:
        headers = {
            # A compressed answer could grow past its bound while it is unpacked.
            "accept-encoding": "identity",
            "authorization": f"Bearer {self._key}",
            # Minutes lie between two calls: a connection that is kept is one that a proxy has closed.
            "connection": "close",
            "user-agent": "mail4agent",
            **({} if body is None else {"content-type": "application/json"}),
        }
        timeout = httpx2.Timeout(secs, connect=CONNECT_SECS)
        transport = DeadlineTransport(
            verify=self._tls or _tls(), trust_env=False, limits=httpx2.Limits(), uds=None
        )
        said = "the box cannot be reached"
        try:
            with (
                answer_within(secs),
                httpx2.Client(transport=transport, timeout=timeout, trust_env=False) as client,
                client.stream(method, self._url + path, content=body, headers=headers) as response,
            ):
                if response.status_code == 200:
                    return _bounded(response, most, cut=cut)
                raw = _bounded(response, REFUSAL_MAX_BYTES, cut=False)
                status = response.status_code
        except (TimeoutError, httpx2.TimeoutException):
            raise BoxError("the box did not answer in time") from None
        except (httpx2.HTTPError, OSError):
            raise BoxError(said) from None
        raise _refused(status, raw)


def _bounded(response: httpx2.Response, most: int, *, cut: bool) -> bytes:
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise BoxError("the box answered compressed, which was not asked for")
    parts = bytearray()
    for part in response.iter_raw():
        parts += part
        if len(parts) > most:
            if cut:
                return bytes(parts[: most + 1])
            raise BoxError("the box answered more than there can be")
    return bytes(parts)


def _refused(status: int, raw: bytes) -> BoxError:
    kind: Any = Refusal
    try:
        refusal: Refusal = decode(kind, raw)
    except RefusalError:
        return BoxError(f"what stands at the address of the box is none: it answered with status {status}")
    return BoxRefusedError(error_of(refusal))
