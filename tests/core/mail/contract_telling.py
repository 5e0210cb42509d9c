"""What every store does for hooks: each reader is told of each of its unread messages once."""

from typing import Any

import pytest

from mail4agent_api.errors import PermissionDeniedError, UnauthenticatedError
from mail4agent_api.mail import InboxRequest, RetentionRequest, ToldRequest

from .office import DAY_MS, OTHER_SESSION, SESSION, Office, position


@pytest.mark.promise("mail.told-once")
class TellingContract:
    """Telling, and what ends it."""

    async def test_unread_mail_is_told_once_and_oldest_first(self, office: Office):
        """The second question finds nothing, and a message that comes later is told alone."""
        ann, bob = await office.accounts("ann", "bob")
        for n in range(3):
            await office.send(ann, "bob", str(n))
        assert await office.tell(bob) == ["0", "1", "2"]
        assert await office.tell(bob) == []
        await office.send(ann, "bob", "3")
        assert await office.tell(bob) == ["3"]
        assert await office.unread(bob) == 4

    async def test_a_notice_says_who_wrote_what_where_and_no_more(self, office: Office):
        """Sender, subject, time and room; the newest position and the unread count stand beside."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        first = await office.send(ann, "bob", "to bob")
        second = await office.send(ann, "#hall", "to all")
        told = await office.engine.told(bob, ToldRequest())
        letters = [await office.get(bob, each) for each in (first, second)]
        assert [notice.model_dump(by_alias=True) for notice in told.messages] == [
            {
                "message_id": letter.message_id,
                "from": {"kind": "direct", "participant": "ann"},
                "room": room,
                "subject": letter.subject,
                "created_at_unix_ms": letter.created_at_unix_ms,
            }
            for letter, room in zip(letters, (None, "hall"), strict=True)
        ]
        assert (told.unread, told.more, told.newest) == (2, False, position(letters[1]))

    async def test_what_is_past_the_limit_is_told_next_time(self, office: Office):
        """More says that there is more, until there is not."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", bob)
        for n in range(5):
            await office.send(ann, ("bob", "#hall")[n % 2], str(n))
        found: list[tuple[list[str], bool]] = []
        for _ in range(4):
            told = await office.engine.told(bob, ToldRequest(limit=2))
            found.append(([notice.subject for notice in told.messages], told.more))
        assert found == [(["0", "1"], True), (["2", "3"], True), (["4"], False), ([], False)]

    async def test_acknowledged_and_own_mail_is_not_told(self, office: Office):
        """Nor what stood in a room before its reader joined."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann)
        await office.send(ann, "#hall", "history")
        await office.join("hall", bob)
        done = await office.send(ann, "bob", "done")
        await office.ack(bob, done)
        await office.send(bob, "#hall", "own")
        await office.send(ann, "#hall", "news")
        assert await office.tell(bob) == ["news"]
        assert await office.tell(ann) == ["own"]

    async def test_each_session_and_the_account_are_told_by_themselves(self, office: Office):
        """Mail to the account is for all of them, mail to a session for that one alone."""
        ann, bob = await office.accounts("ann", "bob")
        session, sibling = await office.session(bob), await office.session(bob, OTHER_SESSION)
        await office.send(ann, "bob", "to all")
        await office.send(ann, f"bob/{SESSION}", "to one")
        for reader, expected in ((session, ["to all", "to one"]), (sibling, ["to all"]), (bob, ["to all"])):
            assert await office.tell(reader) == expected
            assert await office.tell(reader) == []

    async def test_telling_is_no_acknowledgement_and_wakes_nobody(self, office: Office):
        """Pages and counts are as before, and no commit is told of."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "letter")
        heard = office.told()
        assert await office.tell(bob) == ["letter"]
        assert await office.subjects(bob, unread_only=True) == ["letter"]
        assert heard in ([], [frozenset()])

    @pytest.mark.parametrize(
        "fields",
        [{}, {"unread_only": True}, {"order": "newest"}, {"limit": 2}],
        ids=str,
    )
    async def test_what_a_page_has_shown_is_not_told(self, office: Office, fields: dict[str, Any]):
        """A hook that comes after its agent has read has nothing to say of that; what comes later is told."""
        ann, bob = await office.accounts("ann", "bob")
        assert await office.tell(bob) == []
        for n in range(2):
            await office.send(ann, "bob", str(n))
        await office.engine.shown(bob, await office.engine.inbox(bob, InboxRequest(**fields)))
        assert await office.tell(bob) == []
        await office.send(ann, "bob", "later")
        assert await office.tell(bob) == ["later"]

    async def test_a_page_that_leaves_something_out_leaves_it_to_be_told(self, office: Office):
        """One that begins further on, is filtered, pages back or ends early."""
        ann, bob = await office.accounts("ann", "bob")
        assert await office.tell(bob) == []
        letters = [await office.send(ann, "bob", str(n)) for n in range(4)]
        at = position(await office.get(bob, letters[1]))
        for fields in (
            {"after": at},
            {"sent_by": "ann"},
            {"thread": letters[3]},
            {"order": "newest", "limit": 3},
            {"order": "newest", "before": at},
        ):
            request = InboxRequest.model_validate(fields)
            await office.engine.shown(bob, await office.engine.inbox(bob, request))
        first = await office.engine.inbox(bob, InboxRequest(limit=1))
        await office.engine.shown(bob, first)
        assert await office.tell(bob) == ["1", "2", "3"]
        await office.engine.shown(bob, first)
        assert await office.tell(bob) == []

    async def test_a_reader_that_never_asked_is_told_all_it_has_read(self, office: Office):
        """Pages of whoever has no hooks are noted nowhere."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "letter")
        await office.engine.shown(bob, await office.engine.inbox(bob, InboxRequest()))
        assert await office.tell(bob) == ["letter"]

    async def test_deleting_what_was_told_last_repeats_nothing(self, office: Office):
        """Neither a purge nor retention moves the position back."""
        ann, bob = await office.accounts("ann", "bob")
        letters = [await office.send(ann, "bob", str(n)) for n in range(3)]
        assert await office.tell(bob) == ["0", "1", "2"]
        await office.purge_message(letters[2])
        await office.ack(bob, letters[1])
        office.clock.step(181 * DAY_MS)
        await office.administration.retention(office.operator, RetentionRequest(run=True))
        assert await office.tell(bob) == []
        office.clock.step(-200 * DAY_MS)
        await office.send(ann, "bob", "3")
        assert await office.tell(bob) == ["3"]

    async def test_a_room_left_and_joined_again_has_nothing_old_to_tell(self, office: Office):
        """What was posted meanwhile is history by then."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await office.send(ann, "#hall", "before")
        await office.leave("hall", bob)
        assert await office.tell(bob) == []
        await office.send(ann, "#hall", "meanwhile")
        await office.join("hall", bob)
        await office.send(ann, "#hall", "after")
        assert await office.tell(bob) == ["after"]

    async def test_an_account_registered_anew_has_been_told_nothing(self, office: Office):
        """A purge forgets how far the old one was told; a removed one is told nothing."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "old")
        assert await office.tell(bob) == ["old"]
        await office.remove("bob")
        with pytest.raises(UnauthenticatedError):
            await office.tell(bob)
        await office.purge("bob")
        await office.account("bob")
        await office.send(ann, "bob", "new")
        assert await office.tell(bob) == ["new"]

    @pytest.mark.promise("mail.capabilities-are-needed")
    async def test_telling_needs_the_right_to_read(self, office: Office):
        """Who may only send is refused."""
        ann = await office.account("ann", read=False)
        with pytest.raises(PermissionDeniedError):
            await office.tell(ann)
