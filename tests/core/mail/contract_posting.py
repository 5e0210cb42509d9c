"""What every store does with postings: order, time, idempotency, replies."""

import asyncio

import pytest

from mail4agent_api.addresses import address_of
from mail4agent_api.codec import encode
from mail4agent_api.errors import (
    IdempotencyConflictError,
    NotAddressedToYouError,
    UnauthenticatedError,
    UnknownMessageError,
    UnknownParticipantError,
)
from mail4agent_api.mail import Message, MessageRef, SendManyRequest, SendRequest
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.administration import DAY_MS

from .office import NOWHERE, Office, position, subjects


class PostingContract:
    """Postings."""

    @pytest.mark.promise("mail.sender-is-the-credential")
    async def test_a_message_is_stored_as_it_was_sent(self, office: Office, clock: HandClock):
        """Every field comes back, the sender is the caller, and the time is the clock's."""
        ann, bob = await office.accounts("ann", "bob")
        first = await office.send(ann, "bob", "first")
        request = SendRequest.model_validate(
            {
                "to": {"kind": "direct", "participant": "ann"},
                "subject": 'Ümläut "quoted" \\ 漢字',
                "body": "line\n\ttab ☃ " + "x" * 3000,
                "reply_to": first,
                "correlation": "case 7",
                "refs": [{"kind": "file", "locator": "notes/a b", "digest": "ab12"}],
            }
        )
        sent = await office.engine.send(bob, request)
        (message,) = (await office.inbox(ann)).messages
        assert sent.from_ == bob.address
        assert message == Message(
            message_id=sent.message_id,
            from_=bob.address,
            to=ann.address,
            subject=request.subject,
            body=request.body,
            reply_to=first,
            correlation="case 7",
            refs=[MessageRef.model_validate({"kind": "file", "locator": "notes/a b", "digest": "ab12"})],
            created_at_unix_ms=clock.now_ms(),
        )

    @pytest.mark.promise("mail.order-is-commit-order")
    async def test_messages_of_one_millisecond_are_listed_in_commit_order(self, office: Office):
        """The order is that of commits, not that of ids."""
        ann, bob = await office.accounts("ann", "bob")
        sent = [await office.send(ann, "bob", str(n)) for n in range(20)]
        assert await office.subjects(bob) == [str(n) for n in range(20)]
        assert sent != sorted(sent)

    @pytest.mark.promise("mail.position-never-decreases")
    async def test_a_clock_set_back_hides_no_mail(self, office: Office, clock: HandClock):
        """Times never decrease, and a reader that pages on finds what came after the step."""
        ann, bob = await office.accounts("ann", "bob")
        await office.send(ann, "bob", "before")
        clock.step(60_000)
        await office.send(ann, "bob", "late")
        seen = position((await office.inbox(bob)).messages[-1])
        clock.step(-3_600_000)
        await office.send(ann, "bob", "after")
        page = await office.inbox(bob, after=seen)
        assert subjects(page.messages) == ["after"]
        assert page.messages[0].created_at_unix_ms == seen.created_at_unix_ms

    @pytest.mark.promise("mail.position-never-decreases")
    @pytest.mark.parametrize("reading", [0, -5_000])
    async def test_a_clock_before_the_epoch_gives_a_valid_time(
        self, office: Office, clock: HandClock, reading: int
    ):
        """A message's time is at least 1, as the contract says."""
        ann, _ = await office.accounts("ann", "bob")
        clock.step(reading - clock.now_ms())
        await office.send(ann, "bob")
        (message,) = (await office.inbox_of(office.operator, "bob")).messages
        assert message.created_at_unix_ms == 1

    async def test_a_clock_past_every_position_stores_nothing_and_harms_nothing(
        self, office: Office, clock: HandClock
    ):
        """A reading beyond the year 2248 is refused, and sending goes on once the clock is right."""
        ann, bob = await office.accounts("ann", "bob")
        clock.step(2**43)
        requests = [SendRequest(to=bob.address, subject="lost", body="")] * 2
        with pytest.raises(Exception, match="store_unavailable"):
            await office.engine.send_many(ann, SendManyRequest(messages=requests))
        clock.step(-(2**43))
        await office.send(ann, "bob", "kept")
        assert await office.subjects(bob) == ["kept"]

    @pytest.mark.promise("mail.same-key-same-effect")
    async def test_same_key_returns_the_original_and_creates_nothing(self, office: Office, clock: HandClock):
        """A retry gets the first id, at any later time, and no second message."""
        ann, bob = await office.accounts("ann", "bob")
        first = await office.send(ann, "bob", "once", key="k")
        clock.step(6 * DAY_MS)
        assert await office.send(ann, "bob", "once", key="k") == first
        assert await office.subjects(bob) == ["once"]

    @pytest.mark.promise("mail.same-key-same-effect")
    async def test_concurrent_repeats_of_a_key_make_one_message(self, office: Office):
        """Senders that repeat at the same moment all get one id."""
        ann, bob = await office.accounts("ann", "bob")
        ids = await asyncio.gather(*(office.send(ann, "bob", "once", key="k") for _ in range(20)))
        assert len(set(ids)) == 1
        assert await office.subjects(bob) == ["once"]

    @pytest.mark.promise("mail.same-key-same-effect")
    async def test_a_retry_gets_its_first_answer_when_the_recipient_is_gone(self, office: Office):
        """The answer does not depend on who is there now."""
        ann, _ = await office.accounts("ann", "bob")
        first = await office.send(ann, "bob", "once", key="k")
        await office.remove("bob")
        assert await office.send(ann, "bob", "once", key="k") == first
        await office.purge("bob")
        assert await office.send(ann, "bob", "once", key="k") == first

    @pytest.mark.promise("mail.same-key-other-content-is-refused")
    @pytest.mark.parametrize(
        "other",
        [
            {"subject": "other"},
            {"body": "other"},
            {"to": "cid"},
            {"to": "#hall"},
            {"correlation": "other"},
            {"reply": True},
        ],
        ids="-".join,
    )
    async def test_a_key_used_again_for_other_content_is_refused(
        self, office: Office, other: dict[str, str | bool]
    ):
        """Any difference counts, and nothing is stored."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        await office.room("hall", cid)
        earlier = await office.send(ann, "bob", "earlier")
        await office.send(ann, "bob", "once", key="k")
        with pytest.raises(IdempotencyConflictError) as refused:
            await office.send(
                ann,
                str(other.get("to", "bob")),
                str(other.get("subject", "once")),
                str(other.get("body", "text")),
                correlation=None if "correlation" not in other else "other",
                reply_to=earlier if "reply" in other else None,
                key="k",
            )
        assert refused.value.refusal.idempotency_key == "k"
        assert await office.subjects(bob) == ["earlier", "once"]
        assert await office.subjects(cid) == []

    async def test_a_key_belongs_to_its_exact_sender(self, office: Office):
        """Another account and another session use the same key for their own effect."""
        ann, bob = await office.accounts("ann", "bob")
        session = await office.session(ann)
        for sender in (ann, session, bob):
            await office.send(sender, "bob", str(sender.address.kind) + sender.account, key="k")
        assert len(await office.subjects(bob)) == 3

    async def test_identical_messages_without_a_key_are_two(self, office: Office):
        """Only a key makes two sends one, also in one millisecond."""
        ann, bob = await office.accounts("ann", "bob")
        assert await office.send(ann, "bob", "same") != await office.send(ann, "bob", "same")
        assert await office.subjects(bob) == ["same", "same"]

    async def test_a_key_outlives_the_message_it_made(self, office: Office):
        """A retry after the message was deleted gets the first id and brings nothing back."""
        ann, bob = await office.accounts("ann", "bob")
        first = await office.send(ann, "bob", "once", key="k")
        await office.purge_message(first)
        assert await office.send(ann, "bob", "once", key="k") == first
        assert await office.subjects(bob) == []

    @pytest.mark.promise("mail.repeat-wakes-nobody")
    async def test_a_repeat_tells_nobody(self, office: Office):
        """Only the commit that stored the message is told, under its box's address."""
        ann, _ = await office.accounts("ann", "bob")
        told = office.told()
        await office.send(ann, "bob", "once", key="k")
        await office.send(ann, "bob", "once", key="k")
        assert told == [frozenset({"bob"})]

    @pytest.mark.promise("mail.send-many-has-own-outcomes")
    async def test_each_posting_of_a_batch_has_its_own_outcome(self, office: Office):
        """A refused one is neither stored nor in the way of the others, and later ones see earlier ones."""
        ann, bob = await office.accounts("ann", "bob")
        request = SendManyRequest(
            messages=[
                SendRequest(to=bob.address, subject="one", body="", idempotency_key="k"),
                SendRequest(to=address_of("nobody"), subject="two", body=""),
                SendRequest(to=bob.address, subject="one", body="", idempotency_key="k"),
                SendRequest(to=bob.address, subject="other", body="", idempotency_key="k"),
                SendRequest(to=bob.address, subject="three", body=""),
            ]
        )
        wire = await office.engine.send_many(ann, request)
        outcomes = wire.value().outcomes
        assert encode(wire.value()) == wire.raw
        kinds = [each.kind if each.kind == "sent" else each.refusal.kind for each in outcomes]
        assert kinds == ["sent", "unknown_participant", "sent", "idempotency_conflict", "sent"]
        assert outcomes[0] == outcomes[2]
        assert await office.subjects(bob) == ["one", "three"]

    @pytest.mark.promise("mail.reply-needs-a-readable-message")
    async def test_a_reply_needs_a_message_that_the_sender_may_read_or_wrote(self, office: Office):
        """Unknown and others' mail is refused by name; one's own and received mail is not."""
        ann, bob, cid = await office.accounts("ann", "bob", "cid")
        letter = await office.send(ann, "bob")
        with pytest.raises(UnknownMessageError):
            await office.send(ann, "bob", reply_to=NOWHERE)
        with pytest.raises(NotAddressedToYouError):
            await office.send(cid, "bob", reply_to=letter)
        await office.send(bob, "ann", "answer", reply_to=letter)
        await office.send(ann, "cid", "forward", reply_to=letter)
        assert await office.subjects(cid) == ["forward"]

    @pytest.mark.promise("mail.recipient-exists")
    async def test_a_removed_account_is_no_recipient(self, office: Office):
        """Mail to it is refused as to an account that never was."""
        ann, _ = await office.accounts("ann", "bob")
        await office.remove("bob")
        with pytest.raises(UnknownParticipantError) as refused:
            await office.send(ann, "bob")
        assert refused.value.refusal.participant == "bob"

    @pytest.mark.promise("account.dead-secret-is-refused")
    async def test_a_caller_whose_account_was_removed_meanwhile_neither_sends_nor_acknowledges(
        self, office: Office
    ):
        """What was authenticated before the removal is refused as the next request would be."""
        ann, bob = await office.accounts("ann", "bob")
        letter = await office.send(ann, "bob")
        await office.remove("bob")
        with pytest.raises(UnauthenticatedError):
            await office.send(bob, "ann")
        with pytest.raises(UnauthenticatedError):
            await office.ack(bob, letter)
        assert await office.subjects(ann) == []
