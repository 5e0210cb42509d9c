"""The rules of administration, over each store: accounts, rooms, what is purged and kept."""

import pytest

from mail4agent_api.errors import (
    AlreadyExistsError,
    IdRetiredError,
    MalformedError,
    RefusalError,
    UnknownMessageError,
    UnknownParticipantError,
    UnknownRoomError,
)
from mail4agent_api.mail import (
    ParticipantId,
    ParticipantListRequest,
    ParticipantPermitRequest,
    ParticipantRecord,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
    RetentionRequest,
    RoomId,
    RoomMemberRequest,
    RoomMembersRequest,
    RoomRemoveRequest,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import SeededIds, digest_of
from mail4agent_core.mail.administration import DAY_MS, Administration
from mail4agent_core.mail.identity import OPERATOR, READ, SEND, Caller, account_caller

from .office import Office


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, clock: HandClock) -> Office:
    """An empty office over each store."""
    return Office(request.getfixturevalue(f"{request.param}_store"), clock)


def bare(name: str, *capabilities: str) -> Caller:
    """A caller with these capabilities alone."""
    return account_caller(ParticipantId(name), capabilities)


async def register(office: Office, name: str, **rights: bool) -> str:
    """Register an account; its secret."""
    request = ParticipantRegistration(id=ParticipantId(name), **rights)
    return (await office.administration.participant(office.operator, request)).secret


async def test_secrets_authenticate_until_they_are_replaced_or_killed(office: Office):
    """Unknown refused, registered accepted, rotated replaced, revoked refused."""
    store, admin = office.store, office.administration
    first = await register(office, "ann", may_read=True)
    assert await store.authenticate(digest_of("0" * 64)) is None
    account = await store.authenticate(digest_of(first))
    assert account is not None
    assert (account.id, account.capabilities) == ("ann", {READ})
    rotated = await admin.participant_rotate(
        office.operator, ParticipantRotateRequest(id=ParticipantId("ann"))
    )
    assert await store.authenticate(digest_of(first)) is None
    assert await store.authenticate(digest_of(rotated.secret)) is not None
    await admin.participant_revoke(office.operator, ParticipantRevokeRequest(id=ParticipantId("ann")))
    assert await store.authenticate(digest_of(rotated.secret)) is None
    again = await admin.participant_rotate(office.operator, ParticipantRotateRequest(id=ParticipantId("ann")))
    assert await store.authenticate(digest_of(again.secret)) is not None


@pytest.mark.promise("account.dead-secret-is-refused")
async def test_the_secret_of_a_removed_account_is_dead(office: Office):
    """It authenticates nobody, also after the id was purged and registered anew."""
    secret = await register(office, "ann", may_read=True)
    await office.remove("ann")
    assert await office.store.authenticate(digest_of(secret)) is None
    await office.purge("ann")
    await register(office, "ann", may_read=True)
    assert await office.store.authenticate(digest_of(secret)) is None


@pytest.mark.promise("account.secret-is-shown-once")
async def test_no_listing_holds_a_secret_or_its_digest(office: Office):
    """A secret is 64 hexadecimal digits, in the answer that made it and nowhere else."""
    secret = await register(office, "ann", may_read=True, may_send=True)
    assert len(bytes.fromhex(secret)) == 32
    listed = await office.administration.participant_list(office.operator, ParticipantListRequest())
    shown = f"{listed!r} {await office.store.authenticate(digest_of(secret))!r}"
    assert secret not in shown
    assert digest_of(secret).hex() not in shown
    assert repr(digest_of(secret)) not in shown


@pytest.mark.promise("account.removed-id-is-retired")
async def test_a_removed_id_is_retired_until_it_is_purged(office: Office):
    """Registering it is refused, and so is purging one that was not removed."""
    await office.accounts("ann")
    with pytest.raises(AlreadyExistsError) as exists:
        await register(office, "ann")
    assert exists.value.refusal.id == "ann"
    with pytest.raises(MalformedError) as live:
        await office.purge("ann")
    assert live.value.refusal.field == "participant id"
    await office.remove("ann")
    with pytest.raises(IdRetiredError) as retired:
        await register(office, "ann")
    assert retired.value.refusal.id == "ann"
    await office.purge("ann")
    await register(office, "ann")


async def test_commands_on_an_unknown_account_are_refused_by_its_name(office: Office):
    """A removed account is unknown too, save to purging."""
    await office.accounts("gone")
    await office.remove("gone")
    admin, operator = office.administration, office.operator
    await office.room("hall")
    for name in ("nobody", "gone"):
        account = ParticipantId(name)
        for command in (
            admin.participant_rotate(operator, ParticipantRotateRequest(id=account)),
            admin.participant_revoke(operator, ParticipantRevokeRequest(id=account)),
            admin.participant_remove(operator, ParticipantRemoveRequest(id=account)),
            admin.participant_permit(operator, ParticipantPermitRequest(id=account, grant=[SEND])),
            admin.room_member_add(operator, RoomMemberRequest(room=RoomId("hall"), participant=account)),
        ):
            with pytest.raises(UnknownParticipantError) as refused:
                await command
            assert refused.value.refusal.participant == name
    with pytest.raises(UnknownParticipantError):
        await office.purge("nobody")


async def test_commands_on_an_unknown_room_are_refused_by_its_name(office: Office):
    """The room is looked at before the account; a room that exists is not made again."""
    ann = await office.account("ann")
    admin, operator, room = office.administration, office.operator, RoomId("nowhere")
    for command in (
        admin.room_member_add(operator, RoomMemberRequest(room=room, participant=ParticipantId("nobody"))),
        admin.room_member_remove(operator, RoomMemberRequest(room=room, participant=ann.account)),
        admin.room_members(operator, RoomMembersRequest(room=room)),
        admin.room_remove(operator, RoomRemoveRequest(room=room)),
    ):
        with pytest.raises(UnknownRoomError) as refused:
            await command
        assert refused.value.refusal.room == "nowhere"
    await office.room("hall", ann)
    with pytest.raises(AlreadyExistsError) as exists:
        await office.room("hall")
    assert exists.value.refusal.id == "hall"
    assert await office.engine.boxes(ann) == {"ann", "#hall"}


async def test_taking_out_who_is_not_in_a_room_is_no_error(office: Office):
    """A repeat, and an account that does not exist."""
    ann = await office.account("ann")
    await office.room("hall", ann)
    await office.leave("hall", ann)
    await office.leave("hall", ann)
    await office.leave("hall", bare("nobody"))


async def test_purging_a_message_takes_it_from_every_reader(office: Office):
    """An unknown one is refused by its id."""
    ann, bob = await office.accounts("ann", "bob")
    letter = await office.send(ann, "bob")
    await office.purge_message(letter)
    assert (await office.subjects(bob), await office.unread(bob), await office.sent(ann)) == ([], 0, [])
    with pytest.raises(UnknownMessageError) as refused:
        await office.purge_message(letter)
    assert refused.value.refusal.message_id == letter


async def permit(office: Office, name: str, **fields: object) -> ParticipantRecord:
    """Change an account's capabilities."""
    request = ParticipantPermitRequest.model_validate({"id": name, **fields})
    return await office.administration.participant_permit(office.operator, request)


async def test_permit_grants_then_revokes(office: Office, clock: HandClock):
    """The record shows what is held now; what is named in both is revoked."""
    secret = await register(office, "ann", may_send=True)
    record = await permit(office, "ann", grant=[READ, "note:read"], revoke=["note:read", SEND])
    assert record.capabilities == [READ]
    assert (record.id, record.removed_at_unix_ms) == ("ann", None)
    assert (record.created_at_unix_ms, record.secret_issued_at_unix_ms) == (clock.now_ms(), clock.now_ms())
    account = await office.store.authenticate(digest_of(secret))
    assert account is not None
    assert account.capabilities == {READ}


async def test_staging_and_reviewing_together_needs_saying_so(office: Office):
    """One account gets both only with both, and who has both already may get more."""
    await register(office, "ann")
    await permit(office, "ann", grant=["outbox:stage"])
    with pytest.raises(MalformedError) as refused:
        await permit(office, "ann", grant=["outbox:review"])
    assert refused.value.refusal.field == "both"
    await permit(office, "ann", grant=["outbox:review"], both=True)
    assert (await permit(office, "ann", grant=[SEND])).capabilities == [SEND, "outbox:review", "outbox:stage"]


async def test_the_last_operator_stays(office: Office):
    """It cannot be removed, revoked or stripped while no other account could administer."""
    await register(office, "first", operator=True)
    await register(office, "plain", may_read=True)
    admin, operator, first = office.administration, office.operator, ParticipantId("first")

    async def refused(command: object) -> None:
        with pytest.raises(MalformedError) as failure:
            await command  # pyright: ignore[reportGeneralTypeIssues]
        assert failure.value.refusal.field == "participant id"

    for n in range(2):
        await refused(admin.participant_remove(operator, ParticipantRemoveRequest(id=first)))
        await refused(admin.participant_revoke(operator, ParticipantRevokeRequest(id=first)))
        await refused(permit(office, "first", revoke=[OPERATOR]))
        # A second operator without a secret could not administer either.
        await register(office, f"spare{n}", operator=True)
        await admin.participant_revoke(operator, ParticipantRevokeRequest(id=ParticipantId(f"spare{n}")))
    await permit(office, "plain", grant=[OPERATOR])
    await office.remove("first")
    with pytest.raises(RefusalError):
        await office.remove("plain")


async def test_retention_can_be_switched_off(clock: HandClock, office: Office):
    """With no age settled mail stays, keys still expire, and the report says so."""
    ann, bob = await office.accounts("ann", "bob")
    await office.ack(bob, await office.send(ann, "bob", "kept", key="k"))
    clock.step(5_000 * DAY_MS)
    admin = Administration(office.store, clock, SeededIds(), keep_days=None)
    before = await admin.retention(office.operator, RetentionRequest())
    assert (before.keep_days, before.last_run_unix_ms, before.removed_keys) == (None, None, 0)
    report = await admin.retention(office.operator, RetentionRequest(run=True))
    assert (report.removed_messages, report.removed_keys) == (0, 1)
    assert await office.subjects(bob) == ["kept"]
