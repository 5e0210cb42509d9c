"""The first start, and every repair: afterwards the key file authenticates an operator."""

import asyncio
import os
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import ParticipantId
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import RandomIds, digest_of
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.store import Registry
from mail4agent_daemon.bootstrap import (
    CAPABILITIES,
    KEY_NAME,
    OPERATOR_ID,
    KeyFileError,
    ensure_operator,
    read_key,
    write_key,
)
from mail4agent_daemon.log import Log

from .host.served import BOUND_SECS, until
from .inside import inside
from .running import running

pytestmark = pytest.mark.promise("daemon.first-start-is-repairable")

WARDEN = ParticipantId("warden")
CLOCK = HandClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[SqliteStore]:
    """The store of a folder."""
    store = await SqliteStore.open(home / "mail.sqlite3", CLOCK)
    try:
        yield store
    finally:
        await store.close()


async def started(home: Path) -> str:
    """Start once; what was logged."""
    lines = StringIO()
    async with opened(home) as store:
        await ensure_operator(home, store, CLOCK, RandomIds(), Log(lines))
    return lines.getvalue()


async def authenticates(home: Path) -> bool:
    """Whether the key file opens an account that administers."""
    secret = read_key(home / KEY_NAME)
    assert secret is not None
    async with opened(home) as store:
        account = await store.authenticate(digest_of(secret))
    return account is not None and "mail:operator" in account.capabilities


async def changed(home: Path, command: Callable[[Registry], Any]) -> None:
    """Change the accounts behind the daemon's back."""
    async with opened(home) as store:
        await store.change(command)


def add_warden(registry: Registry) -> None:
    """Another operator."""
    registry.add_account(WARDEN, None, digest_of("w"), frozenset({"mail:operator"}), 1)


def test_the_first_start_needs_no_step_by_hand(tmp_path: Path) -> None:
    """In an empty place it makes a private folder with private files, and a key that administers at once."""
    before = os.umask(0)
    try:
        with running(tmp_path / "home") as daemon:
            found = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in daemon.home.iterdir()}
            account = daemon.post("/admin/participant/list", {}).json["participants"]
            assert daemon.post("/mail/whoami", {}).json["label"] == "bootstrap operator"
    finally:
        os.umask(before)
    assert {name: mode for name, mode in found.items() if mode != 0o600} == {}
    assert found.keys() >= {"daemon.lock", "daemon.sock", "mail.sqlite3", KEY_NAME}
    assert stat.S_IMODE(daemon.home.stat().st_mode) == 0o700
    assert [(each["id"], set(each["capabilities"])) for each in account] == [("operator", set(CAPABILITIES))]


async def test_a_second_start_changes_nothing(home: Path) -> None:
    """The key stays, and nothing is logged of it."""
    await started(home)
    key = (home / KEY_NAME).read_bytes()
    assert await started(home) == ""
    assert (home / KEY_NAME).read_bytes() == key


class BrokenError(OSError):
    """A step that fails."""


def break_key(monkeypatch: pytest.MonkeyPatch, name: str, at: int) -> None:
    """Let the ``at``-th call of a function of the system fail."""
    whole, calls = getattr(os, name), 0

    def broken(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            raise BrokenError(5, "Input/output error")
        return whole(*arguments, **named)

    monkeypatch.setattr(f"mail4agent_daemon.bootstrap.os.{name}", broken)


STEPS = {
    "open the file": ("open", 2),
    "sync it": ("fsync", 1),
    "open the folder": ("open", 3),
    "sync that": ("fsync", 2),
}


@pytest.mark.parametrize(("name", "at"), STEPS.values(), ids=STEPS.keys())
async def test_a_step_of_the_key_that_fails_is_repaired_by_the_next_start(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: int
) -> None:
    """The start says which file and why; nothing half-written is left, and the next one ends well."""
    async with opened(home) as store:  # the database is there; the key is not
        with monkeypatch.context() as broken:
            break_key(broken, name, at)
            with pytest.raises(KeyFileError, match=r"operator\.key cannot be written: Input/output error"):
                await ensure_operator(home, store, CLOCK, RandomIds(), Log(StringIO()))
    assert not (home / ".operator.key.partial").exists()
    assert "operator_registered" in await started(home)
    assert await authenticates(home)


async def test_a_stop_before_the_account_is_registered_is_repaired_with_the_same_key(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is on disk first, so that no secret is ever registered that nobody knows."""

    async def full(*_: object) -> Any:
        raise RuntimeError("killed")

    async with opened(home) as store:
        monkeypatch.setattr(store, "change", full, raising=False)
        with pytest.raises(RuntimeError, match="killed"):
            await ensure_operator(home, store, CLOCK, RandomIds(), Log(StringIO()))
    key = (home / KEY_NAME).read_bytes()
    await started(home)
    assert (home / KEY_NAME).read_bytes() == key
    assert await authenticates(home)


async def test_what_a_kill_left_of_a_key_is_used_up(home: Path) -> None:
    """A partial file is neither taken for a key nor left behind."""
    (home / ".operator.key.partial").write_text("half a ke")
    await started(home)
    assert await authenticates(home)
    assert not (home / ".operator.key.partial").exists()


@pytest.mark.parametrize(
    "text", [None, "", "\n", "not a key", "f" * 63, "F" * 64, "f" * 65, "f" * 64, "ü" * 64]
)
async def test_a_key_that_is_missing_or_opens_nothing_is_replaced(home: Path, text: str | None) -> None:
    """The old secret is dead from then on; other accounts keep theirs."""
    await started(home)
    old = read_key(home / KEY_NAME)
    assert old is not None
    await changed(
        home,
        lambda registry: registry.add_account(ParticipantId("ada"), None, digest_of("a"), frozenset(), 1),
    )
    (home / KEY_NAME).unlink()
    if text is not None:
        (home / KEY_NAME).write_text(text)
    assert "operator_key_replaced" in await started(home)
    assert await authenticates(home)
    async with opened(home) as store:
        assert await store.authenticate(digest_of(old)) is None
        assert await store.authenticate(digest_of("a")) is not None


async def test_a_new_database_takes_the_key_that_is_there(home: Path) -> None:
    """Who deletes the mail keeps a key that works."""
    await started(home)
    key = (home / KEY_NAME).read_bytes()
    (home / "mail.sqlite3").unlink()
    assert "operator_registered" in await started(home)
    assert (home / KEY_NAME).read_bytes() == key
    assert await authenticates(home)


async def test_a_key_of_another_account_is_not_made_the_operators(home: Path) -> None:
    """That account keeps its secret, and the operator gets one of its own."""
    write_key(home / KEY_NAME, "a" * 64)
    add = ("ada", None, digest_of("a" * 64), frozenset({"mail:read"}), 1)
    await changed(home, lambda registry: registry.add_account(ParticipantId(add[0]), *add[1:]))
    await started(home)
    assert await authenticates(home)
    async with opened(home) as store:
        ada = await store.authenticate(digest_of("a" * 64))
    assert ada is not None
    assert (ada.id, ada.capabilities) == ("ada", {"mail:read"})


async def test_a_key_that_cannot_be_read_stops_the_start(home: Path) -> None:
    """It is not taken for a missing one, which would cost the operator its secret."""
    await started(home)
    secret = read_key(home / KEY_NAME)
    assert secret is not None
    (home / KEY_NAME).unlink()
    (home / KEY_NAME).mkdir()
    with pytest.raises(KeyFileError, match="cannot be read: Is a directory"):
        await started(home)
    (home / KEY_NAME).rmdir()
    write_key(home / KEY_NAME, secret)
    assert await started(home) == ""


@pytest.mark.timeout(20)
async def test_a_pipe_in_the_place_of_the_key_does_not_hold_the_start_up(home: Path) -> None:
    """It is no key, and is replaced by one."""
    os.mkfifo(home / KEY_NAME, 0o600)
    await started(home)
    assert await authenticates(home)


def revoked(registry: Registry) -> None:
    """The operator without a secret."""
    registry.set_secret(OPERATOR_ID, None, 2)


def demoted(registry: Registry) -> None:
    """The operator without its capability."""
    registry.set_capabilities(OPERATOR_ID, frozenset({"mail:send"}))


def removed(registry: Registry) -> None:
    """The operator removed."""
    registry.retire(OPERATOR_ID, 2)


def purged(registry: Registry) -> None:
    """The operator gone with its mail."""
    registry.retire(OPERATOR_ID, 2)
    registry.erase(OPERATOR_ID)


@pytest.mark.parametrize("act", [revoked, demoted, removed, purged])
async def test_an_operator_that_others_set_aside_stays_so(
    home: Path, act: Callable[[Registry], None]
) -> None:
    """A start undoes nothing that was done on purpose: neither the account nor the key comes back."""
    await started(home)
    await changed(home, add_warden)
    await changed(home, act)
    key = (home / KEY_NAME).read_bytes()
    for _ in range(2):
        assert "operator_set_aside" in await started(home)
    assert (home / KEY_NAME).read_bytes() == key
    assert not await authenticates(home)
    (home / KEY_NAME).unlink()
    await started(home)
    assert not (home / KEY_NAME).exists()


@pytest.mark.parametrize("act", [revoked, demoted, removed, purged])
async def test_a_daemon_that_nobody_administers_gets_its_operator_back(
    home: Path, act: Callable[[Registry], None]
) -> None:
    """Whoever may write the data folder is not locked out of it."""
    await started(home)
    await changed(home, act)
    await started(home)
    assert await authenticates(home)


@pytest.mark.promise("account.dead-secret-is-refused")
async def test_rotating_the_operator_keeps_the_key_file_in_step(tmp_path: Path) -> None:
    """The file has the new secret when the answer comes, private as before; the next start leaves it."""
    home = tmp_path / "home"
    async with inside(home) as daemon:
        answer = await daemon.post("/admin/participant/rotate", {"id": "operator"})
        assert read_key(home / KEY_NAME) == answer.json["secret"]
        assert stat.S_IMODE((home / KEY_NAME).stat().st_mode) == 0o600
        assert (await daemon.post("/mail/whoami", {})).json == {"kind": "unauthenticated"}
        daemon.keys["operator"] = answer.json["secret"]
        await daemon.add("ada")
        assert (await daemon.post("/admin/participant/rotate", {"id": "ada"})).status == 200
        assert read_key(home / KEY_NAME) == answer.json["secret"]
    assert await started(home) == ""


async def test_rotations_at_once_leave_the_key_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the file of the first is written late, it ends up with the secret that was committed last."""
    writing, go_on = threading.Event(), threading.Event()

    def slow(path: Path, secret: str) -> None:
        if not writing.is_set():
            writing.set()
            assert go_on.wait(BOUND_SECS)
        write_key(path, secret)

    monkeypatch.setattr("mail4agent_daemon.handlers.write_key", slow)
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("warden", operator=True)

        async def rotated() -> str:
            return (await daemon.post("/admin/participant/rotate", {"id": "operator"}, "warden")).json[
                "secret"
            ]

        first = asyncio.create_task(rotated())
        await until(writing.is_set)
        others = [asyncio.create_task(rotated()) for _ in range(3)]
        for _ in range(20):  # as long as the others need when nothing holds them up
            await daemon.post("/mail/whoami", {}, "warden")
        go_on.set()
        secrets = await asyncio.gather(first, *others)
        key = read_key(tmp_path / "home" / KEY_NAME)
        assert key in secrets
        daemon.keys["operator"] = key
        assert (await daemon.post("/mail/whoami", {})).status == 200


async def test_a_rotation_whose_key_cannot_be_written_still_shows_its_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the only time; the log tells of it, and the next start gives the file a key that works."""

    def full(*_: object) -> None:
        raise KeyFileError("no room")

    monkeypatch.setattr("mail4agent_daemon.handlers.write_key", full)
    home = tmp_path / "home"
    async with inside(home) as daemon:
        daemon.keys["operator"] = (await daemon.post("/admin/participant/rotate", {"id": "operator"})).json[
            "secret"
        ]
        assert (await daemon.post("/mail/whoami", {})).status == 200
        assert [record["event"] for record in daemon.log].count("operator_key_not_written") == 1
        assert daemon.keys["operator"] not in daemon.lines.getvalue()
    await started(home)
    assert await authenticates(home)


async def test_a_store_that_takes_no_writes_stops_the_start_by_name(home: Path) -> None:
    """The refusal is the store's own; the key that was written serves the next start."""
    async with opened(home) as store:
        await store._writer.close()
        with pytest.raises(RefusalError) as refused:
            await ensure_operator(home, store, CLOCK, RandomIds(), Log(StringIO()))
    assert refused.value.kind == "store_unavailable"
    await started(home)
    assert await authenticates(home)
