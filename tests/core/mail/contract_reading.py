"""What every store does for a page: cursors, order, filters, bounds."""

import pytest

from mail4agent_api.mail import InboxRequest, MessageId, Position
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.identity import Caller

from .office import NOWHERE, Office, position, subjects

ALL = [str(n) for n in range(9)]


async def fill(office: Office, clock: HandClock) -> tuple[Caller, list[MessageId]]:
    """A reader with nine messages, three to a millisecond."""
    ann, bob = await office.accounts("ann", "bob")
    sent: list[MessageId] = []
    for n, subject in enumerate(ALL):
        if n and n % 3 == 0:
            clock.step(1)
        sent.append(await office.send(ann, "bob", subject))
    return bob, sent


class ReadingContract:
    """Pages."""

    @pytest.mark.promise("mail.paging-misses-and-repeats-nothing")
    @pytest.mark.parametrize("limit", [1, 2, 3, 4, 9, 256])
    async def test_paging_by_the_last_message_gives_each_message_once(
        self, office: Office, clock: HandClock, limit: int
    ):
        """Whatever the page length, also where a millisecond holds more than a page."""
        bob, _ = await fill(office, clock)
        assert await office.walk(bob, limit=limit) == ALL

    @pytest.mark.promise("mail.paging-misses-and-repeats-nothing")
    async def test_paging_while_others_send_misses_and_repeats_nothing(
        self, office: Office, clock: HandClock
    ):
        """Mail that arrives between two pages, over several boxes, is on a later page."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        found: list[str] = []
        after: Position | None = None
        for n in range(20):
            for to in ("bob", "#hall") if n < 12 else ():
                await office.send(ann, to, f"{n} {to}")
            clock.step((-1) ** n)
            page = await office.inbox(bob, limit=2, after=after)
            found += subjects(page.messages)
            after = position(page.messages[-1]) if page.messages else after
        assert len(found) == 24
        assert found == await office.subjects(bob, limit=256)

    @pytest.mark.promise("mail.newest-first-pages-back")
    @pytest.mark.parametrize("limit", [1, 2, 4, 9])
    async def test_newest_first_pages_back_through_everything(
        self, office: Office, clock: HandClock, limit: int
    ):
        """The newest message comes first, and before goes on from the last one seen."""
        bob, _ = await fill(office, clock)
        assert await office.walk_back(bob, limit=limit) == ALL[::-1]

    async def test_both_cursors_work_with_both_orders(self, office: Office, clock: HandClock):
        """The cursor says where, the order says from which end."""
        bob, _ = await fill(office, clock)
        fourth = position((await office.inbox(bob)).messages[3])
        assert await office.subjects(bob, after=fourth, limit=2) == ["4", "5"]
        assert await office.subjects(bob, after=fourth, limit=2, order="newest") == ["8", "7"]
        assert await office.subjects(bob, before=fourth, limit=2) == ["0", "1"]
        assert await office.subjects(bob, before=fourth, limit=2, order="newest") == ["2", "1"]

    @pytest.mark.promise("mail.since-is-inclusive")
    async def test_since_lists_its_own_millisecond(self, office: Office, clock: HandClock):
        """The bound is inclusive, and together with a cursor the later of the two counts."""
        bob, _ = await fill(office, clock)
        middle = (await office.inbox(bob)).messages[4]
        at = middle.created_at_unix_ms
        assert await office.subjects(bob, since_unix_ms=at) == ALL[3:]
        assert await office.subjects(bob, since_unix_ms=at + 1) == ALL[6:]
        assert await office.subjects(bob, since_unix_ms=0) == ALL
        assert await office.subjects(bob, since_unix_ms=2**64 - 1) == []
        assert await office.subjects(bob, since_unix_ms=at, after=position(middle)) == ALL[5:]
        assert await office.subjects(bob, since_unix_ms=at, order="newest", limit=2) == ["8", "7"]

    @pytest.mark.promise("mail.unknown-position-repeats-rather-than-misses")
    async def test_an_unknown_position_counts_as_the_edge_of_its_millisecond(
        self, office: Office, clock: HandClock
    ):
        """Deleted mail, a made-up id and an id with another time repeat the millisecond and miss nothing."""
        bob, sent = await fill(office, clock)
        fifth = position((await office.inbox(bob)).messages[4])
        await office.purge_message(sent[4])
        left = [subject for subject in ALL if subject != "4"]
        made_up = Position(created_at_unix_ms=fifth.created_at_unix_ms, message_id=NOWHERE)
        moved = Position(created_at_unix_ms=fifth.created_at_unix_ms, message_id=sent[0])
        for unknown in (fifth, made_up, moved):
            assert await office.subjects(bob, after=unknown) == left[3:]
            assert await office.subjects(bob, before=unknown) == left[:5]

    async def test_a_position_of_anothers_message_is_a_place_like_any(self, office: Office, clock: HandClock):
        """Order is one over all boxes, so a position tells nothing but where to go on."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "old")
        foreign = await office.send(bob, "ann", "foreign")
        await office.send(ann, "bob", "new")
        after = position(await office.get(ann, foreign))
        assert await office.subjects(bob, after=after) == ["new"]

    @pytest.mark.promise("mail.filters-come-before-the-limit")
    @pytest.mark.parametrize("order", ["oldest", "newest"])
    async def test_filters_come_before_the_limit(self, office: Office, order: str):
        """Every filter, and each pair of them, fills its page past what does not match."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", ann, bob)
        root = await office.send(bob, "#hall", "root")
        kept: dict[str, set[str]] = {name: set() for name in ("unread", "ann", "hall", "case", "thread")}
        kept["hall"].add("root")
        kept["thread"].add("root")
        for n in range(32):
            traits = {name for bit, name in enumerate(kept) if n >> bit & 1}
            sender, to = (ann if "ann" in traits else cid), ("#hall" if "hall" in traits else "bob")
            reply = root if "thread" in traits and sender is ann else None
            case = "case" if "case" in traits else "other" if n % 3 else None
            sent = await office.send(sender, to, str(n), reply_to=reply, correlation=case)
            if "unread" not in traits:
                await office.ack(bob, sent)
            for name in traits - {"thread"} if reply is None else traits:
                kept[name].add(str(n))
        every = await office.subjects(bob, limit=256, order=order)
        assert len(every) == 33
        filters: dict[str, dict[str, object]] = {
            "unread": {"unread_only": True},
            "ann": {"sent_by": ann.account},
            "hall": {"room": "hall"},
            "case": {"correlation": "case"},
            "thread": {"thread": root},
        }
        walk = office.walk if order == "oldest" else office.walk_back
        for one, first in filters.items():
            for other, second in filters.items():
                wanted = [subject for subject in every if subject in kept[one] & kept[other]]
                asked = {**first, **second}
                assert await walk(bob, limit=3, **asked) == wanted, asked

    async def test_a_filter_by_account_matches_its_sessions(self, office: Office):
        """sent_by names an account; what its sessions sent is its own."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "account")
        await office.send(await office.session(ann), "bob", "session")
        await office.send(bob, "bob", "own")
        assert await office.subjects(bob, sent_by=ann.account) == ["account", "session"]

    async def test_filters_that_nothing_matches_give_an_empty_page(self, office: Office, clock: HandClock):
        """Unknown messages, accounts, rooms and correlations are no error."""
        bob, _ = await fill(office, clock)
        none: list[dict[str, object]] = [
            {"thread": NOWHERE},
            {"sent_by": "nobody"},
            {"room": "nowhere"},
            {"correlation": "nothing"},
        ]
        for fields in none:
            assert await office.subjects(bob, **fields) == []

    @pytest.mark.promise("mail.page-bytes-are-bounded")
    async def test_a_page_ends_before_its_bytes_would_be_exceeded(self, office: Office):
        """The encoded page holds as much as fits and always one message."""
        ann, bob = await office.accounts("ann", "bob")
        for n in range(60):
            await office.send(ann, "bob", str(n), "x" * (n % 5))
        whole = await office.engine.inbox(bob, InboxRequest(limit=60))
        for bound in (*range(1, len(whole.raw), 97), len(whole.raw) + 10):
            page = await office.engine.inbox(bob, InboxRequest(limit=60, max_bytes=bound))
            assert page.count == 1 or len(page.raw) <= bound
            if page.count < 60:
                more = await office.engine.inbox(bob, InboxRequest(limit=page.count + 1))
                assert len(more.raw) + 10 > bound
        assert page.count == 60

    @pytest.mark.promise("mail.reading-consumes-nothing")
    async def test_reading_consumes_nothing(self, office: Office, clock: HandClock):
        """Pages, single messages, threads and searches leave listing and unread count as they were."""
        bob, sent = await fill(office, clock)
        for _ in range(2):
            assert await office.walk(bob, limit=4) == ALL
            await office.get(bob, sent[0])
            await office.thread(bob, sent[0])
            await office.search(bob, "text")
            assert await office.unread(bob) == 9

    async def test_an_empty_mailbox_has_an_empty_page(self, office: Office):
        """Nothing is no error."""
        ann = await office.account("ann")
        page = await office.inbox(ann)
        assert (page.messages, page.unread) == ([], 0)
        assert await office.engine.newest(ann) is None
        assert not await office.engine.stands_after(ann, None)

    async def test_newest_is_the_last_position_of_all_boxes(self, office: Office, clock: HandClock):
        """One's own mail counts, others' mailboxes do not."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        for to in ("bob", "#hall", "ann"):
            last = await office.send(ann, to)
            clock.step(1)
            for reader in (ann, bob):
                page = await office.inbox(reader, order="newest", limit=1)
                newest = await office.engine.newest(reader)
                assert newest == (position(page.messages[0]) if page.messages else None)
        assert newest is not None
        assert newest.message_id != last

    async def test_newest_is_the_last_that_is_left_of_all_boxes(self, office: Office, clock: HandClock):
        """Whatever is deleted, in whichever box, the newest of the rest is the newest."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", bob)
        await office.room("yard", bob)
        sent = []
        for to in ("bob", "#hall", "#yard", "#hall", "bob", "#yard", "#yard"):
            sent.append(await office.send(ann, to))
            clock.step(1)
        while sent:
            newest = await office.engine.newest(bob)
            assert newest is not None
            assert newest.message_id == sent[-1]
            await office.purge_message(sent.pop())
        assert await office.engine.newest(bob) is None

    @pytest.mark.promise("mail.wait-looks-past-own-and-acknowledged")
    async def test_own_mail_does_not_stand_after_a_position(self, office: Office):
        """Others' mail is told past any number of one's own messages, and past deleted ones."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        first = await office.send(bob, "#hall", "theirs")
        at = position(await office.get(ann, first))
        assert await office.engine.stands_after(ann, None)
        assert not await office.engine.stands_after(ann, at)
        for _ in range(3):
            await office.send(ann, "#hall", "own")
        assert not await office.engine.stands_after(ann, at)
        assert await office.engine.stands_after(bob, at)
        later = await office.send(bob, "#hall", "theirs")
        await office.send(ann, "#hall", "own")
        assert await office.engine.stands_after(ann, at)
        await office.purge_message(later)
        assert not await office.engine.stands_after(ann, at)
        assert await office.engine.stands_after(ann, None)
        await office.purge_message(first)
        assert not await office.engine.stands_after(ann, None)
