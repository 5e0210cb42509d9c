"""``mail``: a message through this daemon's mail engine, from the account that staged the draft."""

from collections.abc import Mapping
from typing import Any

from mail4agent_api.addresses import address_of, participant_of
from mail4agent_api.codec import decode_value, encode, parse
from mail4agent_api.errors import RefusalError, StoreUnavailableError
from mail4agent_api.mail import ParticipantId, SendRequest
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.identity import SEND, Caller, account_caller
from mail4agent_core.mail.records import Account
from mail4agent_core.mail.store import MailStore, Registry
from mail4agent_core.outbox.sink import Outgoing

from .arguments import only, refused
from .far_side import not_sent

_CARRIED = frozenset({"to", "subject", "body", "reply_to", "correlation", "refs"})


class MailSink:
    """Sends mail. A retry of an attempt that was posted gives the first message."""

    kind = "mail"
    file_args: tuple[str, ...] = ()

    def __init__(self, name: str, engine: MailEngine, store: MailStore) -> None:
        self.target = name
        self._engine = engine
        self._store = store

    def accept(self, args: Mapping[str, Any]) -> None:
        """Raise MalformedError or TooLargeError unless the arguments are those of a message."""
        _request(args, None)

    async def deliver(self, outgoing: Outgoing) -> str:
        """Post the message; its id. A refusal of the engine posts nothing."""
        request = _request(outgoing.args, outgoing.idempotency_key)
        caller = await self._stager(outgoing.staged_by)
        try:
            answer = await self._engine.send(caller, request)
        except StoreUnavailableError:
            # The commit may have reached the disk all the same.
            raise
        except RefusalError as refusal:
            raise not_sent(f"the message was refused: {refusal.kind}") from None
        return str(answer.message_id)

    async def _stager(self, staged_by: str | None) -> Caller:
        """The account that staged it, with what it may do at this moment."""
        if staged_by is None:
            raise not_sent("the draft names nobody who staged it")
        try:
            name: ParticipantId = participant_of(staged_by).participant
        except RefusalError:
            raise not_sent("the draft names nobody who can send mail") from None

        def query(registry: Registry) -> Account | None:
            return registry.account(name)

        try:
            account = await self._store.look(query)
        except StoreUnavailableError:
            raise not_sent("the mail store does not answer") from None
        if account is None or account.removed_at is not None:
            raise not_sent("the account that staged the draft is not there any more")
        if SEND not in account.capabilities:
            raise not_sent("the account that staged the draft may not send mail")
        return account_caller(name, account.capabilities)


def _request(args: Mapping[str, Any], key: str | None) -> SendRequest:
    """The message that the arguments are. Raises MalformedError and TooLargeError."""
    only(args, _CARRIED)
    if "to" not in args or "body" not in args:
        raise refused("body" if "to" in args else "to", "must be there")
    given = {"subject": "", **args, "idempotency_key": key}
    if isinstance(args["to"], str):
        # As a person writes it, and reads it in the review: an account, a session or a room.
        given["to"] = parse(encode(address_of(args["to"])))
    return decode_value(SendRequest, given)
