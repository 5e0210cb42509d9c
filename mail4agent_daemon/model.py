"""The model that reads prose: any endpoint that speaks OpenAI's chat completions, asked out of nothing.

One message, no system prompt, no tools, no history, and no connection that is used again. Nothing of the
environment takes part: no proxy, no certificates of its variables, no redirect. What the server answers is
bounded in bytes and in time, is never unpacked, and never enters a diagnosis.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import httpx2
from pydantic import SecretStr

from mail4agent_api.codec import parse
from mail4agent_api.errors import RefusalError
from mail4agent_client.deadline import DeadlineTransport, answer_within
from mail4agent_core.files import named
from mail4agent_core.frontdoor.extraction import Completion, ProviderError, Stop

from .model_endpoint import Endpoint

#: Bytes of a whole answer: many times what 4,096 tokens come to.
ANSWER_MAX_BYTES: Final = 1_048_576
CONNECT_SECS: Final = 10.0
KEY_MAX_BYTES: Final = 4_096
#: The ways in which endpoints want to be asked, best first: held to a form, and how the budget is called. An
#: endpoint that refuses one as a bad request is asked in the next.
_WAYS: Final = tuple(
    (formed, budget) for budget in ("max_tokens", "max_completion_tokens") for formed in (True, False)
)
_BAD_REQUEST: Final = frozenset((400, 422))
_SAID: Final = {
    401: "the endpoint of the model refused the key",
    403: "the endpoint of the model refused the key",
    404: "the endpoint of the model knows no such path or model",
    408: "the model did not answer in time",
    413: "the endpoint of the model takes no prompt of this length",
    429: "the endpoint of the model takes no more requests now",
}


def key_of(key: SecretStr | Path | None) -> str | None:
    """The key, from its file where that is named. Raises ProviderError for what is none."""
    if key is None:
        return None
    if isinstance(key, Path):
        try:
            raw = named(key, KEY_MAX_BYTES)
        except OSError:
            raise ProviderError("the file of the model's key cannot be read") from None
        text = raw.decode("utf-8", "replace").strip() if len(raw) <= KEY_MAX_BYTES else ""
    else:
        text = key.get_secret_value().strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ProviderError("the model's key is none that a header can carry")
    return text


@cache
def _tls() -> ssl.SSLContext:
    """The certificates that the machine trusts, read once."""
    return ssl.create_default_context()


class ChatEndpoint:
    """A provider over one endpoint. Calls may come from any thread."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # Which of the ways the endpoint took last; a race of two threads only asks one of them once more.
        self._way = 0

    def complete(self, prompt: str, *, tokens_max: int, form: Mapping[str, Any]) -> Completion:
        """Ask once, in the way that the endpoint takes. Raises ProviderError."""
        for way in range(self._way, len(_WAYS)):
            formed, budget = _WAYS[way]
            asked: dict[str, Any] = {
                "model": self._endpoint.name,
                "messages": [{"role": "user", "content": prompt}],
                budget: tokens_max,
                "stream": False,
            }
            if formed:
                asked["response_format"] = {
                    "type": "json_schema",
                    "json_schema": {"name": "extraction", "strict": True, "schema": form},
                }
            status, raw = self._exchange(asked)
            if status in _BAD_REQUEST:
                continue
            if status == 200:
                self._way = way
                return _completion(raw)
            raise ProviderError(_diagnosis(status))
        raise ProviderError("the endpoint of the model takes the request for a bad one")

    def _exchange(self, asked: Mapping[str, Any]) -> tuple[int, bytes]:
        endpoint = self._endpoint
        key = key_of(endpoint.key)
        headers = {
            "accept": "application/json",
            # A compressed answer could grow past its bound while it is unpacked.
            "accept-encoding": "identity",
            "connection": "close",
            "content-type": "application/json",
            "user-agent": "mail4agent",
            **({} if key is None else {"authorization": f"Bearer {key}"}),
        }
        # A prompt may hold half a surrogate pair out of a file; escaped it is JSON all the same.
        body = json.dumps(asked).encode()
        timeout = httpx2.Timeout(endpoint.timeout_secs, connect=min(CONNECT_SECS, endpoint.timeout_secs))
        transport = DeadlineTransport(verify=_tls(), trust_env=False, limits=httpx2.Limits(), uds=None)
        diagnosis = "the endpoint of the model cannot be reached"
        try:
            with (
                answer_within(endpoint.timeout_secs),
                httpx2.Client(transport=transport, timeout=timeout, trust_env=False) as client,
                client.stream("POST", endpoint.completions, content=body, headers=headers) as response,
            ):
                return response.status_code, _bounded(response)
        except (TimeoutError, httpx2.TimeoutException):
            diagnosis = "the model did not answer in time"
        except (httpx2.HTTPError, OSError):
            pass
        raise ProviderError(diagnosis)


def _bounded(response: httpx2.Response) -> bytes:
    """The body, for a status that has one worth reading. Raises ProviderError."""
    if response.status_code != 200:
        return b""
    if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProviderError("the endpoint of the model answered compressed, which was not asked for")
    parts = bytearray()
    for part in response.iter_raw():
        parts += part
        if len(parts) > ANSWER_MAX_BYTES:
            raise ProviderError(f"the model answered more than {ANSWER_MAX_BYTES} bytes")
    return bytes(parts)


def _diagnosis(status: int) -> str:
    said = _SAID.get(status)
    if said is None:
        if 300 <= status < 400:
            said = "the endpoint of the model leads elsewhere, which is not followed"
        else:
            said = (
                "the endpoint of the model failed" if status >= 500 else "the endpoint of the model refused"
            )
    return f"{said} (status {status})"


def _completion(raw: bytes) -> Completion:
    """What an answer says. Raises ProviderError."""
    try:
        choice = cast(Any, parse(raw))["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
        refused = message.get("refusal")
        reason = choice.get("finish_reason")
    except (RefusalError, KeyError, IndexError, TypeError, AttributeError):
        text = refused = reason = None
    if text is None:
        raise ProviderError("the endpoint of the model answered what is no completion")
    if reason == "content_filter":
        return Completion(text, Stop.REFUSED, "filter")
    if refused:
        return Completion(text, Stop.REFUSED, "model")
    return Completion(text, Stop.LIMIT if reason == "length" else Stop.DONE)


def _text(content: Any) -> str | None:
    """The text of a message: one, none at all, or in parts; None for anything else."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            parts = [part.get("text", "") for part in cast(list[Any], content)]
            return "".join(parts)
        case _:
            return None
