# Generated from schemas/operations.json by tools/generate.py; do not edit.

"""One method for each operation: from the request, or its fields, to the response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from mail4agent_api.mail import (
    AckManyRequest,
    AckManyResponse,
    AckRequest,
    AckResponse,
    Address,
    AuditPage,
    AuditRequest,
    Checkup,
    CheckupRequest,
    Directory,
    DirectoryRequest,
    Done,
    Flow,
    FlowRequest,
    Health,
    InboxOfRequest,
    InboxPage,
    InboxRequest,
    IssuedSecret,
    IssuedSession,
    ListenRequest,
    ListenerGetRequest,
    ListenerList,
    ListenerListRequest,
    ListenerPage,
    ListenerRemoveRequest,
    ListenerRetryRequest,
    ListenerSetRequest,
    Listening,
    Message,
    MessageGetRequest,
    MessagePurgeRequest,
    MessageRef,
    ParticipantAddress,
    ParticipantList,
    ParticipantListRequest,
    ParticipantPermitRequest,
    ParticipantPurgeRequest,
    ParticipantRecord,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
    Position,
    PurgeReport,
    RetentionReport,
    RetentionRequest,
    RoomCreateRequest,
    RoomList,
    RoomListRequest,
    RoomMemberRequest,
    RoomMembers,
    RoomMembersRequest,
    RoomRemoveRequest,
    SearchPage,
    SearchRequest,
    SendManyRequest,
    SendManyResponse,
    SendRequest,
    SendResponse,
    SentPage,
    SentRequest,
    SessionIssueRequest,
    SettingList,
    SettingsRequest,
    Status,
    StatusRequest,
    ThreadPage,
    ThreadRequest,
    Told,
    ToldRequest,
    UnreadCount,
    UnreadCountRequest,
    WaitRequest,
    WaitResult,
    WhoAmI,
    WhoAmIRequest,
)
from mail4agent_api._wire import WireModel
from mail4agent_client.arguments import address, listed, participant, position, request_of

if TYPE_CHECKING:
    from mail4agent_api.mailbox import MailboxList, MailboxListRequest, MailboxShowRequest, MailboxText
    from mail4agent_api.frontdoor import (
        FrontdoorBriefs,
        FrontdoorCloseRequest,
        FrontdoorExtractRequest,
        FrontdoorExtracted,
        FrontdoorGetRequest,
        FrontdoorIngestRequest,
        FrontdoorItem,
        FrontdoorList,
        FrontdoorListRequest,
        FrontdoorMoved,
        FrontdoorNeedsInfoRequest,
        FrontdoorNextRequest,
        FrontdoorReceipt,
        FrontdoorReconcileRequest,
        FrontdoorReconciled,
        FrontdoorRecord,
        FrontdoorReopenRequest,
        FrontdoorTriagedRequest,
        IngestedFile,
    )
    from mail4agent_api.note import (
        NoteEventsRequest,
        NoteJournal,
        NoteJournalRequest,
        NotePresentations,
        NoteReceipt,
        NoteRequest,
        NoteRuns,
        NoteRunsRequest,
        NoteStanding,
        NoteStandingRequest,
        TurnStarted,
    )
    from mail4agent_api.outbox import (
        DraftArguments,
        DraftNamed,
        OutboxDraft,
        OutboxEditRequest,
        OutboxEntry,
        OutboxGetRequest,
        OutboxList,
        OutboxListRequest,
        OutboxRejectRequest,
        OutboxRejected,
        OutboxReleaseRequest,
        OutboxReleased,
        OutboxSettleRequest,
        OutboxStageRequest,
        OutboxStaged,
        OutboxSupersedeRequest,
        OutboxTally,
        OutboxTallyRequest,
        OutboxWithdrawRequest,
        StampedTaint,
    )

R = TypeVar("R", bound=WireModel)


class AsyncMethods(ABC):
    """Every operation as a coroutine."""

    @abstractmethod
    async def _ask(self, operation: str, response: type[R], request: WireModel | None) -> R:
        """Carry out one operation."""

    @overload
    async def send(self, request: SendRequest, /) -> SendResponse: ...
    @overload
    async def send(
        self,
        /,
        *,
        to: Address | str,
        subject: str,
        body: str,
        reply_to: str | None = None,
        correlation: str | None = None,
        refs: Sequence[MessageRef] = (),
        idempotency_key: str | None = None,
        allow_dead: bool = False,
    ) -> SendResponse: ...
    async def send(self, request: SendRequest | None = None, /, **fields: Any) -> SendResponse:
        """Post one message; with an idempotency key a repeat gives the first answer.

        Raises UnknownParticipantError, UnknownRoomError, UnknownSessionError, SessionNotLiveError, UnknownMessageError, NotAddressedToYouError, PermissionDeniedError, IdempotencyConflictError.
        """
        return await self._ask(
            "mail.send", SendResponse, request_of(SendRequest, request, fields, to=address, refs=listed)
        )

    @overload
    async def send_many(self, request: SendManyRequest, /) -> SendManyResponse: ...
    @overload
    async def send_many(self, /, *, messages: Sequence[SendRequest]) -> SendManyResponse: ...
    async def send_many(self, request: SendManyRequest | None = None, /, **fields: Any) -> SendManyResponse:
        """Post up to 100 messages in one commit; each has its own outcome.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.send_many", SendManyResponse, request_of(SendManyRequest, request, fields, messages=listed)
        )

    @overload
    async def inbox(self, request: InboxRequest, /) -> InboxPage: ...
    @overload
    async def inbox(
        self,
        /,
        *,
        since_unix_ms: int | None = None,
        limit: int = 50,
        wait_secs: int | None = None,
        after: Position | Message | None = None,
        before: Position | Message | None = None,
        order: Literal["oldest", "newest"] = "oldest",
        unread_only: bool = False,
        thread: str | None = None,
        sent_by: str | None = None,
        room: str | None = None,
        correlation: str | None = None,
        max_bytes: int = 1048576,
    ) -> InboxPage: ...
    async def inbox(self, request: InboxRequest | None = None, /, **fields: Any) -> InboxPage:
        """Read one page of the caller's inbox, waiting for mail when asked to.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.inbox",
            InboxPage,
            request_of(InboxRequest, request, fields, after=position, before=position),
        )

    @overload
    async def wait(self, request: WaitRequest, /) -> WaitResult: ...
    @overload
    async def wait(
        self, /, *, after: Position | Message | None = None, wait_secs: int = 25
    ) -> WaitResult: ...
    async def wait(self, request: WaitRequest | None = None, /, **fields: Any) -> WaitResult:
        """Wait until mail that is not the caller's own stands after a position.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.wait", WaitResult, request_of(WaitRequest, request, fields, after=position)
        )

    @overload
    async def told(self, request: ToldRequest, /) -> Told: ...
    @overload
    async def told(self, /, *, limit: int = 16) -> Told: ...
    async def told(self, request: ToldRequest | None = None, /, **fields: Any) -> Told:
        """Tell the caller of unread mail that it was not told of before, once.

        Raises PermissionDeniedError.
        """
        return await self._ask("mail.told", Told, request_of(ToldRequest, request, fields))

    @overload
    async def ack(self, request: AckRequest, /) -> AckResponse: ...
    @overload
    async def ack(self, /, *, message_id: str) -> AckResponse: ...
    async def ack(self, request: AckRequest | None = None, /, **fields: Any) -> AckResponse:
        """Acknowledge one message; a repeat gives the first acknowledgement.

        Raises UnknownMessageError, NotAddressedToYouError, PermissionDeniedError.
        """
        return await self._ask("mail.ack", AckResponse, request_of(AckRequest, request, fields))

    @overload
    async def ack_many(self, request: AckManyRequest, /) -> AckManyResponse: ...
    @overload
    async def ack_many(self, /, *, message_ids: Sequence[str]) -> AckManyResponse: ...
    async def ack_many(self, request: AckManyRequest | None = None, /, **fields: Any) -> AckManyResponse:
        """Acknowledge up to 256 messages in one commit; each has its own outcome.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.ack_many", AckManyResponse, request_of(AckManyRequest, request, fields, message_ids=listed)
        )

    @overload
    async def get(self, request: MessageGetRequest, /) -> Message: ...
    @overload
    async def get(self, /, *, message_id: str) -> Message: ...
    async def get(self, request: MessageGetRequest | None = None, /, **fields: Any) -> Message:
        """Read one message that the caller may read or wrote.

        Raises UnknownMessageError, NotAddressedToYouError, PermissionDeniedError.
        """
        return await self._ask("mail.get", Message, request_of(MessageGetRequest, request, fields))

    @overload
    async def unread(self, request: UnreadCountRequest, /) -> UnreadCount: ...
    @overload
    async def unread(self, /, *, target: ParticipantAddress | str) -> UnreadCount: ...
    async def unread(self, request: UnreadCountRequest | None = None, /, **fields: Any) -> UnreadCount:
        """Count what a participant has not acknowledged: oneself, or for an operator anyone.

        Raises UnknownParticipantError, UnknownSessionError, PermissionDeniedError.
        """
        return await self._ask(
            "mail.unread", UnreadCount, request_of(UnreadCountRequest, request, fields, target=participant)
        )

    @overload
    async def thread(self, request: ThreadRequest, /) -> ThreadPage: ...
    @overload
    async def thread(
        self, /, *, message_id: str, limit: int = 50, after: Position | Message | None = None
    ) -> ThreadPage: ...
    async def thread(self, request: ThreadRequest | None = None, /, **fields: Any) -> ThreadPage:
        """Read the thread of a message, oldest first.

        Raises UnknownMessageError, NotAddressedToYouError, PermissionDeniedError.
        """
        return await self._ask(
            "mail.thread", ThreadPage, request_of(ThreadRequest, request, fields, after=position)
        )

    @overload
    async def search(self, request: SearchRequest, /) -> SearchPage: ...
    @overload
    async def search(
        self,
        /,
        *,
        query: str,
        limit: int = 20,
        before: Position | Message | None = None,
        room: str | None = None,
        sent_by: str | None = None,
    ) -> SearchPage: ...
    async def search(self, request: SearchRequest | None = None, /, **fields: Any) -> SearchPage:
        """Find messages by words and phrases, newest first.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.search", SearchPage, request_of(SearchRequest, request, fields, before=position)
        )

    @overload
    async def sent(self, request: SentRequest, /) -> SentPage: ...
    @overload
    async def sent(self, /, *, limit: int = 50, before: Position | Message | None = None) -> SentPage: ...
    async def sent(self, request: SentRequest | None = None, /, **fields: Any) -> SentPage:
        """List what the caller sent and who acknowledged it, newest first.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.sent", SentPage, request_of(SentRequest, request, fields, before=position)
        )

    async def whoami(self, request: WhoAmIRequest | None = None, /) -> WhoAmI:
        """Tell the caller its own address, label and rooms."""
        return await self._ask("mail.whoami", WhoAmI, WhoAmIRequest() if request is None else request)

    @overload
    async def status(self, request: StatusRequest, /) -> Status: ...
    @overload
    async def status(
        self, /, *, working_on: str | None = None, role: str | None = None, parent: str | None = None
    ) -> Status: ...
    async def status(self, request: StatusRequest | None = None, /, **fields: Any) -> Status:
        """Say what the calling session is doing; what is left out is cleared.

        Raises UnknownSessionError, PermissionDeniedError.
        """
        return await self._ask("mail.status", Status, request_of(StatusRequest, request, fields))

    async def session(self, request: SessionIssueRequest | None = None, /) -> IssuedSession:
        """Issue a session credential, where no kernel can vouch for a process.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.session", IssuedSession, SessionIssueRequest() if request is None else request
        )

    async def directory(self, request: DirectoryRequest | None = None, /) -> Directory:
        """List every account and room.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "mail.directory", Directory, DirectoryRequest() if request is None else request
        )

    @overload
    async def listen(self, request: ListenRequest, /) -> Listening: ...
    @overload
    async def listen(self, /, *, url: str | None, key: str | None = None) -> Listening: ...
    async def listen(self, request: ListenRequest | None = None, /, **fields: Any) -> Listening:
        """Have the calling session's own listener rung when mail comes for it, or stop that.

        Raises PermissionDeniedError.
        """
        return await self._ask("mail.listen", Listening, request_of(ListenRequest, request, fields))

    @overload
    async def mailbox_list(self, request: MailboxListRequest, /) -> MailboxList: ...
    @overload
    async def mailbox_list(
        self,
        /,
        *,
        to: str | None = None,
        all: bool = False,
        status: Literal["pending", "leased", "delivered", "dismissed", "dead"] | None = None,
        limit: int = 50,
    ) -> MailboxList: ...
    async def mailbox_list(self, request: MailboxListRequest | None = None, /, **fields: Any) -> MailboxList:
        """List what waits in the file mailboxes of this machine.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.mailbox import MailboxList, MailboxListRequest

        return await self._ask("mailbox.list", MailboxList, request_of(MailboxListRequest, request, fields))

    @overload
    async def mailbox_show(self, request: MailboxShowRequest, /) -> MailboxText: ...
    @overload
    async def mailbox_show(self, /, *, id: str) -> MailboxText: ...
    async def mailbox_show(self, request: MailboxShowRequest | None = None, /, **fields: Any) -> MailboxText:
        """Read one message of a file mailbox; it stays as it is.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.mailbox import MailboxShowRequest, MailboxText

        return await self._ask("mailbox.show", MailboxText, request_of(MailboxShowRequest, request, fields))

    @overload
    async def note_deliver(self, request: NoteRequest, /) -> NoteReceipt: ...
    @overload
    async def note_deliver(
        self,
        /,
        *,
        run: str,
        node: str,
        addressee: Literal["worker", "supervisor", "both"],
        text: str,
        criterion: str | None = None,
        deliver: Literal["live", "next"] = "live",
        persist: bool = True,
        idempotency_key: str | None = None,
    ) -> NoteReceipt: ...
    async def note_deliver(self, request: NoteRequest | None = None, /, **fields: Any) -> NoteReceipt:
        """Deliver a note to a node of a run, and say what became of it.

        Raises UnknownItemError, NotPendingError, IdempotencyConflictError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteReceipt, NoteRequest

        return await self._ask("note.deliver", NoteReceipt, request_of(NoteRequest, request, fields))

    @overload
    async def note_standing(self, request: NoteStandingRequest, /) -> NoteStanding: ...
    @overload
    async def note_standing(self, /, *, run: str, node: str) -> NoteStanding: ...
    async def note_standing(
        self, request: NoteStandingRequest | None = None, /, **fields: Any
    ) -> NoteStanding:
        """Say which notes stand for a node and which it still owes.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteStanding, NoteStandingRequest

        return await self._ask(
            "note.standing", NoteStanding, request_of(NoteStandingRequest, request, fields)
        )

    @overload
    async def note_events(self, request: NoteEventsRequest, /) -> NotePresentations: ...
    @overload
    async def note_events(self, /, *, run: str, events: Sequence[TurnStarted]) -> NotePresentations: ...
    async def note_events(
        self, request: NoteEventsRequest | None = None, /, **fields: Any
    ) -> NotePresentations:
        """Append turns of a run's conversations; returns the presentations that they show.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteEventsRequest, NotePresentations

        return await self._ask(
            "note.events", NotePresentations, request_of(NoteEventsRequest, request, fields, events=listed)
        )

    @overload
    async def note_journal(self, request: NoteJournalRequest, /) -> NoteJournal: ...
    @overload
    async def note_journal(self, /, *, run: str, after: int = 0, limit: int = 100) -> NoteJournal: ...
    async def note_journal(self, request: NoteJournalRequest | None = None, /, **fields: Any) -> NoteJournal:
        """Read records of a run's journal.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteJournal, NoteJournalRequest

        return await self._ask("note.journal", NoteJournal, request_of(NoteJournalRequest, request, fields))

    @overload
    async def note_runs(self, request: NoteRunsRequest, /) -> NoteRuns: ...
    @overload
    async def note_runs(self, /, *, after: str | None = None, limit: int = 100) -> NoteRuns: ...
    async def note_runs(self, request: NoteRunsRequest | None = None, /, **fields: Any) -> NoteRuns:
        """List runs by name.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.note import NoteRuns, NoteRunsRequest

        return await self._ask("note.runs", NoteRuns, request_of(NoteRunsRequest, request, fields))

    @overload
    async def admin_participant(self, request: ParticipantRegistration, /) -> IssuedSecret: ...
    @overload
    async def admin_participant(
        self,
        /,
        *,
        id: str,
        label: str | None = None,
        may_send: bool = False,
        may_read: bool = False,
        operator: bool = False,
        attestation: Literal["inherit", "required", "preferred", "off"] = "inherit",
    ) -> IssuedSecret: ...
    async def admin_participant(
        self, request: ParticipantRegistration | None = None, /, **fields: Any
    ) -> IssuedSecret:
        """Register an account and show its secret once.

        Raises AlreadyExistsError, IdRetiredError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant", IssuedSecret, request_of(ParticipantRegistration, request, fields)
        )

    @overload
    async def admin_participant_rotate(self, request: ParticipantRotateRequest, /) -> IssuedSecret: ...
    @overload
    async def admin_participant_rotate(self, /, *, id: str) -> IssuedSecret: ...
    async def admin_participant_rotate(
        self, request: ParticipantRotateRequest | None = None, /, **fields: Any
    ) -> IssuedSecret:
        """Replace an account's secret; the old one is dead at once.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant.rotate", IssuedSecret, request_of(ParticipantRotateRequest, request, fields)
        )

    @overload
    async def admin_participant_revoke(self, request: ParticipantRevokeRequest, /) -> Done: ...
    @overload
    async def admin_participant_revoke(self, /, *, id: str) -> Done: ...
    async def admin_participant_revoke(
        self, request: ParticipantRevokeRequest | None = None, /, **fields: Any
    ) -> Done:
        """Kill an account's secret.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant.revoke", Done, request_of(ParticipantRevokeRequest, request, fields)
        )

    @overload
    async def admin_participant_remove(self, request: ParticipantRemoveRequest, /) -> Done: ...
    @overload
    async def admin_participant_remove(self, /, *, id: str) -> Done: ...
    async def admin_participant_remove(
        self, request: ParticipantRemoveRequest | None = None, /, **fields: Any
    ) -> Done:
        """Remove an account and retire its id.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant.remove", Done, request_of(ParticipantRemoveRequest, request, fields)
        )

    @overload
    async def admin_participant_purge(self, request: ParticipantPurgeRequest, /) -> PurgeReport: ...
    @overload
    async def admin_participant_purge(self, /, *, id: str) -> PurgeReport: ...
    async def admin_participant_purge(
        self, request: ParticipantPurgeRequest | None = None, /, **fields: Any
    ) -> PurgeReport:
        """Delete a removed account with its mail and free its id.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant.purge", PurgeReport, request_of(ParticipantPurgeRequest, request, fields)
        )

    @overload
    async def admin_participant_permit(self, request: ParticipantPermitRequest, /) -> ParticipantRecord: ...
    @overload
    async def admin_participant_permit(
        self,
        /,
        *,
        id: str,
        grant: Sequence[
            Literal[
                "mail:send",
                "mail:read",
                "mail:operator",
                "outbox:stage",
                "outbox:stamp",
                "outbox:review",
                "frontdoor:drain",
                "frontdoor:extract",
                "frontdoor:brief",
                "frontdoor:review",
                "note:deliver",
                "note:produce",
                "note:read",
                "mailbox:read",
            ]
        ] = (),
        revoke: Sequence[
            Literal[
                "mail:send",
                "mail:read",
                "mail:operator",
                "outbox:stage",
                "outbox:stamp",
                "outbox:review",
                "frontdoor:drain",
                "frontdoor:extract",
                "frontdoor:brief",
                "frontdoor:review",
                "note:deliver",
                "note:produce",
                "note:read",
                "mailbox:read",
            ]
        ] = (),
        both: bool = False,
        attestation: Literal["inherit", "required", "preferred", "off"] | None = None,
    ) -> ParticipantRecord: ...
    async def admin_participant_permit(
        self, request: ParticipantPermitRequest | None = None, /, **fields: Any
    ) -> ParticipantRecord:
        """Grant and revoke capabilities, and set the attestation policy.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant.permit",
            ParticipantRecord,
            request_of(ParticipantPermitRequest, request, fields, grant=listed, revoke=listed),
        )

    @overload
    async def admin_participant_list(self, request: ParticipantListRequest, /) -> ParticipantList: ...
    @overload
    async def admin_participant_list(
        self, /, *, after: str | None = None, limit: int = 256
    ) -> ParticipantList: ...
    async def admin_participant_list(
        self, request: ParticipantListRequest | None = None, /, **fields: Any
    ) -> ParticipantList:
        """List accounts with their capabilities.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "admin.participant.list", ParticipantList, request_of(ParticipantListRequest, request, fields)
        )

    @overload
    async def admin_room(self, request: RoomCreateRequest, /) -> Done: ...
    @overload
    async def admin_room(self, /, *, id: str, posting: Literal["open", "members"] = "open") -> Done: ...
    async def admin_room(self, request: RoomCreateRequest | None = None, /, **fields: Any) -> Done:
        """Create a room.

        Raises AlreadyExistsError, PermissionDeniedError.
        """
        return await self._ask("admin.room", Done, request_of(RoomCreateRequest, request, fields))

    @overload
    async def admin_room_remove(self, request: RoomRemoveRequest, /) -> Done: ...
    @overload
    async def admin_room_remove(self, /, *, room: str) -> Done: ...
    async def admin_room_remove(self, request: RoomRemoveRequest | None = None, /, **fields: Any) -> Done:
        """Remove a room with its mail.

        Raises UnknownRoomError, PermissionDeniedError.
        """
        return await self._ask("admin.room.remove", Done, request_of(RoomRemoveRequest, request, fields))

    @overload
    async def admin_room_list(self, request: RoomListRequest, /) -> RoomList: ...
    @overload
    async def admin_room_list(self, /, *, after: str | None = None, limit: int = 256) -> RoomList: ...
    async def admin_room_list(self, request: RoomListRequest | None = None, /, **fields: Any) -> RoomList:
        """List rooms.

        Raises PermissionDeniedError.
        """
        return await self._ask("admin.room.list", RoomList, request_of(RoomListRequest, request, fields))

    @overload
    async def admin_room_members(self, request: RoomMembersRequest, /) -> RoomMembers: ...
    @overload
    async def admin_room_members(
        self, /, *, room: str, after: str | None = None, limit: int = 256
    ) -> RoomMembers: ...
    async def admin_room_members(
        self, request: RoomMembersRequest | None = None, /, **fields: Any
    ) -> RoomMembers:
        """List the members of a room.

        Raises UnknownRoomError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.room.members", RoomMembers, request_of(RoomMembersRequest, request, fields)
        )

    @overload
    async def admin_room_member_add(self, request: RoomMemberRequest, /) -> Done: ...
    @overload
    async def admin_room_member_add(self, /, *, room: str, participant: str) -> Done: ...
    async def admin_room_member_add(self, request: RoomMemberRequest | None = None, /, **fields: Any) -> Done:
        """Put an account into a room.

        Raises UnknownRoomError, UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask("admin.room.member.add", Done, request_of(RoomMemberRequest, request, fields))

    @overload
    async def admin_room_member_remove(self, request: RoomMemberRequest, /) -> Done: ...
    @overload
    async def admin_room_member_remove(self, /, *, room: str, participant: str) -> Done: ...
    async def admin_room_member_remove(
        self, request: RoomMemberRequest | None = None, /, **fields: Any
    ) -> Done:
        """Take an account out of a room.

        Raises UnknownRoomError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.room.member.remove", Done, request_of(RoomMemberRequest, request, fields)
        )

    @overload
    async def admin_listener(self, request: ListenerSetRequest, /) -> Done: ...
    @overload
    async def admin_listener(self, /, *, account: str, url: str, key: str | None = None) -> Done: ...
    async def admin_listener(self, request: ListenerSetRequest | None = None, /, **fields: Any) -> Done:
        """Have a listener on this machine rung when mail comes for an account.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask("admin.listener", Done, request_of(ListenerSetRequest, request, fields))

    @overload
    async def admin_listener_remove(self, request: ListenerRemoveRequest, /) -> Done: ...
    @overload
    async def admin_listener_remove(self, /, *, account: str, session: str | None = None) -> Done: ...
    async def admin_listener_remove(
        self, request: ListenerRemoveRequest | None = None, /, **fields: Any
    ) -> Done:
        """End an account's listener, or that of a session of it.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.listener.remove", Done, request_of(ListenerRemoveRequest, request, fields)
        )

    @overload
    async def admin_listener_get(self, request: ListenerGetRequest, /) -> ListenerList: ...
    @overload
    async def admin_listener_get(self, /, *, account: str) -> ListenerList: ...
    async def admin_listener_get(
        self, request: ListenerGetRequest | None = None, /, **fields: Any
    ) -> ListenerList:
        """Show an account's listener and its sessions' own, and what became of their rings.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.listener.get", ListenerList, request_of(ListenerGetRequest, request, fields)
        )

    @overload
    async def admin_listener_list(self, request: ListenerListRequest, /) -> ListenerPage: ...
    @overload
    async def admin_listener_list(
        self,
        /,
        *,
        state: Literal["all", "failing", "dead"] = "failing",
        after: ParticipantAddress | str | None = None,
        limit: int = 50,
    ) -> ListenerPage: ...
    async def admin_listener_list(
        self, request: ListenerListRequest | None = None, /, **fields: Any
    ) -> ListenerPage:
        """List the listeners that fail or are dead, or all, with what waits for them and since when they fail.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "admin.listener.list",
            ListenerPage,
            request_of(ListenerListRequest, request, fields, after=participant),
        )

    @overload
    async def admin_listener_retry(self, request: ListenerRetryRequest, /) -> Listening: ...
    @overload
    async def admin_listener_retry(self, /, *, account: str, session: str | None = None) -> Listening: ...
    async def admin_listener_retry(
        self, request: ListenerRetryRequest | None = None, /, **fields: Any
    ) -> Listening:
        """Try a listener again at once, as when it is set again.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.listener.retry", Listening, request_of(ListenerRetryRequest, request, fields)
        )

    @overload
    async def admin_inbox(self, request: InboxOfRequest, /) -> InboxPage: ...
    @overload
    async def admin_inbox(
        self,
        /,
        *,
        address: ParticipantAddress | str,
        limit: int = 50,
        after: Position | Message | None = None,
        unread_only: bool = False,
    ) -> InboxPage: ...
    async def admin_inbox(self, request: InboxOfRequest | None = None, /, **fields: Any) -> InboxPage:
        """Read one page of a named participant's inbox.

        Raises UnknownParticipantError, UnknownSessionError, PermissionDeniedError.
        """
        return await self._ask(
            "admin.inbox",
            InboxPage,
            request_of(InboxOfRequest, request, fields, address=participant, after=position),
        )

    @overload
    async def admin_message_purge(self, request: MessagePurgeRequest, /) -> Done: ...
    @overload
    async def admin_message_purge(self, /, *, message_id: str) -> Done: ...
    async def admin_message_purge(self, request: MessagePurgeRequest | None = None, /, **fields: Any) -> Done:
        """Delete one message.

        Raises UnknownMessageError, PermissionDeniedError.
        """
        return await self._ask("admin.message.purge", Done, request_of(MessagePurgeRequest, request, fields))

    @overload
    async def admin_retention(self, request: RetentionRequest, /) -> RetentionReport: ...
    @overload
    async def admin_retention(self, /, *, run: bool = False) -> RetentionReport: ...
    async def admin_retention(
        self, request: RetentionRequest | None = None, /, **fields: Any
    ) -> RetentionReport:
        """Report on retention, or run it now.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "admin.retention", RetentionReport, request_of(RetentionRequest, request, fields)
        )

    @overload
    async def admin_audit(self, request: AuditRequest, /) -> AuditPage: ...
    @overload
    async def admin_audit(self, /, *, before: int | None = None, limit: int = 50) -> AuditPage: ...
    async def admin_audit(self, request: AuditRequest | None = None, /, **fields: Any) -> AuditPage:
        """List what operators did, newest first.

        Raises PermissionDeniedError.
        """
        return await self._ask("admin.audit", AuditPage, request_of(AuditRequest, request, fields))

    @overload
    async def admin_flow(self, request: FlowRequest, /) -> Flow: ...
    @overload
    async def admin_flow(self, /, *, secs: int = 3600, limit: int = 50) -> Flow: ...
    async def admin_flow(self, request: FlowRequest | None = None, /, **fields: Any) -> Flow:
        """Count who wrote to whom of late, those who wrote most first.

        Raises PermissionDeniedError.
        """
        return await self._ask("admin.flow", Flow, request_of(FlowRequest, request, fields))

    @overload
    async def admin_checkup(self, request: CheckupRequest, /) -> Checkup: ...
    @overload
    async def admin_checkup(self, /, *, database: bool = False) -> Checkup: ...
    async def admin_checkup(self, request: CheckupRequest | None = None, /, **fields: Any) -> Checkup:
        """Look the data folder over as doctor does, the whole database when asked to.

        Raises PermissionDeniedError.
        """
        return await self._ask("admin.checkup", Checkup, request_of(CheckupRequest, request, fields))

    async def admin_settings(self, request: SettingsRequest | None = None, /) -> SettingList:
        """List the settings in force and where each comes from; no secret is shown.

        Raises PermissionDeniedError.
        """
        return await self._ask(
            "admin.settings", SettingList, SettingsRequest() if request is None else request
        )

    async def health(self) -> Health:
        """Tell whether the daemon can write and read."""
        return await self._ask("health", Health, None)

    @overload
    async def outbox_stage(self, request: OutboxStageRequest, /) -> OutboxStaged: ...
    @overload
    async def outbox_stage(
        self,
        /,
        *,
        tool: str,
        args: DraftArguments,
        workspace: str | None = None,
        taint: StampedTaint | None = None,
        idempotency_key: str | None = None,
    ) -> OutboxStaged: ...
    async def outbox_stage(self, request: OutboxStageRequest | None = None, /, **fields: Any) -> OutboxStaged:
        """Stage a tool call as a draft that a person reads and releases.

        Raises IdempotencyConflictError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxStageRequest, OutboxStaged

        return await self._ask("outbox.stage", OutboxStaged, request_of(OutboxStageRequest, request, fields))

    @overload
    async def outbox_list(self, request: OutboxListRequest, /) -> OutboxList: ...
    @overload
    async def outbox_list(
        self,
        /,
        *,
        status: Literal["pending", "releasing", "sent", "rejected", "withdrawn", "superseded"] | None = None,
        all: bool = False,
        kind: Literal["message", "publish"] | None = None,
        tool: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> OutboxList: ...
    async def outbox_list(self, request: OutboxListRequest | None = None, /, **fields: Any) -> OutboxList:
        """List drafts: one's own, or with outbox:review everybody's.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxList, OutboxListRequest

        return await self._ask("outbox.list", OutboxList, request_of(OutboxListRequest, request, fields))

    @overload
    async def outbox_get(self, request: OutboxGetRequest, /) -> OutboxDraft: ...
    @overload
    async def outbox_get(self, /, *, id: str) -> OutboxDraft: ...
    async def outbox_get(self, request: OutboxGetRequest | None = None, /, **fields: Any) -> OutboxDraft:
        """Read a whole draft: its arguments, files, warnings and digest.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxDraft, OutboxGetRequest

        return await self._ask("outbox.get", OutboxDraft, request_of(OutboxGetRequest, request, fields))

    @overload
    async def outbox_withdraw(self, request: OutboxWithdrawRequest, /) -> OutboxEntry: ...
    @overload
    async def outbox_withdraw(self, /, *, id: str, reason: str | None = None) -> OutboxEntry: ...
    async def outbox_withdraw(
        self, request: OutboxWithdrawRequest | None = None, /, **fields: Any
    ) -> OutboxEntry:
        """Take back a draft of one's own that nobody has decided.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxEntry, OutboxWithdrawRequest

        return await self._ask(
            "outbox.withdraw", OutboxEntry, request_of(OutboxWithdrawRequest, request, fields)
        )

    @overload
    async def outbox_supersede(self, request: OutboxSupersedeRequest, /) -> OutboxStaged: ...
    @overload
    async def outbox_supersede(
        self,
        /,
        *,
        id: str,
        args: DraftArguments,
        workspace: str | None = None,
        taint: StampedTaint | None = None,
        idempotency_key: str | None = None,
    ) -> OutboxStaged: ...
    async def outbox_supersede(
        self, request: OutboxSupersedeRequest | None = None, /, **fields: Any
    ) -> OutboxStaged:
        """Stage a draft in the place of one of one's own that nobody has decided.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, IdempotencyConflictError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxStaged, OutboxSupersedeRequest

        return await self._ask(
            "outbox.supersede", OutboxStaged, request_of(OutboxSupersedeRequest, request, fields)
        )

    @overload
    async def outbox_edit(self, request: OutboxEditRequest, /) -> OutboxDraft: ...
    @overload
    async def outbox_edit(self, /, *, id: str, digest: str, args: DraftArguments) -> OutboxDraft: ...
    async def outbox_edit(self, request: OutboxEditRequest | None = None, /, **fields: Any) -> OutboxDraft:
        """Change the arguments of a draft; it is read again before it is released.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, DraftChangedError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxDraft, OutboxEditRequest

        return await self._ask("outbox.edit", OutboxDraft, request_of(OutboxEditRequest, request, fields))

    @overload
    async def outbox_release(self, request: OutboxReleaseRequest, /) -> OutboxReleased: ...
    @overload
    async def outbox_release(self, /, *, id: str, digest: str) -> OutboxReleased: ...
    async def outbox_release(
        self, request: OutboxReleaseRequest | None = None, /, **fields: Any
    ) -> OutboxReleased:
        """Release the draft that was read; it leaves once.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, DraftChangedError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxReleaseRequest, OutboxReleased

        return await self._ask(
            "outbox.release", OutboxReleased, request_of(OutboxReleaseRequest, request, fields)
        )

    @overload
    async def outbox_reject(self, request: OutboxRejectRequest, /) -> OutboxRejected: ...
    @overload
    async def outbox_reject(self, /, *, drafts: Sequence[DraftNamed], reason: str) -> OutboxRejected: ...
    async def outbox_reject(
        self, request: OutboxRejectRequest | None = None, /, **fields: Any
    ) -> OutboxRejected:
        """Reject drafts for a reason; each has an outcome of its own.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxRejectRequest, OutboxRejected

        return await self._ask(
            "outbox.reject", OutboxRejected, request_of(OutboxRejectRequest, request, fields, drafts=listed)
        )

    @overload
    async def outbox_settle(self, request: OutboxSettleRequest, /) -> OutboxEntry: ...
    @overload
    async def outbox_settle(self, /, *, id: str, sent: bool) -> OutboxEntry: ...
    async def outbox_settle(
        self, request: OutboxSettleRequest | None = None, /, **fields: Any
    ) -> OutboxEntry:
        """Say whether a draft left whose outcome is unknown.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxEntry, OutboxSettleRequest

        return await self._ask("outbox.settle", OutboxEntry, request_of(OutboxSettleRequest, request, fields))

    async def outbox_tally(self, request: OutboxTallyRequest | None = None, /) -> OutboxTally:
        """Count how many released messages left as they were drafted.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxTally, OutboxTallyRequest

        return await self._ask(
            "outbox.tally", OutboxTally, OutboxTallyRequest() if request is None else request
        )

    @overload
    async def frontdoor_ingest(self, request: FrontdoorIngestRequest, /) -> FrontdoorReceipt: ...
    @overload
    async def frontdoor_ingest(
        self, /, *, box_epoch: str, record: FrontdoorRecord, files: Sequence[IngestedFile] = ()
    ) -> FrontdoorReceipt: ...
    async def frontdoor_ingest(
        self, request: FrontdoorIngestRequest | None = None, /, **fields: Any
    ) -> FrontdoorReceipt:
        """Take in one drained submission with its files; the same one again gives the same number.

        Raises AlreadyExistsError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorIngestRequest, FrontdoorReceipt

        return await self._ask(
            "frontdoor.ingest",
            FrontdoorReceipt,
            request_of(FrontdoorIngestRequest, request, fields, files=listed),
        )

    @overload
    async def frontdoor_list(self, request: FrontdoorListRequest, /) -> FrontdoorList: ...
    @overload
    async def frontdoor_list(
        self,
        /,
        *,
        state: Literal[
            "drained",
            "extracted",
            "extraction_failed",
            "triaged",
            "awaiting_me",
            "needs_info",
            "answered",
            "closed",
        ]
        | None = None,
        after: int = 0,
        limit: int = 50,
    ) -> FrontdoorList: ...
    async def frontdoor_list(
        self, request: FrontdoorListRequest | None = None, /, **fields: Any
    ) -> FrontdoorList:
        """List requests, and the files that could not be read as one.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorList, FrontdoorListRequest

        return await self._ask(
            "frontdoor.list", FrontdoorList, request_of(FrontdoorListRequest, request, fields)
        )

    @overload
    async def frontdoor_get(self, request: FrontdoorGetRequest, /) -> FrontdoorItem: ...
    @overload
    async def frontdoor_get(self, /, *, seq: int) -> FrontdoorItem: ...
    async def frontdoor_get(
        self, request: FrontdoorGetRequest | None = None, /, **fields: Any
    ) -> FrontdoorItem:
        """Read one request whole, prose and all; for a person.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorGetRequest, FrontdoorItem

        return await self._ask(
            "frontdoor.get", FrontdoorItem, request_of(FrontdoorGetRequest, request, fields)
        )

    @overload
    async def frontdoor_next(self, request: FrontdoorNextRequest, /) -> FrontdoorBriefs: ...
    @overload
    async def frontdoor_next(self, /, *, limit: int = 5) -> FrontdoorBriefs: ...
    async def frontdoor_next(
        self, request: FrontdoorNextRequest | None = None, /, **fields: Any
    ) -> FrontdoorBriefs:
        """Give briefs of extracted requests; whoever is given one stages with untrusted taint.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorBriefs, FrontdoorNextRequest

        return await self._ask(
            "frontdoor.next", FrontdoorBriefs, request_of(FrontdoorNextRequest, request, fields)
        )

    @overload
    async def frontdoor_extract(self, request: FrontdoorExtractRequest, /) -> FrontdoorExtracted: ...
    @overload
    async def frontdoor_extract(
        self, /, *, seq: int | None = None, retry: bool = False, limit: int = 1
    ) -> FrontdoorExtracted: ...
    async def frontdoor_extract(
        self, request: FrontdoorExtractRequest | None = None, /, **fields: Any
    ) -> FrontdoorExtracted:
        """Have the prose of requests read by the quarantined extractor.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorExtractRequest, FrontdoorExtracted

        return await self._ask(
            "frontdoor.extract", FrontdoorExtracted, request_of(FrontdoorExtractRequest, request, fields)
        )

    @overload
    async def frontdoor_triaged(self, request: FrontdoorTriagedRequest, /) -> FrontdoorMoved: ...
    @overload
    async def frontdoor_triaged(self, /, *, seq: int, drafts: Sequence[str] = ()) -> FrontdoorMoved: ...
    async def frontdoor_triaged(
        self, request: FrontdoorTriagedRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Report the drafts that a run staged for a request.

        Raises UnknownItemError, NotPendingError, AlreadyExistsError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorMoved, FrontdoorTriagedRequest

        return await self._ask(
            "frontdoor.triaged",
            FrontdoorMoved,
            request_of(FrontdoorTriagedRequest, request, fields, drafts=listed),
        )

    @overload
    async def frontdoor_needs_info(self, request: FrontdoorNeedsInfoRequest, /) -> FrontdoorMoved: ...
    @overload
    async def frontdoor_needs_info(self, /, *, seq: int, note: str | None = None) -> FrontdoorMoved: ...
    async def frontdoor_needs_info(
        self, request: FrontdoorNeedsInfoRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Park a request until its sender has said more.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorMoved, FrontdoorNeedsInfoRequest

        return await self._ask(
            "frontdoor.needs_info", FrontdoorMoved, request_of(FrontdoorNeedsInfoRequest, request, fields)
        )

    @overload
    async def frontdoor_close(self, request: FrontdoorCloseRequest, /) -> FrontdoorMoved: ...
    @overload
    async def frontdoor_close(self, /, *, seq: int, reason: str) -> FrontdoorMoved: ...
    async def frontdoor_close(
        self, request: FrontdoorCloseRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Close a request, with a reason.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorCloseRequest, FrontdoorMoved

        return await self._ask(
            "frontdoor.close", FrontdoorMoved, request_of(FrontdoorCloseRequest, request, fields)
        )

    @overload
    async def frontdoor_reopen(self, request: FrontdoorReopenRequest, /) -> FrontdoorMoved: ...
    @overload
    async def frontdoor_reopen(self, /, *, seq: int) -> FrontdoorMoved: ...
    async def frontdoor_reopen(
        self, request: FrontdoorReopenRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Take a request up again that was closed, triaged or parked.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorMoved, FrontdoorReopenRequest

        return await self._ask(
            "frontdoor.reopen", FrontdoorMoved, request_of(FrontdoorReopenRequest, request, fields)
        )

    async def frontdoor_reconcile(
        self, request: FrontdoorReconcileRequest | None = None, /
    ) -> FrontdoorReconciled:
        """Move every request whose drafts were decided.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorReconcileRequest, FrontdoorReconciled

        return await self._ask(
            "frontdoor.reconcile",
            FrontdoorReconciled,
            FrontdoorReconcileRequest() if request is None else request,
        )


class SyncMethods(ABC):
    """Every operation as a function."""

    @abstractmethod
    def _ask(self, operation: str, response: type[R], request: WireModel | None) -> R:
        """Carry out one operation."""

    @overload
    def send(self, request: SendRequest, /) -> SendResponse: ...
    @overload
    def send(
        self,
        /,
        *,
        to: Address | str,
        subject: str,
        body: str,
        reply_to: str | None = None,
        correlation: str | None = None,
        refs: Sequence[MessageRef] = (),
        idempotency_key: str | None = None,
        allow_dead: bool = False,
    ) -> SendResponse: ...
    def send(self, request: SendRequest | None = None, /, **fields: Any) -> SendResponse:
        """Post one message; with an idempotency key a repeat gives the first answer.

        Raises UnknownParticipantError, UnknownRoomError, UnknownSessionError, SessionNotLiveError, UnknownMessageError, NotAddressedToYouError, PermissionDeniedError, IdempotencyConflictError.
        """
        return self._ask(
            "mail.send", SendResponse, request_of(SendRequest, request, fields, to=address, refs=listed)
        )

    @overload
    def send_many(self, request: SendManyRequest, /) -> SendManyResponse: ...
    @overload
    def send_many(self, /, *, messages: Sequence[SendRequest]) -> SendManyResponse: ...
    def send_many(self, request: SendManyRequest | None = None, /, **fields: Any) -> SendManyResponse:
        """Post up to 100 messages in one commit; each has its own outcome.

        Raises PermissionDeniedError.
        """
        return self._ask(
            "mail.send_many", SendManyResponse, request_of(SendManyRequest, request, fields, messages=listed)
        )

    @overload
    def inbox(self, request: InboxRequest, /) -> InboxPage: ...
    @overload
    def inbox(
        self,
        /,
        *,
        since_unix_ms: int | None = None,
        limit: int = 50,
        wait_secs: int | None = None,
        after: Position | Message | None = None,
        before: Position | Message | None = None,
        order: Literal["oldest", "newest"] = "oldest",
        unread_only: bool = False,
        thread: str | None = None,
        sent_by: str | None = None,
        room: str | None = None,
        correlation: str | None = None,
        max_bytes: int = 1048576,
    ) -> InboxPage: ...
    def inbox(self, request: InboxRequest | None = None, /, **fields: Any) -> InboxPage:
        """Read one page of the caller's inbox, waiting for mail when asked to.

        Raises PermissionDeniedError.
        """
        return self._ask(
            "mail.inbox",
            InboxPage,
            request_of(InboxRequest, request, fields, after=position, before=position),
        )

    @overload
    def wait(self, request: WaitRequest, /) -> WaitResult: ...
    @overload
    def wait(self, /, *, after: Position | Message | None = None, wait_secs: int = 25) -> WaitResult: ...
    def wait(self, request: WaitRequest | None = None, /, **fields: Any) -> WaitResult:
        """Wait until mail that is not the caller's own stands after a position.

        Raises PermissionDeniedError.
        """
        return self._ask("mail.wait", WaitResult, request_of(WaitRequest, request, fields, after=position))

    @overload
    def told(self, request: ToldRequest, /) -> Told: ...
    @overload
    def told(self, /, *, limit: int = 16) -> Told: ...
    def told(self, request: ToldRequest | None = None, /, **fields: Any) -> Told:
        """Tell the caller of unread mail that it was not told of before, once.

        Raises PermissionDeniedError.
        """
        return self._ask("mail.told", Told, request_of(ToldRequest, request, fields))

    @overload
    def ack(self, request: AckRequest, /) -> AckResponse: ...
    @overload
    def ack(self, /, *, message_id: str) -> AckResponse: ...
    def ack(self, request: AckRequest | None = None, /, **fields: Any) -> AckResponse:
        """Acknowledge one message; a repeat gives the first acknowledgement.

        Raises UnknownMessageError, NotAddressedToYouError, PermissionDeniedError.
        """
        return self._ask("mail.ack", AckResponse, request_of(AckRequest, request, fields))

    @overload
    def ack_many(self, request: AckManyRequest, /) -> AckManyResponse: ...
    @overload
    def ack_many(self, /, *, message_ids: Sequence[str]) -> AckManyResponse: ...
    def ack_many(self, request: AckManyRequest | None = None, /, **fields: Any) -> AckManyResponse:
        """Acknowledge up to 256 messages in one commit; each has its own outcome.

        Raises PermissionDeniedError.
        """
        return self._ask(
            "mail.ack_many", AckManyResponse, request_of(AckManyRequest, request, fields, message_ids=listed)
        )

    @overload
    def get(self, request: MessageGetRequest, /) -> Message: ...
    @overload
    def get(self, /, *, message_id: str) -> Message: ...
    def get(self, request: MessageGetRequest | None = None, /, **fields: Any) -> Message:
        """Read one message that the caller may read or wrote.

        Raises UnknownMessageError, NotAddressedToYouError, PermissionDeniedError.
        """
        return self._ask("mail.get", Message, request_of(MessageGetRequest, request, fields))

    @overload
    def unread(self, request: UnreadCountRequest, /) -> UnreadCount: ...
    @overload
    def unread(self, /, *, target: ParticipantAddress | str) -> UnreadCount: ...
    def unread(self, request: UnreadCountRequest | None = None, /, **fields: Any) -> UnreadCount:
        """Count what a participant has not acknowledged: oneself, or for an operator anyone.

        Raises UnknownParticipantError, UnknownSessionError, PermissionDeniedError.
        """
        return self._ask(
            "mail.unread", UnreadCount, request_of(UnreadCountRequest, request, fields, target=participant)
        )

    @overload
    def thread(self, request: ThreadRequest, /) -> ThreadPage: ...
    @overload
    def thread(
        self, /, *, message_id: str, limit: int = 50, after: Position | Message | None = None
    ) -> ThreadPage: ...
    def thread(self, request: ThreadRequest | None = None, /, **fields: Any) -> ThreadPage:
        """Read the thread of a message, oldest first.

        Raises UnknownMessageError, NotAddressedToYouError, PermissionDeniedError.
        """
        return self._ask(
            "mail.thread", ThreadPage, request_of(ThreadRequest, request, fields, after=position)
        )

    @overload
    def search(self, request: SearchRequest, /) -> SearchPage: ...
    @overload
    def search(
        self,
        /,
        *,
        query: str,
        limit: int = 20,
        before: Position | Message | None = None,
        room: str | None = None,
        sent_by: str | None = None,
    ) -> SearchPage: ...
    def search(self, request: SearchRequest | None = None, /, **fields: Any) -> SearchPage:
        """Find messages by words and phrases, newest first.

        Raises PermissionDeniedError.
        """
        return self._ask(
            "mail.search", SearchPage, request_of(SearchRequest, request, fields, before=position)
        )

    @overload
    def sent(self, request: SentRequest, /) -> SentPage: ...
    @overload
    def sent(self, /, *, limit: int = 50, before: Position | Message | None = None) -> SentPage: ...
    def sent(self, request: SentRequest | None = None, /, **fields: Any) -> SentPage:
        """List what the caller sent and who acknowledged it, newest first.

        Raises PermissionDeniedError.
        """
        return self._ask("mail.sent", SentPage, request_of(SentRequest, request, fields, before=position))

    def whoami(self, request: WhoAmIRequest | None = None, /) -> WhoAmI:
        """Tell the caller its own address, label and rooms."""
        return self._ask("mail.whoami", WhoAmI, WhoAmIRequest() if request is None else request)

    @overload
    def status(self, request: StatusRequest, /) -> Status: ...
    @overload
    def status(
        self, /, *, working_on: str | None = None, role: str | None = None, parent: str | None = None
    ) -> Status: ...
    def status(self, request: StatusRequest | None = None, /, **fields: Any) -> Status:
        """Say what the calling session is doing; what is left out is cleared.

        Raises UnknownSessionError, PermissionDeniedError.
        """
        return self._ask("mail.status", Status, request_of(StatusRequest, request, fields))

    def session(self, request: SessionIssueRequest | None = None, /) -> IssuedSession:
        """Issue a session credential, where no kernel can vouch for a process.

        Raises PermissionDeniedError.
        """
        return self._ask("mail.session", IssuedSession, SessionIssueRequest() if request is None else request)

    def directory(self, request: DirectoryRequest | None = None, /) -> Directory:
        """List every account and room.

        Raises PermissionDeniedError.
        """
        return self._ask("mail.directory", Directory, DirectoryRequest() if request is None else request)

    @overload
    def listen(self, request: ListenRequest, /) -> Listening: ...
    @overload
    def listen(self, /, *, url: str | None, key: str | None = None) -> Listening: ...
    def listen(self, request: ListenRequest | None = None, /, **fields: Any) -> Listening:
        """Have the calling session's own listener rung when mail comes for it, or stop that.

        Raises PermissionDeniedError.
        """
        return self._ask("mail.listen", Listening, request_of(ListenRequest, request, fields))

    @overload
    def mailbox_list(self, request: MailboxListRequest, /) -> MailboxList: ...
    @overload
    def mailbox_list(
        self,
        /,
        *,
        to: str | None = None,
        all: bool = False,
        status: Literal["pending", "leased", "delivered", "dismissed", "dead"] | None = None,
        limit: int = 50,
    ) -> MailboxList: ...
    def mailbox_list(self, request: MailboxListRequest | None = None, /, **fields: Any) -> MailboxList:
        """List what waits in the file mailboxes of this machine.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.mailbox import MailboxList, MailboxListRequest

        return self._ask("mailbox.list", MailboxList, request_of(MailboxListRequest, request, fields))

    @overload
    def mailbox_show(self, request: MailboxShowRequest, /) -> MailboxText: ...
    @overload
    def mailbox_show(self, /, *, id: str) -> MailboxText: ...
    def mailbox_show(self, request: MailboxShowRequest | None = None, /, **fields: Any) -> MailboxText:
        """Read one message of a file mailbox; it stays as it is.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.mailbox import MailboxShowRequest, MailboxText

        return self._ask("mailbox.show", MailboxText, request_of(MailboxShowRequest, request, fields))

    @overload
    def note_deliver(self, request: NoteRequest, /) -> NoteReceipt: ...
    @overload
    def note_deliver(
        self,
        /,
        *,
        run: str,
        node: str,
        addressee: Literal["worker", "supervisor", "both"],
        text: str,
        criterion: str | None = None,
        deliver: Literal["live", "next"] = "live",
        persist: bool = True,
        idempotency_key: str | None = None,
    ) -> NoteReceipt: ...
    def note_deliver(self, request: NoteRequest | None = None, /, **fields: Any) -> NoteReceipt:
        """Deliver a note to a node of a run, and say what became of it.

        Raises UnknownItemError, NotPendingError, IdempotencyConflictError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteReceipt, NoteRequest

        return self._ask("note.deliver", NoteReceipt, request_of(NoteRequest, request, fields))

    @overload
    def note_standing(self, request: NoteStandingRequest, /) -> NoteStanding: ...
    @overload
    def note_standing(self, /, *, run: str, node: str) -> NoteStanding: ...
    def note_standing(self, request: NoteStandingRequest | None = None, /, **fields: Any) -> NoteStanding:
        """Say which notes stand for a node and which it still owes.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteStanding, NoteStandingRequest

        return self._ask("note.standing", NoteStanding, request_of(NoteStandingRequest, request, fields))

    @overload
    def note_events(self, request: NoteEventsRequest, /) -> NotePresentations: ...
    @overload
    def note_events(self, /, *, run: str, events: Sequence[TurnStarted]) -> NotePresentations: ...
    def note_events(self, request: NoteEventsRequest | None = None, /, **fields: Any) -> NotePresentations:
        """Append turns of a run's conversations; returns the presentations that they show.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteEventsRequest, NotePresentations

        return self._ask(
            "note.events", NotePresentations, request_of(NoteEventsRequest, request, fields, events=listed)
        )

    @overload
    def note_journal(self, request: NoteJournalRequest, /) -> NoteJournal: ...
    @overload
    def note_journal(self, /, *, run: str, after: int = 0, limit: int = 100) -> NoteJournal: ...
    def note_journal(self, request: NoteJournalRequest | None = None, /, **fields: Any) -> NoteJournal:
        """Read records of a run's journal.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.note import NoteJournal, NoteJournalRequest

        return self._ask("note.journal", NoteJournal, request_of(NoteJournalRequest, request, fields))

    @overload
    def note_runs(self, request: NoteRunsRequest, /) -> NoteRuns: ...
    @overload
    def note_runs(self, /, *, after: str | None = None, limit: int = 100) -> NoteRuns: ...
    def note_runs(self, request: NoteRunsRequest | None = None, /, **fields: Any) -> NoteRuns:
        """List runs by name.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.note import NoteRuns, NoteRunsRequest

        return self._ask("note.runs", NoteRuns, request_of(NoteRunsRequest, request, fields))

    @overload
    def admin_participant(self, request: ParticipantRegistration, /) -> IssuedSecret: ...
    @overload
    def admin_participant(
        self,
        /,
        *,
        id: str,
        label: str | None = None,
        may_send: bool = False,
        may_read: bool = False,
        operator: bool = False,
        attestation: Literal["inherit", "required", "preferred", "off"] = "inherit",
    ) -> IssuedSecret: ...
    def admin_participant(
        self, request: ParticipantRegistration | None = None, /, **fields: Any
    ) -> IssuedSecret:
        """Register an account and show its secret once.

        Raises AlreadyExistsError, IdRetiredError, PermissionDeniedError.
        """
        return self._ask(
            "admin.participant", IssuedSecret, request_of(ParticipantRegistration, request, fields)
        )

    @overload
    def admin_participant_rotate(self, request: ParticipantRotateRequest, /) -> IssuedSecret: ...
    @overload
    def admin_participant_rotate(self, /, *, id: str) -> IssuedSecret: ...
    def admin_participant_rotate(
        self, request: ParticipantRotateRequest | None = None, /, **fields: Any
    ) -> IssuedSecret:
        """Replace an account's secret; the old one is dead at once.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask(
            "admin.participant.rotate", IssuedSecret, request_of(ParticipantRotateRequest, request, fields)
        )

    @overload
    def admin_participant_revoke(self, request: ParticipantRevokeRequest, /) -> Done: ...
    @overload
    def admin_participant_revoke(self, /, *, id: str) -> Done: ...
    def admin_participant_revoke(
        self, request: ParticipantRevokeRequest | None = None, /, **fields: Any
    ) -> Done:
        """Kill an account's secret.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask(
            "admin.participant.revoke", Done, request_of(ParticipantRevokeRequest, request, fields)
        )

    @overload
    def admin_participant_remove(self, request: ParticipantRemoveRequest, /) -> Done: ...
    @overload
    def admin_participant_remove(self, /, *, id: str) -> Done: ...
    def admin_participant_remove(
        self, request: ParticipantRemoveRequest | None = None, /, **fields: Any
    ) -> Done:
        """Remove an account and retire its id.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask(
            "admin.participant.remove", Done, request_of(ParticipantRemoveRequest, request, fields)
        )

    @overload
    def admin_participant_purge(self, request: ParticipantPurgeRequest, /) -> PurgeReport: ...
    @overload
    def admin_participant_purge(self, /, *, id: str) -> PurgeReport: ...
    def admin_participant_purge(
        self, request: ParticipantPurgeRequest | None = None, /, **fields: Any
    ) -> PurgeReport:
        """Delete a removed account with its mail and free its id.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask(
            "admin.participant.purge", PurgeReport, request_of(ParticipantPurgeRequest, request, fields)
        )

    @overload
    def admin_participant_permit(self, request: ParticipantPermitRequest, /) -> ParticipantRecord: ...
    @overload
    def admin_participant_permit(
        self,
        /,
        *,
        id: str,
        grant: Sequence[
            Literal[
                "mail:send",
                "mail:read",
                "mail:operator",
                "outbox:stage",
                "outbox:stamp",
                "outbox:review",
                "frontdoor:drain",
                "frontdoor:extract",
                "frontdoor:brief",
                "frontdoor:review",
                "note:deliver",
                "note:produce",
                "note:read",
                "mailbox:read",
            ]
        ] = (),
        revoke: Sequence[
            Literal[
                "mail:send",
                "mail:read",
                "mail:operator",
                "outbox:stage",
                "outbox:stamp",
                "outbox:review",
                "frontdoor:drain",
                "frontdoor:extract",
                "frontdoor:brief",
                "frontdoor:review",
                "note:deliver",
                "note:produce",
                "note:read",
                "mailbox:read",
            ]
        ] = (),
        both: bool = False,
        attestation: Literal["inherit", "required", "preferred", "off"] | None = None,
    ) -> ParticipantRecord: ...
    def admin_participant_permit(
        self, request: ParticipantPermitRequest | None = None, /, **fields: Any
    ) -> ParticipantRecord:
        """Grant and revoke capabilities, and set the attestation policy.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask(
            "admin.participant.permit",
            ParticipantRecord,
            request_of(ParticipantPermitRequest, request, fields, grant=listed, revoke=listed),
        )

    @overload
    def admin_participant_list(self, request: ParticipantListRequest, /) -> ParticipantList: ...
    @overload
    def admin_participant_list(self, /, *, after: str | None = None, limit: int = 256) -> ParticipantList: ...
    def admin_participant_list(
        self, request: ParticipantListRequest | None = None, /, **fields: Any
    ) -> ParticipantList:
        """List accounts with their capabilities.

        Raises PermissionDeniedError.
        """
        return self._ask(
            "admin.participant.list", ParticipantList, request_of(ParticipantListRequest, request, fields)
        )

    @overload
    def admin_room(self, request: RoomCreateRequest, /) -> Done: ...
    @overload
    def admin_room(self, /, *, id: str, posting: Literal["open", "members"] = "open") -> Done: ...
    def admin_room(self, request: RoomCreateRequest | None = None, /, **fields: Any) -> Done:
        """Create a room.

        Raises AlreadyExistsError, PermissionDeniedError.
        """
        return self._ask("admin.room", Done, request_of(RoomCreateRequest, request, fields))

    @overload
    def admin_room_remove(self, request: RoomRemoveRequest, /) -> Done: ...
    @overload
    def admin_room_remove(self, /, *, room: str) -> Done: ...
    def admin_room_remove(self, request: RoomRemoveRequest | None = None, /, **fields: Any) -> Done:
        """Remove a room with its mail.

        Raises UnknownRoomError, PermissionDeniedError.
        """
        return self._ask("admin.room.remove", Done, request_of(RoomRemoveRequest, request, fields))

    @overload
    def admin_room_list(self, request: RoomListRequest, /) -> RoomList: ...
    @overload
    def admin_room_list(self, /, *, after: str | None = None, limit: int = 256) -> RoomList: ...
    def admin_room_list(self, request: RoomListRequest | None = None, /, **fields: Any) -> RoomList:
        """List rooms.

        Raises PermissionDeniedError.
        """
        return self._ask("admin.room.list", RoomList, request_of(RoomListRequest, request, fields))

    @overload
    def admin_room_members(self, request: RoomMembersRequest, /) -> RoomMembers: ...
    @overload
    def admin_room_members(
        self, /, *, room: str, after: str | None = None, limit: int = 256
    ) -> RoomMembers: ...
    def admin_room_members(self, request: RoomMembersRequest | None = None, /, **fields: Any) -> RoomMembers:
        """List the members of a room.

        Raises UnknownRoomError, PermissionDeniedError.
        """
        return self._ask("admin.room.members", RoomMembers, request_of(RoomMembersRequest, request, fields))

    @overload
    def admin_room_member_add(self, request: RoomMemberRequest, /) -> Done: ...
    @overload
    def admin_room_member_add(self, /, *, room: str, participant: str) -> Done: ...
    def admin_room_member_add(self, request: RoomMemberRequest | None = None, /, **fields: Any) -> Done:
        """Put an account into a room.

        Raises UnknownRoomError, UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask("admin.room.member.add", Done, request_of(RoomMemberRequest, request, fields))

    @overload
    def admin_room_member_remove(self, request: RoomMemberRequest, /) -> Done: ...
    @overload
    def admin_room_member_remove(self, /, *, room: str, participant: str) -> Done: ...
    def admin_room_member_remove(self, request: RoomMemberRequest | None = None, /, **fields: Any) -> Done:
        """Take an account out of a room.

        Raises UnknownRoomError, PermissionDeniedError.
        """
        return self._ask("admin.room.member.remove", Done, request_of(RoomMemberRequest, request, fields))

    @overload
    def admin_listener(self, request: ListenerSetRequest, /) -> Done: ...
    @overload
    def admin_listener(self, /, *, account: str, url: str, key: str | None = None) -> Done: ...
    def admin_listener(self, request: ListenerSetRequest | None = None, /, **fields: Any) -> Done:
        """Have a listener on this machine rung when mail comes for an account.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask("admin.listener", Done, request_of(ListenerSetRequest, request, fields))

    @overload
    def admin_listener_remove(self, request: ListenerRemoveRequest, /) -> Done: ...
    @overload
    def admin_listener_remove(self, /, *, account: str, session: str | None = None) -> Done: ...
    def admin_listener_remove(self, request: ListenerRemoveRequest | None = None, /, **fields: Any) -> Done:
        """End an account's listener, or that of a session of it.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask("admin.listener.remove", Done, request_of(ListenerRemoveRequest, request, fields))

    @overload
    def admin_listener_get(self, request: ListenerGetRequest, /) -> ListenerList: ...
    @overload
    def admin_listener_get(self, /, *, account: str) -> ListenerList: ...
    def admin_listener_get(self, request: ListenerGetRequest | None = None, /, **fields: Any) -> ListenerList:
        """Show an account's listener and its sessions' own, and what became of their rings.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask("admin.listener.get", ListenerList, request_of(ListenerGetRequest, request, fields))

    @overload
    def admin_listener_list(self, request: ListenerListRequest, /) -> ListenerPage: ...
    @overload
    def admin_listener_list(
        self,
        /,
        *,
        state: Literal["all", "failing", "dead"] = "failing",
        after: ParticipantAddress | str | None = None,
        limit: int = 50,
    ) -> ListenerPage: ...
    def admin_listener_list(
        self, request: ListenerListRequest | None = None, /, **fields: Any
    ) -> ListenerPage:
        """List the listeners that fail or are dead, or all, with what waits for them and since when they fail.

        Raises PermissionDeniedError.
        """
        return self._ask(
            "admin.listener.list",
            ListenerPage,
            request_of(ListenerListRequest, request, fields, after=participant),
        )

    @overload
    def admin_listener_retry(self, request: ListenerRetryRequest, /) -> Listening: ...
    @overload
    def admin_listener_retry(self, /, *, account: str, session: str | None = None) -> Listening: ...
    def admin_listener_retry(
        self, request: ListenerRetryRequest | None = None, /, **fields: Any
    ) -> Listening:
        """Try a listener again at once, as when it is set again.

        Raises UnknownParticipantError, PermissionDeniedError.
        """
        return self._ask("admin.listener.retry", Listening, request_of(ListenerRetryRequest, request, fields))

    @overload
    def admin_inbox(self, request: InboxOfRequest, /) -> InboxPage: ...
    @overload
    def admin_inbox(
        self,
        /,
        *,
        address: ParticipantAddress | str,
        limit: int = 50,
        after: Position | Message | None = None,
        unread_only: bool = False,
    ) -> InboxPage: ...
    def admin_inbox(self, request: InboxOfRequest | None = None, /, **fields: Any) -> InboxPage:
        """Read one page of a named participant's inbox.

        Raises UnknownParticipantError, UnknownSessionError, PermissionDeniedError.
        """
        return self._ask(
            "admin.inbox",
            InboxPage,
            request_of(InboxOfRequest, request, fields, address=participant, after=position),
        )

    @overload
    def admin_message_purge(self, request: MessagePurgeRequest, /) -> Done: ...
    @overload
    def admin_message_purge(self, /, *, message_id: str) -> Done: ...
    def admin_message_purge(self, request: MessagePurgeRequest | None = None, /, **fields: Any) -> Done:
        """Delete one message.

        Raises UnknownMessageError, PermissionDeniedError.
        """
        return self._ask("admin.message.purge", Done, request_of(MessagePurgeRequest, request, fields))

    @overload
    def admin_retention(self, request: RetentionRequest, /) -> RetentionReport: ...
    @overload
    def admin_retention(self, /, *, run: bool = False) -> RetentionReport: ...
    def admin_retention(self, request: RetentionRequest | None = None, /, **fields: Any) -> RetentionReport:
        """Report on retention, or run it now.

        Raises PermissionDeniedError.
        """
        return self._ask("admin.retention", RetentionReport, request_of(RetentionRequest, request, fields))

    @overload
    def admin_audit(self, request: AuditRequest, /) -> AuditPage: ...
    @overload
    def admin_audit(self, /, *, before: int | None = None, limit: int = 50) -> AuditPage: ...
    def admin_audit(self, request: AuditRequest | None = None, /, **fields: Any) -> AuditPage:
        """List what operators did, newest first.

        Raises PermissionDeniedError.
        """
        return self._ask("admin.audit", AuditPage, request_of(AuditRequest, request, fields))

    @overload
    def admin_flow(self, request: FlowRequest, /) -> Flow: ...
    @overload
    def admin_flow(self, /, *, secs: int = 3600, limit: int = 50) -> Flow: ...
    def admin_flow(self, request: FlowRequest | None = None, /, **fields: Any) -> Flow:
        """Count who wrote to whom of late, those who wrote most first.

        Raises PermissionDeniedError.
        """
        return self._ask("admin.flow", Flow, request_of(FlowRequest, request, fields))

    @overload
    def admin_checkup(self, request: CheckupRequest, /) -> Checkup: ...
    @overload
    def admin_checkup(self, /, *, database: bool = False) -> Checkup: ...
    def admin_checkup(self, request: CheckupRequest | None = None, /, **fields: Any) -> Checkup:
        """Look the data folder over as doctor does, the whole database when asked to.

        Raises PermissionDeniedError.
        """
        return self._ask("admin.checkup", Checkup, request_of(CheckupRequest, request, fields))

    def admin_settings(self, request: SettingsRequest | None = None, /) -> SettingList:
        """List the settings in force and where each comes from; no secret is shown.

        Raises PermissionDeniedError.
        """
        return self._ask("admin.settings", SettingList, SettingsRequest() if request is None else request)

    def health(self) -> Health:
        """Tell whether the daemon can write and read."""
        return self._ask("health", Health, None)

    @overload
    def outbox_stage(self, request: OutboxStageRequest, /) -> OutboxStaged: ...
    @overload
    def outbox_stage(
        self,
        /,
        *,
        tool: str,
        args: DraftArguments,
        workspace: str | None = None,
        taint: StampedTaint | None = None,
        idempotency_key: str | None = None,
    ) -> OutboxStaged: ...
    def outbox_stage(self, request: OutboxStageRequest | None = None, /, **fields: Any) -> OutboxStaged:
        """Stage a tool call as a draft that a person reads and releases.

        Raises IdempotencyConflictError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxStageRequest, OutboxStaged

        return self._ask("outbox.stage", OutboxStaged, request_of(OutboxStageRequest, request, fields))

    @overload
    def outbox_list(self, request: OutboxListRequest, /) -> OutboxList: ...
    @overload
    def outbox_list(
        self,
        /,
        *,
        status: Literal["pending", "releasing", "sent", "rejected", "withdrawn", "superseded"] | None = None,
        all: bool = False,
        kind: Literal["message", "publish"] | None = None,
        tool: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> OutboxList: ...
    def outbox_list(self, request: OutboxListRequest | None = None, /, **fields: Any) -> OutboxList:
        """List drafts: one's own, or with outbox:review everybody's.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxList, OutboxListRequest

        return self._ask("outbox.list", OutboxList, request_of(OutboxListRequest, request, fields))

    @overload
    def outbox_get(self, request: OutboxGetRequest, /) -> OutboxDraft: ...
    @overload
    def outbox_get(self, /, *, id: str) -> OutboxDraft: ...
    def outbox_get(self, request: OutboxGetRequest | None = None, /, **fields: Any) -> OutboxDraft:
        """Read a whole draft: its arguments, files, warnings and digest.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxDraft, OutboxGetRequest

        return self._ask("outbox.get", OutboxDraft, request_of(OutboxGetRequest, request, fields))

    @overload
    def outbox_withdraw(self, request: OutboxWithdrawRequest, /) -> OutboxEntry: ...
    @overload
    def outbox_withdraw(self, /, *, id: str, reason: str | None = None) -> OutboxEntry: ...
    def outbox_withdraw(self, request: OutboxWithdrawRequest | None = None, /, **fields: Any) -> OutboxEntry:
        """Take back a draft of one's own that nobody has decided.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxEntry, OutboxWithdrawRequest

        return self._ask("outbox.withdraw", OutboxEntry, request_of(OutboxWithdrawRequest, request, fields))

    @overload
    def outbox_supersede(self, request: OutboxSupersedeRequest, /) -> OutboxStaged: ...
    @overload
    def outbox_supersede(
        self,
        /,
        *,
        id: str,
        args: DraftArguments,
        workspace: str | None = None,
        taint: StampedTaint | None = None,
        idempotency_key: str | None = None,
    ) -> OutboxStaged: ...
    def outbox_supersede(
        self, request: OutboxSupersedeRequest | None = None, /, **fields: Any
    ) -> OutboxStaged:
        """Stage a draft in the place of one of one's own that nobody has decided.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, IdempotencyConflictError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxStaged, OutboxSupersedeRequest

        return self._ask(
            "outbox.supersede", OutboxStaged, request_of(OutboxSupersedeRequest, request, fields)
        )

    @overload
    def outbox_edit(self, request: OutboxEditRequest, /) -> OutboxDraft: ...
    @overload
    def outbox_edit(self, /, *, id: str, digest: str, args: DraftArguments) -> OutboxDraft: ...
    def outbox_edit(self, request: OutboxEditRequest | None = None, /, **fields: Any) -> OutboxDraft:
        """Change the arguments of a draft; it is read again before it is released.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, DraftChangedError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxDraft, OutboxEditRequest

        return self._ask("outbox.edit", OutboxDraft, request_of(OutboxEditRequest, request, fields))

    @overload
    def outbox_release(self, request: OutboxReleaseRequest, /) -> OutboxReleased: ...
    @overload
    def outbox_release(self, /, *, id: str, digest: str) -> OutboxReleased: ...
    def outbox_release(self, request: OutboxReleaseRequest | None = None, /, **fields: Any) -> OutboxReleased:
        """Release the draft that was read; it leaves once.

        Raises UnknownItemError, NotPendingError, OutcomeUnknownError, DraftChangedError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxReleaseRequest, OutboxReleased

        return self._ask("outbox.release", OutboxReleased, request_of(OutboxReleaseRequest, request, fields))

    @overload
    def outbox_reject(self, request: OutboxRejectRequest, /) -> OutboxRejected: ...
    @overload
    def outbox_reject(self, /, *, drafts: Sequence[DraftNamed], reason: str) -> OutboxRejected: ...
    def outbox_reject(self, request: OutboxRejectRequest | None = None, /, **fields: Any) -> OutboxRejected:
        """Reject drafts for a reason; each has an outcome of its own.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxRejectRequest, OutboxRejected

        return self._ask(
            "outbox.reject", OutboxRejected, request_of(OutboxRejectRequest, request, fields, drafts=listed)
        )

    @overload
    def outbox_settle(self, request: OutboxSettleRequest, /) -> OutboxEntry: ...
    @overload
    def outbox_settle(self, /, *, id: str, sent: bool) -> OutboxEntry: ...
    def outbox_settle(self, request: OutboxSettleRequest | None = None, /, **fields: Any) -> OutboxEntry:
        """Say whether a draft left whose outcome is unknown.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxEntry, OutboxSettleRequest

        return self._ask("outbox.settle", OutboxEntry, request_of(OutboxSettleRequest, request, fields))

    def outbox_tally(self, request: OutboxTallyRequest | None = None, /) -> OutboxTally:
        """Count how many released messages left as they were drafted.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.outbox import OutboxTally, OutboxTallyRequest

        return self._ask("outbox.tally", OutboxTally, OutboxTallyRequest() if request is None else request)

    @overload
    def frontdoor_ingest(self, request: FrontdoorIngestRequest, /) -> FrontdoorReceipt: ...
    @overload
    def frontdoor_ingest(
        self, /, *, box_epoch: str, record: FrontdoorRecord, files: Sequence[IngestedFile] = ()
    ) -> FrontdoorReceipt: ...
    def frontdoor_ingest(
        self, request: FrontdoorIngestRequest | None = None, /, **fields: Any
    ) -> FrontdoorReceipt:
        """Take in one drained submission with its files; the same one again gives the same number.

        Raises AlreadyExistsError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorIngestRequest, FrontdoorReceipt

        return self._ask(
            "frontdoor.ingest",
            FrontdoorReceipt,
            request_of(FrontdoorIngestRequest, request, fields, files=listed),
        )

    @overload
    def frontdoor_list(self, request: FrontdoorListRequest, /) -> FrontdoorList: ...
    @overload
    def frontdoor_list(
        self,
        /,
        *,
        state: Literal[
            "drained",
            "extracted",
            "extraction_failed",
            "triaged",
            "awaiting_me",
            "needs_info",
            "answered",
            "closed",
        ]
        | None = None,
        after: int = 0,
        limit: int = 50,
    ) -> FrontdoorList: ...
    def frontdoor_list(self, request: FrontdoorListRequest | None = None, /, **fields: Any) -> FrontdoorList:
        """List requests, and the files that could not be read as one.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorList, FrontdoorListRequest

        return self._ask("frontdoor.list", FrontdoorList, request_of(FrontdoorListRequest, request, fields))

    @overload
    def frontdoor_get(self, request: FrontdoorGetRequest, /) -> FrontdoorItem: ...
    @overload
    def frontdoor_get(self, /, *, seq: int) -> FrontdoorItem: ...
    def frontdoor_get(self, request: FrontdoorGetRequest | None = None, /, **fields: Any) -> FrontdoorItem:
        """Read one request whole, prose and all; for a person.

        Raises UnknownItemError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorGetRequest, FrontdoorItem

        return self._ask("frontdoor.get", FrontdoorItem, request_of(FrontdoorGetRequest, request, fields))

    @overload
    def frontdoor_next(self, request: FrontdoorNextRequest, /) -> FrontdoorBriefs: ...
    @overload
    def frontdoor_next(self, /, *, limit: int = 5) -> FrontdoorBriefs: ...
    def frontdoor_next(
        self, request: FrontdoorNextRequest | None = None, /, **fields: Any
    ) -> FrontdoorBriefs:
        """Give briefs of extracted requests; whoever is given one stages with untrusted taint.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorBriefs, FrontdoorNextRequest

        return self._ask("frontdoor.next", FrontdoorBriefs, request_of(FrontdoorNextRequest, request, fields))

    @overload
    def frontdoor_extract(self, request: FrontdoorExtractRequest, /) -> FrontdoorExtracted: ...
    @overload
    def frontdoor_extract(
        self, /, *, seq: int | None = None, retry: bool = False, limit: int = 1
    ) -> FrontdoorExtracted: ...
    def frontdoor_extract(
        self, request: FrontdoorExtractRequest | None = None, /, **fields: Any
    ) -> FrontdoorExtracted:
        """Have the prose of requests read by the quarantined extractor.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorExtractRequest, FrontdoorExtracted

        return self._ask(
            "frontdoor.extract", FrontdoorExtracted, request_of(FrontdoorExtractRequest, request, fields)
        )

    @overload
    def frontdoor_triaged(self, request: FrontdoorTriagedRequest, /) -> FrontdoorMoved: ...
    @overload
    def frontdoor_triaged(self, /, *, seq: int, drafts: Sequence[str] = ()) -> FrontdoorMoved: ...
    def frontdoor_triaged(
        self, request: FrontdoorTriagedRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Report the drafts that a run staged for a request.

        Raises UnknownItemError, NotPendingError, AlreadyExistsError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorMoved, FrontdoorTriagedRequest

        return self._ask(
            "frontdoor.triaged",
            FrontdoorMoved,
            request_of(FrontdoorTriagedRequest, request, fields, drafts=listed),
        )

    @overload
    def frontdoor_needs_info(self, request: FrontdoorNeedsInfoRequest, /) -> FrontdoorMoved: ...
    @overload
    def frontdoor_needs_info(self, /, *, seq: int, note: str | None = None) -> FrontdoorMoved: ...
    def frontdoor_needs_info(
        self, request: FrontdoorNeedsInfoRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Park a request until its sender has said more.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorMoved, FrontdoorNeedsInfoRequest

        return self._ask(
            "frontdoor.needs_info", FrontdoorMoved, request_of(FrontdoorNeedsInfoRequest, request, fields)
        )

    @overload
    def frontdoor_close(self, request: FrontdoorCloseRequest, /) -> FrontdoorMoved: ...
    @overload
    def frontdoor_close(self, /, *, seq: int, reason: str) -> FrontdoorMoved: ...
    def frontdoor_close(
        self, request: FrontdoorCloseRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Close a request, with a reason.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorCloseRequest, FrontdoorMoved

        return self._ask(
            "frontdoor.close", FrontdoorMoved, request_of(FrontdoorCloseRequest, request, fields)
        )

    @overload
    def frontdoor_reopen(self, request: FrontdoorReopenRequest, /) -> FrontdoorMoved: ...
    @overload
    def frontdoor_reopen(self, /, *, seq: int) -> FrontdoorMoved: ...
    def frontdoor_reopen(
        self, request: FrontdoorReopenRequest | None = None, /, **fields: Any
    ) -> FrontdoorMoved:
        """Take a request up again that was closed, triaged or parked.

        Raises UnknownItemError, NotPendingError, PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorMoved, FrontdoorReopenRequest

        return self._ask(
            "frontdoor.reopen", FrontdoorMoved, request_of(FrontdoorReopenRequest, request, fields)
        )

    def frontdoor_reconcile(self, request: FrontdoorReconcileRequest | None = None, /) -> FrontdoorReconciled:
        """Move every request whose drafts were decided.

        Raises PermissionDeniedError.
        """
        from mail4agent_api.frontdoor import FrontdoorReconcileRequest, FrontdoorReconciled

        return self._ask(
            "frontdoor.reconcile",
            FrontdoorReconciled,
            FrontdoorReconcileRequest() if request is None else request,
        )
