"""Copying the mail of a file into PostgreSQL."""

import asyncio
import random
from pathlib import Path

import psycopg
import pytest

from mail4agent_api.addresses import participant_of
from mail4agent_core.clock import HandClock
from mail4agent_core.mail.doorbells import Attempt
from mail4agent_core.mail.identity import Caller
from mail4agent_core.mail.postgres import PostgresStore, copying
from mail4agent_core.mail.postgres.copying import CopyDiffersError, TargetNotEmptyError, copy_store
from mail4agent_core.mail.postgres.verify import verify
from mail4agent_core.mail.sqlite import SqliteStore, StoreDamagedError

from .office import DAY_MS, OTHER_SESSION, SESSION, Office


async def lived_in(office: Office) -> list[Caller]:
    """A store with something of everything, some of it deleted; who reads there."""
    choose = random.Random(7)
    ann, bob, cid = await office.accounts("ann", "bob", "cid")
    await office.room("hall", ann, bob)
    await office.room("yard", ann, bob, cid, posting="members")
    people = [ann, bob, await office.session(bob), await office.session(ann, OTHER_SESSION)]
    await office.store.change(
        lambda registry: registry.set_listener(participant_of("bob"), "http://127.0.0.1:1/", "k", None)
    )
    ids = [await office.send(ann, "bob", "root", key="first")]
    for n in range(60):
        to = choose.choice(("ann", "bob", f"bob/{SESSION}", "#hall"))
        reply = choose.choice((None, ids[0]))
        ids.append(
            await office.send(ann, to, f"subject {n}", f"body of {n}", reply_to=reply, correlation="c")
        )
        if n % 3 == 0:
            await office.ack_many(choose.choice(people[1:]), *choose.sample(ids, min(len(ids), 3)))
    await office.sessions.issue(ann)
    turn = await office.store.next_ring("bob", None, office.clock.now_ms())
    assert turn is not None
    assert turn.ring is not None
    await office.store.next_ring("bob", Attempt(turn.ring, 1, "refused", 2), office.clock.now_ms())
    await office.purge_message(ids[0])
    await office.leave("hall", bob)
    office.clock.step(DAY_MS)
    await office.remove("cid")
    await office.purge("cid")
    return people


async def shown(office: Office, people: list[Caller]) -> list[object]:
    """All that readers and an operator see."""
    seen: list[object] = []
    for each in people:
        asked = ({}, {"unread_only": True}, {"order": "newest"}, {"correlation": "c"})
        seen += [await office.inbox(each, limit=256, **fields) for fields in asked]
        seen += [await office.sent(each), await office.search(each, "body")]
    seen.append(
        await office.store.look(
            lambda registry: (
                registry.accounts(None, None),
                registry.rooms(None, None),
                registry.audit(None, 256),
                registry.listeners_of(participant_of("bob").participant),
                [registry.sessions.listed(0, 99), registry.room_ids()],
            )
        )
    )
    return seen


@pytest.mark.promise("store.copy-is-proved")
async def test_everything_that_a_file_holds_is_in_the_copy(
    sqlite_office: Office, path: Path, postgres_url: str, clock: HandClock
):
    """Readers see the same pages, counts and acknowledgements, keys mean the same, and positions go on."""
    people = await lived_in(sqlite_office)
    before = await shown(sqlite_office, people)
    counts = await asyncio.to_thread(copy_store, path, postgres_url)
    assert counts["message"] == counts["place"] == counts["sent"] == 60
    assert min(counts[name] for name in ("ack", "ack_range", "session", "ring", "audit", "number")) >= 1
    assert verify(postgres_url) == []
    store = await PostgresStore.open(postgres_url, clock)
    office = Office(store, clock, seed=9)
    assert await shown(office, people) == before
    again = await office.send(people[0], "bob", "root", key="first")
    assert again == await sqlite_office.send(people[0], "bob", "root", key="first")
    ann = people[0]
    await office.send(ann, "bob", "after")
    assert (await office.subjects(people[1], limit=256))[-1] == "after"
    (dan,) = await office.accounts("dan")
    assert await office.subjects(dan) == []
    await office.remove_room("hall")
    await office.store.sweep(None, 0, 0)
    await store.close()
    assert verify(postgres_url) == []
    assert list(path.parent.glob("*migrating*")) == list(path.parent.glob(".*migrating*")) == []


@pytest.mark.promise("store.copy-is-proved")
async def test_a_database_that_holds_something_is_refused(
    sqlite_office: Office, path: Path, postgres_url: str, clock: HandClock
):
    """It stays as it is."""
    await sqlite_office.accounts("ann")
    store = await PostgresStore.open(postgres_url, clock)
    await Office(store, clock).accounts("zoe")
    await store.close()
    with pytest.raises(TargetNotEmptyError):
        await asyncio.to_thread(copy_store, path, postgres_url)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT id FROM participant").fetchall() == [("zoe",)]


@pytest.mark.promise("store.copy-is-proved")
@pytest.mark.parametrize("table", ["message", "ack_range", "number"])
async def test_a_copy_that_is_not_the_same_is_not_kept(
    sqlite_office: Office, path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch, table: str
):
    """One row less of any table, and the database is as empty as before."""
    await lived_in(sqlite_office)
    written = copying._write

    def lossy(source: object, db: object, of: object) -> None:
        written(source, db, of)  # pyright: ignore[reportArgumentType]
        if of.name == table:  # pyright: ignore[reportAttributeAccessIssue]
            sql = f"DELETE FROM {table} WHERE ctid IN (SELECT ctid FROM {table} LIMIT 1)"
            db.command(sql)  # pyright: ignore[reportAttributeAccessIssue]

    monkeypatch.setattr(copying, "_write", lossy)
    with pytest.raises(CopyDiffersError):
        await asyncio.to_thread(copy_store, path, postgres_url)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT count(*) FROM participant").fetchone() == (0,)


@pytest.mark.promise("store.copy-is-proved")
async def test_a_file_whose_counters_are_wrong_is_not_copied(
    sqlite_office: Office, sqlite_store: SqliteStore, path: Path, postgres_url: str
):
    """What is wrong would be wrong there too."""
    ann, _ = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.send(ann, "bob")
    await sqlite_store._writer.write("break", lambda t: t.db.execute("UPDATE box SET n = n + 1"))
    with pytest.raises(StoreDamagedError):
        await asyncio.to_thread(copy_store, path, postgres_url)
