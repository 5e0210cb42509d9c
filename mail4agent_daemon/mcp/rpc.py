"""What is a JSON-RPC message at this door, judged before the SDK sees it.

The SDK reads JSON leniently and takes ``id: null`` for a notification, and its own refusals quote what it
read. So whatever it could refuse by quoting is refused here, by a fixed sentence.
"""

import json
from dataclasses import dataclass
from typing import Any

from mail4agent_api.codec import read
from mail4agent_api.errors import MalformedError
from mail4agent_api.mail import Malformed

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602

#: Bounds of what a request says about itself; a client needs a fraction of each.
ID_MAX_BYTES = 256
ID_MAX = 2**63 - 1
METHOD_MAX_BYTES = 128


@dataclass(frozen=True)
class RpcError(Exception):
    """A refusal in JSON-RPC's own shape, for bytes that are no request."""

    code: int
    message: str
    id: str | int | None = None

    @property
    def body(self) -> bytes:
        """The JSON-RPC error response."""
        error = {"code": self.code, "message": self.message}
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error}).encode("ascii")


def check(raw: bytes) -> None:
    """Raise RpcError unless ``raw`` holds one JSON-RPC request or notification."""
    try:
        value = read(raw)
    except MalformedError as failure:
        refusal: Malformed = failure.refusal
        raise RpcError(PARSE_ERROR, f"Parse error: {refusal.reason}") from None
    if isinstance(value, list):
        raise RpcError(INVALID_REQUEST, "Batches are not served; send one message a request")
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC message, a JSON object")
    named = _id(value)
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "jsonrpc must be 2.0", named)
    method = value.get("method")
    if not isinstance(method, str) or not 0 < len(method.encode()) <= METHOD_MAX_BYTES:
        raise RpcError(INVALID_REQUEST, f"method must be a text of 1 to {METHOD_MAX_BYTES} bytes", named)
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object", named)
    _check_params(method, params or {}, named)


def _id(value: dict[str, Any]) -> str | int | None:
    if "id" not in value:
        return None
    named = value["id"]
    if isinstance(named, str) and len(named.encode()) <= ID_MAX_BYTES:
        return named
    if isinstance(named, int) and not isinstance(named, bool) and abs(named) <= ID_MAX:
        return named
    raise RpcError(
        INVALID_REQUEST, f"id must be a text of at most {ID_MAX_BYTES} bytes, or a whole number of 64 bits"
    )


def _check_params(method: str, params: dict[str, Any], named: str | int | None) -> None:
    """What the SDK would refuse without a word on what is wrong."""
    if method == "tools/call":
        if not isinstance(params.get("name"), str):
            raise RpcError(INVALID_PARAMS, "params.name must be the name of a tool", named)
        if not isinstance(params.get("arguments", {}), dict | None):
            raise RpcError(INVALID_PARAMS, "params.arguments must be an object", named)
