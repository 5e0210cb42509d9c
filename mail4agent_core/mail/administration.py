"""What an operator does: accounts, rooms, deleting mail, upkeep.

Each method is one operation of the contract.
"""

from collections.abc import Callable
from typing import TypeVar

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    AlreadyExistsError,
    IdRetiredError,
    MalformedError,
    UnknownMessageError,
    UnknownParticipantError,
)
from mail4agent_api.mail import (
    AuditPage,
    AuditRequest,
    Done,
    Flow,
    FlowRequest,
    InboxOfRequest,
    IssuedSecret,
    MessagePurgeRequest,
    ParticipantList,
    ParticipantListRequest,
    ParticipantPermitRequest,
    ParticipantPurgeRequest,
    ParticipantRecord,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
    PurgeReport,
    RetentionReport,
    RetentionRequest,
    RoomCreateRequest,
    RoomList,
    RoomListRequest,
    RoomMemberRequest,
    RoomMembers,
    RoomMembersRequest,
    RoomRecord,
    RoomRemoveRequest,
)
from mail4agent_core.clock import Clock
from mail4agent_core.ids import Ids, digest_of

from .accounts import active_account, known_room, not_the_last_operator, record_of
from .audit import EXPIRE_STEP, Deed, detail_of
from .engine import require_reader
from .flow import SLOT_MS, flow_of, slot_at
from .identity import OPERATOR, READ, SEND, Caller
from .records import PageQuery
from .sessions import LISTED_MS
from .store import MailStore, Registry
from .wire import InboxWire, inbox_wire

T = TypeVar("T")

DAY_MS = 86_400_000
#: An idempotency key names its effect for at least this long.
KEY_DAYS = 7
#: Capabilities that one account holds together only when that was said in so many words: it would review what
#: it staged.
STAGE_AND_REVIEW = frozenset(("outbox:stage", "outbox:review"))


class Administration:
    """The operations of an operator over one store.

    ``keep_days`` is how long settled mail is kept, ``audit_days`` how long the audit; None keeps for ever.
    """

    def __init__(
        self,
        store: MailStore,
        clock: Clock,
        ids: Ids,
        keep_days: int | None = 180,
        audit_days: int | None = 365,
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._keep_days = keep_days
        self._audit_days = audit_days

    async def _change(
        self,
        caller: Caller,
        operation: str,
        target: str | None,
        command: Callable[[Registry], T],
        detail: str = "",
    ) -> T:
        """Run a command and record it as a row of the table of operations, both or neither.

        There is no other way to ``MailStore.change`` from an operation of an operator.
        """
        caller.needs((OPERATOR,))
        actor = text_of(caller.address)

        def run(registry: Registry) -> T:
            result = command(registry)
            at = max(self._clock.now_ms(), 0)
            registry.record(Deed(at, actor, operation, target, detail))
            return result

        return await self._store.change(run)

    async def participant(self, caller: Caller, request: ParticipantRegistration) -> IssuedSecret:
        """Register an account. The id of a removed account stays retired until that is purged."""
        flags = {SEND: request.may_send, READ: request.may_read, OPERATOR: request.operator}
        capabilities = frozenset(name for name, held in flags.items() if held)
        secret = self._ids.secret()

        def command(registry: Registry) -> None:
            present = registry.account(request.id)
            if present is not None:
                raise (
                    AlreadyExistsError(id=request.id)
                    if present.removed_at is None
                    else IdRetiredError(id=request.id)
                )
            registry.add_account(
                request.id,
                request.label,
                digest_of(secret),
                capabilities,
                self._clock.now_ms(),
                request.attestation,
            )

        detail = detail_of(("grant", capabilities))
        await self._change(caller, "admin.participant", request.id, command, detail)
        return IssuedSecret(id=request.id, secret=secret)

    async def participant_rotate(self, caller: Caller, request: ParticipantRotateRequest) -> IssuedSecret:
        """Replace an account's secret."""
        secret = self._ids.secret()

        def command(registry: Registry) -> None:
            active_account(registry, request.id)
            registry.set_secret(request.id, digest_of(secret), self._clock.now_ms())

        await self._change(caller, "admin.participant.rotate", request.id, command)
        return IssuedSecret(id=request.id, secret=secret)

    async def participant_revoke(self, caller: Caller, request: ParticipantRevokeRequest) -> Done:
        """Kill an account's secret."""

        def command(registry: Registry) -> None:
            not_the_last_operator(registry, active_account(registry, request.id))
            registry.set_secret(request.id, None, self._clock.now_ms())

        await self._change(caller, "admin.participant.revoke", request.id, command)
        return Done()

    async def participant_remove(self, caller: Caller, request: ParticipantRemoveRequest) -> Done:
        """Remove an account and retire its id; its mail stays until it is purged."""

        def command(registry: Registry) -> None:
            not_the_last_operator(registry, active_account(registry, request.id))
            registry.retire(request.id, self._clock.now_ms())

        await self._change(caller, "admin.participant.remove", request.id, command)
        return Done()

    async def participant_purge(self, caller: Caller, request: ParticipantPurgeRequest) -> PurgeReport:
        """Delete a removed account with the mail in its boxes and free its id.

        What it sent to others stays theirs.
        """

        def command(registry: Registry) -> int:
            account = registry.account(request.id)
            if account is None:
                raise UnknownParticipantError(participant=request.id)
            if account.removed_at is None:
                raise MalformedError(
                    field="participant id", reason="must be the id of a removed account (at /id)"
                )
            return registry.erase(request.id)

        messages = await self._change(caller, "admin.participant.purge", request.id, command)
        await self._reclaim()
        return PurgeReport(messages=messages)

    async def participant_permit(
        self, caller: Caller, request: ParticipantPermitRequest
    ) -> ParticipantRecord:
        """Grant, then revoke, capabilities, and set the attestation policy when one is given."""

        def command(registry: Registry) -> ParticipantRecord:
            account = active_account(registry, request.id)
            held = (account.capabilities | frozenset(request.grant)) - frozenset(request.revoke)
            if held >= STAGE_AND_REVIEW and not request.both and not account.capabilities >= STAGE_AND_REVIEW:
                raise MalformedError(
                    field="both",
                    reason="must be true to hold outbox:stage and outbox:review together (at /both)",
                )
            if OPERATOR not in held:
                not_the_last_operator(registry, account)
            registry.set_capabilities(request.id, held)
            if request.attestation is not None:
                registry.set_attestation(request.id, request.attestation)
            return record_of(active_account(registry, request.id))

        both = ("both",) if request.both else ()
        policy = () if request.attestation is None else (f"attestation {request.attestation}",)
        detail = detail_of(("grant", set(request.grant)), ("revoke", set(request.revoke)), *policy, *both)
        return await self._change(caller, "admin.participant.permit", request.id, command, detail)

    async def participant_list(self, caller: Caller, request: ParticipantListRequest) -> ParticipantList:
        """A page of accounts, the removed ones included."""
        caller.needs((OPERATOR,))
        accounts = await self._store.look(lambda registry: registry.accounts(request.after, request.limit))
        return ParticipantList(participants=[record_of(account) for account in accounts])

    async def room(self, caller: Caller, request: RoomCreateRequest) -> Done:
        """Create a room."""

        def command(registry: Registry) -> None:
            if registry.has_room(request.id):
                raise AlreadyExistsError(id=request.id)
            registry.add_room(request.id, request.posting, self._clock.now_ms())

        await self._change(caller, "admin.room", f"#{request.id}", command, f"posting {request.posting}")
        return Done()

    async def room_remove(self, caller: Caller, request: RoomRemoveRequest) -> Done:
        """Delete a room with its mail. A room created under the same id later has none of it."""

        def command(registry: Registry) -> None:
            known_room(registry, request.room)
            registry.erase_room(request.room)

        await self._change(caller, "admin.room.remove", f"#{request.room}", command)
        await self._reclaim()
        return Done()

    async def room_list(self, caller: Caller, request: RoomListRequest) -> RoomList:
        """A page of rooms."""
        caller.needs((OPERATOR,))
        # The members of each are counted.
        rooms = await self._store.survey(
            caller.account, lambda registry: registry.rooms(request.after, request.limit)
        )
        return RoomList(
            rooms=[
                RoomRecord(
                    id=room.id,
                    posting=room.posting,
                    members=room.members,
                    messages=room.messages,
                    created_at_unix_ms=room.created_at,
                )
                for room in rooms
            ]
        )

    async def room_members(self, caller: Caller, request: RoomMembersRequest) -> RoomMembers:
        """A page of a room's members."""
        caller.needs((OPERATOR,))

        def query(registry: Registry) -> RoomMembers:
            known_room(registry, request.room)
            return RoomMembers(
                room=request.room, members=registry.members(request.room, request.after, request.limit)
            )

        return await self._store.look(query)

    async def room_member_add(self, caller: Caller, request: RoomMemberRequest) -> Done:
        """Put an account into a room; a repeat changes nothing."""

        def command(registry: Registry) -> None:
            known_room(registry, request.room)
            active_account(registry, request.participant)
            registry.join(request.room, request.participant)

        await self._change(caller, "admin.room.member.add", f"#{request.room}", command, request.participant)
        return Done()

    async def room_member_remove(self, caller: Caller, request: RoomMemberRequest) -> Done:
        """Take an account out of a room; it need not be in it, nor exist."""

        def command(registry: Registry) -> None:
            known_room(registry, request.room)
            registry.leave(request.room, request.participant)

        await self._change(
            caller, "admin.room.member.remove", f"#{request.room}", command, request.participant
        )
        return Done()

    async def inbox(self, caller: Caller, request: InboxOfRequest) -> InboxWire:
        """One page of a named participant's boxes. Reading another account's is recorded first."""
        if request.address != caller.address:
            caller.needs((OPERATOR,))
        await require_reader(self._store, request.address)
        if request.address.participant != caller.account:
            await self._change(caller, "admin.inbox", text_of(request.address), lambda _: None)
        query = PageQuery(limit=request.limit, after=request.after, unread_only=request.unread_only)
        page = await self._store.page(request.address, query)
        return inbox_wire(page.messages, page.unread)

    async def message_purge(self, caller: Caller, request: MessagePurgeRequest) -> Done:
        """Delete one message for every reader."""

        def command(registry: Registry) -> None:
            if not registry.erase_message(request.message_id):
                raise UnknownMessageError(message_id=request.message_id)

        await self._change(caller, "admin.message.purge", request.message_id, command)
        return Done()

    async def retention(self, caller: Caller, request: RetentionRequest) -> RetentionReport:
        """Report on retention; with ``run``, first run it."""
        caller.needs((OPERATOR,))
        if request.run:
            # It takes many transactions: recorded before the first, so that none goes without.
            kept = "for ever" if self._keep_days is None else f"{self._keep_days} days"
            await self._change(caller, "admin.retention", None, lambda _: None, f"run; mail kept {kept}")
            await self.run_retention()
        return await self.retention_report()

    async def run_retention(self) -> None:
        """Delete what retention says, in bounded steps between which other writes get their turn."""
        now = self._clock.now_ms()
        settled_before = None if self._keep_days is None else now - self._keep_days * DAY_MS
        messages = keys = 0
        resume: int | None = 0
        while resume is not None:
            step = await self._store.sweep(settled_before, now - KEY_DAYS * DAY_MS, resume, now - LISTED_MS)
            messages, keys, resume = messages + step.messages, keys + step.keys, step.resume
        await self._expire_audit(now)
        for name, value in (
            ("retention.run", now),
            ("retention.messages", messages),
            ("retention.keys", keys),
        ):
            await self._store.remember(name, value)

    async def _expire_audit(self, now: int) -> None:
        if self._audit_days is None:
            return
        before, gone = now - self._audit_days * DAY_MS, EXPIRE_STEP
        while gone == EXPIRE_STEP:
            gone = await self._store.change(lambda registry: registry.expire_audit(before, EXPIRE_STEP))

    async def audit(self, caller: Caller, request: AuditRequest) -> AuditPage:
        """A page of what operators did, the newest first."""
        caller.needs((OPERATOR,))
        return AuditPage(
            entries=await self._store.look(lambda registry: registry.audit(request.before, request.limit))
        )

    async def flow(self, caller: Caller, request: FlowRequest) -> Flow:
        """Who wrote to whom of late; the time is a whole number of slots, so a little more than asked for."""
        caller.needs((OPERATOR,))
        since = slot_at(self._clock.now_ms() - request.secs * 1000) * SLOT_MS
        return flow_of(since, await self._store.flow(caller.account, since, request.limit))

    async def retention_report(self) -> RetentionReport:
        """The rule in force, and what the last run removed."""
        ran = await self._store.remember("retention.run", None)
        messages = await self._store.remember("retention.messages", None)
        keys = await self._store.remember("retention.keys", None)
        return RetentionReport(
            keep_days=self._keep_days,
            last_run_unix_ms=ran,
            removed_messages=messages or 0,
            removed_keys=keys or 0,
        )

    async def _reclaim(self) -> None:
        """Delete what boxes that were given up hold; the next run of upkeep makes up for a stop half-way."""
        resume: int | None = 0
        while resume is not None:
            resume = (await self._store.sweep(None, 0, resume)).resume
