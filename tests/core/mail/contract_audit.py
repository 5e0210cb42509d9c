"""What every store does with the audit: one entry for each deed of an operator, in the deed's transaction."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mail4agent_api.addresses import participant_of
from mail4agent_api.errors import AlreadyExistsError, PermissionDeniedError, UnknownParticipantError
from mail4agent_api.mail import (
    AuditEntry,
    AuditRequest,
    InboxOfRequest,
    ListenerRemoveRequest,
    ListenerRetryRequest,
    ListenerSetRequest,
    MessageId,
    MessagePurgeRequest,
    ParticipantId,
    ParticipantPermitRequest,
    ParticipantPurgeRequest,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
    RetentionRequest,
    RoomCreateRequest,
    RoomId,
    RoomMemberRequest,
    RoomRemoveRequest,
)
from mail4agent_api.operations import OPERATIONS
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.audit import DETAIL_MAX_BYTES, ENTRIES_MAX, Deed, detail_of
from mail4agent_core.mail.store import Registry

from .office import DAY_MS, SESSION, Office

ANN, BOB, GONE, HALL = ParticipantId("ann"), ParticipantId("bob"), ParticipantId("gone"), RoomId("hall")
Request = Callable[[MessageId], Any]

#: For each row of an operator that writes: a request that is carried out in ``furnished``, and what is
#: recorded of it.
WRITES: dict[str, tuple[Request, str | None, str]] = {
    "admin.participant": (
        lambda _: ParticipantRegistration(id=ParticipantId("cid"), may_send=True, may_read=True),
        "cid",
        "grant mail:read, mail:send",
    ),
    "admin.participant.rotate": (lambda _: ParticipantRotateRequest(id=ANN), "ann", ""),
    "admin.participant.revoke": (lambda _: ParticipantRevokeRequest(id=ANN), "ann", ""),
    "admin.participant.remove": (lambda _: ParticipantRemoveRequest(id=ANN), "ann", ""),
    "admin.participant.purge": (lambda _: ParticipantPurgeRequest(id=GONE), "gone", ""),
    "admin.participant.permit": (
        lambda _: ParticipantPermitRequest(id=ANN, grant=["note:read", "mail:send"], revoke=["mail:read"]),
        "ann",
        "grant mail:send, note:read; revoke mail:read",
    ),
    "admin.room": (lambda _: RoomCreateRequest(id=RoomId("den")), "#den", "posting open"),
    "admin.room.remove": (lambda _: RoomRemoveRequest(room=HALL), "#hall", ""),
    "admin.room.member.add": (lambda _: RoomMemberRequest(room=HALL, participant=BOB), "#hall", "bob"),
    "admin.room.member.remove": (lambda _: RoomMemberRequest(room=HALL, participant=ANN), "#hall", "ann"),
    "admin.listener": (
        lambda _: ListenerSetRequest(account=BOB, url="http://127.0.0.1:9/?token=x", key="whsec_" + "A" * 32),
        "bob",
        "port 9; signed",
    ),
    "admin.listener.remove": (lambda _: ListenerRemoveRequest(account=BOB), "bob", ""),
    "admin.listener.retry": (
        lambda _: ListenerRetryRequest(account=BOB, session=SESSION),
        "bob",
        str(SESSION),
    ),
    "admin.message.purge": (lambda letter: MessagePurgeRequest(message_id=letter), "LETTER", ""),
    "admin.retention": (lambda _: RetentionRequest(run=True), None, "run; mail kept 180 days"),
}

WRITING_ROWS = sorted(
    name for name, row in OPERATIONS.items() if name.startswith("admin.") and row.effect == "write"
)


async def entries(office: Office, **fields: Any) -> list[AuditEntry]:
    """A page of the audit, the newest first."""
    return (await office.administration.audit(office.operator, AuditRequest(**fields))).entries


async def furnished(office: Office) -> MessageId:
    """Two accounts, a removed one, a room, and a letter."""
    ann, bob = await office.accounts("ann", "bob")
    await office.account("gone")
    await office.remove("gone")
    await office.room("hall", ann)
    return await office.send(ann, str(bob.account), "a secret subject", "a secret body")


def call(office: Office, name: str, request: Any) -> Awaitable[Any]:
    """Call an operation of an operator by the name of its row."""
    seam = office.listeners if name.startswith("admin.listener") else office.administration
    method = getattr(seam, name.removeprefix("admin.").replace(".", "_"))
    return method(office.operator, request)


class AuditContract:
    """The audit, by operations and by the registry."""

    @pytest.mark.promise("audit.every-deed-is-recorded-with-it")
    @pytest.mark.parametrize("name", WRITING_ROWS)
    async def test_every_write_of_an_operator_is_recorded(self, office: Office, clock: HandClock, name: str):
        """Each row of the table that writes has its entry: who, when, which, about what."""
        request, target, detail = WRITES[name]
        letter = await furnished(office)
        clock.step(1)
        before = (await entries(office))[0].number
        await call(office, name, request(letter))
        assert await entries(office, limit=1) == [
            AuditEntry(
                number=before + 1,
                at_unix_ms=clock.now_ms(),
                actor=participant_of("root"),
                operation=name,
                target=letter if target == "LETTER" else target,
                detail=detail,
            )
        ]

    @pytest.mark.promise("audit.every-deed-is-recorded-with-it")
    async def test_a_refused_command_records_nothing(self, office: Office):
        """Neither one that the rules refuse nor one of a caller who may not."""
        ann = await office.account("ann")
        before = await entries(office)
        with pytest.raises(AlreadyExistsError):
            await office.account("ann")
        with pytest.raises(PermissionDeniedError):
            await office.administration.room(ann, RoomCreateRequest(id=HALL))
        with pytest.raises(UnknownParticipantError):
            await office.inbox_of(office.operator, "nobody")
        assert await entries(office) == before

    @pytest.mark.promise("audit.every-deed-is-recorded-with-it")
    async def test_what_fails_while_it_is_recorded_is_not_done(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ):
        """The deed and its entry stand in one transaction: without the one there is not the other."""

        def unrecorded(*_: object) -> Deed:
            raise AlreadyExistsError(id="pen")

        monkeypatch.setattr("mail4agent_core.mail.administration.Deed", unrecorded)
        with pytest.raises(AlreadyExistsError):
            await office.room("hall")
        assert await office.store.look(lambda registry: registry.room_ids()) == []

    @pytest.mark.promise("audit.every-deed-is-recorded-with-it")
    async def test_reading_anothers_inbox_is_recorded_and_ones_own_is_not(self, office: Office):
        """By its address; the operator's account and its sessions are its own."""
        boss = await office.account("boss", operator=True)
        await office.account("ann")
        before = len(await entries(office))
        await office.session(boss)
        await office.inbox_of(boss, "boss")
        await office.inbox_of(boss, "boss/s-00000001")
        assert len(await entries(office)) == before
        await office.inbox_of(boss, "ann")
        (entry,) = await entries(office, limit=1)
        assert (entry.actor, entry.operation, entry.target) == (boss.address, "admin.inbox", "ann")

    async def test_the_actor_is_the_exact_address(self, office: Office):
        """A session of an operator is named as that session."""
        session = await office.session(await office.account("boss", operator=True))
        await office.administration.room(session, RoomCreateRequest(id=HALL))
        assert (await entries(office, limit=1))[0].actor == session.address

    @pytest.mark.promise("audit.tells-no-secret")
    async def test_no_entry_holds_a_secret_or_a_messages_text(self, office: Office):
        """Whatever was issued, said or purged."""
        letter = await furnished(office)
        issued = await office.administration.participant_rotate(
            office.operator, ParticipantRotateRequest(id=ANN)
        )
        await office.inbox_of(office.operator, "bob")
        await office.purge_message(letter)
        said = str(await entries(office))
        assert issued.secret not in said
        assert "a secret" not in said

    async def test_pages_go_back_without_a_gap_or_a_repeat(self, office: Office):
        """Each page goes on below the last number of the one before."""
        for n in range(7):
            await office.room(f"r{n}")
        found: list[str | None] = []
        before: int | None = None
        while page := await entries(office, limit=3, before=before):
            found += [entry.target for entry in page]
            before = page[-1].number
        assert found == [f"#r{n}" for n in reversed(range(7))]

    async def test_an_operation_of_an_operator_alone(self, office: Office):
        """Who may only read mail reads no audit."""
        ann = await office.account("ann")
        with pytest.raises(PermissionDeniedError):
            await office.administration.audit(ann, AuditRequest())

    @pytest.mark.promise("audit.is-bounded")
    async def test_upkeep_deletes_entries_past_their_age(self, office: Office, clock: HandClock):
        """365 days after the deed, and not a moment before; numbers go on."""
        await office.room("old")
        clock.step(DAY_MS)
        await office.room("young")
        clock.step(364 * DAY_MS)
        await office.administration.run_retention()
        assert [entry.target for entry in await entries(office)] == ["#young", "#old"]
        clock.step(1)
        await office.administration.run_retention()
        assert [entry.target for entry in await entries(office)] == ["#young"]
        clock.step(2 * DAY_MS)
        await office.administration.run_retention()
        assert await entries(office) == []
        await office.room("next")
        assert [entry.number for entry in await entries(office)] == [3]

    @pytest.mark.promise("audit.is-bounded")
    async def test_one_entry_too_many_drops_the_oldest(self, office: Office):
        """However fast they come, no more than the bound are kept."""

        def command(registry: Registry) -> None:
            for n in range(ENTRIES_MAX + 2):
                registry.record(Deed(n, "root", "admin.room", f"#r{n}", ""))

        await office.store.change(command)
        numbers = [entry.number for entry in await entries(office, before=6)]
        assert numbers == [5, 4, 3]
        assert (await entries(office, limit=1))[0].number == ENTRIES_MAX + 2

    async def test_a_detail_is_one_bounded_line(self, office: Office):
        """Cut within its bytes, never within a character."""
        assert detail_of(("grant", ()), "both") == "both"
        cut = detail_of("é" * DETAIL_MAX_BYTES)
        assert cut == "é" * (DETAIL_MAX_BYTES // 2)
        await office.store.change(
            lambda registry: registry.record(Deed(1, "root", "admin.room", "a" * 256, cut))
        )
        (entry,) = await entries(office)
        assert entry.detail == cut

    async def test_reading_an_inbox_by_an_account_is_still_the_operators(self, office: Office):
        """Without the capability it is refused before anything is recorded."""
        ann, _ = await office.accounts("ann", "bob")
        before = await entries(office)
        with pytest.raises(PermissionDeniedError):
            await office.administration.inbox(ann, InboxOfRequest(address=participant_of("bob")))
        assert await entries(office) == before
