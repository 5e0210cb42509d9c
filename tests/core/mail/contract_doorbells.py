"""What every store does for doorbells: whom a message rings, in which order, and what an attempt changes."""

import pytest

from mail4agent_api.addresses import participant_of
from mail4agent_api.codec import decode
from mail4agent_api.errors import UnknownMessageError
from mail4agent_api.mail import Message, MessageId, ParticipantId, RingFailure
from mail4agent_core.clock import HandClock
from mail4agent_core.mail import doorbells
from mail4agent_core.mail.doorbells import Attempt, Doorbell, Ring, Turn
from mail4agent_core.mail.identity import READ
from mail4agent_core.mail.store import Registry

from .office import DAY_MS, OTHER_SESSION, SESSION, Office

URL = "http://127.0.0.1:18400/doorbell"


async def hang(office: Office, *owners: str, url: str = URL, key: str | None = None) -> None:
    """Set listeners."""
    for owner in owners:
        await office.store.change(
            lambda registry, owner=owner: registry.set_listener(participant_of(owner), url, key, None)
        )


async def turn(office: Office, owner: str, attempt: Attempt | None = None) -> Turn:
    """What is next for a listener that is there."""
    found = await office.store.next_ring(owner, attempt, office.clock.now_ms())
    assert found is not None
    return found


def message_of(ring: Ring) -> Message:
    """What is rung about."""
    return decode(Message, ring.wire)


def answered(office: Office, ring: Ring) -> Attempt:
    """A ring that was answered."""
    return Attempt(ring, office.clock.now_ms())


def failed(office: Office, ring: Ring, failure: RingFailure = "refused", pause: int = 1_000) -> Attempt:
    """A ring that failed."""
    now = office.clock.now_ms()
    return Attempt(ring, now, failure, now + pause)


async def rung(office: Office, owner: str) -> list[str]:
    """Answer all that is rung for a listener; the subjects."""
    found: list[str] = []
    attempt = None
    while True:
        now = await turn(office, owner, attempt)
        if now.ring is None:
            if now.due_at is None or now.due_at > office.clock.now_ms():
                return found
            attempt = None
            continue
        found.append(message_of(now.ring).subject)
        attempt = answered(office, now.ring)


async def shown(office: Office, owner: str) -> Doorbell:
    """A listener as the registry has it."""
    address = participant_of(owner)
    found = await office.store.look(lambda registry: registry.listeners_of(address.participant))
    return next(each for each in found if each.owner == address)


class DoorbellContract:
    """Listeners and their rings."""

    @pytest.mark.promise("doorbell.who-is-rung")
    async def test_an_accounts_listener_is_rung_for_all_its_mail(self, office: Office):
        """Mail to it, to any of its sessions and to the rooms it is in now, in the order of commits."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await office.room("yard", ann)
        await office.session(bob)
        await hang(office, "bob")
        for to in ("bob", f"bob/{SESSION}", "#hall", "#yard", "ann"):
            await office.send(ann, to, to)
        assert await rung(office, "bob") == ["bob", f"bob/{SESSION}", "#hall"]

    @pytest.mark.promise("doorbell.who-is-rung")
    async def test_a_sessions_listener_is_rung_for_what_it_can_read(self, office: Office):
        """Its own mail, its account's and its rooms'; a sibling's is not its to know of."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        for session in (SESSION, OTHER_SESSION):
            await office.session(bob, session)
        await hang(office, f"bob/{SESSION}")
        for to in ("bob", f"bob/{SESSION}", f"bob/{OTHER_SESSION}", "#hall"):
            await office.send(ann, to, to)
        assert await rung(office, f"bob/{SESSION}") == ["bob", f"bob/{SESSION}", "#hall"]

    @pytest.mark.promise("doorbell.who-is-rung")
    async def test_nobody_is_rung_about_what_it_sent_itself(self, office: Office):
        """A post in a room rings no address of its account; a letter rings all but its own author."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        session, sibling = await office.session(bob), await office.session(bob, OTHER_SESSION)
        owners = ("bob", f"bob/{SESSION}", f"bob/{OTHER_SESSION}")
        await hang(office, "ann", *owners)
        for sender, name in ((bob, "account"), (session, "session"), (sibling, "sibling")):
            await office.send(sender, "#hall", f"{name} in the hall")
            for to in owners:
                await office.send(sender, to, f"{name} to {to}")
        assert await rung(office, "ann") == [
            f"{each} in the hall" for each in ("account", "session", "sibling")
        ]
        first, second = f"bob/{SESSION}", f"bob/{OTHER_SESSION}"
        assert await rung(office, "bob") == [
            f"account to {first}",
            f"account to {second}",
            "session to bob",
            f"session to {second}",
            "sibling to bob",
            f"sibling to {first}",
        ]
        assert await rung(office, first) == [
            "account to bob",
            f"account to {first}",
            "sibling to bob",
            f"sibling to {first}",
        ]

    @pytest.mark.promise("doorbell.only-later-mail")
    async def test_mail_from_before_the_listener_rings_nobody(self, office: Office):
        """What stood there at registration is not rung; what a room held when it was joined is not either."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann)
        await office.send(ann, "bob", "before")
        await hang(office, "bob")
        await office.send(ann, "#hall", "history")
        await office.join("hall", bob)
        await office.send(ann, "#hall", "after joining")
        await office.send(ann, "bob", "after")
        assert await rung(office, "bob") == ["after joining", "after"]

    async def test_a_room_that_was_left_rings_no_more(self, office: Office):
        """Not even for a post that waited to be rung, since it cannot be read now."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await hang(office, "bob")
        await office.send(ann, "#hall", "post")
        assert (await turn(office, "bob")).ring is not None
        await office.leave("hall", bob)
        await office.send(ann, "#hall", "later post")
        assert await turn(office, "bob") == Turn()
        assert (await shown(office, "bob")).outstanding == 0

    async def test_a_message_that_was_purged_rings_no_more(self, office: Office):
        """There would be nothing to fetch."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        letter = await office.send(ann, "bob", "gone")
        await office.send(ann, "bob", "kept")
        await turn(office, "bob")
        await office.purge_message(letter)
        assert await rung(office, "bob") == ["kept"]

    @pytest.mark.promise("doorbell.repeat-rings-nobody")
    async def test_a_repeat_of_a_key_rings_nobody(self, office: Office):
        """It stores nothing, so nothing stands behind the cursor."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        first = await office.send(ann, "bob", "once", key="k")
        assert await rung(office, "bob") == ["once"]
        assert await office.send(ann, "bob", "once", key="k") == first
        assert await rung(office, "bob") == []

    @pytest.mark.promise("doorbell.once")
    async def test_an_answered_ring_is_never_given_again(self, office: Office, clock: HandClock):
        """Counted with its time; the next turn is the next message."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        for n in range(3):
            await office.send(ann, "bob", str(n))
        assert await rung(office, "bob") == ["0", "1", "2"]
        assert await turn(office, "bob") == Turn()
        bell = await shown(office, "bob")
        assert (bell.rung, bell.outstanding, bell.last_rung_at) == (3, 0, clock.now_ms())

    @pytest.mark.promise("doorbell.backoff")
    async def test_a_failure_silences_the_listener_until_its_pause_is_over(
        self, office: Office, clock: HandClock
    ):
        """Mail that comes meanwhile waits with it; after one success all of it is due at once."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob", "first")
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        due = clock.now_ms() + 1_000
        assert await turn(office, "bob", failed(office, ring)) == Turn(due_at=due)
        await office.send(ann, "bob", "second")
        assert await turn(office, "bob") == Turn(due_at=due)
        bell = await shown(office, "bob")
        assert (bell.outstanding, bell.failure, bell.failures) == (2, "refused", 1)
        assert bell.last_failed_at == clock.now_ms()
        clock.step(1_000)
        assert await rung(office, "bob") == ["first", "second"]
        bell = await shown(office, "bob")
        assert (bell.failure, bell.failures, bell.last_failed_at) == (None, 0, clock.now_ms() - 1_000)

    @pytest.mark.promise("doorbell.backoff")
    async def test_a_clock_that_was_set_back_does_not_silence_a_listener(
        self, office: Office, clock: HandClock
    ):
        """A pause that would be longer than the longest is over."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob", "letter")
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        await turn(office, "bob", failed(office, ring))
        clock.step(-DAY_MS)
        assert await rung(office, "bob") == ["letter"]

    async def test_a_message_that_its_listener_refuses_lets_others_go_before_it(
        self, office: Office, clock: HandClock
    ):
        """A bad status may be the message's fault, a refused connection is not."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        for subject in ("poison", "good"):
            await office.send(ann, "bob", subject)
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        await turn(office, "bob", failed(office, ring))
        clock.step(1_000)
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        assert message_of(ring).subject == "poison"
        await turn(office, "bob", failed(office, ring, "bad_status"))
        clock.step(1_000)
        assert await rung(office, "bob") == ["good", "poison"]

    @pytest.mark.promise("doorbell.given-up-after-a-day")
    async def test_a_ring_is_given_up_a_day_after_its_message(self, office: Office, clock: HandClock):
        """Counted, whether it waited already or was looked over too late."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob", "waited")
        assert (await turn(office, "bob")).ring is not None
        await office.send(ann, "bob", "not looked over")
        clock.step(doorbells.KEEP_MS)
        assert (await turn(office, "bob")).ring is not None
        clock.step(1)
        await office.send(ann, "bob", "fresh")
        assert await rung(office, "bob") == ["fresh"]
        bell = await shown(office, "bob")
        assert (bell.given_up, bell.rung, bell.outstanding) == (2, 1, 0)

    @pytest.mark.promise("doorbell.bounded-queue")
    async def test_what_does_not_fit_the_queue_waits_behind_the_cursor(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ):
        """No more rings wait than the bound says, and none is lost."""
        for module in ("memory", "sqlite", "postgres"):
            for name, value in (("OUTSTANDING_MAX", 3), ("STEP", 2)):
                monkeypatch.setattr(f"mail4agent_core.mail.{module}.doorbells.{name}", value)
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        for n in range(10):
            await office.send(ann, "bob", str(n))
        for _ in range(5):
            assert (await turn(office, "bob")).ring is not None
        assert (await shown(office, "bob")).outstanding == 3
        assert await rung(office, "bob") == [str(n) for n in range(10)]

    async def test_long_runs_of_own_posts_are_passed_in_steps(self, office: Office):
        """A step that rings nobody asks to be called again."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        await hang(office, "bob")
        for n in range(2 * doorbells.STEP + 1):
            await office.send(bob, "#hall", str(n))
        await office.send(ann, "#hall", "other")
        assert await turn(office, "bob") == Turn(due_at=office.clock.now_ms())
        assert await rung(office, "bob") == ["other"]

    async def test_a_listener_that_is_replaced_keeps_what_waits(self, office: Office):
        """It is tried at once, with its new URL and key, and its counts go on."""
        ann, _ = await office.accounts("ann", "bob")
        await hang(office, "bob")
        for subject in ("a", "b"):
            await office.send(ann, "bob", subject)
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        ring = (await turn(office, "bob", answered(office, ring))).ring
        assert ring is not None
        await turn(office, "bob", failed(office, ring))
        await hang(office, "bob", url="http://localhost/", key="whsec_" + "A" * 32)
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        bell = ring.doorbell
        assert (bell.url, bell.key, bell.rung) == ("http://localhost/", "whsec_" + "A" * 32, 1)
        assert (bell.failure, bell.failures) == (None, 0)

    async def test_an_answer_for_a_removed_listener_is_not_the_next_ones(self, office: Office):
        """Whatever comes late from the one before changes nothing of the one after."""
        ann, bob = await office.accounts("ann", "bob")
        await hang(office, "bob")
        await office.send(ann, "bob", "old")
        ring = (await turn(office, "bob")).ring
        assert ring is not None
        await office.store.change(lambda registry: registry.drop_listener(bob.address))
        assert await office.store.next_ring("bob", answered(office, ring), 1) is None
        await hang(office, "bob")
        assert await turn(office, "bob", answered(office, ring)) == Turn()
        assert (await shown(office, "bob")).rung == 0

    @pytest.mark.promise("doorbell.ends-with-its-account")
    async def test_a_removed_account_has_no_listeners(self, office: Office):
        """Its own and its sessions' are gone, and a purged id starts without."""
        ann, bob = await office.accounts("ann", "bob")
        await office.session(bob)
        await hang(office, "ann", "bob", f"bob/{SESSION}")
        await office.send(ann, "bob")
        await turn(office, "bob")
        await office.remove("bob")
        assert await office.store.doorbells() == ["ann"]
        assert await office.store.next_ring("bob", None, 1) is None
        await office.purge("bob")
        await office.account("bob")
        assert await office.store.look(lambda registry: registry.listeners_of(ParticipantId("bob"))) == []

    async def test_a_sessions_listener_is_silent_while_its_account_may_not_read(self, office: Office):
        """What came meanwhile is not made up for; an operator's listener hears it all."""
        ann, bob = await office.accounts("ann", "bob")
        await office.session(bob)
        owner = f"bob/{SESSION}"
        await hang(office, "bob", owner)
        await office.send(ann, "bob", "waiting")
        await turn(office, owner)
        for rights, secret in ((frozenset[str](), b"1" * 32), (frozenset((READ,)), None)):
            await office.store.change(
                lambda registry, rights=rights, secret=secret: (
                    registry.set_capabilities(bob.account, rights),
                    registry.set_secret(bob.account, secret, 1),
                )
            )
            await office.send(ann, "bob", "unheard")
            assert await rung(office, owner) == []
        await office.store.change(lambda registry: registry.set_secret(bob.account, b"2" * 32, 1))
        await office.send(ann, "bob", "heard")
        assert await rung(office, owner) == ["heard"]
        assert await rung(office, "bob") == ["waiting", "unheard", "unheard", "heard"]

    async def test_a_box_names_the_listeners_that_hear_it(self, office: Office):
        """By account, session and room, and by no name that only begins alike."""
        _, bob, *_ = await office.accounts("ann", "bob", "bobby", "bob0")
        await office.room("hall", bob)
        for session in (SESSION, OTHER_SESSION):
            await office.session(bob, session)
        first, second = f"bob/{SESSION}", f"bob/{OTHER_SESSION}"
        await hang(office, "ann", "bob", "bobby", "bob0", first, second)
        heard = office.store.listening_to
        assert await heard(["bob"]) == ["bob", first, second]
        assert await heard([first]) == ["bob", first]
        assert await heard(["#hall"]) == ["bob", first, second]
        assert await heard(["bobby", "ann"]) == ["ann", "bobby"]
        assert await heard(["#none", "nobody"]) == []
        assert await office.store.doorbells() == sorted(["ann", "bob", "bobby", "bob0", first, second])

    async def test_no_owner_without_a_listener_has_a_turn(self, office: Office):
        """Not a registered account, nor one that never was."""
        await office.account("bob")
        for owner in ("bob", "nobody", f"bob/{SESSION}"):
            assert await office.store.next_ring(owner, None, 1) is None

    async def test_a_command_that_raises_leaves_listeners_as_they_were(self, office: Office):
        """Set and dropped within it, they are as before."""
        ann, bob = await office.accounts("ann", "bob")
        await hang(office, "ann")

        def command(registry: Registry) -> None:
            registry.set_listener(bob.address, URL, None, None)
            registry.drop_listener(ann.address)
            raise UnknownMessageError(message_id=MessageId("m4a_" + "0" * 24))

        with pytest.raises(UnknownMessageError):
            await office.store.change(command)
        assert await office.store.doorbells() == ["ann"]
