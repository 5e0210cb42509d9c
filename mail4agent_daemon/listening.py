"""The operations on listeners: the engine's, after which the doorbells look at once."""

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import (
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
)
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.listeners import ListenerDesk

from .dispatch import Call, Handler
from .doorbells import Doorbells


def listening(desk: ListenerDesk, doorbells: Doorbells) -> dict[str, Handler]:
    """The handlers, by the rows' names."""

    async def set_one(call: Call, caller: Caller, request: ListenerSetRequest) -> Done:  # noqa: ARG001  a handler's shape
        done = await desk.listener(caller, request)
        doorbells.hear(str(request.account))
        return done

    async def remove(call: Call, caller: Caller, request: ListenerRemoveRequest) -> Done:  # noqa: ARG001  likewise
        return await desk.listener_remove(caller, request)

    async def get(call: Call, caller: Caller, request: ListenerGetRequest) -> ListenerList:  # noqa: ARG001  likewise
        return await desk.listener_get(caller, request)

    async def list_all(call: Call, caller: Caller, request: ListenerListRequest) -> ListenerPage:  # noqa: ARG001  likewise
        return await desk.listener_list(caller, request)

    async def retry(call: Call, caller: Caller, request: ListenerRetryRequest) -> Listening:  # noqa: ARG001  likewise
        found = await desk.listener_retry(caller, request)
        if found.listener is not None:
            doorbells.hear(text_of(found.listener.owner))
        return found

    async def listen(call: Call, caller: Caller, request: ListenRequest) -> Listening:
        now = await desk.listen(caller, request, call.uid)
        if now.listener is not None:
            doorbells.hear(text_of(caller.address))
        return now

    return {
        "admin.listener": set_one,
        "admin.listener.remove": remove,
        "admin.listener.get": get,
        "admin.listener.list": list_all,
        "admin.listener.retry": retry,
        "mail.listen": listen,
    }
