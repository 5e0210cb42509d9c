"""Every file that is read and that another process may have written: where it lies, and how it is read."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sqlite3
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer

from mail4agent_api.errors import RefusalError
from mail4agent_client.errors import SettingInvalidError
from mail4agent_client.settings import read_token
from mail4agent_core.clock import SystemClock
from mail4agent_core.files import Folder, FolderError
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_core.frontdoor.extraction import ProviderError
from mail4agent_core.frontdoor.manifest import ManifestError, TypeFolder, read_manifest
from mail4agent_core.frontdoor.quarantine import for_privileged_run
from mail4agent_core.frontdoor.record import UnreadableError
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.mail.postgres.copying import _at_one_moment
from mail4agent_core.mail.sqlite.backup import copy_database
from mail4agent_core.mail.sqlite.faults import StoreOpenError
from mail4agent_core.mail.sqlite.schema import connect_writer
from mail4agent_core.mail.sqlite.verify import verify
from mail4agent_core.mailbox import MailboxStore
from mail4agent_core.note import journal
from mail4agent_core.note.carry import stored
from mail4agent_core.note.channel import Channel
from mail4agent_core.note.faults import NoteError
from mail4agent_core.note.ledger import Ledger
from mail4agent_core.note.owner import holder_of as driver_of
from mail4agent_core.note.paths import RunPaths
from mail4agent_core.note.reach import Reached, ReachedWord
from mail4agent_core.note.recorded import Delivery, RecordedNote
from mail4agent_core.note.words import Addressee
from mail4agent_core.outbox import OutboxStore
from mail4agent_core.outbox.copies import Copies
from mail4agent_core.outbox.item import FileRecord
from mail4agent_core.outbox.sink import NotSentError, StagedFile
from mail4agent_core.outbox.store import UnreadableItemError
from mail4agent_core.outbox.store import _key_name as key_name
from mail4agent_daemon.bootstrap import KeyFileError, read_key
from mail4agent_daemon.cli.bodies import body_of
from mail4agent_daemon.cli.listeners import _read as read_bell
from mail4agent_daemon.cli.submissions import _read as read_submission
from mail4agent_daemon.cli.submissions import _submission as submission_of
from mail4agent_daemon.cli.type_runs import read as read_type
from mail4agent_daemon.connect import client_files, records
from mail4agent_daemon.connect.documents import parsed
from mail4agent_daemon.connect.faults import ConnectError, DocumentError
from mail4agent_daemon.console.signed_in import SignIns
from mail4agent_daemon.drain import box
from mail4agent_daemon.drain.box import BoxKeyError
from mail4agent_daemon.drain.state import last_drain
from mail4agent_daemon.endpoints import EndpointError, Endpoints, listening
from mail4agent_daemon.home import holder_of
from mail4agent_daemon.intake.database import BoxOpenError, connected
from mail4agent_daemon.intake.settings import IntakeSettingsError, made_settings, read_settings
from mail4agent_daemon.limits import Limits
from mail4agent_daemon.model import key_of
from mail4agent_daemon.settings import SettingsError, load
from mail4agent_daemon.sinks.copies import content_of
from mail4agent_daemon.starters import starter


@dataclass(frozen=True)
class Reader:
    """One kind of file: its place below a folder, what a good one holds, how it is read, what is raised."""

    place: str
    good: Callable[[], bytes]
    read: Callable[[Path], Any]
    raises: tuple[type[Exception], ...] = ()
    #: Whether a person may have put a link there: the file is named by him, not found by the program.
    follows_links: bool = False
    #: Whether it waits at a pipe, as ``cat`` does: a person named it, and a shell may have made it.
    waits_at_pipes: bool = False
    #: Whether what is none is set aside, or goes: nobody waits for it any more.
    tidies: bool = False


OUTBOX_ID = "20260101T000000-0a1b2c3d"
MESSAGE_ID = "20260808T194158-1a2b3c4d"
KEY = b"m4a_" + b"0" * 64 + b"\n"


def _json(value: Any) -> Callable[[], bytes]:
    return lambda: json.dumps(value, indent=2).encode()


def _outbox(root: Path) -> None:
    with OutboxStore.open(root, make=False) as store:
        store.listing.rows()
        store.existing(OUTBOX_ID)


def _frontdoor(root: Path) -> None:
    with Frontdoor.open(root, make=False) as store:
        listing = store.listing()
        repr(listing)
        for entry in listing.entries:
            for_privileged_run(store.loaded(entry))
        store.record(1)


def _types(root: Path) -> None:
    folder = TypeFolder(root)
    folder("meeting", None)
    folder.every()


def _mailbox(root: Path) -> None:
    with MailboxStore.open(root, make=False) as store:
        store.snapshot("chat")
        store.message(MESSAGE_ID)


def _markers(root: Path) -> None:
    with MailboxStore.open(root, make=False) as store:
        store.registry.agents()
        store.registry.armed_by("s-1")


def _journal(root: Path) -> None:
    paths = RunPaths.of(root, "demo")
    ledger = Ledger(paths)
    ledger.refresh()
    for node in ledger.nodes:
        ledger.standing(node)
    journal.stretch(paths.journal, 0, 100)


def _channel(root: Path) -> None:
    channel = Channel(RunPaths.of(root, "demo"))
    channel.waiting()
    list(channel.outcomes())


def _copied(path: Path) -> None:
    target = path.with_name("copy.db")
    try:
        copy_database(path, target)
    finally:
        target.unlink(missing_ok=True)


def _migrated(path: Path) -> None:
    with _at_one_moment(path):
        pass


def _sent(root: Path) -> None:
    content_of(StagedFile(path="a", size=len(PDF), sha256=COPY, copy=root / "files" / OUTBOX_ID / COPY))


def _hashed(root: Path) -> None:
    with Folder.opened(root, make=False) as folder:
        Copies(folder).are_as_recorded(OUTBOX_ID, (FileRecord("a", len(PDF), COPY),))


def _keyed(root: Path) -> None:
    with OutboxStore.open(root, make=False) as store:
        store._keyed("ada", "k")


def _certified(root: Path) -> None:
    pem = root / "tls.pem"
    with listening(Endpoints(host="127.0.0.1", port=0, certfile=pem, keyfile=pem), Limits()):
        pass


def _made(name: str, make: Callable[[Path], object]) -> Callable[[], bytes]:
    def made() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder) / name)
            return next(each for each in Path(folder).rglob("*") if each.is_file()).read_bytes()

    return made


def _marker() -> bytes:
    marker = {"producer": "chat", "session_id": "s-1", "pid": os.getpid(), "started_at": "t", "boot": None}
    return json.dumps(marker).encode()


def _record(v: int, kind: str, payload: Any, **labels: str) -> bytes:
    ts = "2026-08-06T00:00:00.000Z"
    envelope = {"v": v, "ts": ts, "stream": "s", "seq": 1, "source": "pipeline", "kind": kind}
    return (
        json.dumps({**envelope, "labels": {"run_id": "demo", **labels}, "payload": payload}).encode() + b"\n"
    )


def _records() -> bytes:
    note = RecordedNote(Addressee.WORKER, "t", Reached(ReachedWord.CARRIED))
    return (
        _record(2, "node-dispatched", {"note_ids": ["a"]}, node="build")
        + _record(2, "edit-committed", {"operations": [Delivery("build", note).json()]})
        + _record(1, "turn-started", {"turn": 1, "role": "worker", "instruction": "do"}, node="build")
    )


@cache
def pem() -> bytes:
    """A certificate and its key in one file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tls.pem"
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=a"
        files = ["-keyout", str(file.with_name("key")), "-out", str(file)]
        subprocess.run([*command.split(), *files], check=True, capture_output=True)
        return file.read_bytes() + file.with_name("key").read_bytes()


DATABASE = cache(_made("mail.db", lambda path: connect_writer(path).close()))
BOX = cache(_made("box.db", lambda path: connected(path).close()))
MANIFEST = json.dumps(tomllib.loads(starter("meeting").decode())).encode()
CARRY = (
    b'{"schema_version": 1, "kind": "onemessagebus-carry-store"}\n{"ts": "2026-08-06T00:00:00.000Z", '
    b'"schema": "agent.note@1", "message": {"addressee": "worker", "text": "t"}}\n'
)
ITEM = {
    "id": OUTBOX_ID, "status": "pending", "tool": "mail__send", "kind": "message", "args_before": {"to": "x"},
    "args": {"to": "x", "body": "b"}, "summary": "s", "session_id": None, "workspace": None,
    "taint": {"private": False, "untrusted": True}, "created_at": "2026-01-01T00:00:00+00:00",
    "resolved_at": None, "reason": None, "error": None, "schema": 2, "attempts": 1, "decided_by": "user:a",
    "idempotency_key": "k", "files": [{"path": "a", "size": 1, "sha256": "0" * 64}],
    "release": {"attempt": 1, "by": "a", "digest": "sha256:" + "0" * 64, "started_at": "t"},
}  # fmt: skip
REQUEST = {
    "seq": 1, "type_id": "meeting", "type_version": 1, "state": "extracted", "valid": True, "box_seq": 1,
    "created_at": "2026-08-06T00:00:00Z", "drained_at": "2026-08-06T01:00:00+00:00", "box_epoch": "0" * 32,
    "values": {"purpose": "collaboration", "duration_minutes": 45, "detail": "words of a stranger"},
    "free_text": ["detail"], "reply_to": "a@x.org", "attachments": [{"field": "cv", "size": 1, "id": "k",
    "filename": "f", "sha256": "sha256:" + "0" * 64, "content_type": "application/pdf"}],
    "extraction": {"reading": "r", "topic": "t", "urgency_claimed": "none", "dates_mentioned": ["1 May"],
    "institution": "", "reads_like_instructions": False}, "outbox": [], "errors": [],
}  # fmt: skip
MESSAGE = {
    "id": MESSAGE_ID, "status": "pending", "from": "morning", "from_session": None, "to": "chat",
    "body": "hi",
    "reply_to": None, "taint": {"private": False, "untrusted": False}, "taint_recorded": True,
    "created_at": "2026-08-08T19:41:58.123456789+00:00", "delivered_at": None, "delivered_to": None,
    "dismissed_at": None, "seal": "0" * 64,
}  # fmt: skip
CONNECTED = {
    "account": "claude", "client": "claude", "created_at_unix_ms": 1,
    "places": [{"path": "p", "kind": "json", "project": None, "by": "file", "wishes": [], "splices": []}],
}  # fmt: skip
CONFIG = b"""[server]
bind = "127.0.0.1:0"
names = ["a.example"]
[limits]
account_per_sec = 5
[log]
level = "info"
"""
CLIENT = b"""{ // a person's own
  "mcpServers": {"other": {"command": "x", "args": ["a\\u00e9"], "n": 1.5e3}},
  "list": [1, true, null, "a"],
}
"""
CODEX = b"""model = "m" # a comment
[mcp_servers.other]
command = 'x'
args = ["a", \"\"\"b\"\"\"]
at = 2026-01-01T00:00:00Z
"""
STORE = (StoreOpenError,)
PDF = b"%PDF-1.7 a few bytes"
COPY = hashlib.sha256(PDF).hexdigest()
SUBMISSION = {"type_id": "meeting", "values": {"purpose": "other"}, "created_at": "2026-08-06T00:00:00Z"}
BOUNDED = (typer.BadParameter, RefusalError)

READERS: dict[str, Reader] = {
    "outbox item": Reader(f"{OUTBOX_ID}.json", _json(ITEM), _outbox, (UnreadableItemError, RefusalError)),
    "front-door record": Reader(
        "0000000001-meeting.json", _json(REQUEST), _frontdoor, (UnreadableError, RefusalError)
    ),
    "request type": Reader("meeting.toml", lambda: starter("meeting"), _types),
    "request type in JSON": Reader("meeting.json", lambda: MANIFEST, _types),
    "readers of briefs": Reader(
        f"briefed/{hashlib.sha256(b'ada').hexdigest()}.json",
        _json({"account": "ada", "sessions": ["s"]}),
        lambda root: Briefed(root).has("ada/s"),
        (RefusalError,),
    ),
    "mailbox message": Reader(
        f"chat/{MESSAGE_ID}.json", _json(MESSAGE), _mailbox, (RefusalError,), tidies=True
    ),
    "session marker": Reader(".agents/s-1.json", _marker, _markers, tidies=True),
    "armed taint": Reader(".agents/s-1.taint", _json({"private": True, "untrusted": False}), _markers),
    "journal of a run": Reader("demo/events.jsonl", _records, _journal, (NoteError,)),
    "commands of a run": Reader(
        "demo/channel/commands.jsonl",
        _json({"id": 1, "author": "a", "commands": [{}]}),
        _channel,
        (NoteError,),
    ),
    "outcomes of a run": Reader(
        "demo/channel/command-outcomes.jsonl",
        lambda: b'{"id": 1, "applied": true, "results": [{"outcome": "ok"}], "reason": null}\n',
        _channel,
        (NoteError,),
    ),
    "driver of a run": Reader(
        "demo/owner.lock",
        _json({"pid": 1, "host": "h", "verb": "v", "started": "s"}),
        lambda root: driver_of(RunPaths.of(root, "demo")),
        (NoteError,),
    ),
    "carried notes": Reader(
        "demo/notes/build.carried.jsonl",
        lambda: CARRY,
        lambda root: stored(root / "demo", "build"),
        (NoteError,),
    ),
    "daemon settings": Reader(
        "config.toml", lambda: CONFIG, lambda root: load({}, home=root), (SettingsError,), follows_links=True
    ),
    "operator's key": Reader(
        "operator.key", lambda: KEY, lambda root: read_key(root / "operator.key"), (KeyFileError,)
    ),
    "client's key": Reader(
        "ada.key",
        lambda: KEY,
        lambda root: read_token("token_file", root / "ada.key"),
        (SettingInvalidError,),
        follows_links=True,
    ),
    "model's key": Reader(
        "model.key",
        lambda: KEY,
        lambda root: key_of(root / "model.key"),
        (ProviderError,),
        follows_links=True,
    ),
    "key of the box": Reader(
        "box.key", lambda: KEY, lambda root: box.key_of(root / "box.key"), (BoxKeyError,), follows_links=True
    ),
    "holder of a data folder": Reader("daemon.lock", _json({"pid": 1, "since_unix_ms": 1}), holder_of),
    "last drain": Reader("drain/last.json", _json({"at": "t", "left": 1}), last_drain),
    "sign-ins": Reader(
        "signed-in.json",
        _json(
            {
                "key": "A" * 43 + "=",
                "signed_in": [{"name": "n", "account": "a", "digest": "00", "ends_ms": 1}],
            }
        ),
        lambda root: asyncio.run(SignIns(root, SystemClock()).of("x" * 43)),
        (FolderError,),
    ),
    "settings of the intake": Reader(
        "intake.toml",
        _made("box", lambda folder: made_settings(folder, "https://forms.example.org")),
        read_settings,
        (IntakeSettingsError,),
        follows_links=True,
    ),
    "record of a connected client": Reader(
        "clients/claude.json",
        _json(CONNECTED),
        records.seen,
        (ConnectError,),
        follows_links=True,
    ),
    "client's configuration": Reader(
        "settings.json",
        lambda: CLIENT,
        lambda root: parsed("json", client_files.read(root / "settings.json", new_mode=0o600).text),
        (ConnectError, DocumentError),
        follows_links=True,
    ),
    "client's configuration in TOML": Reader(
        "config.toml",
        lambda: CODEX,
        lambda root: parsed("toml", client_files.read(root / "config.toml", new_mode=0o600).text),
        (ConnectError, DocumentError),
        follows_links=True,
    ),
    "store": Reader(
        "mail.db", DATABASE, lambda root: connect_writer(root / "mail.db").close(), STORE, follows_links=True
    ),
    "store that is verified": Reader(
        "mail.db",
        DATABASE,
        lambda root: verify(root / "mail.db"),
        (*STORE, sqlite3.Error),
        follows_links=True,
    ),
    "store that is copied": Reader(
        "mail.db",
        DATABASE,
        lambda root: _copied(root / "mail.db"),
        (OSError, sqlite3.Error),
        follows_links=True,
    ),
    "store that is migrated": Reader(
        "mail.db",
        DATABASE,
        lambda root: _migrated(root / "mail.db"),
        (*STORE, OSError, sqlite3.Error),
        follows_links=True,
    ),
    "key that a draft was staged with": Reader(
        f"keys/{key_name('ada', 'k')}",
        f"{OUTBOX_ID} {COPY}".encode,
        _keyed,
        (UnreadableItemError, RefusalError),
    ),
    "copy of a file, as a release hashes it": Reader(f"files/{OUTBOX_ID}/{COPY}", lambda: PDF, _hashed),
    "copy of a file, as a sink reads it": Reader(
        f"files/{OUTBOX_ID}/{COPY}", lambda: PDF, _sent, (NotSentError,)
    ),
    "certificate and key": Reader("tls.pem", pem, _certified, (EndpointError,), follows_links=True),
    "text on the command line": Reader(
        "body.txt",
        lambda: b"a text",
        lambda root: body_of(None, root / "body.txt"),
        BOUNDED,
        follows_links=True,
        waits_at_pipes=True,
    ),
    "submission on the command line": Reader(
        "submission.json",
        _json(SUBMISSION),
        lambda root: submission_of(read_submission(root / "submission.json", 1_048_576)),
        BOUNDED,
        follows_links=True,
        waits_at_pipes=True,
    ),
    "request type on the command line": Reader(
        "given.toml",
        lambda: starter("meeting"),
        lambda root: read_manifest(*read_type(root / "given.toml")),
        (*BOUNDED, ManifestError),
        follows_links=True,
        waits_at_pipes=True,
    ),
    "key of a doorbell": Reader(
        "bell.key",
        lambda: b"whsec_" + b"A" * 43 + b"=\n",
        lambda root: read_bell(root / "bell.key"),
        BOUNDED,
        follows_links=True,
        waits_at_pipes=True,
    ),
    "database of the box": Reader(
        "box.db", BOX, lambda root: connected(root / "box.db").close(), (BoxOpenError,), follows_links=True
    ),
}
