"""Waiting for mail over HTTP: what ends a wait, with what answer, and what does not."""

import asyncio

import pytest

from .host.served import Answer, Wire, until
from .inside import Daemons, Inside

EMPTY = {"messages": [], "unread": 0}


def subjects(answer: Answer) -> list[str]:
    """The bodies of a page."""
    assert answer.status == 200, answer.body
    return [message["body"] for message in answer.json["messages"]]


async def still_parked(daemon: Inside, wire: Wire) -> None:
    """The wait goes on: whatever was to end it has been looked at, and the place is still taken."""
    parked = daemon.made.waiters.parked
    await daemon.post("/mail/whoami", {}, "eve")
    assert daemon.made.waiters.parked == parked
    assert not wire.reader._buffer  # pyright: ignore[reportAttributeAccessIssue]  no answer has come


async def room(daemon: Inside, *members: str) -> None:
    """The room desk."""
    assert (await daemon.post("/admin/room", {"id": "desk"})).status == 200
    for member in members:
        await rights(daemon, "/admin/room/member/add", room="desk", participant=member)


async def rights(daemon: Inside, path: str, **request: object) -> None:
    """Change what somebody may do."""
    assert (await daemon.post(path, request)).status == 200


async def test_a_wait_that_a_stricter_policy_ends_gets_the_empty_page(inside: Inside) -> None:
    """This process is a session of ada; as ben it waits as the account, until it must be proved a session."""
    assert (await inside.post("/mail/whoami", {}, "ada")).json["address"]["kind"] == "session"
    wire = await inside.park("/mail/inbox", {"wait_secs": 60}, "ben")
    await rights(inside, "/admin/participant/permit", id="ben", attestation="required")
    answer = await wire.answer()
    assert (answer.status, answer.json) == (200, EMPTY)
    assert (await inside.post("/mail/inbox", {}, "ben")).json["kind"] == "session_account_mismatch"


@pytest.mark.promise("mail.wait-ends-on-arrival")
@pytest.mark.parametrize(
    ("path", "request_"), [("/mail/inbox", {"wait_secs": 60}), ("/mail/wait", {"wait_secs": 60})]
)
async def test_a_wait_ends_when_mail_arrives(inside: Inside, path: str, request_: dict[str, object]) -> None:
    """The answer has the message, or tells of it."""
    wire = await inside.park(path, request_, "ben")
    message = await inside.send("ada", "ben")
    answer = await wire.answer()
    if path == "/mail/inbox":
        assert subjects(answer) == ["b"]
    else:
        assert (answer.json["unread"], answer.json["newest"]["message_id"]) == (1, message)
    assert inside.made.waiters.parked == 0


@pytest.mark.promise("mail.wait-ends-on-arrival")
@pytest.mark.parametrize("moment", [1, 2], ids=["before it has its place", "before it sleeps"])
@pytest.mark.parametrize("path", ["/mail/inbox", "/mail/wait"])
async def test_mail_that_arrives_while_a_reader_parks_ends_its_wait(
    inside: Inside, monkeypatch: pytest.MonkeyPatch, path: str, moment: int
) -> None:
    """A message committed between a look of the reader and what follows it is not missed."""
    at_the_door, go_on = asyncio.Event(), asyncio.Event()
    boxes = type(inside.made.store).boxes
    calls = 0

    async def slow_boxes(store: object, reader: object) -> object:
        # It is asked for its boxes after its first look, and after the one that it takes in its place.
        nonlocal calls
        calls += 1
        if calls == moment:
            at_the_door.set()
            await go_on.wait()
        return await boxes(store, reader)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(type(inside.made.store), "boxes", slow_boxes)
    wire = await inside.connect()
    await wire.send(inside.request(path, {"wait_secs": 60}, "ben"))
    await at_the_door.wait()
    await inside.send("ada", "ben")
    go_on.set()
    assert (await wire.answer()).json["unread"] == 1


@pytest.mark.promise("mail.wait-ends-on-arrival")
@pytest.mark.parametrize("path", ["/mail/inbox", "/mail/wait"])
async def test_a_wait_of_no_seconds_is_answered_at_once(inside: Inside, path: str) -> None:
    """Nothing parks, and the answer is what there is."""
    answer = await inside.post(path, {"wait_secs": 0}, "ben")
    assert answer.status == 200
    assert answer.json["unread"] == 0


@pytest.mark.promise("mail.wait-ends-on-arrival")
@pytest.mark.parametrize("path", ["/mail/inbox", "/mail/wait"])
async def test_a_wait_ends_with_its_time_and_the_count_of_now(inside: Inside, path: str) -> None:
    """An acknowledgement wakes nobody; the count that is answered at the end knows it all the same."""
    message = await inside.send("ada", "ben")
    newest = (await inside.post("/mail/wait", {"wait_secs": 0}, "ben")).json["newest"]
    wire = await inside.park(path, {"wait_secs": 1, "after": newest}, "ben")
    assert (await inside.post("/mail/ack", {"message_id": message}, "ben")).status == 200
    answer = await wire.answer()
    assert (answer.status, answer.json["unread"]) == (200, 0)


@pytest.mark.promise("mail.wait-ends-on-arrival")
async def test_a_wait_longer_than_the_bound_is_cut_to_it(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The original's clients may ask for more than 60 s in an inbox; they get 60."""
    monkeypatch.setattr("mail4agent_daemon.polling.INBOX_WAIT_SECS_MAX", 0)
    assert (await inside.post("/mail/inbox", {"wait_secs": 65_535}, "ben")).json == EMPTY
    answer = await inside.post("/mail/wait", {"wait_secs": 61}, "ben")
    assert (answer.status, answer.json["kind"], answer.json["limit"]) == (400, "too_large", 60)


@pytest.mark.promise("mail.wait-ends-on-arrival")
async def test_a_wait_counts_from_the_newest_at_the_call(inside: Inside) -> None:
    """Without a position what stands already ends no wait; with one what stands after it does at once."""
    first = await inside.send("ada", "ben")
    position = (await inside.post("/mail/wait", {"wait_secs": 0}, "ben")).json["newest"]
    assert position["message_id"] == first
    wire = await inside.park("/mail/wait", {"wait_secs": 60}, "ben")
    second = await inside.send("ada", "ben")
    assert (await wire.answer()).json["newest"]["message_id"] == second
    answer = await inside.post("/mail/wait", {"wait_secs": 60, "after": position}, "ben")
    assert (answer.json["unread"], answer.json["newest"]["message_id"]) == (2, second)


@pytest.mark.promise("mail.wait-looks-past-own-and-acknowledged")
async def test_own_mail_ends_no_wait(inside: Inside) -> None:
    """A post of one's own into a room, and a note to oneself, are passed over; another's ends both waits."""
    await room(inside, "ada", "ben")
    waits = [
        await inside.park("/mail/wait", {"wait_secs": 60}, "ada"),
        await inside.park("/mail/inbox", {"wait_secs": 60, "unread_only": True}, "ada"),
    ]
    await inside.send("ada", "#desk")
    await inside.send("ada", "ada")
    for wire in waits:
        await still_parked(inside, wire)
    await inside.send("ben", "#desk", body="theirs")
    answers = [await wire.answer() for wire in waits]
    assert answers[0].json["unread"] == 1
    assert subjects(answers[1]) == ["theirs"]


@pytest.mark.promise("mail.wait-looks-past-own-and-acknowledged")
async def test_acknowledged_mail_ends_no_wait_for_unread_mail(inside: Inside) -> None:
    """A page that would hold only what the reader has settled is waited on."""
    message = await inside.send("ada", "ben")
    assert (await inside.post("/mail/ack", {"message_id": message}, "ben")).status == 200
    wire = await inside.park("/mail/inbox", {"wait_secs": 60, "unread_only": True}, "ben")
    await inside.send("ada", "ben", body="new")
    assert subjects(await wire.answer()) == ["new"]


@pytest.mark.promise("mail.wait-looks-past-own-and-acknowledged")
async def test_a_filter_counts_while_waiting(inside: Inside) -> None:
    """Mail that the filter leaves out wakes the reader, and does not end its wait."""
    wire = await inside.park("/mail/inbox", {"wait_secs": 60, "correlation": "c"}, "ben")
    await inside.send("ada", "ben", body="other")
    await still_parked(inside, wire)
    await inside.send("ada", "ben", body="wanted", correlation="c")
    assert subjects(await wire.answer()) == ["wanted"]


@pytest.mark.promise("mail.wait-ends-on-arrival")
async def test_a_repeat_with_a_key_ends_no_wait(inside: Inside) -> None:
    """A retried send is no new message."""
    await inside.send("ada", "ben", idempotency_key="k")
    wire = await inside.park("/mail/wait", {"wait_secs": 60}, "ben")
    await inside.send("ada", "ben", idempotency_key="k")
    await still_parked(inside, wire)


@pytest.mark.promise("mail.wait-is-released")
@pytest.mark.parametrize("path", ["/mail/inbox", "/mail/wait"])
async def test_the_stop_answers_all_who_wait(inside: Inside, path: str) -> None:
    """Each gets an empty answer, not a connection that breaks."""
    wires = [await inside.park(path, {"wait_secs": 60}, account) for account in ("ada", "ben", "ben")]
    inside.stop.set()
    for wire in wires:
        answer = await wire.answer()
        assert (answer.status, answer.json.get("messages", []), answer.json["unread"]) == (200, [], 0)
        assert answer.header("connection") == "close"
    await inside.stopped()


@pytest.mark.promise("mail.wait-is-released", "account.dead-secret-is-refused")
@pytest.mark.parametrize("verb", ["rotate", "revoke", "remove"])
@pytest.mark.parametrize("path", ["/mail/inbox", "/mail/wait"])
async def test_a_secret_that_dies_ends_its_waits_empty(inside: Inside, path: str, verb: str) -> None:
    """The parked reader sees nothing more, not even a count; its next request is refused."""
    wire = await inside.park(path, {"wait_secs": 60}, "ben")
    other = await inside.park(path, {"wait_secs": 60}, "ada")
    await rights(inside, f"/admin/participant/{verb}", id="ben")
    answer = await wire.answer()
    assert (answer.status, answer.json.get("messages", []), answer.json["unread"]) == (200, [], 0)
    assert (await inside.post(path, {"wait_secs": 60}, "ben")).json == {"kind": "unauthenticated"}
    await still_parked(inside, other)


@pytest.mark.promise("mail.wait-is-released")
async def test_losing_the_right_to_read_ends_a_wait_empty(inside: Inside) -> None:
    """The capability is looked at again before anything is shown."""
    wire = await inside.park("/mail/inbox", {"wait_secs": 60}, "ben")
    await rights(inside, "/admin/participant/permit", id="ben", grant=[], revoke=["mail:read"])
    assert (await wire.answer()).json == EMPTY
    assert (await inside.post("/mail/inbox", {}, "ben")).json["kind"] == "permission_denied"


@pytest.mark.promise("mail.wait-is-released", "mail.former-member-sees-nothing")
async def test_leaving_a_room_ends_a_wait_empty(inside: Inside) -> None:
    """Who was taken out of a room gets no post of it, and waits anew where it may."""
    await room(inside, "ada", "ben")
    wire = await inside.park("/mail/inbox", {"wait_secs": 60}, "ben")
    await rights(inside, "/admin/room/member/remove", room="desk", participant="ben")
    assert (await wire.answer()).json == EMPTY
    again = await inside.park("/mail/inbox", {"wait_secs": 60}, "ben")
    await inside.send("ada", "#desk")
    await still_parked(inside, again)


@pytest.mark.promise("mail.wait-is-released")
async def test_removing_a_room_ends_its_members_waits(inside: Inside) -> None:
    """What they waited on is gone."""
    await room(inside, "ada", "ben")
    wires = [await inside.park("/mail/inbox", {"wait_secs": 60}, name) for name in ("ada", "ben")]
    await rights(inside, "/admin/room/remove", room="desk")
    assert [(await wire.answer()).json for wire in wires] == [EMPTY, EMPTY]


@pytest.mark.promise("mail.wait-is-released")
async def test_joining_a_room_ends_a_wait_with_its_history(inside: Inside) -> None:
    """A new member waits on other boxes from now on; what stands there already is readable and not unread."""
    await room(inside, "ada")
    await inside.send("ada", "#desk", body="before")
    wire = await inside.park("/mail/inbox", {"wait_secs": 60}, "ben")
    await rights(inside, "/admin/room/member/add", room="desk", participant="ben")
    answer = await wire.answer()
    assert (subjects(answer), answer.json["unread"]) == (["before"], 0)


@pytest.mark.promise("mail.wait-blocks-nobody")
async def test_parked_readers_hold_up_nobody(inside: Inside) -> None:
    """While many wait, others send, read and acknowledge, and every one of the many is answered."""
    wires = [await inside.park("/mail/wait", {"wait_secs": 60}, "ben") for _ in range(100)]
    message = await inside.send("ben", "eve")
    assert len((await inside.post("/mail/inbox", {}, "eve")).json["messages"]) == 1
    assert (await inside.post("/mail/ack", {"message_id": message}, "eve")).status == 200
    assert inside.made.waiters.parked == 100
    await inside.send("ada", "ben")
    assert {(await wire.answer()).json["unread"] for wire in wires} == {1}


@pytest.mark.promise("mail.waiters-are-bounded")
@pytest.mark.parametrize("path", ["/mail/inbox", "/mail/wait"])
async def test_one_reader_too_many_is_told_when_to_come_back(daemons: Daemons, path: str) -> None:
    """Past its account's share, or the daemon's, a reader is refused; a read that does not wait never is."""
    inside = await daemons.start(parked_per_account_max=2, parked_max=3)
    wires = [await inside.park("/mail/wait", {"wait_secs": 60}, name) for name in ("ben", "ben", "ada")]
    for account in ("ben", "eve"):
        answer = await inside.post(path, {"wait_secs": 60}, account)
        assert (answer.status, answer.json["kind"]) == (503, "overloaded")
        assert answer.header("retry-after") == str(answer.json["retry_after_secs"])
        assert (await inside.post("/mail/inbox", {}, account)).status == 200
    wires[2].close()
    await until(lambda: inside.made.waiters.parked == 2)
    await inside.park(path, {"wait_secs": 60}, "eve")


@pytest.mark.promise("mail.waiters-are-bounded")
async def test_a_reader_that_is_woken_keeps_its_place(daemons: Daemons) -> None:
    """A wake-up for nothing must not cost a reader its wait when others are queueing for places."""
    inside = await daemons.start(parked_max=1)
    wire = await inside.park("/mail/inbox", {"wait_secs": 60, "correlation": "c"}, "ben")
    for _ in range(3):
        await inside.send("ada", "ben")
        assert (await inside.post("/mail/wait", {"wait_secs": 60}, "eve")).json["kind"] == "overloaded"
    await inside.send("ada", "ben", body="wanted", correlation="c")
    assert subjects(await wire.answer()) == ["wanted"]


async def test_a_reader_whose_client_is_gone_leaves_no_trace(inside: Inside) -> None:
    """Its place is free, and nothing is logged as a fault."""
    wire = await inside.park("/mail/wait", {"wait_secs": 60}, "ben")
    wire.close()
    await until(lambda: inside.made.waiters.parked == 0)
    await until(lambda: len(inside.made.connections) == 0)
    assert {record["level"] for record in inside.log} == {"info"}


async def test_a_store_that_fails_ends_a_wait_by_name(inside: Inside) -> None:
    """A reader is not left waiting for what cannot come."""
    wire = await inside.park("/mail/wait", {"wait_secs": 60}, "ben")
    await inside.made.store.close()
    inside.made.waiters.wake(["ben"])
    answer = await wire.answer()
    assert (answer.status, answer.json["kind"]) == (503, "store_unavailable")
