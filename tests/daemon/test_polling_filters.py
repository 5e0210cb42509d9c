"""Waits that combine filters: each looks at the mailbox once, in its turn, and nobody is refused for it."""

import asyncio
from typing import Any

import pytest

from mail4agent_core.mail.sqlite.pages import SHORT_MESSAGES

from .host.served import Answer, Wire, until
from .inside import Daemons, Inside

pytestmark = pytest.mark.promise("mail.filtered-waits-are-not-refused")

WAIT = {"wait_secs": 60, "sent_by": "ada", "correlation": "c"}
#: More than the store lets an account's long looks queue.
WAITS = 40


async def fill(daemon: Inside, to: str = "ben") -> None:
    """Put more into a mailbox than is looked through at once."""
    message = {"to": {"kind": "direct", "participant": to}, "subject": "s", "body": "old"}
    for _ in range(2):
        answer = await daemon.post("/mail/send_many", {"messages": [message] * 100}, "ada")
        assert answer.status == 200
    assert SHORT_MESSAGES < 200


class Store:
    """The looks that a daemon's store makes aside; they stand still until they are let go."""

    def __init__(self, daemon: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
        self.looks = 0
        self.standing = 0
        self.go_on = asyncio.Event()
        readers = daemon.made.store._readers
        aside = readers.aside

        async def counted(*of: Any) -> Any:
            self.looks += 1
            self.standing += 1
            await self.go_on.wait()
            self.standing -= 1
            return await aside(*of)

        monkeypatch.setattr(readers, "aside", counted)


def bodies(answer: Answer) -> list[str]:
    """The bodies of a page."""
    assert answer.status == 200, answer.body
    return [message["body"] for message in answer.json["messages"]]


async def test_a_whole_share_of_filtered_waits_is_taken(daemons: Daemons) -> None:
    """As many as an account may park begin at once over a large mailbox, and one message ends them all."""
    inside = await daemons.start(parked_per_account_max=WAITS)
    await fill(inside)
    wires = [await inside.connect() for _ in range(WAITS)]
    for wire in wires:
        await wire.send(inside.request("/mail/inbox", WAIT, "ben"))
    await until(lambda: inside.made.waiters.parked == WAITS)
    await inside.send("ada", "ben", body="wanted", correlation="c")
    assert [bodies(await wire.answer()) for wire in wires] == [["wanted"]] * WAITS
    assert inside.made.waiters.parked == 0


async def test_a_woken_filtered_wait_looks_only_at_what_has_come(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mailbox is walked once; mail that does not match costs no walk."""
    await fill(inside)
    store = Store(inside, monkeypatch)
    store.go_on.set()
    wire = await inside.park("/mail/inbox", WAIT, "ben")
    for number in range(5):
        await inside.send("ada", "ben", body=str(number))
    await inside.send("eve", "ben", body="another's", correlation="c")
    await inside.send("ada", "ben", body="wanted", correlation="c")
    assert bodies(await wire.answer()) == ["wanted"]
    assert store.looks == 1


async def test_one_filtered_wait_of_an_account_looks_at_a_time(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others of the account have their places and wait; another account does not wait for them."""
    await fill(inside)
    await fill(inside, "eve")
    store = Store(inside, monkeypatch)
    wires = [await inside.park("/mail/inbox", WAIT, "ben") for _ in range(3)]
    await until(lambda: store.standing == 1)
    wires.append(await inside.park("/mail/inbox", WAIT, "eve"))
    await until(lambda: store.standing == 2)
    await inside.send("ada", "ben", body="wanted", correlation="c")
    await inside.send("ada", "eve", body="wanted", correlation="c")
    assert store.looks == 2
    store.go_on.set()
    assert [bodies(await wire.answer()) for wire in wires] == [["wanted"]] * 4


async def queued(inside: Inside, store: Store) -> tuple[Wire, Wire]:
    """A wait that looks and one that waits for its turn."""
    first = await inside.park("/mail/inbox", WAIT, "ben")
    await until(lambda: store.standing == 1)
    return first, await inside.park("/mail/inbox", WAIT, "ben")


async def test_a_client_that_goes_while_its_wait_is_queued_frees_its_place(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The turn goes to the next in the queue, not to who has left it."""
    await fill(inside)
    store = Store(inside, monkeypatch)
    first, second = await queued(inside, store)
    third = await inside.park("/mail/inbox", WAIT, "ben")
    second.close()
    await until(lambda: inside.made.waiters.parked == 2)
    store.go_on.set()
    await inside.send("ada", "ben", body="wanted", correlation="c")
    assert [bodies(await wire.answer()) for wire in (first, third)] == [["wanted"]] * 2


async def test_a_queued_wait_ends_empty_when_its_rights_do_and_at_the_stop(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is answered without a look, and so without its turn."""
    await fill(inside)
    await fill(inside, "eve")
    store = Store(inside, monkeypatch)
    first, second = await queued(inside, store)
    hers = [await inside.park("/mail/inbox", WAIT, "eve") for _ in range(2)]
    await until(lambda: store.standing == 2)
    assert (await inside.post("/admin/participant/revoke", {"id": "ben"})).status == 200
    assert bodies(await second.answer()) == []
    inside.stop.set()
    assert bodies(await hers[1].answer()) == []
    store.go_on.set()
    assert [bodies(await wire.answer()) for wire in (first, hers[0])] == [[], []]


async def test_a_wait_whose_time_ends_before_its_turn_is_told_to_come_back(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was looked at, so nothing is said of what there is."""
    await fill(inside)
    store = Store(inside, monkeypatch)
    await queued(inside, store)
    answer = await inside.post("/mail/inbox", {**WAIT, "wait_secs": 1}, "ben")
    assert (answer.status, answer.json["kind"]) == (503, "overloaded")
    assert answer.header("retry-after") == str(answer.json["retry_after_secs"])
    store.go_on.set()


async def test_a_room_that_is_joined_while_a_filtered_wait_goes_on_shows_its_history(inside: Inside) -> None:
    """What an earlier look saw says nothing of a box that was not the reader's then."""
    assert (await inside.post("/admin/room", {"id": "desk"})).status == 200
    await inside.send("ada", "#desk", body="before", correlation="c")
    await inside.send("ada", "ben", body="other")
    wire = await inside.park("/mail/inbox", WAIT, "ben")
    await inside.send("ada", "ben", body="still other")
    member = {"room": "desk", "participant": "ben"}
    assert (await inside.post("/admin/room/member/add", member)).status == 200
    assert bodies(await wire.answer()) == ["before"]


async def test_a_filtered_wait_for_what_is_yet_to_come_shows_nothing_earlier(inside: Inside) -> None:
    """A position ahead of all mail is never taken back to where the mailbox stands."""
    await inside.send("ada", "ben", body="first")
    ahead = {"created_at_unix_ms": inside.clock.now_ms() + 1000, "message_id": f"m4a_{'0' * 24}"}
    wire = await inside.park("/mail/inbox", {**WAIT, "after": ahead}, "ben")
    await inside.send("ada", "ben", body="too early", correlation="c")
    inside.clock.step(2000)
    await inside.send("ada", "ben", body="wanted", correlation="c")
    assert bodies(await wire.answer()) == ["wanted"]
