"""Starts that do not succeed: each says what is wrong and what helps, and leaves everything as it was."""

import json
import socket
import sqlite3
import subprocess
import threading
from pathlib import Path

import pytest

from .disk import read_only, small_disk
from .running import BOUND_SECS, Ended, environment, ran, running, script, start_of

pytestmark = pytest.mark.promise("daemon.first-start-is-repairable", "cli.exit-status-tells")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder in which a daemon ran, and holds mail."""
    folder = tmp_path / "home"
    with running(folder) as daemon:
        daemon.add("ada")
        daemon.send("ada", "ada")
        assert daemon.stop() == 0
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, but for the one that names the last daemon."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and path.name != "daemon.lock"
    }


def refused(ended: Ended, *words: str, status: int = 1) -> None:
    """The start ended at once, with one sentence for a person that says these words."""
    assert (ended.status, ended.out) == (status, "")
    sentences = [line for line in ended.err.splitlines() if not line.startswith("{")]
    assert len(sentences) == 1, ended.err
    assert sentences[0].startswith("mail4agent: ")
    assert [word for word in words if word not in sentences[0]] == [], sentences[0]
    assert "Traceback" not in ended.err


@pytest.mark.promise("store.one-daemon-one-file")
def test_a_newer_database_is_refused_by_name(home: Path) -> None:
    """An older program says which schema it found and which it knows, and touches nothing."""
    with sqlite3.connect(home / "mail.sqlite3") as db:
        (known,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {known + 1}")
    db.close()
    before = contents(home)
    refused(start_of(home), f"schema {known + 1}", f"up to {known}", "newer version")
    assert contents(home) == before


@pytest.mark.parametrize(
    "foreign", [b"not a database, " * 100, None], ids=["text", "another program's database"]
)
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, foreign: bytes | None) -> None:
    """It is named, and not a byte of it is changed."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    path = home / "mail.sqlite3"
    if foreign is not None:
        path.write_bytes(foreign)
    else:
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE photo (id)")
        db.close()
    path.chmod(0o600)
    before = contents(home)
    refused(start_of(home), "mail.sqlite3 is not a mail4agent database")
    assert contents(home) == before


def test_a_damaged_database_is_named(home: Path) -> None:
    """It is neither taken for an empty one nor mended by guessing."""
    path = home / "mail.sqlite3"
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    path.write_bytes(raw)
    before = contents(home)
    refused(start_of(home), "mail.sqlite3", "damaged", "backup")
    assert contents(home) == before


@pytest.mark.promise("store.one-daemon-one-file")
def test_a_second_daemon_is_refused_and_the_first_is_not_disturbed(tmp_path: Path) -> None:
    """It names the process that holds the folder, and the socket still leads to the first one."""
    with running(tmp_path / "home") as daemon:
        refused(
            start_of(daemon.home),
            f"process {daemon.process.pid}, since ",
            "stop it or choose another M4A_HOME",
        )
        assert daemon.get("/health").status == 200
        with socket.socket(socket.AF_UNIX) as wire:
            wire.settimeout(BOUND_SECS)
            wire.connect(str(daemon.home / "daemon.sock"))
            wire.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert wire.recv(15) == b"HTTP/1.1 200 \r\n"


@pytest.mark.promise("store.broken-disk-is-named")
def test_a_folder_that_cannot_be_written_is_named(home: Path) -> None:
    """The mail in it is as it was, and a start after the repair serves it."""
    before = contents(home)
    with read_only(home):
        refused(start_of(home), str(home), "daemon.lock cannot be opened")
    assert contents(home) == before
    with running(home) as daemon:
        assert daemon.get("/health").status == 200


@pytest.mark.promise("store.broken-disk-is-named")
def test_a_first_start_on_a_full_disk_is_mended_by_another_one(tmp_path: Path) -> None:
    """Wherever it ran out of room it says so; once there is room the next start ends well."""
    with small_disk(tmp_path / "disk") as disk:
        home = disk / "home"
        for blocks in (0, 8, 200):
            # Every file may be this many blocks of 512 bytes long: each of these ends somewhere else.
            limited = [
                "sh",
                "-c",
                f'ulimit -f {blocks}; exec "$@"',
                "sh",
                *script("serve", "--bind", "127.0.0.1:0"),
            ]
            ended = subprocess.run(
                limited,
                env=environment(home),
                capture_output=True,
                text=True,
                timeout=BOUND_SECS,
                check=False,
            )
            refused(Ended(ended.returncode, ended.stdout, ended.stderr), str(home), "annot be written")
        with running(home) as daemon:
            assert daemon.post("/mail/whoami", {}).status == 200
            assert daemon.stop() == 0


def test_a_port_that_is_taken_is_named(home: Path) -> None:
    """And the store is not even opened."""
    before = contents(home)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused(start_of(home, "--bind", f"127.0.0.1:{port}"), f"port {port}", "in use")
    assert contents(home) == before


@pytest.mark.promise("daemon.settings-are-checked")
@pytest.mark.parametrize(
    ("toml", "variables", "flags", "words"),
    [
        ('[server]\nbnid = "x"', {}, [], ["config.toml", "'bnid'", "bind, socket, names"]),
        ("", {"M4A_SEVER__BIND": "x"}, [], ["M4A_SEVER__BIND", "'sever'"]),
        ("", {}, ["--bind", "18301"], ["--bind", "server.bind is not valid", "127.0.0.1:18301"]),
    ],
    ids=["file", "environment", "flag"],
)
def test_a_setting_that_cannot_be_used_is_named_with_its_place(
    tmp_path: Path, toml: str, variables: dict[str, str], flags: list[str], words: list[str]
) -> None:
    """The start ends with the status of wrong usage, and nothing was made."""
    home = tmp_path / "home"
    if toml:
        home.mkdir()
        (home / "config.toml").write_text(toml)
    refused(ran(home, "serve", *flags, **variables), *words, status=2)
    assert not home.exists() or contents(home).keys() == {"config.toml"}


@pytest.mark.promise("daemon.settings-are-checked")
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--bind", "0.0.0.0:0"], ["reachable from other machines", "allow cleartext explicitly"]),
        (["--bind", "none", "--no-socket"], ["nothing to listen on"]),
    ],
)
def test_a_place_that_must_not_be_listened_on_is_refused(
    home: Path, flags: list[str], words: list[str]
) -> None:
    """Beyond loopback needs a certificate or an explicit word."""
    before = contents(home)
    refused(ran(home, "serve", *flags), *words)
    assert contents(home) == before


def test_a_failed_start_is_one_json_object_for_a_program(tmp_path: Path) -> None:
    """With --json; standard output stays empty."""
    ended = ran(tmp_path / "home", "serve", "--bind", "nonsense", "--json")
    assert (ended.status, ended.failure["kind"]) == (2, "setting_invalid")
    (tmp_path / "file").write_text("")
    ended = ran(tmp_path / "file", "serve", "--bind", "127.0.0.1:0", "--json", "--log-level", "error")
    assert ended.failure["kind"] in {"start_failed", "setting_invalid"}
    assert str(tmp_path / "file") in ended.failure["message"]


@pytest.mark.promise("daemon.stop-is-graceful")
def test_a_stop_leaves_nothing_but_the_mail(home: Path) -> None:
    """The socket is gone and the database is one file, ready to be copied."""
    assert {path.name for path in home.iterdir()} == {"daemon.lock", "mail.sqlite3", "operator.key"}


def test_the_greeting_says_where_and_how_to_begin(tmp_path: Path) -> None:
    """A person reads the address, where the key is, and the one command that connects a client."""
    home = tmp_path / "home"
    with subprocess.Popen(
        script("serve", "--bind", "127.0.0.1:0"),
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.terminate()
        assert process.wait(BOUND_SECS) == 0
        assert process.stdout.read() == ""
    assert "http://127.0.0.1:" in lines[0]
    assert f"unix:{home / 'daemon.sock'}" in lines[0]
    assert str(home / "operator.key") in lines[1]
    assert "mail4agent connect claude" in lines[2]


def test_nobody_who_reads_the_greeting_is_no_reason_to_stop(tmp_path: Path) -> None:
    """With its standard output closed the daemon serves all the same."""
    home = tmp_path / "home"
    command = [
        "sh",
        "-c",
        'exec "$@" >&-',
        "sh",
        *script("serve", "--bind", "127.0.0.1:0", "--log-format", "json"),
    ]
    with subprocess.Popen(command, env=environment(home), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = next(json.loads(line)["url"] for line in process.stderr if '"serving"' in line)
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=BOUND_SECS) as wire:
            wire.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert wire.recv(15) == b"HTTP/1.1 200 \r\n"
        process.terminate()
        process.communicate(timeout=BOUND_SECS)
        assert process.returncode == 0


def test_a_demonstration_shows_a_first_conversation(tmp_path: Path) -> None:
    """Two accounts write to each other; a second start shows it again."""
    home = tmp_path / "home"
    for _ in range(2):
        with subprocess.Popen(
            script("serve", "--bind", "127.0.0.1:0", "--demo"),
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            # A line that never comes must fail the test, not hold it.
            late = threading.Timer(BOUND_SECS, process.kill)
            late.start()
            shown = [
                line for line in (process.stdout.readline() for _ in range(5)) if line.startswith("demo: ")
            ]
            late.cancel()
            process.terminate()
        assert [line.split(" reads ")[0] for line in shown] == ["demo: demo-ben", "demo: demo-ada"]
