"""The paths of home: the box under two keys. A key opens its own paths and nothing else."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import UnauthenticatedError
from mail4agent_api.intake import (
    BoxAckRequest,
    BoxLeaseRequest,
    BoxListRequest,
    BoxPushed,
    BoxPushRequest,
    BoxQueueRequest,
    BoxReleaseRequest,
    BoxTypes,
)
from mail4agent_daemon.auth import bearer_digest
from mail4agent_daemon.entrance import needs_json

from .box import Box
from .budgets import Buckets
from .database import Database
from .paths import Answer, body_of
from .settings import KeySettings, digest_in
from .shelf import Shelf
from .visitors import Visitors

T = TypeVar("T", bound=WireModel)
_SMALL_BYTES = 16_384
#: A manifest of 256 KiB, each byte of it written as an escape of JSON.
_PUSH_BYTES = 2_097_152


class Drained:
    """The answers of the paths below ``/box``."""

    def __init__(
        self,
        box: Box,
        shelf: Shelf,
        database: Database,
        *,
        keys: KeySettings,
        visitors: Visitors,
        wrong: Buckets,
    ) -> None:
        self._box = box
        self._shelf = shelf
        self._database = database
        self._keys = {"drain": digest_in(keys.drain), "types": digest_in(keys.types)}
        self._visitors = visitors
        self._wrong = wrong

    @property
    def answers(self) -> dict[str, Answer]:
        """By the names of the table's rows."""

        async def lease(request: BoxLeaseRequest) -> WireModel:
            return self._box.lease(request)

        async def release(request: BoxReleaseRequest) -> WireModel:
            return self._box.release(request)

        return {
            "box.lease": self._operation("drain", BoxLeaseRequest, lease),
            "box.release": self._operation("drain", BoxReleaseRequest, release),
            "box.queue": self._operation("drain", BoxQueueRequest, self._box.queue),
            "box.ack": self._operation("drain", BoxAckRequest, self._box.ack),
            "box.blob": self._blob,
            "box.types.push": self._operation("types", BoxPushRequest, self._push, _PUSH_BYTES),
            "box.types.list": self._operation("types", BoxListRequest, self._list),
        }

    def _operation(
        self,
        key: str,
        kind: type[T],
        run: Callable[[T], Awaitable[WireModel]],
        most_bytes: int = _SMALL_BYTES,
    ) -> Answer:
        async def answer(request: Request) -> Response:
            self._admit(request, key)
            needs_json(request.scope["headers"])
            request.scope["state"]["body_max_bytes"] = most_bytes
            given: Any = decode(kind, await body_of(request))
            return Response(encode(await run(given)), media_type="application/json")

        return answer

    async def _blob(self, request: Request) -> Response:
        self._admit(request, "drain")
        content = await self._box.blob(request.path_params["blob"])
        return Response(content, media_type="application/octet-stream")

    async def _push(self, request: BoxPushRequest) -> BoxPushed:
        pushed = await self._database.run(self._shelf.push(request))
        await self._database.run(self._shelf.load)
        return pushed

    async def _list(self, request: BoxListRequest) -> BoxTypes:  # noqa: ARG002  an operation's shape
        return BoxTypes(types=await self._database.run(self._shelf.listed))

    def _admit(self, request: Request, key: str) -> None:
        """Believe a key, or refuse. Raises UnauthenticatedError, RateLimitedError after many wrong ones.

        A right key is believed whatever came before it from its address: a stranger behind the same one, or
        behind a proxy that the settings do not name, must not keep home from its box.
        """
        try:
            if not hmac.compare_digest(bearer_digest(request.scope["headers"]), self._keys[key]):
                raise UnauthenticatedError
        except UnauthenticatedError:
            self._wrong.take(self._visitors(request.scope).address)
            raise
