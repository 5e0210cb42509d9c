"""What happens by the clock: mails are tried again, and what nobody confirmed is deleted."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mail4agent_api.errors import UnknownPathError
from mail4agent_api.intake import BoxPushRequest
from mail4agent_core.clock import HandClock
from mail4agent_daemon.intake.database import BoxOpenError, Database, connected
from mail4agent_daemon.intake.links import add_link, new_token
from mail4agent_daemon.intake.mailer import Mailer
from mail4agent_daemon.intake.settings import BudgetSettings, MailSettings
from mail4agent_daemon.intake.shelf import Shelf
from mail4agent_daemon.intake.submissions import Submissions, swept
from mail4agent_daemon.log import Log
from mail4agent_daemon.sinks.building import Ground, smtp_sink

from .house import mail_server
from .manifests import TALK, VISIT

HOUR_MS = 3_600_000


class Lines:
    """Where a log goes that nobody reads."""

    def write(self, text: str, /) -> object:
        """Take it."""
        return len(text)

    def flush(self) -> object:
        """Pass nothing on."""
        return None


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A box of its own."""
    made = Database(tmp_path / "box.sqlite3", Log(Lines()))
    yield made
    await made.close()


@pytest.fixture
async def shelf(database: Database) -> Shelf:
    """Its types: visit, whose links are good for two hours, and talk."""
    made = Shelf()
    for manifest in (VISIT, TALK):
        await database.run(made.push(BoxPushRequest(language="toml", text=manifest)))
    await database.run(made.load)
    return made


async def count(database: Database, table: str) -> int:
    """How many rows a table has."""

    def run(db: sqlite3.Connection) -> int:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]

    return await database.run(run)


async def submitted(database: Database, shelf: Shelf, type_id: str, clock: HandClock) -> int:
    """A submission of a type."""
    form = shelf.served(type_id)
    assert form is not None
    field = form.reply_field
    assert field is not None
    job = Submissions(shelf, BudgetSettings()).sent(
        form, {field: "ada@example.net"}, "ada@example.net", clock.now_ms()
    )
    return await database.run(job)


@pytest.mark.promise("intake.mails-are-owed-until-taken")
async def test_a_refused_mail_is_tried_again_later_with_another_link(
    database: Database, shelf: Shelf, tmp_path: Path
) -> None:
    """Not before its pause is over; once the server takes it nothing is owed, and its link is good."""
    clock = HandClock()
    with mail_server() as (mails, port):
        mailer = posting(database, shelf, tmp_path, clock, port)
        mails.refusing = True
        await submitted(database, shelf, "visit", clock)
        assert [await mailer.send_due(), await mailer.send_due()] == [1, 0]
        assert [await count(database, "letter"), await count(database, "token")] == [1, 0]
        mails.refusing = False
        clock.step(29_999)
        assert await mailer.send_due() == 0
        clock.step(1)
        assert await mailer.send_due() == 1
        token = mails.token()
    assert [await count(database, "letter"), await count(database, "token")] == [0, 1]
    job = Submissions(shelf, BudgetSettings()).confirmed(token, new_token(), clock.now_ms())
    assert (await database.run(job))[1] is False
    assert await count(database, "queue") == 1


def posting(database: Database, shelf: Shelf, folder: Path, clock: HandClock, port: int) -> Mailer:
    """A mailer whose server is on that port."""
    settings = MailSettings(host="127.0.0.1", port=port, from_address="forms@example.org", tls="none")
    sink = smtp_sink("smtp", settings.sink(), Ground(home=folder, environment={}, clock=clock))
    return Mailer(database, shelf, sink, public_url="http://localhost", clock=clock, log=Log(Lines()))


@pytest.mark.promise("intake.dead-links-look-alike")
async def test_a_link_ends_with_the_hours_of_its_type_and_what_it_led_to_is_swept(
    database: Database, shelf: Shelf
) -> None:
    """It is refused like an unknown one from the first moment after, swept or not."""
    clock = HandClock()
    jobs = Submissions(shelf, BudgetSettings())
    token = new_token()
    pending = await submitted(database, shelf, "visit", clock)
    await database.run(lambda db: add_link(db, pending, "confirm", token))
    clock.step(2 * HOUR_MS - 1)
    assert await database.run(swept(clock.now_ms())) == 0
    assert (await database.run(jobs.found(token, "confirm", clock.now_ms()))).id == pending
    clock.step(1)
    with pytest.raises(UnknownPathError):
        await database.run(jobs.confirmed(token, new_token(), clock.now_ms()))
    assert await database.run(swept(clock.now_ms())) == 1
    for table in ("pending", "token", "letter", "queue"):
        assert await count(database, table) == 0


async def test_files_that_never_come_let_their_submission_go(database: Database, shelf: Shelf) -> None:
    """48 hours after its confirmation."""
    clock = HandClock()
    jobs = Submissions(shelf, BudgetSettings())
    token, upload = new_token(), new_token()
    pending = await submitted(database, shelf, "talk", clock)
    await database.run(lambda db: add_link(db, pending, "confirm", token))
    assert (await database.run(jobs.confirmed(token, upload, clock.now_ms())))[1] is True
    clock.step(48 * HOUR_MS - 1)
    assert (await database.run(jobs.found(upload, "upload", clock.now_ms()))).files == ("slides", "picture")
    clock.step(1)
    assert await database.run(swept(clock.now_ms())) == 1
    assert await count(database, "queue") == 0


async def test_a_job_that_refuses_undoes_its_own_writes_and_no_others(database: Database) -> None:
    """Though they share a commit."""

    def good(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO meta VALUES ('good', '1')")

    def refusing(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO meta VALUES ('bad', '1')")
        raise UnknownPathError

    first = database.run(good)
    with pytest.raises(UnknownPathError):
        await database.run(refusing)
    await first
    assert await count(database, "meta") == 2


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    """A file that is no box is refused by name."""
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(BoxOpenError, match="is no database of a box"):
        connected(path)
