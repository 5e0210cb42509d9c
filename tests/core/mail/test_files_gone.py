"""Files of the database that are deleted or replaced while the store has them open."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mail4agent_api.errors import StoreUnavailableError
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.sqlite import SqliteStore
from mail4agent_core.mail.sqlite.verify import verify

from .office import Office


def delete_all(path: Path) -> None:
    """Delete the database and what lies beside it."""
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink()


def replace(path: Path) -> None:
    """Put a copy in the place of the database."""
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    copy.replace(path)


def delete_journal(path: Path) -> None:
    """Delete what was committed and is not yet in the database."""
    path.with_name(f"{path.name}-wal").unlink()


@pytest.mark.parametrize("lose", [delete_all, replace, delete_journal])
async def test_nothing_is_acknowledged_into_files_that_are_gone(
    sqlite_office: Office, sqlite_store: SqliteStore, path: Path, lose: Callable[[Path], None]
):
    """Sends, changes and the write behind /health are refused; what was read stays readable."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.send(ann, "bob", "before")
    commits = sqlite_store.figures.commits
    lose(path)
    with pytest.raises(StoreUnavailableError) as refused:
        await sqlite_office.send(ann, "bob", "after")
    with pytest.raises(StoreUnavailableError):
        await sqlite_office.account("cat")
    with pytest.raises(StoreUnavailableError):
        await sqlite_store.remember("health.beat", 1)
    assert refused.value.refusal.operation == "post"
    assert sqlite_store.figures.commits == commits
    assert await sqlite_office.subjects(bob) == ["before"]


async def test_a_database_that_is_gone_is_not_created_anew(
    sqlite_office: Office, sqlite_store: SqliteStore, path: Path
):
    """A writer or a reader that has to open it again is refused too, and leaves nothing in its place."""
    ann, _ = await sqlite_office.accounts("ann", "bob")
    delete_all(path)
    sqlite_store._writer._disconnect()
    with pytest.raises(StoreUnavailableError):
        await sqlite_office.send(ann, "bob")
    with pytest.raises(StoreUnavailableError):
        await sqlite_office.sent(ann)
    assert list(path.parent.glob(f"{path.name}*")) == []


async def test_a_database_that_is_put_back_is_written_again(
    sqlite_office: Office, sqlite_store: SqliteStore, path: Path, clock: HandClock
):
    """Moved away and back, it goes on, and a restart finds all that was acknowledged."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    away = path.with_name("away")
    path.rename(away)
    with pytest.raises(StoreUnavailableError):
        await sqlite_office.send(ann, "bob", "refused")
    away.rename(path)
    await sqlite_office.send(ann, "bob", "accepted")
    await sqlite_store.close()
    assert verify(path) == []
    again = await SqliteStore.open(path, clock)
    assert await Office(again, clock, seed=1).subjects(bob) == ["accepted"]
    await again.close()
