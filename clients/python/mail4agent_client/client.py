"""The asynchronous client, for asyncio."""

from __future__ import annotations

import os
import ssl
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, Self, TypeVar, Unpack

import anyio
import httpx2

from mail4agent_api._wire import WireModel
from mail4agent_api.mail import Address, Message, MessageRef, Position, SendResponse
from mail4agent_api.operations import OPERATIONS
from mail4agent_client.connection import (
    ANSWER_SECS,
    CONNECT_SECS,
    MAX_ANSWER_BYTES,
    MAX_CONNECTIONS,
    Acting,
    Connection,
)
from mail4agent_client.errors import ClientError
from mail4agent_client.exchange import Answer, Ask, Pause, RetryPolicy, exchange
from mail4agent_client.letters import answer, letter
from mail4agent_client.methods import AsyncMethods
from mail4agent_client.settings import Secret, settings_of
from mail4agent_client.watch import Show, Start, WatchFields, WatchOptions, WatchPlan

R = TypeVar("R")
B = TypeVar("B", bound=WireModel)


class MailClient(AsyncMethods):
    """A connection pool to one daemon, acting as one account.

    Every operation of the contract is a method that takes its request, or the request's fields, and returns
    its response.

    A daemon that proves processes takes each process for a session of its own. ``session="parent"`` is for a
    short-lived helper, which then acts for the agent that started it. Raises SettingInvalidError when it is
    made; its methods raise RefusalError and ClientError.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | Secret | None = None,
        token_file: str | os.PathLike[str] | None = None,
        allow_plain_http: bool = False,
        answer_secs: float = ANSWER_SECS,
        connect_secs: float = CONNECT_SECS,
        retries: RetryPolicy | None = None,
        keep_alive: bool = True,
        max_answer_bytes: int = MAX_ANSWER_BYTES,
        max_connections: int = MAX_CONNECTIONS,
        tls: ssl.SSLContext | None = None,
        session: Acting = "own",
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        settings = settings_of(url, token=token, token_file=token_file, allow_plain_http=allow_plain_http)
        self._connection = Connection(
            settings, answer_secs, connect_secs, keep_alive, max_answer_bytes, max_connections, tls, session
        )
        self._retries = RetryPolicy() if retries is None else retries
        pool: dict[str, Any] = self._connection.pool_arguments() if transport is None else {}
        self._transport = httpx2.AsyncHTTPTransport(**pool) if transport is None else transport

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"MailClient({self._connection.settings.url!r})"

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    async def send_text(
        self,
        to: Address | str,
        body: str,
        *,
        subject: str = "",
        reply_to: str | None = None,
        correlation: str | None = None,
        refs: Sequence[MessageRef] = (),
        idempotency_key: str | None = None,
    ) -> SendResponse:
        """Post one message; it carries a new idempotency key unless one is given, so that a lost answer is
        asked for again.
        """
        return await self.send(
            letter(
                to, subject, body, reply_to=reply_to, correlation=correlation, refs=refs, key=idempotency_key
            )
        )

    async def reply_text(
        self,
        message: Message,
        body: str,
        *,
        to: Address | str | None = None,
        subject: str | None = None,
        refs: Sequence[MessageRef] = (),
        idempotency_key: str | None = None,
    ) -> SendResponse:
        """Answer a message in its room, or else its author, or ``to``; otherwise as ``send_text``."""
        return await self.send(answer(message, body, to=to, subject=subject, refs=refs, key=idempotency_key))

    def watch(self, start: Start = "now", **options: Unpack[WatchFields]) -> Watch:
        """Follow the inbox: an iterator over each new message once, which outlives restarts of the daemon."""
        return Watch(WatchPlan(WatchOptions(start=start, **options)), self._perform)

    async def _ask(self, operation: str, response: type[B], request: WireModel | None) -> B:
        return await self._run(exchange(OPERATIONS[operation], response, request, self._retries))

    async def _run(self, steps: Generator[Ask | Pause, Answer | None, R]) -> R:
        try:
            step = next(steps)
            while True:
                try:
                    outcome = await self._perform(step)
                except ClientError as fault:
                    step = steps.throw(fault)
                else:
                    step = steps.send(outcome)
        except StopIteration as done:
            return done.value

    async def _perform(self, step: Ask | Pause) -> Answer | None:
        if isinstance(step, Pause):
            await anyio.sleep(step.secs)
            return None
        try:
            with anyio.fail_after(self._connection.deadline_secs(step)):
                return await self._attempt(step)
        except (httpx2.TransportError, TimeoutError) as failure:
            fault = self._connection.fault(failure, step)
        raise fault

    async def _attempt(self, ask: Ask) -> Answer:
        response = await self._transport.handle_async_request(self._connection.request(ask))
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        try:
            self._connection.check_head(response.status_code, response.headers)
            body = bytearray()
            async for chunk in stream:
                body += chunk
                self._connection.check_size(len(body))
        finally:
            await stream.aclose()
        return Answer(response.status_code, response.headers.get("retry-after"), bytes(body))


class Watch:
    """An asynchronous iterator over new messages. A call of it that is cancelled loses nothing: the next one
    takes up where it was.
    """

    def __init__(self, plan: WatchPlan, perform: Callable[[Ask | Pause], Awaitable[Answer | None]]) -> None:
        self._plan = plan
        self._perform = perform

    @property
    def position(self) -> Position | None:
        """The position of the last message that was given out or passed over."""
        return self._plan.position

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        step = self._plan.resumed()
        while not isinstance(step, Show):
            if step is None:
                raise StopAsyncIteration
            try:
                outcome = await self._perform(step)
            except ClientError as fault:
                step = self._plan.failed(fault)
            else:
                step = self._plan.performed(outcome)
        return step.message
