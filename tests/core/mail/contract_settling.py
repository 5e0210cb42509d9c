"""What every store does with acknowledgements, unread counts, threads, searches and what was sent."""

import pytest

from mail4agent_api.codec import encode
from mail4agent_api.errors import NotAddressedToYouError, UnknownMessageError
from mail4agent_api.mail import (
    AckManyRequest,
    AckRequest,
    InboxRequest,
    MessageGetRequest,
    SearchRequest,
    SentPage,
    SentRequest,
    ThreadRequest,
)
from mail4agent_core.clock import HandClock

from .office import NOWHERE, Office, position


class SettlingContract:
    """Acknowledgements, and what is told of messages later."""

    @pytest.mark.promise("mail.ack-is-idempotent")
    async def test_ack_is_idempotent_with_the_first_timestamp(self, office: Office, clock: HandClock):
        """A repeat answers with the acknowledgement on record, alone or among others."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob")
        clock.step(10)
        first = await office.ack(bob, letter)
        clock.step(10)
        assert await office.ack(bob, letter) == first
        assert first.acked_at_unix_ms == clock.now_ms() - 10
        assert first.reader == bob.address
        request = AckManyRequest(message_ids=[letter, letter])
        outcomes = (await office.engine.ack_many(bob, request)).outcomes
        assert [outcome.ack for outcome in outcomes if outcome.kind == "acked"] == [first, first]

    async def test_an_ack_is_never_older_than_its_message(self, office: Office, clock: HandClock):
        """After the clock was set back the message's own time stands."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob")
        at = clock.now_ms()
        clock.step(-5_000)
        assert (await office.ack(bob, letter)).acked_at_unix_ms == at

    @pytest.mark.promise("mail.ack-needs-a-readable-message")
    async def test_an_ack_needs_a_message_that_the_reader_may_read(self, office: Office):
        """Unknown mail, others' mail and what one sent to others are refused by name and change nothing."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        letter = await office.send(ann, "bob")
        with pytest.raises(UnknownMessageError):
            await office.ack(bob, NOWHERE)
        for stranger in (ann, cid):
            with pytest.raises(NotAddressedToYouError):
                await office.ack(stranger, letter)
        own = await office.send(cid, "cid")
        outcomes = await office.ack_many(cid, letter, NOWHERE, own)
        assert outcomes == ["not_addressed_to_you", "unknown_message", "acked"]
        assert await office.unread(bob) == 1

    @pytest.mark.promise("mail.unread-is-one-number")
    async def test_unread_is_the_same_number_everywhere(self, office: Office):
        """A page of any kind, the unread operation, unread_only and an operator's view agree."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        sent = [await office.send(ann, to) for to in ("bob", "#hall") * 5]
        for n, letter in enumerate(sent):
            left = 10 - n
            page = await office.inbox(bob, limit=1)
            assert page.unread == left
            assert (await office.inbox(bob, limit=1, order="newest", room="hall")).unread == left
            assert (await office.inbox(bob, correlation="none", unread_only=True)).unread == left
            assert await office.unread(bob) == left
            assert await office.unread(office.operator, "bob") == left
            assert (await office.inbox_of(office.operator, "bob", limit=1)).unread == left
            assert len(await office.walk(bob, unread_only=True)) == left
            await office.ack(bob, letter)
        assert await office.unread(bob) == 0

    async def test_acknowledged_mail_stays_listed(self, office: Office):
        """An ack changes what is unread, not what is there."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob", "kept")
        await office.ack(bob, letter)
        assert await office.subjects(bob) == ["kept"]
        assert await office.subjects(bob, unread_only=True) == []

    @pytest.mark.promise("mail.unread-is-one-number")
    @pytest.mark.parametrize("order", [(3, 1, 4, 0, 5, 2), (0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0)])
    async def test_unread_only_follows_acks_in_any_order(self, office: Office, order: tuple[int, ...]):
        """The list of unread mail is right after each ack, from both ends and from the middle."""
        ann, bob = await office.accounts("ann", "bob")
        sent = [await office.send(ann, "bob", str(n)) for n in range(6)]
        third = position((await office.inbox(bob)).messages[2])
        left = [str(n) for n in range(6)]
        for n in order:
            await office.ack(bob, sent[n])
            left.remove(str(n))
            for limit in (1, 2, 9):
                assert await office.walk(bob, limit=limit, unread_only=True) == left
                assert await office.walk_back(bob, limit=limit, unread_only=True) == left[::-1]
            after = [subject for subject in left if subject > "2"]
            assert await office.subjects(bob, unread_only=True, after=third) == after
            before = [subject for subject in left if subject < "2"]
            assert await office.subjects(bob, unread_only=True, before=third) == before

    @pytest.mark.promise("mail.own-messages-are-never-unread")
    async def test_own_mail_is_never_unread(self, office: Office):
        """Neither a note to oneself nor a post to one's own room counts, and others count it."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await office.send(ann, "ann")
        await office.send(ann, "#hall")
        assert len(await office.subjects(ann)) == 2
        assert await office.unread(ann) == 0
        assert await office.unread(bob) == 1
        assert await office.subjects(ann, unread_only=True) == []

    async def test_the_unread_list_is_whole_after_deletions(self, office: Office):
        """Deleting acknowledged, unacknowledged and parting messages leaves the count and the list true."""
        ann, bob = await office.accounts("ann", "bob")
        sent = [await office.send(ann, "bob", str(n)) for n in range(9)]
        for n in (1, 3, 5, 7):
            await office.ack(bob, sent[n])
        for n, unread in ((3, 5), (4, 4), (2, 3), (5, 3), (8, 2), (0, 1), (6, 0)):
            await office.purge_message(sent[n])
            assert await office.unread(bob) == unread
            assert len(await office.walk(bob, limit=1, unread_only=True)) == unread
        assert await office.subjects(bob) == ["1", "7"]

    @pytest.mark.promise("mail.thread-is-what-the-caller-may-read")
    async def test_a_thread_is_what_its_caller_may_read_whichever_message_it_is_asked_by(
        self, office: Office
    ):
        """Oldest first, over boxes, the caller's own replies to others included, others' private ones not."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", ann, bob, cid)
        root = await office.send(ann, "#hall", "root")
        reply = await office.send(bob, "#hall", "reply", reply_to=root)
        private = await office.send(bob, "ann", "private", reply_to=reply)
        await office.send(ann, "bob", "answer", reply_to=private)
        await office.send(cid, "#hall", "last", reply_to=root)
        await office.send(cid, "#hall", "another thread")
        whole = ["root", "reply", "private", "answer", "last"]
        for message in (root, reply, private):
            assert await office.thread(ann, message) == whole
            assert await office.thread(bob, message) == whole
        assert await office.thread(cid, reply) == ["root", "reply", "last"]
        with pytest.raises(NotAddressedToYouError):
            await office.thread(cid, private)
        with pytest.raises(UnknownMessageError):
            await office.thread(cid, NOWHERE)

    async def test_a_thread_pages_by_after(self, office: Office):
        """Each page goes on strictly after the last message of the one before."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        root = await office.send(ann, "#hall", "0")
        for n in range(1, 7):
            await office.send(bob, "#hall" if n % 2 else "ann", str(n), reply_to=root)
        messages = {message.subject: message for message in (await office.inbox(ann)).messages}
        assert await office.thread(ann, root, limit=3) == ["0", "1", "2"]
        assert await office.thread(ann, root, limit=3, after=position(messages["2"])) == ["3", "4", "5"]
        assert await office.thread(ann, root, limit=3, after=position(messages["6"])) == []

    async def test_a_thread_outlives_its_first_message(self, office: Office):
        """What was replied stays one thread when the root was deleted."""
        ann, bob = await office.accounts("ann", "bob")
        root = await office.send(ann, "bob", "root")
        one = await office.send(bob, "ann", "one", reply_to=root)
        await office.send(bob, "ann", "two", reply_to=root)
        await office.purge_message(root)
        assert await office.thread(ann, one) == ["one", "two"]
        assert await office.subjects(ann, thread=one) == ["one", "two"]

    @pytest.mark.promise("mail.search-is-scoped-and-literal")
    async def test_a_search_finds_readable_mail_newest_first(self, office: Office):
        """Subject and body count; others' mail does not, nor what one sent to others."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", ann, bob)
        await office.send(ann, "bob", "blue whale")
        await office.send(ann, "#hall", "room", "a Whale, blue")
        await office.send(ann, "cid", "blue whale elsewhere")
        await office.send(ann, "bob", "blue bird")
        assert await office.search(bob, "whale") == ["room", "blue whale"]
        assert await office.search(bob, "blue WHALE") == ["room", "blue whale"]
        assert await office.search(bob, '"blue whale"') == ["blue whale"]
        assert await office.search(bob, "blue", room="hall") == ["room"]
        assert await office.search(bob, "blue", sent_by=cid.account) == []
        assert await office.search(bob, "blue", sent_by=ann.account, limit=1) == ["blue bird"]
        assert await office.search(ann, "whale") == ["room"]
        assert await office.search(bob, "whal") == []

    async def test_a_search_pages_back_by_before(self, office: Office):
        """before goes on from the last one found."""
        ann, bob = await office.accounts("ann", "bob")
        for n in range(5):
            await office.send(ann, "bob", str(n), "needle")
        messages = {message.subject: message for message in (await office.inbox(bob)).messages}
        assert await office.search(bob, "needle", limit=2) == ["4", "3"]
        assert await office.search(bob, "needle", limit=2, before=position(messages["3"])) == ["2", "1"]

    @pytest.mark.promise("mail.search-is-scoped-and-literal")
    @pytest.mark.parametrize(
        "query",
        [
            "scope:b1",
            "subject:x",
            "a AND b",
            "a OR",
            "NOT a",
            "a*",
            "^a",
            "(",
            '"',
            '"a',
            "NEAR(a b)",
            "{a}:b",
            "-",
        ],
    )
    async def test_no_part_of_a_query_is_syntax(self, office: Office, query: str):
        """Operators, columns and unbalanced quotes are words or nothing, and never an error."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "decoy", "plain text b1 x b")
        await office.send(ann, "bob", "hit", f"before {query.replace(chr(34), ' ')} after")
        found = await office.search(bob, query)
        assert found in (["hit"], [])
        assert bool(found) == any(character.isalnum() for character in query)

    @pytest.mark.parametrize(
        ("text", "query"),
        [
            ("Café au lait", "cafe"),
            ("cafe\u0301", "café"),
            ("STRASSE", "straße"),
            ("今天天气很好", "天气"),
            ("हिन्दी भाषा", "हिन्दी"),
            ("naïve—approach", "approach"),
            ("ﬁle №5", "file"),
            ("Привет, мир", "ПРИВЕТ"),
        ],
    )
    async def test_words_are_found_in_any_script_and_form(self, office: Office, text: str, query: str):
        """Case, diacritics and compatibility forms do not count; unspaced scripts are found by parts."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "hit", text)
        await office.send(ann, "bob", "miss", "something else")
        assert await office.search(bob, query) == ["hit"]

    async def test_deleted_mail_is_not_found(self, office: Office):
        """A message that was found once is gone from searches with its deletion."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob", "gone", "needle")
        await office.send(ann, "bob", "kept", "needle")
        assert await office.search(bob, "needle") == ["kept", "gone"]
        await office.purge_message(letter)
        assert await office.search(bob, "needle") == ["kept"]

    @pytest.mark.promise("mail.sent-tells-who-acknowledged")
    async def test_sent_tells_who_acknowledged_and_what_nobody_can_read(
        self, office: Office, clock: HandClock
    ):
        """Newest first, acks in the order of their times, and mail to who is gone is marked."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", ann, bob, cid)
        posted = await office.send(ann, "#hall", "posted")
        await office.send(ann, "bob", "letter")
        await office.send(bob, "ann", "not ann's")
        acks = []
        for reader in (cid, bob):
            clock.step(1)
            acks.append(await office.ack(reader, posted))
        letter, post = await office.sent(ann)
        assert (letter.message.subject, letter.acks, letter.acknowledged) == ("letter", [], 0)
        assert (post.message.subject, post.acks, post.acknowledged) == ("posted", acks, 2)
        assert not letter.undeliverable
        await office.remove("bob")
        assert [row.undeliverable for row in await office.sent(ann)] == [True, False]
        assert [row.message.subject for row in await office.sent(ann, before=position(letter.message))] == [
            "posted"
        ]
        assert await office.sent(cid) == []

    async def test_sent_lists_the_first_64_acks_and_counts_all(self, office: Office, clock: HandClock):
        """The number goes on where the list stops, and the encoding is the codec's own."""
        ann = await office.account("ann")
        readers = [await office.account(f"r{n:02}") for n in range(66)]
        await office.room("hall", ann, *readers)
        letter = await office.send(ann, "#hall")
        for reader in reversed(readers):
            clock.step(1)
            await office.ack(reader, letter)
        (row,) = await office.sent(ann)
        assert [ack.reader.participant for ack in row.acks] == [f"r{n:02}" for n in range(65, 1, -1)]
        assert row.acknowledged == 66
        assert SentPage(sent=[row]).sent == [row]

    async def test_sent_stops_at_its_bound_of_bytes(self, office: Office):
        """Long messages make a short page, which goes on by before."""
        ann, _ = await office.accounts("ann", "bob")
        for n in range(20):
            await office.send(ann, "bob", str(n), "\n" * 65_536)
        page = await office.sent(ann, limit=20)
        assert 0 < len(page) < 20
        rest = await office.sent(ann, limit=20, before=position(page[-1].message))
        assert rest[0].message.subject == str(19 - len(page))

    async def test_what_is_served_is_what_the_codec_writes(self, office: Office):
        """Joined encodings are byte for byte the encoding of their value."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob", 'q"\u2028', "b\n")
        await office.engine.ack(bob, AckRequest(message_id=letter))
        for wire in (
            await office.engine.inbox(bob, InboxRequest()),
            await office.engine.get(bob, MessageGetRequest(message_id=letter)),
            await office.engine.thread(bob, ThreadRequest(message_id=letter)),
            await office.engine.search(bob, SearchRequest(query="q")),
            await office.engine.sent(ann, SentRequest()),
        ):
            assert encode(wire.value()) == wire.raw
