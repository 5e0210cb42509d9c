"""``http``: one signed POST, as Standard Webhooks 1.0.0 says, by the rule that doorbells are signed by.

The body is JSON and holds everything that was reviewed, the files as base64, so that one signature covers all
of it.
"""

import base64
import json
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

from mail4agent_core.clock import Clock
from mail4agent_core.mail.webhook import signature_of
from mail4agent_core.outbox.sink import Outgoing

from .copies import content_of
from .exchange import Place, UnreachedError, post
from .far_side import UnknownOutcomeError, name_of, not_sent
from .json_arguments import accept_json, carried_of

#: Refusals that may well be of a request that was carried out before.
_UNSURE = frozenset({409})
#: Redirects that say: nothing was done here, ask there. They are not followed.
_ELSEWHERE = frozenset({307, 308})


class HttpSink:
    """Posts to one URL."""

    kind = "http"

    def __init__(
        self,
        name: str,
        place: Place,
        key: str,
        clock: Clock,
        *,
        arguments: Sequence[str] | None,
        file_args: Sequence[str],
        context: ssl.SSLContext | None,
        timeout_secs: float,
    ) -> None:
        self.target = f"{name}: {place.authority}{place.target.partition('?')[0]}"
        self.file_args = tuple(file_args)
        self._place = place
        self._key = key
        self._clock = clock
        self._carried = carried_of(arguments, file_args)
        self._context = context
        self._timeout_secs = timeout_secs

    def accept(self, args: Mapping[str, Any]) -> None:
        """Raise MalformedError or TooLargeError for an argument that the receiver does not take."""
        accept_json(args, self._carried, self.file_args)

    async def deliver(self, outgoing: Outgoing) -> str | None:
        """Post it once; the ``id`` of the receiver's answer."""
        body, identity = _body(outgoing), outgoing.idempotency_key
        seconds = self._clock.now_ms() // 1_000
        headers = [
            ("Content-Type", "application/json"),
            ("Idempotency-Key", identity),
            ("webhook-id", identity),
            ("webhook-timestamp", str(seconds)),
            ("webhook-signature", signature_of(self._key, identity, seconds, body)),
        ]
        try:
            answer = await post(
                self._place, headers, body, context=self._context, timeout_secs=self._timeout_secs
            )
        except UnreachedError as failure:
            raise not_sent("the receiver cannot be reached", str(failure)) from None
        return _told(answer.status, bytes(answer.body))


def _told(status: int | None, body: bytes) -> str | None:
    if status is None:
        raise UnknownOutcomeError("the receiver did not answer")
    if 200 <= status < 300:
        return _id_of(body)
    if status in _ELSEWHERE:
        raise not_sent(f"the receiver answered {status}, a redirect, which is not followed")
    if 400 <= status < 500 and status not in _UNSURE:
        raise not_sent(f"the receiver refuses it with {status}", body)
    raise UnknownOutcomeError(f"the receiver answered {status}")


def _id_of(body: bytes) -> str | None:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return name_of(said.get("id")) if isinstance(said, dict) else None


def _body(outgoing: Outgoing) -> bytes:
    files = [
        {
            "path": each.path,
            "size": each.size,
            "sha256": each.sha256,
            "content": base64.b64encode(content_of(each)).decode(),
        }
        for each in outgoing.files
    ]
    whole = {
        "id": outgoing.item_id,
        "tool": outgoing.tool,
        "kind": outgoing.kind,
        "staged_by": outgoing.staged_by,
        "args": dict(outgoing.args),
        "files": files,
    }
    # Not orjson: an argument may be a whole number of any length.
    return json.dumps(whole, ensure_ascii=False).encode()
