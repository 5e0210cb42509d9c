"""serve, config, doctor and backup: what they print, how they end, and that they change nothing."""

import json
import os
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_daemon.checkup import examine
from mail4agent_daemon.settings import load

from .running import Daemon, ran, running

pytestmark = pytest.mark.promise("cli.exit-status-tells")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which a daemon ran."""
    folder = tmp_path_factory.mktemp("verbs") / "home"
    with running(folder) as daemon:
        daemon.add("ada")
        daemon.send("ada", "ada")
        assert daemon.stop() == 0
    return folder


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its mode and bytes."""
    return {
        path.name: (path.stat().st_mode, path.read_bytes()) for path in folder.iterdir() if path.is_file()
    }


def findings(home: Path, status: int) -> dict[str, str]:
    """What doctor finds, by what it looked at, and that it ends with this status."""
    ended = ran(home, "doctor", "--json")
    assert ended.status == status, ended.out
    assert ended.json["sound"] is (status == 0)
    return {finding["check"]: f"{finding['state']}: {finding['text']}" for finding in ended.json["findings"]}


def test_serve_says_in_json_where_it_is(daemon: Daemon) -> None:
    """One object once it serves; the fixture of these tests lives on it."""
    assert daemon.get("/health").status == 200
    assert (daemon.home / "daemon.sock").is_socket()


def test_config_prints_every_setting_and_its_origin(home: Path) -> None:
    """As a file for a person, as one object for a program; nothing is made by asking."""
    before = contents(home)
    shown = ran(home, "config", M4A_LOG__LEVEL="debug")
    assert (shown.status, shown.err) == (0, "")
    assert 'level = "debug"  # M4A_LOG__LEVEL' in shown.out
    ended = ran(home, "config", "--json", M4A_LOG__LEVEL="debug").json
    assert ended.keys() == {"home", "config", "database", "settings", "origins"}
    assert (ended["home"], ended["database"]) == (str(home), str(home / "mail.sqlite3"))
    assert ended["settings"]["log"]["level"] == "debug"
    assert ended["origins"] == {"home": "M4A_HOME", "log.level": "M4A_LOG__LEVEL"}
    assert contents(home) == before


@pytest.mark.parametrize("verb", [["config"], ["doctor"], ["backup", "copy"], ["serve"]])
def test_settings_that_cannot_be_used_end_every_verb_with_two(home: Path, verb: list[str]) -> None:
    """With one sentence, or one object for a program."""
    before = contents(home)
    ended = ran(home, *verb, "--json", M4A_SERVER__BIND="nowhere")
    assert (ended.status, ended.failure["kind"]) == (2, "setting_invalid")
    assert "M4A_SERVER__BIND" in ended.failure["message"]
    assert contents(home) == before


def test_doctor_finds_a_healthy_folder_sound_and_changes_nothing(home: Path) -> None:
    """Whether the daemon runs or not; a person gets lines, a program one object."""
    before = contents(home)
    found = findings(home, 0)
    assert [check for check, text in found.items() if text.startswith("bad")] == []
    assert found["daemon"] == "note: not running"
    assert found["key"].startswith("good")
    assert ran(home, "doctor").out.splitlines()[0] == f"good  home: {home} is private"
    assert contents(home) == before


def test_doctor_sees_a_running_daemon(daemon: Daemon) -> None:
    """It names the process and checks the database beside it."""
    found = findings(daemon.home, 0)
    assert found["daemon"].startswith(f"good: running (process {daemon.process.pid}, since ")
    assert found["database"].startswith("good")
    assert daemon.get("/health").status == 200


def found(home: Path) -> dict[str, str]:
    """What doctor finds, asked without a process of its own."""
    return {each.check: f"{each.state}: {each.text}" for each in examine(load({}, home=home))}


def test_doctor_names_what_needs_a_person(tmp_path: Path) -> None:
    """Each fault is a finding of its own that says what helps; one of them makes the status 1."""
    home = tmp_path / "home"
    assert "does not exist" in findings(home, 1)["home"]
    with running(home) as daemon:
        assert daemon.stop() == 0
    (home / "operator.key").chmod(0o644)
    assert "operator.key is open to others" in found(home)["modes"]
    (home / "operator.key").chmod(0o600)
    key = (home / "operator.key").read_text()
    (home / "operator.key").write_text("f" * 64)
    assert "authenticates no operator" in found(home)["key"]
    (home / "operator.key").unlink()
    assert "missing" in found(home)["key"]
    (home / "operator.key").write_text(key)
    (home / "operator.key").chmod(0o600)
    (home / "link").symlink_to(home / "operator.key")
    assert "symbolic link" in found(home)["links"]
    (home / "link").unlink()
    with sqlite3.connect(home / "mail.sqlite3") as db:
        db.execute("UPDATE box SET n = n + 1 WHERE address = 'operator'")
    db.close()
    assert "restore a backup" in found(home)["database"]
    with sqlite3.connect(home / "mail.sqlite3") as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()
    assert "schema 9999" in found(home)["database"]
    (home / "mail.sqlite3").write_bytes(b"something else " * 1000)
    assert "not a mail4agent database" in found(home)["database"]
    (home / "mail.sqlite3").unlink()
    assert found(home)["database"].startswith("note")


def test_doctor_knows_an_operator_that_was_set_aside(tmp_path: Path) -> None:
    """The key that opens nothing is no fault then."""
    home = tmp_path / "home"
    with running(home) as daemon:
        daemon.add("warden", operator=True)
        assert daemon.post("/admin/participant/remove", {"id": "operator"}, "warden").status == 200
        assert daemon.stop() == 0
    assert findings(home, 0)["key"].startswith("note: the account operator was set aside")


@pytest.mark.promise("store.backup-is-consistent")
def test_a_backup_under_writes_holds_all_that_was_acknowledged_before(daemon: Daemon, tmp_path: Path) -> None:
    """It is one private file that is sound by itself, and a daemon serves from it."""
    before = [daemon.send("ada", "ben", f"before {number}") for number in range(20)]
    stop, sent = threading.Event(), []

    def write() -> None:
        while not stop.is_set():
            sent.append(daemon.send("ada", "ben", "meanwhile"))

    writing = threading.Thread(target=write)
    writing.start()
    target = tmp_path / "home" / "mail.sqlite3"
    target.parent.mkdir(mode=0o700)
    try:
        ended = ran(daemon.home, "backup", str(target), "--json")
    finally:
        stop.set()
        writing.join()
    assert (ended.status, ended.json) == (0, {"target": str(target), "bytes": target.stat().st_size})
    assert [path.name for path in target.parent.iterdir()] == ["mail.sqlite3"]
    assert target.stat().st_mode & 0o777 == 0o600
    assert verify(target) == []
    assert (
        target.read_bytes()[18:20] == b"\1\1"
    )  # no log beside it is asked for, not even on a read-only disk
    with running(tmp_path / "home") as restored:
        restored.keys.update({name: daemon.keys[name] for name in ("ada", "ben")})
        kept = [message["message_id"] for message in restored.inbox("ben", limit=256)]
    assert kept == [*before, *sent][: len(kept)]
    assert len(kept) >= len(before)


def test_a_backup_is_made_without_a_daemon_too(home: Path, tmp_path: Path) -> None:
    """The folder is as it was."""
    before = contents(home)
    ended = ran(home, "backup", str(tmp_path / "copy"))
    assert (ended.status, ended.out) == (
        0,
        f"{tmp_path / 'copy'}: {(tmp_path / 'copy').stat().st_size} bytes, checked\n",
    )
    assert contents(home) == before


def test_a_backup_that_cannot_be_made_says_why_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    """It overwrites nothing, and copies nothing but mail."""
    taken = tmp_path / "taken"
    taken.write_text("mine")
    empty, foreign = tmp_path / "empty", tmp_path / "foreign"
    empty.mkdir()
    foreign.mkdir()
    (foreign / "mail.sqlite3").write_bytes(b"something else " * 1000)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    raw = bytearray((home / "mail.sqlite3").read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    (damaged / "mail.sqlite3").write_bytes(raw)
    cases = {
        (home, taken): "overwrites nothing",
        (home, tmp_path / "no" / "folder"): f"{tmp_path / 'no'} does not exist",
        (empty, tmp_path / "a"): "mail.sqlite3 does not exist",
        (foreign, tmp_path / "b"): "mail.sqlite3 cannot be copied",
        (damaged, tmp_path / "c"): "mail.sqlite3",
    }
    for (source, target), words in cases.items():
        ended = ran(source, "backup", str(target), "--json")
        assert (ended.status, ended.failure["kind"]) == (1, "backup_failed")
        assert words in ended.failure["message"]
    assert taken.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"taken", "empty", "foreign", "damaged"}


@pytest.mark.promise("daemon.stop-is-graceful")
def test_a_stop_under_load_answers_what_it_accepted(tmp_path: Path) -> None:
    """Every send that was answered is there after the restart, and the process ended in order."""
    home = tmp_path / "home"
    sent: list[str] = []
    with running(home) as daemon:
        daemon.add("ada")

        def write() -> None:
            try:
                while True:
                    sent.append(daemon.send("ada", "ada"))
            except (OSError, AssertionError):
                return  # it stopped

        writers = [threading.Thread(target=write) for _ in range(4)]
        for each in writers:
            each.start()
        while len(sent) < 50:
            os.sched_yield()
        assert daemon.stop() == 0
        for each in writers:
            each.join()
        assert [record["event"] for record in daemon.log if record["level"] != "info"] == []
    with running(home) as again:
        again.keys["ada"] = daemon.keys["ada"]
        kept: list[str] = []
        while page := again.inbox("ada", limit=256, **after(kept)):
            kept += [
                json.dumps({"created_at_unix_ms": m["created_at_unix_ms"], "message_id": m["message_id"]})
                for m in page
            ]
    assert set(sent) <= {json.loads(each)["message_id"] for each in kept}
    assert len(kept) == len(set(kept))


@pytest.mark.promise("daemon.stop-is-graceful")
def test_a_daemon_that_has_stopped_goes_through_nothing_once_more(tmp_path: Path) -> None:
    """What it holds at its end is taken out of the collector's sight, however many readers left it there."""
    told = tmp_path / "told.json"
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, gc, json, pathlib\n"
        "def tell():\n"
        "    left = [len(gc.get_objects()), gc.get_freeze_count()]\n"
        f"    pathlib.Path({str(told)!r}).write_text(json.dumps(left))\n"
        "atexit.register(tell)\n"
    )
    with running(tmp_path / "home", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])) as daemon:
        assert daemon.stop() == 0
    in_sight, out_of_sight = json.loads(told.read_text())
    assert out_of_sight > 20_000
    assert in_sight < out_of_sight / 10


def after(kept: list[str]) -> dict[str, object]:
    """Where the next page begins."""
    return {"after": json.loads(kept[-1])} if kept else {}
