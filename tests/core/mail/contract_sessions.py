"""What every store does for sessions: boxes of their own, and where they start."""

from collections.abc import Iterable

import pytest

from mail4agent_api.errors import NotAddressedToYouError, UnknownSessionError
from mail4agent_api.mail import SessionAddress
from mail4agent_core.mail.identity import Caller

from .office import OTHER_SESSION, SESSION, Office


class SessionContract:
    """Readers that are sessions of an account."""

    async def test_session_reads_own_account_and_account_room_mail(self, office: Office):
        """All three, in one page."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", bob)
        session = await office.session(bob)
        for to in (f"bob/{SESSION}", "bob", "#hall"):
            await office.send(ann, to, to)
        assert await office.subjects(session) == [f"bob/{SESSION}", "bob", "#hall"]
        assert await office.engine.boxes(session) == {f"bob/{SESSION}", "bob", "#hall"}
        assert await office.unread(session) == 3

    @pytest.mark.promise("mail.only-recipients-read")
    async def test_session_mail_is_hidden_from_account_and_sibling(self, office: Office):
        """Neither a page nor its id shows it to them, nor to another account."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        sibling = await office.session(bob, OTHER_SESSION)
        letter = await office.send(ann, f"bob/{SESSION}")
        for other in (bob, sibling):
            assert await office.subjects(other) == []
            with pytest.raises(NotAddressedToYouError):
                await office.get(other, letter)
        assert (await office.get(session, letter)).message_id == letter
        assert (await office.get(ann, letter)).message_id == letter

    @pytest.mark.promise("mail.recipient-exists")
    async def test_a_session_that_was_not_met_is_no_recipient(self, office: Office):
        """It is refused by its name, as is one of a removed account."""
        ann, bob = await office.accounts("ann", "bob")
        with pytest.raises(UnknownSessionError) as refused:
            await office.send(ann, f"bob/{SESSION}")
        assert refused.value.refusal.session == SESSION
        await office.session(bob)
        await office.send(ann, f"bob/{SESSION}")
        await office.remove("bob")
        with pytest.raises(UnknownSessionError):
            await office.send(ann, f"bob/{SESSION}")
        assert [row.undeliverable for row in await office.sent(ann)] == [True]

    async def test_a_session_starts_where_its_account_stands(self, office: Office):
        """What any address of the account has acknowledged or sent counts; later acks are its own."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        sent = [await office.send(ann, to, str(n)) for n, to in enumerate(("bob", "#hall") * 4)]
        first = await office.session(bob)
        await office.ack_many(bob, sent[0], sent[2], sent[5])
        await office.ack_many(first, sent[2], sent[3])
        await office.send(bob, "#hall", "own")
        second = await office.session(bob, OTHER_SESSION)
        assert await office.subjects(second, unread_only=True) == ["1", "4", "6", "7"]
        assert await office.unread(second) == 4
        await office.ack(second, sent[1])
        assert await office.unread(second) == 3
        assert await office.unread(bob) == 5
        assert await office.unread(first) == 7

    @pytest.mark.parametrize(
        ("account", "first"),
        [
            ((3, *range(10, 20)), (2, 3, 4)),
            ((0, 1, *range(10, 20)), (5, 6, 9, 10, 19)),
            (range(0, 20, 2), range(1, 20, 4)),
            (range(20), (3, 4)),
            ((), (7,)),
        ],
    )
    async def test_a_session_inherits_what_its_account_and_siblings_have_together(
        self, office: Office, account: Iterable[int], first: Iterable[int]
    ):
        """Runs of acknowledgements that overlap, touch, hold one another or stand apart are counted once."""
        ann, bob = await office.accounts("ann", "bob")
        sibling = await office.session(bob)
        sent = [await office.send(ann, "bob", str(n)) for n in range(20)]
        for reader, acked in ((bob, account), (sibling, first)):
            for n in acked:
                await office.ack(reader, sent[n])
        session = await office.session(bob, OTHER_SESSION)
        left = [str(n) for n in range(20) if n not in {*account, *first}]
        assert await office.walk(session, unread_only=True) == left
        assert await office.unread(session) == len(left)

    async def test_meeting_a_session_again_changes_nothing(self, office: Office):
        """Its own progress stays."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        letter = await office.send(ann, "bob")
        await office.ack(bob, letter)
        await office.session(bob)
        assert await office.unread(session) == 1

    async def test_a_session_is_met_by_its_first_write(self, office: Office):
        """A session that acts before it was met starts where its account stands all the same."""
        ann, bob = await office.accounts("ann", "bob")
        letters = [await office.send(ann, "bob", str(n)) for n in range(3)]
        await office.ack(bob, letters[0])
        met = Caller(SessionAddress(participant=bob.account, session=SESSION), bob.capabilities)
        await office.ack(met, letters[2])
        assert await office.subjects(met, unread_only=True) == ["1"]

    async def test_an_ack_belongs_to_its_exact_reader(self, office: Office):
        """A session's ack is not the account's, nor the other way round."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        letter = await office.send(ann, "bob")
        await office.ack(session, letter)
        assert (await office.unread(session), await office.unread(bob)) == (0, 1)
        (row,) = await office.sent(ann)
        assert [ack.reader for ack in row.acks] == [session.address]

    @pytest.mark.promise("mail.own-messages-are-never-unread")
    async def test_a_siblings_post_is_unread_and_ones_own_is_not(self, office: Office):
        """Own means the exact address."""
        bob = await office.account("bob")
        await office.room("hall", bob)
        session = await office.session(bob)
        sibling = await office.session(bob, OTHER_SESSION)
        for to in ("#hall", "bob", f"bob/{SESSION}"):
            await office.send(session, to)
        assert await office.unread(session) == 0
        assert await office.unread(sibling) == 2
        assert await office.unread(bob) == 2
        assert not await office.engine.stands_after(session, None)
        assert await office.engine.stands_after(sibling, None)

    async def test_joining_settles_history_for_every_session(self, office: Office):
        """What stood in the room is unread for none of the account's readers."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(bob)
        await office.room("hall", ann)
        await office.send(ann, "#hall", "history")
        await office.join("hall", bob)
        assert (await office.unread(bob), await office.unread(session)) == (0, 0)
        await office.send(ann, "#hall", "news")
        assert (await office.unread(bob), await office.unread(session)) == (1, 1)

    async def test_a_session_of_no_account_is_not_met(self, office: Office):
        """Meeting needs a registered account that was not removed."""
        bob = await office.account("bob")
        await office.remove("bob")
        session = await office.session(bob)
        assert await office.engine.boxes(session) == frozenset()
        assert not await office.store.look(lambda registry: registry.knows(session.address))
