"""What ``doctor`` looks at: the data folder, the key, the database, the disk, and who else could read them.

It changes nothing.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from typing import Literal

from mail4agent_core.ids import digest_of
from mail4agent_core.mail.identity import OPERATOR
from mail4agent_core.mail.sqlite import StoreOpenError
from mail4agent_core.mail.sqlite.schema import connect_inspector
from mail4agent_core.mail.sqlite.verify import verify

from . import inventory
from .attest import Attestor
from .bootstrap import KEY_NAME, KeyFileError, read_key
from .connect.faults import ConnectError
from .connect.standing import standings
from .frontdoor_checkup import examined as frontdoor_examined
from .home import holder_of
from .outbox_checkup import examined as outbox_examined
from .settings import Effective

State = Literal["good", "note", "bad"]
#: Less than this on the disk is worth a person's look, in bytes.
SPACE_MIN_BYTES = 256 * 1024 * 1024
#: As many wrong modes are named one by one.
NAMED_MAX = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    state: State
    text: str

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return {"check": self.check, "state": self.state, "text": self.text}


def examine(effective: Effective, *, whole: bool = True) -> list[Finding]:
    """Look at everything; the first finding that is bad is the first to mend.

    Unless ``whole``, the database is not read from end to end: that takes long where there is much mail.
    """
    home = effective.home
    if not os.path.lexists(home):
        return [Finding("home", "bad", f"{home} does not exist; start the daemon once, or set M4A_HOME")]
    folder = list(_folder(home))
    if any(finding.state == "bad" and finding.check == "home" for finding in folder):
        return folder
    return [
        *folder,
        *_daemon(effective),
        *_store(effective, whole=whole),
        *_clients(home),
        *(Finding(*said) for said in outbox_examined(effective.outbox)),
        *(Finding(*said) for said in frontdoor_examined(effective)),
        Finding(*inventory.folders(effective)),
        _space(home),
        _attestation(),
        _boundary(home),
    ]


def _folder(home: Path) -> Iterator[Finding]:
    found = home.lstat()
    if not stat.S_ISDIR(found.st_mode):
        yield Finding("home", "bad", f"{home} is not a folder, or is a symbolic link")
        return
    try:
        entries = [(entry, entry.lstat()) for entry in (home, *sorted(home.iterdir()))]
    except OSError as failure:
        yield Finding("home", "bad", f"{home} cannot be looked at: {failure.strerror}")
        return
    links = [entry for entry, state in entries if stat.S_ISLNK(state.st_mode)]
    for entry in links[:NAMED_MAX]:
        yield Finding("links", "bad", f"{entry} is a symbolic link; put the file itself there")
    foreign = [entry for entry, state in entries if state.st_uid != found.st_uid]
    for entry in foreign[:NAMED_MAX]:
        yield Finding("owner", "bad", f"{entry} belongs to another user than its folder; give it back")
    # A socket's mode is given to it when the daemon makes it, within a folder that nobody else can enter.
    open_to_others = [
        entry
        for entry, state in entries
        if stat.S_IMODE(state.st_mode) & 0o077
        and not (stat.S_ISSOCK(state.st_mode) or stat.S_ISLNK(state.st_mode))
    ]
    for entry in open_to_others[:NAMED_MAX]:
        yield Finding(
            "modes", "bad", f"{entry} is open to others; the next start of the daemon makes it private"
        )
    if not (links or foreign or open_to_others):
        yield Finding("home", "good", f"{home} is private")


def _daemon(effective: Effective) -> Iterator[Finding]:
    running, holder = holder_of(effective.home)
    if running:
        who = f"process {holder.pid}, since {holder.since}" if holder else "a process that left no name"
        yield Finding("daemon", "good", f"running ({who})")
        return
    yield Finding("daemon", "note", "not running")
    if effective.socket is not None and os.path.lexists(effective.socket):
        yield Finding(
            "socket", "note", "a socket was left by a daemon that was killed; the next start replaces it"
        )


def _store(effective: Effective, *, whole: bool) -> Iterator[Finding]:
    """The mail, and what of it the key opens and listeners answer to."""
    url, key = effective.settings.store.url, effective.home / KEY_NAME
    if url is not None:
        yield from _server(effective, url, key, whole=whole)
        return
    path = effective.database
    if whole:
        yield from _database(path)
    # What is wrong with the database was said above.
    with suppress(sqlite3.Error):
        yield from _key(key, _live_in(path))
    with suppress(sqlite3.Error):
        yield from _doorbells(_listeners_in(path))
    size = inventory.file_size(path)
    if size is not None:
        yield Finding(*size)
    with suppress(sqlite3.Error):
        yield Finding(*inventory.retention(effective, _numbers_in(path)))
    yield Finding(*inventory.versions())


def _server(effective: Effective, url: str, key: Path, *, whole: bool) -> Iterator[Finding]:
    """The mail in a PostgreSQL database."""
    name = effective.store
    try:
        from mail4agent_core.mail.postgres.inspection import inspected
    except ImportError:
        yield Finding("database", "bad", f"{name} needs psycopg: install mail4agent[postgres]")
        return
    try:
        with inspected(url) as database:
            if database is None:
                yield Finding("database", "note", f"{name} is empty yet")
                yield from _key(key, None)
                return
            wrong = database.findings() if whole else []
            live, listeners = database.secrets(), database.listeners()
            size, version, numbers = database.size(), database.version(), database.numbers()
    except StoreOpenError as fault:
        yield Finding("database", "bad", str(fault))
        return
    for text in wrong:
        yield Finding("database", "bad", f"{text}; restore a backup")
    if whole and not wrong:
        yield Finding("database", "good", f"the counters of {name} agree with its mail")
    yield from _key(key, [(row[0], row[1], row[2]) for row in live])
    yield from _doorbells([(row[0], row[1], row[2], row[3]) for row in listeners])
    yield Finding(*inventory.server_size(size))
    yield Finding(*inventory.retention(effective, numbers))
    yield Finding(*inventory.versions(version))


def _database(path: Path) -> Iterator[Finding]:
    if not path.exists():
        yield Finding("database", "note", f"{path} does not exist yet")
        return
    try:
        wrong = verify(path)
    except StoreOpenError as fault:
        yield Finding("database", "bad", str(fault))
        return
    except sqlite3.Error as fault:
        yield Finding("database", "bad", f"{path} cannot be read ({fault}); restore a backup")
        return
    for text in wrong:
        yield Finding("database", "bad", f"{text}; restore a backup")
    if not wrong:
        yield Finding("database", "good", f"{path} is whole and its counters agree with its mail")


#: The id, capabilities and digest of each account with a secret.
_Live = list[tuple[str, str, bytes]]
#: The owner, last failure, rings that wait and rings given up of each listener.
_Listeners = list[tuple[str, str | None, int, int]]


def _key(path: Path, live: _Live | None) -> Iterator[Finding]:
    """Whether the key opens what it should; ``live`` is None where there is nothing to open yet."""
    try:
        secret = read_key(path)
    except KeyFileError as fault:
        yield Finding("key", "bad", str(fault))
        return
    holders = None if live is None else _holders(live, secret)
    if holders is None:
        yield Finding(
            "key", "note", "nothing for a key to open yet; the first start of the daemon sees to it"
        )
    elif OPERATOR in holders.mine:
        yield Finding("key", "good", "the operator's key authenticates")
    elif holders.set_aside:
        yield Finding(
            "key", "note", f"the account operator was set aside by others; {path} is not needed any more"
        )
    elif secret is None:
        yield Finding(
            "key", "bad", f"{path} is missing or holds no key; the next start of the daemon writes a new one"
        )
    else:
        yield Finding(
            "key", "bad", f"{path} authenticates no operator; the next start of the daemon replaces it"
        )


@dataclass(frozen=True, slots=True)
class _Holders:
    """What the holder of the key may do, and whether others took over from the bootstrap operator."""

    mine: frozenset[str]
    set_aside: bool


def _holders(live: _Live, secret: str | None) -> _Holders:
    """Look the key up."""
    digest = b"" if secret is None else digest_of(secret)
    held = [(name, frozenset(capabilities.split()), found) for name, capabilities, found in live]
    mine = next(
        (capabilities for _, capabilities, found in held if compare_digest(found, digest)), frozenset[str]()
    )
    operators = {name for name, capabilities, _ in held if OPERATOR in capabilities}
    return _Holders(mine, bool(operators) and "operator" not in operators)


def _live_in(database: Path) -> _Live | None:
    """The accounts with a secret; None when there is no database yet. Raises sqlite3.Error."""
    if not database.exists():
        return None
    db = connect_inspector(database)
    try:
        return db.execute(
            "SELECT id, capabilities, secret_digest FROM participant WHERE secret_digest IS NOT NULL"
        ).fetchall()
    finally:
        db.close()


def _doorbells(rows: _Listeners) -> Iterator[Finding]:
    """Listeners that did not answer when they were rung last."""
    failing = [row for row in rows if row[1] is not None]
    for owner, failure, outstanding, given_up in failing[:NAMED_MAX]:
        lost = f", {given_up} given up" if given_up else ""
        yield Finding("doorbells", "note", f"{owner}: {failure}; {outstanding} waiting{lost}")
    if len(failing) > NAMED_MAX:
        yield Finding("doorbells", "note", f"{len(failing) - NAMED_MAX} more listeners do not answer")
    if rows and not failing:
        yield Finding("doorbells", "good", f"no listener failed when it was rung last (of {len(rows)})")


def _listeners_in(database: Path) -> _Listeners:
    """The listeners, none in an older database. Raises sqlite3.Error."""
    if not database.exists():
        return []
    db = connect_inspector(database)
    try:
        if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'listener'").fetchone():
            return []
        return db.execute(
            "SELECT owner, failure, outstanding, given_up FROM listener ORDER BY owner"
        ).fetchall()
    finally:
        db.close()


def _numbers_in(database: Path) -> dict[str, int]:
    """What is kept of retention, by name. Raises sqlite3.Error."""
    if not database.exists():
        return {}
    db = connect_inspector(database)
    try:
        return dict(db.execute("SELECT name, value FROM number WHERE name LIKE 'retention.%'").fetchall())
    finally:
        db.close()


def _clients(home: Path) -> Iterator[Finding]:
    """Connected clients whose key or file is gone."""
    try:
        found = standings(home)
    except ConnectError as fault:
        yield Finding("clients", "bad", str(fault))
        return
    for each in found:
        for fault in each.faults:
            yield Finding("clients", "bad", f"{each.client} as {each.account}: {fault}")
    if found and not any(each.faults for each in found):
        names = ", ".join(f"{each.client} as {each.account}" for each in found[:NAMED_MAX])
        yield Finding("clients", "good", f"connected: {names}")


def _space(home: Path) -> Finding:
    free = shutil.disk_usage(home).free
    state: State = "good" if free >= SPACE_MIN_BYTES else "bad"
    return Finding("disk", state, f"{free // (1024 * 1024)} MiB free")


def _attestation() -> Finding:
    attestor = Attestor()
    try:
        reason = attestor.reason
    finally:
        attestor.close()
    if reason is None:
        return Finding("attestation", "good", "the process behind a connection can be proved here")
    return Finding(
        "attestation",
        "note",
        f"the process behind a connection cannot be proved here ({reason.value}): callers are accounts, and"
        " sessions need issued credentials; docs/sessions.md says more",
    )


def _boundary(home: Path) -> Finding:
    if home.lstat().st_uid != os.getuid():
        return Finding("boundary", "good", "the daemon has a user of its own")
    return Finding(
        "boundary",
        "note",
        "processes of the same user can read the key and the mail; SECURITY.md says what that means",
    )
