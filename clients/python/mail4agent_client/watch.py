"""Follow an inbox: each new message once, across restarts of the daemon.

No I/O: a transport carries out the steps. A reader moves by the position of the last message that it was
shown, so nothing is missed and nothing shown twice, whatever is sent meanwhile. Faults and busy answers are
waited out with growing pauses; refusals that waiting does not mend are raised.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, TypedDict, TypeVar

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode_value
from mail4agent_api.errors import (
    InternalError,
    NotAddressedToYouError,
    OverloadedError,
    RateLimitedError,
    RefusalError,
    StoreUnavailableError,
    UnknownMessageError,
)
from mail4agent_api.mail import (
    AckRequest,
    AckResponse,
    InboxPage,
    InboxRequest,
    Message,
    ParticipantAddress,
    Position,
    WaitRequest,
    WaitResult,
    WhoAmI,
    WhoAmIRequest,
)
from mail4agent_api.operations import OPERATIONS
from mail4agent_client.arguments import position
from mail4agent_client.errors import (
    AnswerInvalidError,
    ClientError,
    ConnectFailedError,
    ConnectionLostError,
    TimedOutError,
)
from mail4agent_client.exchange import ONCE, Answer, Ask, Backoff, Pause, exchange, retry_after

#: Where a watch may start: behind a position, behind all that is there, or at the first message without this
#: reader's acknowledgement.
Start = Position | Message | Literal["now", "unread"]
#: An empty page that comes sooner than this share of the wait asked for was not waited for.
EARLY = 0.5


@dataclass(frozen=True, slots=True)
class Show:
    """Hand this message to the consumer; resumed when it asks for the next one."""

    message: Message


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What is followed and how."""

    start: Start = "now"
    #: Acknowledge a message when the consumer asks for the one after it.
    ack: bool = False
    #: Show the caller's own posts in rooms too. Off, or an agent that answers what it sees would answer
    #: itself.
    own: bool = False
    sent_by: str | None = None
    room: str | None = None
    thread: str | None = None
    correlation: str | None = None
    #: Messages a page.
    limit: int = 50
    #: Seconds that the daemon holds a request while there is nothing new.
    wait_secs: int = 50
    #: Pauses after faults, in seconds: the first, and the longest.
    first_pause: float = 0.2
    longest_pause: float = 30.0
    #: Raise the fault when the pauses since the last answer come to more than this many seconds; None: never.
    give_up_after: float | None = None
    #: Called with each fault and the pause that follows it.
    on_fault: Callable[[Exception, float], None] | None = None


class WatchFields(TypedDict, total=False):
    """Every field of ``WatchOptions`` but ``start``, as the keyword arguments of a client's ``watch``."""

    ack: bool
    own: bool
    sent_by: str | None
    room: str | None
    thread: str | None
    correlation: str | None
    limit: int
    wait_secs: int
    first_pause: float
    longest_pause: float
    give_up_after: float | None
    on_fault: Callable[[Exception, float], None] | None


R = TypeVar("R", bound=WireModel)
Steps = Generator[Ask | Pause | Show, Answer | None, None]


class WatchPlan:
    """The steps of one watch, and how far it has come."""

    def __init__(
        self,
        options: WatchOptions,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._clock = clock
        self._backoff = Backoff(options.first_pause, options.longest_pause, chance)
        self._away = 0.0
        self._me: ParticipantAddress | None = None
        self._steps = self._all()
        self._step: Ask | Pause | Show | None = None
        self._started = False
        #: The position of the last message shown or passed over; a later watch that starts here goes on
        #: behind it. None: before everything.
        self.position: Position | None = None

    def resumed(self) -> Ask | Pause | Show | None:
        """The step to go on with: the first one, the one behind what was shown, or the one that was
        interrupted. None: the watch has ended.
        """
        if not self._started or isinstance(self._step, Show):
            self._started = True
            return self.performed(None)
        return self._step

    def performed(self, outcome: Answer | None) -> Ask | Pause | Show | None:
        """The step after one that was carried out. Raises what ends the watch."""
        self._step = None
        try:
            self._step = self._steps.send(outcome)
        except StopIteration:
            return None
        return self._step

    def failed(self, fault: ClientError) -> Ask | Pause | Show | None:
        """The step after one that could not be carried out. Raises what ends the watch."""
        self._step = None
        self._step = self._steps.throw(fault)
        return self._step

    def _all(self) -> Steps:
        options = self._options
        start = options.start
        if not isinstance(start, str):
            self.position = position(start)
        elif start == "now":
            newest = yield from self._asked("mail.wait", WaitResult, WaitRequest(wait_secs=0))
            self.position = newest.newest
        if not options.own and start != "unread":
            whoami = yield from self._asked("mail.whoami", WhoAmI, WhoAmIRequest())
            self._me = whoami.address
        while True:
            asked_at = self._clock()
            page = yield from self._asked("mail.inbox", InboxPage, self._request())
            if not page.messages:
                yield from self._rest(self._clock() - asked_at)
                continue
            self._backoff.reset()
            for message in page.messages:
                yield from self._show(message)

    def _request(self) -> InboxRequest:
        options = self._options
        return decode_value(
            InboxRequest,
            {
                "after": self.position,
                "limit": options.limit,
                "wait_secs": options.wait_secs,
                "unread_only": options.start == "unread",
                "sent_by": options.sent_by,
                "room": options.room,
                "thread": options.thread,
                "correlation": options.correlation,
            },
        )

    def _show(self, message: Message) -> Steps:
        self.position = position(message)
        if self._me is not None and message.from_ == self._me:
            return
        yield Show(message)
        if self._options.ack:
            try:
                yield from self._asked("mail.ack", AckResponse, AckRequest(message_id=message.message_id))
            except (UnknownMessageError, NotAddressedToYouError):
                # It was purged, or the reader left its room, since it was shown.
                return

    def _rest(self, secs: float) -> Steps:
        """Pause after an empty page that was not waited for: the daemon stops, or the caller's rights have
        changed.
        """
        if secs >= EARLY * self._options.wait_secs:
            self._backoff.reset()
        else:
            yield Pause(self._backoff.next())

    def _asked(
        self, operation: str, response: type[R], request: WireModel
    ) -> Generator[Ask | Pause, Answer | None, R]:
        """The answer to one request, faults waited out."""
        while True:
            try:
                answer = yield from exchange(OPERATIONS[operation], response, request, ONCE)
            except (ClientError, RefusalError) as failure:
                if not _passes(failure):
                    raise
                pause = self._backoff.next(min(retry_after(failure), self._options.longest_pause))
                self._away += pause
                limit = self._options.give_up_after
                if limit is not None and self._away > limit:
                    raise
                if self._options.on_fault is not None:
                    self._options.on_fault(failure, pause)
                yield Pause(pause)
            else:
                self._away = 0.0
                return answer


def _passes(failure: Exception) -> bool:
    """Whether it is worth asking again later."""
    match failure:
        case AnswerInvalidError():
            return failure.status >= 500
        case _:
            return isinstance(
                failure,
                ConnectFailedError
                | ConnectionLostError
                | TimedOutError
                | OverloadedError
                | RateLimitedError
                | StoreUnavailableError
                | InternalError,
            )
