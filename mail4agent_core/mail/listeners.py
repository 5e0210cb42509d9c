"""Setting, showing and ending listeners: what an operator does for accounts, and a session for itself.

Each public method is one operation of the contract.
"""

from collections.abc import Awaitable, Callable

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    AttestationFailedError,
    MalformedError,
    TooLargeError,
    UnauthenticatedError,
    UnknownParticipantError,
)
from mail4agent_api.mail import (
    DirectAddress,
    Done,
    ListenerGetRequest,
    ListenerList,
    ListenerListRequest,
    ListenerPage,
    ListenerRemoveRequest,
    ListenerRetryRequest,
    ListenerSetRequest,
    Listening,
    ListenRequest,
    ParticipantAddress,
    ParticipantId,
    SessionAddress,
    SessionId,
)
from mail4agent_core.clock import Clock

from .audit import Deed, detail_of
from .doorbells import OWN_MAX
from .engine import READERS
from .identity import OPERATOR, Caller
from .store import MailStore, Registry
from .webhook import OWN_PATHS, destination_of

#: Tells the user whose process listens on a port of this machine, None when nobody's does or it is not known.
PortOwner = Callable[[int], Awaitable[int | None]]


class ListenerDesk:
    """The operations on listeners over one store. ``own_port`` is the daemon's, which it never rings."""

    def __init__(
        self, store: MailStore, clock: Clock, *, own_port: int | None, port_owner: PortOwner
    ) -> None:
        self._store = store
        self._clock = clock
        self._own_port = own_port
        self._port_owner = port_owner

    async def listener(self, caller: Caller, request: ListenerSetRequest) -> Done:
        """Have a listener told of an account's mail.

        One that is there is replaced: what waits for it waits for the new one, and is tried at once.
        """
        caller.needs((OPERATOR,))
        self._not_the_daemon(request.url)

        def command(registry: Registry) -> None:
            owner = _active(registry, request.account)
            registry.set_listener(owner, request.url, request.key, None)
            # Not the whole URL: its query may hold what only the listener is to know.
            signed = "unsigned" if request.key is None else "signed"
            detail = detail_of(f"port {destination_of(request.url).port}", signed)
            self._record(registry, caller, "admin.listener", request.account, detail)

        await self._store.change(command)
        return Done()

    async def listener_remove(self, caller: Caller, request: ListenerRemoveRequest) -> Done:
        """End an account's listener, or a session's, with what waits for it. A repeat changes nothing."""
        caller.needs((OPERATOR,))

        def command(registry: Registry) -> None:
            registry.drop_listener(_owner(registry, request.account, request.session))
            detail = request.session or ""
            self._record(registry, caller, "admin.listener.remove", request.account, detail)

        await self._store.change(command)
        return Done()

    async def listener_get(self, caller: Caller, request: ListenerGetRequest) -> ListenerList:
        """An account's listener, then its sessions' own."""
        caller.needs((OPERATOR,))

        def query(registry: Registry) -> ListenerList:
            _active(registry, request.account)
            found = registry.listeners_of(request.account)
            return ListenerList(listeners=[doorbell.record for doorbell in found])

        return await self._store.look(query)

    async def listener_list(self, caller: Caller, request: ListenerListRequest) -> ListenerPage:
        """A page of the listeners of every account that are of a state, with how many there are."""
        caller.needs((OPERATOR,))
        after = None if request.after is None else text_of(request.after)

        def query(registry: Registry) -> ListenerPage:
            found = registry.listeners(request.state, after, request.limit)
            total = registry.listener_count(request.state)
            return ListenerPage(listeners=[doorbell.standing for doorbell in found], total=total)

        # Only those that fail are found by themselves; to count the others is to read them.
        if request.state == "all":
            return await self._store.survey(caller.account, query)
        return await self._store.look(query)

    async def listener_retry(self, caller: Caller, request: ListenerRetryRequest) -> Listening:
        """Have an account's listener, or a session's, tried at once, as one that was just set."""
        caller.needs((OPERATOR,))

        def command(registry: Registry) -> Listening:
            owner = _owner(registry, request.account, request.session)
            registry.retry_listener(owner)
            self._record(registry, caller, "admin.listener.retry", request.account, request.session or "")
            found = (each for each in registry.listeners_of(request.account) if each.owner == owner)
            doorbell = next(found, None)
            return Listening(listener=None if doorbell is None else doorbell.record)

        return await self._store.change(command)

    async def listen(self, caller: Caller, request: ListenRequest, uid: int | None) -> Listening:
        """Have the caller's own listener told of its mail; ``uid`` is the attested process's user.

        The port must be one that this user listens on, so that nobody has the daemon ring at another's door.
        """
        caller.needs(READERS)
        owner = caller.address
        if uid is None or not isinstance(owner, SessionAddress):
            raise AttestationFailedError(reason="must be a session whose process was proved on this machine")
        url = request.url
        if url is None:
            await self._store.change(lambda registry: registry.drop_listener(owner))
            return Listening(listener=None)
        self._not_the_daemon(url)
        destination = destination_of(url)
        if destination.target not in OWN_PATHS:
            raise _url("must have the path / or /doorbell and no query")
        if await self._port_owner(destination.port) != uid:
            raise _url("must be a port that your own process listens on")

        def command(registry: Registry) -> Listening:
            account = registry.account(owner.participant)
            if account is None or account.removed_at is not None:
                raise UnauthenticatedError
            others = [
                each for each in registry.listeners_of(owner.participant) if _is_other(each.owner, owner)
            ]
            if len(others) >= OWN_MAX:
                raise TooLargeError(field="listeners", limit=OWN_MAX, actual=len(others) + 1)
            registry.set_listener(owner, url, request.key, uid)
            mine = (each for each in registry.listeners_of(owner.participant) if each.owner == owner)
            return Listening(listener=next(mine).record)

        return await self._store.change(command)

    def _record(
        self, registry: Registry, caller: Caller, operation: str, account: ParticipantId, detail: str
    ) -> None:
        at = max(self._clock.now_ms(), 0)
        registry.record(Deed(at, text_of(caller.address), operation, account, detail))

    def _not_the_daemon(self, url: str) -> None:
        if destination_of(url).port == self._own_port:
            raise _url("must not be the daemon's own port")


def _url(reason: str) -> MalformedError:
    return MalformedError(field="url", reason=f"{reason} (at /url)")


def _is_other(owner: object, session: SessionAddress) -> bool:
    return isinstance(owner, SessionAddress) and owner != session


def _active(registry: Registry, participant: ParticipantId) -> DirectAddress:
    account = registry.account(participant)
    if account is None or account.removed_at is not None:
        raise UnknownParticipantError(participant=participant)
    return DirectAddress(participant=participant)


def _owner(registry: Registry, account: ParticipantId, session: SessionId | None) -> ParticipantAddress:
    """An active account, or the session of it that is named."""
    whole = _active(registry, account)
    return whole if session is None else SessionAddress(participant=account, session=session)
