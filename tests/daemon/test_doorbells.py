"""Ringing: what a listener is sent, what counts as heard, when it is tried again, and whom it delays."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import (
    StoreUnavailableError,
)
from mail4agent_api.mail import (
    ListenerGetRequest,
    ListenerRemoveRequest,
    ParticipantId,
)
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import KEEP_MS, PAUSE_MAX_MS, pause_ms
from mail4agent_core.mail.identity import account_caller

from .receiver import Answer, Receiver, receiving, saying, silence, status
from .tower import Tower, sent, tower

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BOB = ParticipantId("bob")
UID = 1000


@pytest.fixture
def clock() -> HandClock:
    """A clock that stands until it is turned."""
    return HandClock()


@pytest.fixture
async def bells(tmp_path: Path, clock: HandClock) -> AsyncIterator[Tower]:
    """Doorbells with the accounts ann and bob, whose listeners have half a second."""
    async with tower(tmp_path / "mail.sqlite3", clock, ring_timeout_secs=0.5) as one:
        await one.office.accounts("ann", "bob")
        yield one


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A listener that answers 204."""
    async with receiving() as one:
        yield one


@pytest.mark.promise("doorbell.ids-only", "doorbell.signed")
async def test_a_ring_tells_ids_and_proves_who_rings(
    bells: Tower, receiver: Receiver, clock: HandClock
) -> None:
    """A POST of the notification with its identity, its time and the signature of the specification."""
    await bells.hang("bob", f"http://localhost:{receiver.port}/ring/bob?via=mail&x=", KEY)
    letter = await sent(bells, subject="secret subject")
    (ring,) = await receiver.heard_of(1)
    assert ring.line == "POST /ring/bob?via=mail&x= HTTP/1.1"
    assert ring.json == {
        "account": "bob",
        "to": {"kind": "direct", "participant": "bob"},
        "message_id": letter,
        "from": {"kind": "direct", "participant": "ann"},
    }
    assert b"secret" not in ring.body
    assert ring.headers["host"] == f"localhost:{receiver.port}"
    assert ring.headers["content-type"] == "application/json"
    assert ring.headers["connection"] == "close"
    assert ring.headers["webhook-timestamp"] == str(clock.now_ms() // 1000)
    assert ring.id.startswith(letter)
    assert "." not in ring.id
    assert ring.is_signed_with(KEY)
    assert not ring.is_signed_with("whsec_" + "A" * 32)
    assert not {"cookie", "authorization", "proxy-authorization"} & ring.headers.keys()


async def test_a_listener_without_a_key_gets_no_signature(bells: Tower, receiver: Receiver) -> None:
    """The other two headers are there."""
    await bells.hang("bob", receiver.url)
    await sent(bells)
    (ring,) = await receiver.heard_of(1)
    assert {name for name in ring.headers if name.startswith("webhook")} == {
        "webhook-id",
        "webhook-timestamp",
    }


@pytest.mark.promise("doorbell.once")
async def test_each_message_is_rung_once_in_order(bells: Tower, receiver: Receiver) -> None:
    """Fifty at once, one request at a time; what was heard is noted and not told again."""
    await bells.hang("bob", receiver.url)
    letters = [await sent(bells, subject=str(n)) for n in range(50)]
    await receiver.heard_of(50)
    await bells.quiet()
    bells.doorbells.look()
    await bells.quiet()
    assert [ring.json["message_id"] for ring in receiver.heard] == letters
    assert len({ring.id for ring in receiver.heard}) == 50
    record = await bells.record("bob")
    assert (record.rung, record.outstanding, record.failure) == (50, 0, None)


async def test_two_listeners_of_one_message_have_two_identities(bells: Tower, receiver: Receiver) -> None:
    """So that a receiver that serves both drops neither."""
    await bells.office.room("hall")
    await bells.hang("bob", receiver.url)
    await bells.hang("ann", receiver.url)
    for name in ("ann", "bob"):
        await bells.office.join("hall", account_caller(ParticipantId(name), ()))
    await bells.office.account("cid")
    letter = await sent(bells, "#hall", sender="cid")
    rings = await receiver.heard_of(2)
    assert {ring.json["message_id"] for ring in rings} == {letter}
    assert {ring.json["account"] for ring in rings} == {"ann", "bob"}
    assert len({ring.id for ring in rings}) == 2


@pytest.mark.promise("doorbell.never-leaves-the-machine")
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(
    bells: Tower, receiver: Receiver, code: int
) -> None:
    """Whatever it points to hears nothing."""
    async with receiving(status(code, f"Location: {receiver.url}")) as turned:
        await bells.hang("bob", turned.url)
        await sent(bells)
        await turned.heard_of(1)
        await bells.quiet()
    assert (await bells.record("bob")).failure == "redirected"
    assert receiver.heard == []


@pytest.mark.promise("doorbell.never-leaves-the-machine")
async def test_no_proxy_and_no_resolver_is_asked(
    bells: Tower, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by the environment, and not for the name localhost."""

    real = socket.getaddrinfo

    def looked_up(host: object, *rest: Any, **more: Any) -> Any:
        assert host == "127.0.0.1", "a name was looked up"
        return real("127.0.0.1", *rest, **more)

    async with receiving() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.setattr(socket, "getaddrinfo", looked_up)
        await bells.hang("bob", f"http://localhost:{receiver.port}/")
        await sent(bells)
        await receiver.heard_of(1)
        assert proxy.heard == []


@pytest.mark.parametrize(
    "answer",
    [
        status(200),
        status(202),
        saying(b"HTTP/1.0 204 Fine\r\n\r\n"),
        saying(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Heard\r\n\r\n"),
        saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        saying(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut"),
        saying(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000),
        saying(b"HTTP/1.1 200 OK\r\nSet-Cookie: " + b"a" * 8_000 + b"\r\n\r\n"),
    ],
    ids=["200", "202", "1.0", "after-100", "chunked", "body-cut", "body-of-a-megabyte", "head-of-8000-bytes"],
)
async def test_what_counts_as_heard(bells: Tower, answer: Answer) -> None:
    """A status of 2xx, whatever follows it."""
    async with receiving(answer) as receiver:
        await bells.hang("bob", receiver.url)
        await sent(bells)
        await receiver.heard_of(1)
        await bells.quiet()
    record = await bells.record("bob")
    assert (record.rung, record.failure, record.last_failed_at_unix_ms) == (1, None, None)


async def test_a_body_without_end_is_cut(bells: Tower) -> None:
    """It was heard with its head; the listener's next ring does not wait for the rest."""

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    async with receiving(endless) as receiver:
        await bells.hang("bob", receiver.url)
        for n in range(2):
            await sent(bells, subject=str(n))
        await receiver.heard_of(2)
        await bells.quiet()
    assert (await bells.record("bob")).rung == 2


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (status(400), "bad_status"),
        (status(500), "bad_status"),
        (status(503), "bad_status"),
        (silence, "timed_out"),
        (saying(b""), "bad_response"),
        (saying(b"HTTP/1.1 20"), "bad_response"),
        (saying(b"SSH-2.0-server\r\n\r\n"), "bad_response"),
        (saying(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_048_576), "bad_response"),
        (saying(b"HTTP/1.1 204 Heard\r\nX: " + b"a" * 8_192 + b"\r\n\r\n"), "bad_response"),
        (saying(b"HTTP/1.1 100 Continue\r\n\r\n" * 400 + b"HTTP/1.1 204 Heard\r\n\r\n"), "bad_response"),
        (
            saying(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
            "bad_response",
        ),
    ],
    ids=[
        "400",
        "500",
        "503",
        "silent",
        "closes",
        "half-a-head",
        "no-http",
        "head-of-a-megabyte",
        "head-past-8-kib",
        "100s",
        "101",
    ],
)
@pytest.mark.promise("doorbell.failures-are-visible")
async def test_what_counts_as_a_failure(bells: Tower, answer: Answer, failure: str) -> None:
    """Each has its name, is shown with its time, is logged once, and leaves the ring waiting."""
    async with receiving(answer) as receiver:
        await bells.hang("bob", receiver.url)
        await sent(bells)
        await receiver.heard_of(1)
        await bells.quiet()
    record = await bells.record("bob")
    assert (record.failure, record.outstanding, record.rung) == (failure, 1, 0)
    assert record.last_failed_at_unix_ms == bells.clock.now_ms()
    (line,) = [each for each in bells.log if each["event"] == "doorbell_failed"]
    assert (line["owner"], line["failure"]) == ("bob", failure)


async def test_a_slow_head_is_cut_at_the_timeout(bells: Tower) -> None:
    """However it keeps its bytes coming."""

    async def dribble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 Heard\r\n")
        gone = asyncio.create_task(reader.read())
        while not gone.done():
            writer.write(b"X: y\r\n")
            await writer.drain()
            await asyncio.wait({gone}, timeout=0.05)

    async with receiving(dribble) as receiver:
        await bells.hang("bob", receiver.url)
        await sent(bells)
        await receiver.heard_of(1)
        await bells.quiet()
    assert (await bells.record("bob")).failure == "timed_out"


async def test_nobody_at_the_port_is_a_refusal(bells: Tower, receiver: Receiver) -> None:
    """And nothing else is tried."""
    await bells.hang("bob", receiver.url)
    await receiver.close()
    await sent(bells)
    await bells.quiet()
    assert (await bells.record("bob")).failure == "refused"


@pytest.mark.promise("doorbell.backoff")
async def test_pauses_double_up_to_five_minutes_and_end_with_a_success(
    bells: Tower, receiver: Receiver, clock: HandClock
) -> None:
    """Each attempt comes when its pause is over and not before; then all that waits is rung at once."""
    receiver.answer = status(500)
    await bells.hang("bob", receiver.url)
    letter = await sent(bells)
    await receiver.heard_of(1)
    await bells.quiet()
    for count, pause in enumerate((1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300), start=1):
        await bells.later(pause * 1000 - 1)
        assert len(receiver.heard) == count
        await bells.later(1)
        assert len(receiver.heard) == count + 1
    assert {ring.json["message_id"] for ring in receiver.heard} == {letter}
    assert len({ring.id for ring in receiver.heard}) == 1
    assert len({ring.headers["webhook-timestamp"] for ring in receiver.heard}) == 12
    others = [await sent(bells, subject=str(n)) for n in range(3)]
    await bells.quiet()
    receiver.answer = status(204)
    receiver.heard.clear()
    await bells.later(PAUSE_MAX_MS)
    assert {ring.json["message_id"] for ring in receiver.heard} == {letter, *others}
    assert len(receiver.heard) == 4
    record = await bells.record("bob")
    assert (record.outstanding, record.rung, record.failure) == (0, 4, None)
    assert [each["event"] for each in bells.log] == [
        "doorbell_failed",
        "doorbell_dead",
        "doorbell_works_again",
    ]


def test_dice_spread_the_pauses() -> None:
    """Between a half and the whole, which never passes five minutes."""
    assert [pause_ms(1, dice) for dice in (0.0, 0.5, 1.0)] == [500, 750, 1_000]
    assert [pause_ms(4, dice) for dice in (0.0, 1.0)] == [4_000, 8_000]
    assert pause_ms(10_000, 1.0) == PAUSE_MAX_MS


@pytest.mark.promise("doorbell.given-up-after-a-day")
async def test_a_dead_listener_is_given_up_message_by_message(
    bells: Tower, receiver: Receiver, clock: HandClock
) -> None:
    """A day after each was committed; what is younger is rung when the listener is back."""
    await bells.hang("bob", receiver.url)
    await receiver.close()
    await sent(bells, subject="old")
    await bells.quiet()
    await bells.later(KEEP_MS // 2)
    young = await sent(bells, subject="young")
    await bells.later(KEEP_MS // 2 + 1)
    record = await bells.record("bob")
    assert (record.given_up, record.outstanding) == (1, 1)
    await receiver.open()
    await bells.later(PAUSE_MAX_MS)
    assert [ring.json["message_id"] for ring in receiver.heard] == [young]
    record = await bells.record("bob")
    assert (record.given_up, record.rung, record.outstanding) == (1, 1, 0)


@pytest.mark.promise("doorbell.survives-restarts", "doorbell.once")
async def test_a_listener_that_was_down_gets_every_ring_once_across_restarts(
    tmp_path: Path, clock: HandClock, receiver: Receiver
) -> None:
    """An hour, three daemons, and mail that came while it was down in each of them."""
    path, letters = tmp_path / "mail.sqlite3", list[str]()
    await receiver.close()
    for number in range(3):
        async with tower(path, clock, seed=number) as bells:
            if number == 0:
                await bells.office.accounts("ann", "bob")
                await bells.hang("bob", receiver.url)
            for n in range(5):
                letters.append(await sent(bells, subject=str(n)))
                await bells.later(4 * 60_000)
    async with tower(path, clock, seed=9) as bells:
        await receiver.open()
        await bells.later(PAUSE_MAX_MS)
        await receiver.heard_of(15)
        await bells.quiet()
        record = await bells.record("bob")
        assert (record.rung, record.outstanding, record.given_up) == (15, 0, 0)
    assert [ring.json["message_id"] for ring in receiver.heard] == letters


@pytest.mark.promise("doorbell.delays-nobody")
async def test_a_silent_listener_delays_no_other(
    tmp_path: Path, clock: HandClock, receiver: Receiver
) -> None:
    """More of them than may be rung at once, each holding its request: one place is kept from them."""
    released = asyncio.Event()

    async def held(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()

    async with (
        tower(tmp_path / "mail.sqlite3", clock, ringing_max=2, ring_timeout_secs=60.0) as bells,
        receiving(status(500)) as dead,
    ):
        names = [f"dead{n}" for n in range(4)]
        await bells.office.accounts("ann", "bob", *names)
        for name in names:
            await bells.hang(name, dead.url)
            await sent(bells, name)
        await bells.hang("bob", receiver.url)
        await dead.heard_of(4)
        await bells.quiet()
        dead.answer = held
        clock.step(PAUSE_MAX_MS)
        bells.doorbells.look()
        await dead.heard_of(5)
        letters = [await sent(bells, subject=str(n)) for n in range(20)]
        await receiver.heard_of(20)
        assert [ring.json["message_id"] for ring in receiver.heard] == letters
        assert len(dead.heard) == 5
        released.set()


@pytest.mark.promise("doorbell.delays-nobody")
@pytest.mark.parametrize("failed_before", [False, True])
async def test_silent_listeners_delay_no_listener_that_answered_across_a_restart(
    tmp_path: Path, clock: HandClock, receiver: Receiver, *, failed_before: bool
) -> None:
    """More of them than places, heard of for the first time by the daemon that starts with their mail."""
    released, path = asyncio.Event(), tmp_path / "mail.sqlite3"

    async def held(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await released.wait()

    async with receiving(status(500) if failed_before else held) as dead:
        names = [f"a{n}" for n in range(8)]
        async with tower(path, clock) as bells:
            await bells.office.accounts("ann", "bob", *names)
            await bells.hang("bob", receiver.url)
            await sent(bells)
            await receiver.heard_of(1)
            await bells.quiet()
            for name in names:
                await bells.hang(name, dead.url)
                if failed_before:
                    await sent(bells, name)
            await dead.heard_of(8 if failed_before else 0)
            await bells.quiet()
            bells.doorbells.stop()
            for name in names:
                await sent(bells, name)
            await sent(bells)
        dead.answer = held
        rung = len(dead.heard)
        clock.step(PAUSE_MAX_MS)
        async with tower(path, clock, seed=1, ringing_max=4, ring_timeout_secs=60.0) as bells:
            await receiver.heard_of(2)
            await dead.heard_of(rung + (2 if failed_before else 3))
            await sent(bells)
            await receiver.heard_of(3)
            assert len(dead.heard) == rung + (2 if failed_before else 3)
            released.set()


async def test_listeners_take_turns_for_a_place(tmp_path: Path, clock: HandClock) -> None:
    """With one place, one that has much to hear does not keep the other from its first ring."""
    order, all_sent = list[str](), asyncio.Event()

    async with tower(tmp_path / "mail.sqlite3", clock, ringing_max=1) as bells, receiving() as receiver:

        async def noted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            order.append(receiver.heard[-1].json["account"])
            await all_sent.wait()
            writer.write(b"HTTP/1.1 204 Heard\r\n\r\n")

        receiver.answer = noted
        await bells.office.accounts("ann", "bob", "cid")
        await bells.hang("bob", receiver.url)
        await bells.hang("cid", receiver.url)
        for n in range(10):
            await sent(bells, "bob", str(n))
        await sent(bells, "cid")
        all_sent.set()
        await receiver.heard_of(11)
        await bells.quiet()
    assert "cid" in order[:4]
    assert sorted(order) == ["bob"] * 10 + ["cid"]


async def test_an_answer_that_could_not_be_noted_is_noted_later(
    bells: Tower, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that fails for a moment costs no second ring."""
    real, failing = bells.store.next_ring, True

    async def next_ring(owner: str, attempt: object, now: int) -> object:
        if failing and attempt is not None:
            raise StoreUnavailableError(operation="next_ring")
        return await real(owner, attempt, now)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(bells.store, "next_ring", next_ring)
    await bells.hang("bob", receiver.url)
    await sent(bells)
    await receiver.heard_of(1)
    await bells.quiet()
    bells.doorbells.look()
    await bells.quiet()
    assert (await bells.record("bob")).rung == 0
    failing = False
    bells.doorbells.look()
    await bells.quiet()
    assert (await bells.record("bob")).rung == 1
    assert len(receiver.heard) == 1
    assert [each["event"] for each in bells.log] == ["doorbells_without_store"]


@pytest.mark.promise("doorbell.stop-keeps-the-queue")
async def test_a_stop_lets_the_running_ring_end_and_begins_no_other(
    tmp_path: Path, clock: HandClock, receiver: Receiver
) -> None:
    """What was answered is noted; the rest is rung by the next daemon."""
    answer, begun = asyncio.Event(), asyncio.Event()

    async def when_told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        begun.set()
        await answer.wait()
        writer.write(b"HTTP/1.1 204 Heard\r\n\r\n")

    receiver.answer = when_told
    path = tmp_path / "mail.sqlite3"
    async with tower(path, clock) as bells:
        await bells.office.accounts("ann", "bob")
        await bells.hang("bob", receiver.url)
        for n in range(3):
            await sent(bells, subject=str(n))
        await begun.wait()
        bells.doorbells.stop()
        closing = asyncio.create_task(bells.doorbells.close())
        answer.set()
        await closing
        assert len(receiver.heard) == 1
        record = await bells.record("bob")
        assert (record.rung, record.outstanding) == (1, 2)
    async with tower(path, clock, seed=1):
        await receiver.heard_of(3)
    assert len({ring.id for ring in receiver.heard}) == 3


async def test_a_listener_that_never_answers_does_not_hold_up_a_stop(
    tmp_path: Path, clock: HandClock
) -> None:
    """It is cut at its timeout and its ring stays queued."""
    async with (
        receiving(silence) as receiver,
        tower(tmp_path / "mail.sqlite3", clock, ring_timeout_secs=0.2) as bells,
    ):
        await bells.office.accounts("ann", "bob")
        await bells.hang("bob", receiver.url)
        await sent(bells)
        await receiver.heard_of(1)
        await bells.doorbells.close()
        assert (await bells.record("bob")).outstanding == 1


async def test_a_listener_that_is_removed_is_rung_no_more(bells: Tower, receiver: Receiver) -> None:
    """A repeat of the removal changes nothing; a set after it starts afresh."""
    operator, request = bells.office.operator, ListenerRemoveRequest(account=BOB)
    await bells.hang("bob", receiver.url)
    for _ in range(2):
        await bells.desk.listener_remove(operator, request)
    await sent(bells, subject="unheard")
    await bells.quiet()
    found = await bells.desk.listener_get(operator, ListenerGetRequest(account=BOB))
    assert (found.listeners, receiver.heard) == ([], [])
    await bells.hang("bob", receiver.url)
    letter = await sent(bells, subject="heard")
    await receiver.heard_of(1)
    await bells.quiet()
    assert [ring.json["message_id"] for ring in receiver.heard] == [letter]


@pytest.mark.promise("doorbell.given-up-after-a-day", "doorbell.backoff")
def test_the_times_of_rings_are_those_that_are_promised() -> None:
    """A day and five minutes: the other tests take them as they stand in the code."""
    assert (KEEP_MS, PAUSE_MAX_MS) == (24 * 60 * 60 * 1_000, 5 * 60 * 1_000)
