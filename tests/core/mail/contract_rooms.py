"""What every store does with rooms: membership now, history, posting."""

import pytest

from mail4agent_api.errors import NotAddressedToYouError, PermissionDeniedError, UnknownMessageError
from mail4agent_api.mail import RoomListRequest, RoomMembersRequest

from .office import Office, position


class RoomContract:
    """Rooms."""

    @pytest.mark.promise("mail.only-recipients-read")
    async def test_room_member_reads_and_non_member_does_not(self, office: Office):
        """By page, by id, by thread and by search."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", bob)
        post = await office.send(ann, "#hall", "post")
        assert await office.subjects(bob) == ["post"]
        assert await office.subjects(cid) == []
        assert await office.subjects(cid, room="hall") == []
        assert await office.search(cid, "text") == []
        with pytest.raises(NotAddressedToYouError):
            await office.get(cid, post)
        with pytest.raises(NotAddressedToYouError):
            await office.thread(cid, post)

    @pytest.mark.promise("mail.former-member-sees-nothing")
    async def test_removed_member_sees_none_of_the_rooms_mail_old_or_new(self, office: Office):
        """Pages are empty, cursors included, and nothing tells of new mail."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await office.send(ann, "#hall", "old")
        seen = position((await office.inbox(bob)).messages[0])
        await office.leave("hall", bob)
        new = await office.send(ann, "#hall", "new")
        for fields in ({}, {"after": seen}, {"room": "hall"}, {"unread_only": True}, {"order": "newest"}):
            page = await office.inbox(bob, **fields)
            assert (page.messages, page.unread) == ([], 0)
        assert await office.unread(bob) == 0
        assert await office.search(bob, "text") == []
        assert await office.engine.newest(bob) is None
        assert not await office.engine.stands_after(bob, seen)
        with pytest.raises(NotAddressedToYouError):
            await office.ack(bob, new)

    async def test_a_former_member_keeps_what_it_wrote(self, office: Office):
        """One's own post can still be read by its id, and is listed as sent."""
        _, bob = await office.accounts("ann", "bob")
        await office.room("hall", bob)
        own = await office.send(bob, "#hall", "own")
        await office.leave("hall", bob)
        assert (await office.get(bob, own)).subject == "own"
        assert [row.message.subject for row in await office.sent(bob)] == ["own"]
        assert await office.subjects(bob) == []

    @pytest.mark.promise("mail.room-history-is-readable-not-unread")
    async def test_history_is_readable_and_not_unread_for_who_joins(self, office: Office):
        """Only what comes after joining counts, also for who comes back."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann)
        await office.send(ann, "#hall", "history")
        await office.join("hall", bob)
        assert await office.subjects(bob) == ["history"]
        assert await office.unread(bob) == 0
        await office.send(ann, "#hall", "news")
        assert await office.subjects(bob, unread_only=True) == ["news"]
        await office.leave("hall", bob)
        await office.send(ann, "#hall", "missed")
        await office.join("hall", bob)
        assert await office.subjects(bob) == ["history", "news", "missed"]
        assert await office.unread(bob) == 0

    async def test_joining_again_while_a_member_settles_nothing(self, office: Office):
        """A repeat of the command leaves unread mail unread."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await office.send(ann, "#hall", "news")
        await office.join("hall", bob)
        assert await office.unread(bob) == 1

    @pytest.mark.promise("mail.room-posting-follows-the-room")
    async def test_posting_follows_the_room(self, office: Office):
        """Anyone posts to an open room; a members' room refuses who is not in it."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("open", bob)
        await office.room("closed", bob, posting="members")
        await office.send(ann, "#open", "from outside")
        await office.send(bob, "#closed", "from inside")
        with pytest.raises(PermissionDeniedError) as refused:
            await office.send(ann, "#closed")
        assert refused.value.refusal.need == "room:member"
        assert await office.subjects(bob) == ["from outside", "from inside"]

    async def test_a_removed_room_takes_its_mail_along(self, office: Office):
        """Nothing of it can be read, its author included, and a room of the same name starts empty."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        post = await office.send(ann, "#hall", "post")
        await office.send(ann, "bob", "letter")
        await office.remove_room("hall")
        assert await office.subjects(bob) == ["letter"]
        assert await office.unread(bob) == 1
        with pytest.raises(UnknownMessageError):
            await office.get(ann, post)
        await office.room("hall", bob)
        assert await office.subjects(bob) == ["letter"]
        await office.send(ann, "#hall", "new post")
        assert await office.unread(bob) == 2

    async def test_rooms_and_members_are_listed_in_pages(self, office: Office):
        """By name, with counts, each page going on after the last name."""
        people = await office.accounts("a", "B", "c")
        for name in ("x", "Y", "z"):
            await office.room(name, *people)
        await office.send(people[0], "#x")
        admin = office.administration
        first = (await admin.room_list(office.operator, RoomListRequest(limit=2))).rooms
        rest = (await admin.room_list(office.operator, RoomListRequest(after=first[-1].id))).rooms
        assert [(room.id, room.members, room.messages) for room in (*first, *rest)] == [
            ("Y", 3, 0),
            ("x", 3, 1),
            ("z", 3, 0),
        ]
        request = RoomMembersRequest.model_validate({"room": "x", "limit": 2})
        assert (await admin.room_members(office.operator, request)).members == ["B", "a"]
        request = RoomMembersRequest.model_validate({"room": "x", "after": "a"})
        assert (await admin.room_members(office.operator, request)).members == ["c"]

    async def test_boxes_are_those_to_wait_on(self, office: Office):
        """One's own and those of the rooms one is in now; leaving and joining tell the account."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        assert await office.engine.boxes(bob) == {"bob", "#hall"}
        told = office.told()
        await office.leave("hall", bob)
        assert await office.engine.boxes(bob) == {"bob"}
        await office.join("hall", bob)
        await office.send(ann, "#hall")
        await office.remove_room("hall")
        assert told == [{"bob"}, {"bob"}, {"#hall"}, {"ann", "bob"}]
