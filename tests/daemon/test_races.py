"""What happens at once: starts cut off, daemons that race, rights that end in a wait, rival changes."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_daemon.limits import Limits
from tests.connection import Connection
from tests.process import BOUND_SECS, DaemonProcess, NotStartedError, served

#: What the first start makes, in about this order.
STEPS = (".", "daemon.lock", "mail.sqlite3", "mail.sqlite3-wal", "mail.sqlite3-shm", "operator.key")
WAITERS = 200
ACCOUNTS = 8


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    """A running daemon, whose log must show no fault and whose store must be whole in the end."""
    with served(tmp_path / "home") as running:
        yield running
        assert '"level":"error"' not in running.log
        assert verify(running.database) == []


class People:
    """Connections that are closed at the end of a test."""

    def __init__(self, daemon: DaemonProcess, stack: AsyncExitStack) -> None:
        self._daemon = daemon
        self._stack = stack

    def connect(self, secret: str) -> Connection:
        """A new connection."""
        connection = Connection(self._daemon.port, secret)
        self._stack.push_async_callback(connection.close)
        return connection


async def _figure_is(daemon: DaemonProcess, name: str, value: float) -> None:
    """Ask for a figure until it is this one."""
    deadline = time.monotonic() + BOUND_SECS
    while (found := await asyncio.to_thread(daemon.figure, name)) != value:
        assert time.monotonic() < deadline, f"{name} is {found}, not {value}"


@pytest.mark.promise("daemon.first-start-is-repairable")
@pytest.mark.parametrize("step", STEPS)
def test_a_first_start_that_is_killed_at_any_step_is_mended_by_the_next(tmp_path: Path, step: str) -> None:
    """Killed when a part of its home is there, a daemon starts again by itself, its key and store whole."""
    daemon = DaemonProcess(tmp_path / "home")
    try:
        process = daemon.spawn()
        deadline = time.monotonic() + BOUND_SECS
        while not (daemon.home / step).exists():
            assert process.poll() is None, daemon.log
            assert time.monotonic() < deadline
        daemon.kill()
        daemon.start()
        assert daemon.do("mail.whoami")["address"]["participant"] == "operator"
        secret = daemon.register("ada")
        assert (
            daemon.do("mail.unread", {"target": {"kind": "direct", "participant": "ada"}}, secret=secret)[
                "unread"
            ]
            == 0
        )
        assert daemon.stop() == 0
        assert sorted(path.name for path in daemon.home.iterdir() if path.name.startswith(".")) == []
        assert verify(daemon.database) == []
    finally:
        daemon.kill()


@pytest.mark.promise("store.one-daemon-one-file")
def test_of_daemons_that_race_for_one_new_home_one_serves_and_the_others_name_it(tmp_path: Path) -> None:
    """Started at once on a home that is not there, one daemon serves; the others end and name the holder."""
    racers = [DaemonProcess(tmp_path / "home") for _ in range(3)]
    for number, racer in enumerate(racers):
        racer.log_path = tmp_path / f"{number}.log"
    try:
        for racer in racers:
            racer.spawn()
        serving: list[DaemonProcess] = []
        refused: list[NotStartedError] = []
        for racer in racers:
            try:
                serving.append(racer.await_serving())
            except NotStartedError as refusal:
                refused.append(refusal)
        assert len(serving) == 1
        for refusal in refused:
            assert refusal.status not in {0, None}
            assert f"process {serving[0].pid}" in refusal.log
        assert serving[0].do("health")["ok"]
        assert serving[0].do("mail.whoami")["address"]["participant"] == "operator"
        assert serving[0].stop() == 0
        assert verify(serving[0].database) == []
    finally:
        for racer in racers:
            racer.kill()


async def _parked(
    daemon: DaemonProcess, people: People, secrets: list[str]
) -> list[tuple[Connection, asyncio.Task[tuple[int, Any]]]]:
    """Readers that wait, the same number for each account; half by page, half by mail.wait."""
    waiting: list[tuple[Connection, asyncio.Task[tuple[int, Any]]]] = []
    for number in range(WAITERS):
        connection = people.connect(secrets[number % len(secrets)])
        path = "/mail/wait" if number // len(secrets) % 2 else "/mail/inbox"
        waiting.append((connection, asyncio.create_task(connection.ask(path, {"wait_secs": 60}))))
    await _figure_is(daemon, "mail4agent_parked_readers", WAITERS)
    return waiting


def _readers(daemon: DaemonProcess) -> list[str]:
    """Accounts that are all in one room."""
    daemon.do("admin.room", {"id": "desk"})
    secrets: list[str] = []
    for number in range(ACCOUNTS):
        secrets.append(daemon.register(f"reader-{number}"))
        daemon.do("admin.room.member.add", {"room": "desk", "participant": f"reader-{number}"})
    return secrets


@pytest.mark.promise("mail.wait-is-released", "daemon.stop-is-graceful")
async def test_two_hundred_waiters_are_answered_as_their_rights_end_and_at_the_stop(
    daemon: DaemonProcess,
) -> None:
    """Each change of rights, and the stop, ends just the waits that it concerns, with an empty answer."""
    async with AsyncExitStack() as stack:
        secrets = _readers(daemon)
        waiting = await _parked(daemon, People(daemon, stack), secrets)
        share = WAITERS // ACCOUNTS
        ends: list[tuple[str, Any]] = [
            ("admin.participant.revoke", {"id": "reader-0"}),
            ("admin.participant.remove", {"id": "reader-1"}),
            ("admin.participant.rotate", {"id": "reader-2"}),
            ("admin.participant.permit", {"id": "reader-3", "revoke": ["mail:read"]}),
            ("admin.room.member.remove", {"room": "desk", "participant": "reader-4"}),
        ]
        for number, (operation, body) in enumerate(ends):
            await asyncio.to_thread(daemon.do, operation, body)
            answers = await asyncio.gather(*(task for _, task in waiting[number::ACCOUNTS]))
            assert [_emptiness(answer) for answer in answers] == [True] * share, operation
            await _figure_is(daemon, "mail4agent_parked_readers", WAITERS - share * (number + 1))
        await asyncio.to_thread(daemon.do, "admin.room.remove", {"room": "desk"})
        answers = await asyncio.gather(
            *(task for number in range(5, 8) for _, task in waiting[number::ACCOUNTS][:1])
        )
        assert [_emptiness(answer) for answer in answers] == [True] * 3
        assert await asyncio.to_thread(daemon.stop) == 0
        rest = await asyncio.gather(*(task for _, task in waiting))
        assert [_emptiness(answer) for answer in rest] == [True] * WAITERS


def _emptiness(answer: tuple[int, Any]) -> bool:
    status, body = answer
    return status == 200 and (body.get("messages", []) == [] and body["unread"] == 0)


@pytest.mark.promise("mail.waiters-are-bounded")
async def test_clients_that_leave_while_they_wait_cost_nothing_afterwards(daemon: DaemonProcess) -> None:
    """Closed or reset by their clients, two hundred parked connections give back places and descriptors."""
    async with AsyncExitStack() as stack:
        waiting = await _parked(daemon, People(daemon, stack), _readers(daemon))
        for number, (connection, task) in enumerate(waiting):
            task.cancel()
            if number % 2:
                connection.reset()
            else:
                await connection.close()
        await asyncio.gather(*(task for _, task in waiting), return_exceptions=True)
        await _figure_is(daemon, "mail4agent_parked_readers", 0)
        # The one that asks is open.
        await _figure_is(daemon, "mail4agent_connections", 1)
        assert await asyncio.to_thread(_descriptors, daemon.pid) < 40


def _descriptors(pid: int) -> int:
    """How many descriptors a process has open; 0 where the system does not tell."""
    folder = Path(f"/proc/{pid}/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


@pytest.mark.promise("account.dead-secret-is-refused")
async def test_of_secrets_that_two_operators_make_at_once_for_one_account_the_last_alone_opens(
    daemon: DaemonProcess,
) -> None:
    """Concurrent rotations all succeed, one after another: of all secrets shown exactly one is alive."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        daemon.register("ada")
        second = daemon.register("second", operator=True)
        operators = [people.connect(secret) for _ in range(8) for secret in (daemon.operator, second)]
        made = await asyncio.gather(
            *(operator.do("/admin/participant/rotate", {"id": "ada"}) for operator in operators)
        )
        tried = [(await people.connect(each["secret"]).ask("/mail/whoami", {}))[0] for each in made]
        assert Counter(tried) == {200: 1, 401: len(operators) - 1}


@pytest.mark.promise("account.removed-id-is-retired")
async def test_an_account_that_two_operators_make_or_remove_at_once_is_made_and_removed_once(
    daemon: DaemonProcess,
) -> None:
    """Of concurrent registrations, removals and purges of one id, one succeeds; the others are refused."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        second = daemon.register("second", operator=True)
        operators = [people.connect(secret) for _ in range(4) for secret in (daemon.operator, second)]
        for path, refused in (
            ("", "already_exists"),
            ("/remove", "unknown_participant"),
            ("/purge", "unknown_participant"),
        ):
            answers = await asyncio.gather(
                *(operator.ask(f"/admin/participant{path}", {"id": "ada"}) for operator in operators)
            )
            kinds = Counter(body.get("kind", "done") if status != 200 else "done" for status, body in answers)
            assert kinds == {"done": 1, refused: len(operators) - 1}


async def test_operators_who_revoke_each_other_at_once_leave_one(daemon: DaemonProcess) -> None:
    """The last live operator cannot be revoked, also by one who was revoked while asking."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        second = daemon.register("second", operator=True)
        secrets = [daemon.operator, second]
        targets = ["second", "operator"]
        pairs = [
            (people.connect(secret), target)
            for _ in range(4)
            for secret, target in zip(secrets, targets, strict=True)
        ]
        await asyncio.gather(
            *(operator.ask("/admin/participant/revoke", {"id": target}) for operator, target in pairs)
        )
        alive = [(await people.connect(secret).ask("/admin/participant/list", {}))[0] for secret in secrets]
        assert sorted(alive) == [200, 401]


@pytest.mark.promise("mail.recipient-exists", "mail.same-key-same-effect")
async def test_sends_that_race_with_the_recipients_removal_are_kept_or_refused(daemon: DaemonProcess) -> None:
    """Each send is kept or refused as unknown_participant; a purge then finds just those that were kept."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        daemon.register("leaver")
        senders = [people.connect(daemon.register(f"sender-{number}")) for number in range(8)]
        kept: list[set[str]] = [set() for _ in senders]
        under_way = asyncio.Event()

        async def send(number: int) -> None:
            for index in range(10_000):
                body = {
                    "to": {"kind": "direct", "participant": "leaver"},
                    "subject": f"{index}",
                    "body": "",
                    "idempotency_key": f"k-{index}",
                }
                status, answer = await senders[number].ask("/mail/send", body)
                if status != 200:
                    assert answer == {"kind": "unknown_participant", "participant": "leaver"}
                    break
                kept[number].add(answer["message_id"])
                if index == 20:
                    under_way.set()

        async def remove() -> None:
            await under_way.wait()
            await asyncio.to_thread(daemon.do, "admin.participant.remove", {"id": "leaver"})

        async with asyncio.TaskGroup() as group:
            group.create_task(remove())
            for number in range(len(senders)):
                group.create_task(send(number))
        for number, sender in enumerate(senders):
            first = {
                "to": {"kind": "direct", "participant": "leaver"},
                "subject": "0",
                "body": "",
                "idempotency_key": "k-0",
            }
            assert (await sender.do("/mail/send", first))["message_id"] in kept[number]
            assert await _sent(sender) == kept[number]
        purged = await asyncio.to_thread(daemon.do, "admin.participant.purge", {"id": "leaver"})
        assert purged["messages"] == sum(len(each) for each in kept)
        secret = await asyncio.to_thread(daemon.register, "leaver")
        assert (await people.connect(secret).do("/mail/inbox", {}))["messages"] == []


async def _sent(sender: Connection) -> set[str]:
    found: set[str] = set()
    before: dict[str, Any] | None = None
    while True:
        page = (await sender.do("/mail/sent", {"limit": 256, "before": before}))["sent"]
        if not page:
            return found
        found |= {each["message"]["message_id"] for each in page}
        before = {name: page[-1]["message"][name] for name in ("created_at_unix_ms", "message_id")}


@pytest.mark.promise("mail.room-posting-follows-the-room", "mail.former-member-sees-nothing")
async def test_posts_that_race_with_a_rooms_removal_and_return_belong_to_one_of_the_two_rooms(
    daemon: DaemonProcess,
) -> None:
    """A room removed and made again while many post holds just what was acknowledged after that, once."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        reader = people.connect(daemon.register("reader"))
        senders = [people.connect(daemon.register(f"sender-{number}")) for number in range(8)]
        daemon.do("admin.room", {"id": "desk"})
        daemon.do("admin.room.member.add", {"room": "desk", "participant": "reader"})
        again, over = asyncio.Event(), asyncio.Event()
        acknowledged: set[str] = set()
        after: set[str] = set()

        async def post(number: int) -> None:
            index = 0
            while not over.is_set():
                index += 1
                began = again.is_set()
                status, answer = await senders[number].ask(
                    "/mail/send",
                    {"to": {"kind": "room", "room": "desk"}, "subject": f"{number}/{index}", "body": ""},
                )
                if status == 200:
                    acknowledged.add(answer["message_id"])
                    after.update([answer["message_id"]] if began else [])
                    if len(after) > 300:
                        over.set()
                else:
                    assert answer == {"kind": "unknown_room", "room": "desk"}

        async def replace() -> None:
            for operation, body in (
                ("admin.room.remove", {"room": "desk"}),
                ("admin.room", {"id": "desk"}),
                ("admin.room.member.add", {"room": "desk", "participant": "reader"}),
            ):
                await asyncio.to_thread(daemon.do, operation, body)
            again.set()

        async with asyncio.TaskGroup() as group:
            group.create_task(replace())
            for number in range(len(senders)):
                group.create_task(post(number))
        read = await _inbox(reader)
        assert len(set(read)) == len(read)
        assert after <= set(read) <= acknowledged
        (room,) = (await asyncio.to_thread(daemon.do, "admin.room.list"))["rooms"]
        assert room["messages"] == len(read)


async def _inbox(reader: Connection) -> list[str]:
    found: list[str] = []
    after: dict[str, Any] | None = None
    while True:
        page = (await reader.do("/mail/inbox", {"limit": 256, "after": after}))["messages"]
        if not page:
            return found
        found += [message["message_id"] for message in page]
        after = {name: page[-1][name] for name in ("created_at_unix_ms", "message_id")}


@pytest.mark.promise("daemon.first-start-is-repairable")
async def test_the_operators_key_file_opens_after_rotations_at_once_and_after_one_that_is_killed(
    daemon: DaemonProcess,
) -> None:
    """The file holds the living secret, also when several rotate at once; a start after a kill mends it."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        second = daemon.register("second", operator=True)
        operators = [people.connect(second) for _ in range(8)]
        for _ in range(5):
            await asyncio.gather(
                *(each.do("/admin/participant/rotate", {"id": "operator"}) for each in operators)
            )
            assert (await people.connect(daemon.operator).ask("/mail/whoami", {}))[0] == 200
        for kept in (1, 4, 9):
            rotations = [asyncio.create_task(_rotate(people.connect(second), kept)) for _ in range(4)]
            await asyncio.wait(rotations, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.to_thread(daemon.kill)
            await asyncio.gather(*rotations, return_exceptions=True)
            await asyncio.to_thread(daemon.start)
            me = await people.connect(daemon.operator).do("/mail/whoami", {})
            assert me["address"]["participant"] == "operator"


async def _rotate(operator: Connection, times: int) -> None:
    for _ in range(times):
        await operator.do("/admin/participant/rotate", {"id": "operator"})
    # The last one is still asked for when the daemon is killed.
    await operator.ask("/admin/participant/rotate", {"id": "operator"})


@pytest.mark.promise("mail.waiters-are-bounded", "mail.wait-blocks-nobody")
async def test_one_waiter_too_many_for_its_account_is_refused_and_holds_up_nobody_else(
    daemon: DaemonProcess,
) -> None:
    """The 257th wait of an account is refused with a time to come back; all else goes on."""
    async with AsyncExitStack() as stack:
        people = People(daemon, stack)
        greedy, other = daemon.register("greedy"), daemon.register("other")
        waits = [
            asyncio.create_task(people.connect(greedy).ask("/mail/inbox", {"wait_secs": 60}))
            for _ in range(Limits().parked_per_account_max)
        ]
        await _figure_is(daemon, "mail4agent_parked_readers", len(waits))
        status, answer = await people.connect(greedy).ask("/mail/inbox", {"wait_secs": 60})
        assert (status, answer["kind"]) == (503, "overloaded")
        assert answer["retry_after_secs"] > 0
        await people.connect(greedy).do("/mail/inbox", {})
        patient = asyncio.create_task(people.connect(other).do("/mail/inbox", {"wait_secs": 60}))
        await _figure_is(daemon, "mail4agent_parked_readers", len(waits) + 1)
        for name in ("other", "greedy"):
            to = {"kind": "direct", "participant": name}
            await people.connect(greedy if name == "other" else other).do(
                "/mail/send", {"to": to, "subject": "wake", "body": ""}
            )
        assert [message["subject"] for message in (await patient)["messages"]] == ["wake"]
        pages = await asyncio.gather(*waits)
        assert {(code, len(page["messages"])) for code, page in pages} == {(200, 1)}
        await _figure_is(daemon, "mail4agent_parked_readers", 0)
