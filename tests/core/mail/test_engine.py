"""The rules of the mail engine and of administration, over each store."""

import pytest

from mail4agent_api.addresses import participant_of
from mail4agent_api.errors import (
    MalformedError,
    NotAddressedToYouError,
    PermissionDeniedError,
    RefusalError,
    UnauthenticatedError,
    UnknownMessageError,
    UnknownParticipantError,
    UnknownRoomError,
    UnknownSessionError,
)
from mail4agent_api.mail import (
    AckManyRequest,
    AckRequest,
    DirectoryRequest,
    InboxRequest,
    MessageGetRequest,
    MessagePurgeRequest,
    ParticipantId,
    ParticipantListRequest,
    ParticipantPermitRequest,
    ParticipantPurgeRequest,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRevokeRequest,
    ParticipantRotateRequest,
    RetentionRequest,
    RoomCreateRequest,
    RoomId,
    RoomListRequest,
    RoomMemberRequest,
    RoomMembersRequest,
    RoomRemoveRequest,
    SearchRequest,
    SendManyRequest,
    SendRequest,
    SentRequest,
    ThreadRequest,
    UnreadCountRequest,
    WhoAmIRequest,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.identity import OPERATOR, READ, SEND, Caller, account_caller

from .office import NOWHERE, SESSION, Office


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


@pytest.mark.promise("mail.only-recipients-read")
async def test_non_recipient_cannot_see_anothers_direct_mail(office: Office):
    """Not listed, not by its id, not in a thread or a search, and not to be acknowledged."""
    ann, bob, eve = await office.accounts("ann", "bob", "eve")
    letter = await office.send(ann, "bob", "secret")
    assert await office.subjects(eve) == []
    assert await office.search(eve, "secret") == []
    with pytest.raises(NotAddressedToYouError):
        await office.get(eve, letter)
    with pytest.raises(NotAddressedToYouError):
        await office.thread(eve, letter)
    with pytest.raises(NotAddressedToYouError):
        await office.ack(eve, letter)
    assert (await office.get(bob, letter)).subject == "secret"


async def test_the_author_reads_its_own_letter_by_id(office: Office):
    """It is not in the author's inbox, and cannot be acknowledged by it."""
    ann, _ = await office.accounts("ann", "bob")
    letter = await office.send(ann, "bob", "mine")
    assert (await office.get(ann, letter)).subject == "mine"
    assert await office.subjects(ann) == []


@pytest.mark.promise("admin.operators-have-no-bypass")
async def test_operators_own_inbox_is_not_widened(office: Office):
    """An operator reads, by any operation on its own mail, what any other account would."""
    ann, _ = await office.accounts("ann", "bob")
    chief = await office.account("chief", operator=True)
    letter = await office.send(ann, "bob", "private")
    assert await office.subjects(chief) == []
    assert await office.search(chief, "private") == []
    for operation in (office.get, office.ack, office.thread):
        with pytest.raises(NotAddressedToYouError):
            await operation(chief, letter)


@pytest.mark.promise("admin.operators-have-no-bypass")
async def test_an_operator_reads_a_named_account_and_a_named_session(office: Office):
    """inbox_of shows what that address reads, with its unread count, and changes nothing."""
    ann, bob = await office.accounts("ann", "bob")
    session = await office.session(bob)
    await office.send(ann, "bob", "account")
    await office.send(ann, f"bob/{SESSION}", "session")
    page = await office.inbox_of(office.operator, "bob")
    assert ([message.subject for message in page.messages], page.unread) == (["account"], 1)
    page = await office.inbox_of(office.operator, f"bob/{SESSION}")
    assert ([message.subject for message in page.messages], page.unread) == (["account", "session"], 2)
    assert await office.unread(session) == 2


async def test_inbox_of_is_refused_to_a_stranger_and_allowed_to_oneself(office: Office):
    """Without mail:operator only one's own exact address can be asked for."""
    ann, bob = await office.accounts("ann", "bob")
    await office.send(ann, "bob", "mine")
    with pytest.raises(PermissionDeniedError) as refused:
        await office.inbox_of(ann, "bob")
    assert refused.value.refusal.need == OPERATOR
    assert [message.subject for message in (await office.inbox_of(bob, "bob")).messages] == ["mine"]


async def test_inbox_of_an_unknown_reader_is_refused_by_name(office: Office):
    """An account that is not registered, one that was removed, and a session that was not met."""
    await office.accounts("bob", "gone")
    await office.remove("gone")
    for name in ("nobody", "gone"):
        with pytest.raises(UnknownParticipantError) as refused:
            await office.inbox_of(office.operator, name)
        assert refused.value.refusal.participant == name
    with pytest.raises(UnknownSessionError) as unknown:
        await office.inbox_of(office.operator, f"bob/{SESSION}")
    assert unknown.value.refusal.session == SESSION


@pytest.mark.promise("mail.capabilities-are-needed")
async def test_send_without_may_send_is_refused(office: Office):
    """mail:operator does not imply it, and nothing is stored."""
    bob = await office.account("bob")
    for caller in (await office.account("mute", send=False), bare("root", READ, OPERATOR)):
        for send in (
            lambda caller=caller: office.send(caller, "bob"),
            lambda caller=caller: office.engine.send_many(
                caller, SendManyRequest(messages=[SendRequest(to=bob.address, subject="", body="")])
            ),
        ):
            with pytest.raises(PermissionDeniedError) as refused:
                await send()
            assert refused.value.refusal.need == SEND
    assert await office.subjects(bob) == []


@pytest.mark.promise("mail.capabilities-are-needed")
async def test_read_without_may_read_is_refused(office: Office):
    """Every operation that reads needs mail:read or mail:operator, and names the first."""
    deaf = await office.account("deaf", read=False)
    engine = office.engine
    reads = (
        engine.inbox(deaf, InboxRequest()),
        engine.ack(deaf, AckRequest(message_id=NOWHERE)),
        engine.ack_many(deaf, AckManyRequest(message_ids=[NOWHERE])),
        engine.get(deaf, MessageGetRequest(message_id=NOWHERE)),
        engine.unread(deaf, UnreadCountRequest(target=deaf.address)),
        engine.thread(deaf, ThreadRequest(message_id=NOWHERE)),
        engine.search(deaf, SearchRequest(query="x")),
        engine.sent(deaf, SentRequest()),
        engine.directory(deaf, DirectoryRequest()),
        engine.boxes(deaf),
        engine.newest(deaf),
        engine.stands_after(deaf, None),
        engine.unread_count(deaf),
    )
    for read in reads:
        with pytest.raises(PermissionDeniedError) as refused:
            await read
        assert refused.value.refusal.need == READ


async def test_an_operator_reads_its_own_mail_without_may_read(office: Office):
    """mail:operator is enough for the reading operations on one's own mail."""
    ann = await office.account("ann")
    await office.account("chief", send=False, read=False, operator=True)
    chief = bare("chief", OPERATOR)
    letter = await office.send(ann, "chief", "for the chief")
    assert await office.subjects(chief) == ["for the chief"]
    await office.ack(chief, letter)
    assert await office.unread(chief) == 0


@pytest.mark.promise("mail.capabilities-are-needed")
async def test_every_operation_of_an_operator_needs_mail_operator(office: Office):
    """Each is refused by that name and changes nothing."""
    ann, _ = await office.accounts("ann", "bob")
    await office.room("hall", ann)
    admin, bob, hall = office.administration, ParticipantId("bob"), RoomId("hall")
    member = RoomMemberRequest(room=hall, participant=bob)
    commands = (
        admin.participant(ann, ParticipantRegistration(id=ParticipantId("new"))),
        admin.participant_rotate(ann, ParticipantRotateRequest(id=bob)),
        admin.participant_revoke(ann, ParticipantRevokeRequest(id=bob)),
        admin.participant_remove(ann, ParticipantRemoveRequest(id=bob)),
        admin.participant_purge(ann, ParticipantPurgeRequest(id=bob)),
        admin.participant_permit(ann, ParticipantPermitRequest(id=ann.account, grant=[OPERATOR])),
        admin.participant_list(ann, ParticipantListRequest()),
        admin.room(ann, RoomCreateRequest(id=RoomId("new"))),
        admin.room_remove(ann, RoomRemoveRequest(room=hall)),
        admin.room_list(ann, RoomListRequest()),
        admin.room_members(ann, RoomMembersRequest(room=hall)),
        admin.room_member_add(ann, member),
        admin.room_member_remove(ann, RoomMemberRequest(room=hall, participant=ann.account)),
        admin.message_purge(ann, MessagePurgeRequest(message_id=NOWHERE)),
        admin.retention(ann, RetentionRequest(run=True)),
    )
    for command in commands:
        with pytest.raises(PermissionDeniedError) as refused:
            await command
        assert refused.value.refusal.need == OPERATOR
    directory = await office.directory(ann)
    assert [entry.id for entry in directory.participants] == ["ann", "bob"]
    assert [(room.id, room.member) for room in directory.rooms] == [("hall", True)]


@pytest.mark.promise("mail.recipient-exists")
async def test_unknown_participant_room_and_unmet_session_are_refused_by_name(office: Office):
    """Each by the kind and the name of what is not there."""
    ann, _ = await office.accounts("ann", "bob")
    with pytest.raises(UnknownParticipantError) as participant:
        await office.send(ann, "nobody")
    assert participant.value.refusal.participant == "nobody"
    with pytest.raises(UnknownRoomError) as room:
        await office.send(ann, "#nowhere")
    assert room.value.refusal.room == "nowhere"
    with pytest.raises(UnknownSessionError) as session:
        await office.send(ann, f"bob/{SESSION}")
    assert session.value.refusal.session == SESSION


async def test_a_room_and_an_account_of_one_name_are_two_mailboxes(office: Office):
    """Names are of their kind."""
    ann, bob = await office.accounts("ann", "bob")
    await office.room("bob", ann)
    await office.send(ann, "#bob", "room")
    await office.send(ann, "bob", "account")
    assert await office.subjects(bob) == ["account"]
    assert await office.subjects(ann) == ["room"]


async def test_get_of_an_unknown_id_is_refused(office: Office):
    """As unknown_message, with the id."""
    ann = await office.account("ann")
    with pytest.raises(UnknownMessageError) as refused:
        await office.get(ann, NOWHERE)
    assert refused.value.refusal.message_id == NOWHERE


async def test_unread_agrees_with_the_inbox_and_with_unread_count(office: Office):
    """Limits leave the count whole."""
    ann, bob = await office.accounts("ann", "bob")
    for _ in range(3):
        await office.send(ann, "bob")
    page = await office.inbox(bob, limit=1)
    assert (len(page.messages), page.unread) == (1, 3)
    assert await office.unread(bob) == 3
    assert await office.engine.unread_count(bob) == 3


async def test_unread_of_others_needs_an_operator(office: Office):
    """One's account is one's own for its sessions; a sibling is not, and an unknown reader is named."""
    ann, bob = await office.accounts("ann", "bob")
    session = await office.session(bob)
    await office.send(ann, "bob")
    assert await office.unread(session, "bob") == 1
    for caller, target in ((ann, "bob"), (bob, f"bob/{SESSION}"), (session, "bob/s-00000009")):
        with pytest.raises(PermissionDeniedError) as refused:
            await office.unread(caller, target)
        assert refused.value.refusal.need == OPERATOR
    assert await office.unread(office.operator, f"bob/{SESSION}") == 1
    with pytest.raises(UnknownParticipantError):
        await office.unread(office.operator, "nobody")
    with pytest.raises(UnknownSessionError):
        await office.unread(office.operator, "bob/s-00000009")


@pytest.mark.promise("mail.sender-is-the-credential")
async def test_session_send_carries_the_session_address(office: Office):
    """The answer and the message name the session."""
    ann, bob = await office.accounts("ann", "bob")
    session = await office.session(ann)
    request = SendRequest(to=bob.address, subject="s", body="")
    assert (await office.engine.send(session, request)).from_ == session.address
    (message,) = (await office.inbox(bob)).messages
    assert message.from_ == session.address


async def test_whoami_tells_address_label_and_rooms(office: Office):
    """Rooms in order; a session's are its account's; a removed account is refused as unauthenticated."""
    ann = await office.account("ann", label="Ann the agent")
    for room in ("z", "B", "a"):
        await office.room(room, ann)
    for caller in (ann, await office.session(ann)):
        me = await office.engine.whoami(caller, WhoAmIRequest())
        assert (me.address, me.label, me.card) == (caller.address, "Ann the agent", None)
        assert me.rooms == ["B", "a", "z"]
    await office.remove("ann")
    with pytest.raises(UnauthenticatedError):
        await office.engine.whoami(ann, WhoAmIRequest())


async def test_directory_lists_all_and_drops_removed_ones(office: Office):
    """Membership is relative to the caller."""
    ann, bob = await office.accounts("ann", "bob")
    await office.account("cid", label="Cid")
    await office.room("hall", ann)
    await office.room("yard", bob)
    await office.remove("bob")
    directory = await office.directory(ann)
    assert [(entry.id, entry.label) for entry in directory.participants] == [("ann", None), ("cid", "Cid")]
    assert [(room.id, room.member) for room in directory.rooms] == [("hall", True), ("yard", False)]


@pytest.mark.promise("mail.search-is-scoped-and-literal")
async def test_a_query_without_a_word_finds_nothing(office: Office):
    """Punctuation alone is no search for everything."""
    ann, bob = await office.accounts("ann", "bob")
    await office.send(ann, "bob", "!?")
    assert await office.search(bob, '"!" ?') == []


async def test_a_request_changed_past_validation_is_not_sent(office: Office):
    """What the contract forbids is refused by encoding, and nothing is stored."""
    ann, bob = await office.accounts("ann", "bob")
    request = SendRequest.model_construct(
        to=bob.address,
        subject="line\nbreak",
        body="",
        reply_to=None,
        correlation=None,
        refs=[],
        idempotency_key=None,
    )
    with pytest.raises(MalformedError):
        await office.engine.send(ann, request)
    assert await office.subjects(bob) == []


def test_participants_are_told_apart_from_rooms_by_type():
    """An engine's caller is an account or a session; a room cannot be one."""
    with pytest.raises(RefusalError):
        participant_of("#room")
