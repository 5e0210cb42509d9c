"""What ``doctor`` looks at: the data folder, the key, the database, the disk, and who else could read them. It changes nothing."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mail4agent_core.ids import digest_of
from mail4agent_core.mail.sqlite import StoreOpenError
from mail4agent_core.mail.sqlite.verify import verify

from .bootstrap import KEY_NAME, read_key
from .home import holder_of
from .settings import Effective

State = Literal["good", "note", "bad"]
#: Less than this on the disk is worth a person's look, in bytes.
SPACE_MIN_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    state: State
    text: str

    def as_dict(self) -> dict[str, str]:
        """For JSON."""
        return {"check": self.check, "state": self.state, "text": self.text}


def examine(effective: Effective) -> list[Finding]:
    """Look at everything; the first finding that is bad is the first to mend."""
    home = effective.home
    if not home.exists():
        return [Finding("home", "bad", f"{home} does not exist; start the daemon once, or set M4A_HOME")]
    return [*_folder(home), *_daemon(home), *_database(effective.database), *_key(home, effective.database), *_space(home), _boundary(home)]


def _folder(home: Path) -> Iterator[Finding]:
    found = home.lstat()
    if not stat.S_ISDIR(found.st_mode):
        yield Finding("home", "bad", f"{home} is not a folder, or is a symbolic link")
        return
    wrong = [
        entry
        for entry in [home, *sorted(home.iterdir())]
        if not stat.S_ISSOCK(entry.lstat().st_mode) and (stat.S_IMODE(entry.lstat().st_mode) & 0o077 or entry.lstat().st_uid != found.st_uid)
    ]
    for entry in wrong[:10]:
        yield Finding("home", "bad", f"{entry} can be read by others, or belongs to another user; the next start of the daemon makes it private")
    if not wrong:
        yield Finding("home", "good", f"{home} is private")


def _daemon(home: Path) -> Iterator[Finding]:
    running, holder = holder_of(home)
    if running:
        who = f"process {holder.pid}, since {holder.since}" if holder else "a process that left no name"
        yield Finding("daemon", "good", f"running ({who})")
    else:
        yield Finding("daemon", "note", "not running")
        if (home / "daemon.sock").exists():
            yield Finding("socket", "note", "a socket was left by a daemon that was killed; the next start replaces it")


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
        yield Finding("database", "bad", f"{path} cannot be read: {fault}")
        return
    for text in wrong:
        yield Finding("database", "bad", f"{text}; restore a backup")
    if not wrong:
        yield Finding("database", "good", f"{path} is whole and its counters agree with its mail")


def _key(home: Path, database: Path) -> Iterator[Finding]:
    secret = read_key(home / KEY_NAME)
    if secret is None:
        yield Finding("key", "bad", f"{home / KEY_NAME} is missing or holds no key; the next start of the daemon writes a new one")
        return
    try:
        db = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
        try:
            row = db.execute("SELECT capabilities FROM participant WHERE secret_digest = ?", (digest_of(secret),)).fetchone()
        finally:
            db.close()
    except sqlite3.Error:
        return  # said above
    if row is None or "mail:operator" not in row[0].split():
        yield Finding("key", "bad", f"{home / KEY_NAME} authenticates no operator; the next start of the daemon replaces it")
    else:
        yield Finding("key", "good", "the operator's key authenticates")


def _space(home: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(home).free
    state: State = "good" if free >= SPACE_MIN_BYTES else "bad"
    yield Finding("disk", state, f"{free // (1024 * 1024)} MiB free")


def _boundary(home: Path) -> Finding:
    owner = home.lstat().st_uid
    text = "processes of the same user can read the key and the mail (SECURITY.md); deploy/ has a set-up with a user of its own"
    return Finding("boundary", "note" if owner == os.getuid() else "good", text if owner == os.getuid() else "the daemon has a user of its own")

