"""The full-text index behind the SQLite store: filled behind the sends, whole for every search."""

import asyncio
import sqlite3

import pytest

from mail4agent_core.mail.sqlite import SqliteStore, search, writer
from mail4agent_core.mail.words import phrases_of, words_of

from .office import Office


def found(store: SqliteStore, word: str) -> int:
    """How many documents of the index hold a word, whoever may read them."""
    sql = "SELECT count(*) FROM found WHERE found MATCH ?"
    return store._readers._inline.execute(sql, (word,)).fetchone()[0]


async def test_a_search_finds_what_was_committed_before_it(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """Also when the index is many steps behind and others go on sending."""
    monkeypatch.setattr(writer, "IDLE_SECS", 1_000)
    ann, bob = await sqlite_office.accounts("ann", "bob")
    for n in range(search.STEP * 2 + 50):
        await sqlite_office.send(ann, "bob", str(n), "needle")
    assert found(sqlite_store, "needle") == 0
    sending = [asyncio.ensure_future(sqlite_office.send(ann, "bob", f"later {n}")) for n in range(50)]
    assert len(await sqlite_office.search(bob, "needle", limit=256)) == search.STEP * 2 + 50
    await asyncio.gather(*sending)


async def test_long_messages_are_indexed_in_shorter_steps(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """A step ends by bytes too, so that a send never waits long behind it."""
    monkeypatch.setattr(writer, "IDLE_SECS", 1_000)
    ann, bob = await sqlite_office.accounts("ann", "bob")
    for n in range(12):
        await sqlite_office.send(ann, "bob", str(n), "needle " * 9_000)
    more = await sqlite_store._writer.write("test", lambda transaction: search.index_step(transaction.db))
    assert more
    assert 0 < found(sqlite_store, "needle") < 12
    assert len(await sqlite_office.search(bob, "needle")) == 12


async def test_the_index_keeps_up_without_an_idle_moment(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """Past a lag the writer indexes between commits, so that no search has everything to catch up on."""
    monkeypatch.setattr(writer, "IDLE_SECS", 1_000)
    monkeypatch.setattr(writer, "LAG_MAX", 20)
    ann, _ = await sqlite_office.accounts("ann", "bob")
    for n in range(100):
        await sqlite_office.send(ann, "bob", str(n), "needle")
    # The last write waits for what was indexed after the one before.
    await sqlite_office.store.remember("wait", 1)
    assert found(sqlite_store, "needle") >= 79


async def test_words_of_deleted_mail_leave_the_index(sqlite_office: Office, sqlite_store: SqliteStore):
    """Purged messages, purged accounts and removed rooms leave no word behind."""
    ann, bob = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.room("hall", ann)
    letter = await sqlite_office.send(ann, "bob", "one", "needle Straße 今天")
    await sqlite_office.send(ann, "bob", "two", "needle")
    await sqlite_office.send(ann, "#hall", "three", "needle")
    assert len(await sqlite_office.search(bob, "needle")) == 2
    assert found(sqlite_store, "needle") == 3
    await sqlite_office.purge_message(letter)
    assert found(sqlite_store, "needle") == 2
    assert found(sqlite_store, "strasse") == 0
    await sqlite_office.remove_room("hall")
    assert found(sqlite_store, "needle") == 1
    await sqlite_office.remove("bob")
    await sqlite_office.purge("bob")
    assert found(sqlite_store, "needle") == 0


async def test_mail_goes_on_when_the_index_cannot(
    sqlite_office: Office, sqlite_store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    """A fault of indexing is counted and harms no send; once it is mended, everything is found."""
    broken = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fail(db: sqlite3.Connection, step: int) -> bool:
        loop.call_soon_threadsafe(broken.set)
        raise ValueError(f"no index of {step} in {db}")

    monkeypatch.setattr(writer, "index_step", fail)
    ann, bob = await sqlite_office.accounts("ann", "bob")
    await sqlite_office.send(ann, "bob", "one")
    async with asyncio.timeout(30):
        await broken.wait()
    await sqlite_office.send(ann, "bob", "two")
    assert await sqlite_office.subjects(bob) == ["one", "two"]
    assert sqlite_store.figures.faults >= 1
    monkeypatch.undo()
    assert await sqlite_office.search(bob, "text") == ["two", "one"]


def test_words_are_letters_digits_and_marks():
    """Everything else parts them; a word of an unspaced script is one character."""
    assert words_of("It's 3.5 %, naïve_case\tÅngström") == ("it", "s", "3", "5", "naive", "case", "angstrom")
    assert words_of("漢字 kana カナ") == ("漢", "字", "kana", "カ", "ナ")
    assert words_of("!?— \u200b") == ()


def test_a_query_is_words_and_quoted_phrases():
    """An open quote runs to the end, and what holds no word is dropped."""
    assert phrases_of('one two "three four" "!" five-six') == (
        ("one",),
        ("two",),
        ("three", "four"),
        ("five", "six"),
    )
    assert phrases_of('a "b c') == (("a",), ("b", "c"))
    assert phrases_of('"" ! "') == ()
