"""What a caller may say of a wait: its seconds, and the position that it waits after."""

import pytest

from .host.served import Wire, until
from .inside import Inside

pytestmark = pytest.mark.promise("mail.wait-ends-on-arrival")

PATHS = ["/mail/inbox", "/mail/wait"]
#: An id that no message has.
UNKNOWN = f"m4a_{'0' * 24}"


async def asked(inside: Inside, path: str, body: str) -> Wire:
    """A connection on which a body was sent as it is."""
    wire = await inside.connect()
    await wire.send(inside.request(path, body.encode(), "ben"))
    return wire


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("seconds", "kind"),
    [
        ("-1", "malformed"),
        ("1.5", "malformed"),
        ('"1"', "malformed"),
        ("true", "malformed"),
        ("[1]", "malformed"),
        ("65536", "too_large"),
        ("1e400", "malformed"),
    ],
)
async def test_seconds_that_are_none_are_refused(inside: Inside, path: str, seconds: str, kind: str) -> None:
    """The refusal names the field, and nobody parks."""
    answer = await (await asked(inside, path, f'{{"wait_secs": {seconds}}}')).answer()
    assert answer.status == 400
    assert (answer.json["kind"], answer.json["field"]) == (kind, "wait_secs")
    assert inside.made.waiters.parked == 0


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("seconds", ["60", "60.0", "6e1"])
async def test_the_most_seconds_park_however_they_are_written(
    inside: Inside, path: str, seconds: str
) -> None:
    """A whole number is one with a point or an exponent, too."""
    wire = await asked(inside, path, f'{{"wait_secs": {seconds}}}')
    await until(lambda: inside.made.waiters.parked == 1)
    await inside.send("ada", "ben")
    assert (await wire.answer()).json["unread"] == 1


async def test_a_second_past_the_most_parks_in_an_inbox_and_is_refused_in_a_wait(inside: Inside) -> None:
    """The original's clients may ask an inbox for more than they get; mail.wait is stricter."""
    wire = await asked(inside, "/mail/inbox", '{"wait_secs": 61}')
    await until(lambda: inside.made.waiters.parked == 1)
    refused = await (await asked(inside, "/mail/wait", '{"wait_secs": 61}')).answer()
    assert (refused.json["kind"], refused.json["limit"]) == ("too_large", 60)
    await inside.send("ada", "ben")
    assert (await wire.answer()).json["unread"] == 1


@pytest.mark.parametrize("path", PATHS)
async def test_who_names_no_seconds_gets_the_usual_ones(inside: Inside, path: str) -> None:
    """0 asks for no wait; an inbox that names none does not wait, and mail.wait waits its usual 25 s."""
    assert (await inside.post(path, {"wait_secs": 0}, "ben")).json["unread"] == 0
    wire = await asked(inside, path, "{}")
    if path == "/mail/wait":
        await until(lambda: inside.made.waiters.parked == 1)
        await inside.send("ada", "ben")
    assert (await wire.answer()).json["unread"] == (path == "/mail/wait")


async def test_null_for_seconds_names_none_in_an_inbox_and_is_refused_in_a_wait(inside: Inside) -> None:
    """The field of an inbox may be null, as the original's clients send it."""
    assert (await inside.post("/mail/inbox", {"wait_secs": None}, "ben")).json["unread"] == 0
    refused = (await inside.post("/mail/wait", {"wait_secs": None}, "ben")).json
    assert (refused["kind"], refused["field"]) == ("malformed", "wait_secs")


@pytest.mark.parametrize("path", PATHS)
async def test_an_unknown_position_counts_as_the_start_of_its_millisecond(inside: Inside, path: str) -> None:
    """What stands in the same millisecond ends the wait at once: repeat rather than miss."""
    await inside.send("ada", "ben")
    at = {"created_at_unix_ms": inside.clock.now_ms(), "message_id": UNKNOWN}
    assert (await inside.post(path, {"wait_secs": 60, "after": at}, "ben")).json["unread"] == 1


@pytest.mark.parametrize("path", PATHS)
async def test_a_position_ahead_of_all_waits_for_its_millisecond_and_no_longer(
    inside: Inside, path: str
) -> None:
    """Mail before it ends no wait, mail in its millisecond does; the end of the time tells what there is."""
    ahead = {"created_at_unix_ms": inside.clock.now_ms() + 1000, "message_id": UNKNOWN}
    timed = await asked(
        inside,
        path,
        f'{{"wait_secs": 1, "after": {{"created_at_unix_ms": {2**53 - 1}, "message_id": "{UNKNOWN}"}}}}',
    )
    await until(lambda: inside.made.waiters.parked == 1)
    wire = await inside.park(path, {"wait_secs": 60, "after": ahead}, "ben")
    early = await inside.send("ada", "ben")
    ended = (await timed.answer()).json
    assert (ended.get("messages", []), ended["unread"]) == ([], 1)
    if path == "/mail/wait":
        assert ended["newest"]["message_id"] == early
    assert inside.made.waiters.parked == 1
    inside.clock.step(1000)
    await inside.send("ada", "ben", body="in time")
    answer = (await wire.answer()).json
    assert answer["unread"] == 2
    assert [message["body"] for message in answer.get("messages", [{"body": "in time"}])] == ["in time"]
