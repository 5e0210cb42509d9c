"""What is measured: the daemon as a user starts it, a bare Hypercorn, bare SQLite commits, and agent-inbox.

agent-inbox is found by ``M4A_BENCH_PEER`` (the path of its executable) or on PATH. It is started with its
defaults and driven over its documented HTTP API.
"""

import asyncio
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter

import load
from measure import latency

ROOT = Path(__file__).resolve().parent.parent
#: What a user types: the script of the environment that runs the benchmarks.
SCRIPT = Path(sys.executable).with_name("mail4agent")
START_MAX_SECS = 60.0
#: What a script says that found no agent-inbox.
NO_PEER = "agent-inbox is not installed; name its executable in M4A_BENCH_PEER to compare with it"
HEALTH = load.request("GET", "/health")
BODY = "The figures of the week are in. " * 32
assert len(BODY) == 1024


@dataclass(frozen=True, slots=True)
class Server:
    """A server process of ours."""

    pid: int
    port: int
    home: Path

    def cpu(self) -> float | None:
        """Seconds of processor time, user and system, of the process. None where the system does not say."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float | None:
        """MiB of memory that the process holds (resident). None where the system does not say."""
        try:
            lines = Path(f"/proc/{self.pid}/status").read_text("ascii").splitlines()
        except OSError:
            return None
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mail4agent-bench-") as folder:
        yield Path(folder)


def log_of(home: Path) -> Path:
    """Where a server's output goes: beside its folder, which is its own."""
    return home.parent / f"{home.name}.log"


def start(command: list[str], environment: Mapping[str, str], home: Path) -> subprocess.Popen[bytes]:
    """Start a server; what it prints goes into ``log`` in its folder."""
    home.mkdir(mode=0o700, exist_ok=True)
    with log_of(home).open("ab") as log:
        whole = {**os.environ, **environment}
        return subprocess.Popen(command, env=whole, stdout=log, stderr=log, stdin=subprocess.DEVNULL)


async def answered(process: subprocess.Popen[bytes], port: int, home: Path) -> float:
    """Seconds from now until the server gives its first answer."""
    begun = perf_counter()
    while perf_counter() - begun < START_MAX_SECS:
        if process.poll() is not None:
            said = log_of(home).read_text("utf-8", "replace")[-2000:]
            raise RuntimeError(f"the server ended with status {process.returncode}; it said: {said}")
        try:
            await load.ask(port, HEALTH)
        except OSError:
            await asyncio.sleep(0.002)
        else:
            return perf_counter() - begun
    raise RuntimeError("the server did not answer")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a server to end, and wait for it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@asynccontextmanager
async def running(
    command: list[str], environment: Mapping[str, str], home: Path, port: int
) -> AsyncIterator[Server]:
    """A server that answers, for the length of the block."""
    process = start(command, environment, home)
    try:
        await answered(process, port, home)
        yield Server(process.pid, port, home)
    finally:
        stop(process)


def daemon_start(home: Path, port: int) -> tuple[list[str], dict[str, str]]:
    """How the daemon is started on a folder and a port: its defaults but for the rates, logging to a file."""
    # A load is driven by few accounts over few connections, faster than any of them may by default.
    many = ("ACCOUNT_PER_SEC", "ACCOUNT_BURST", "CONNECTION_PER_SEC", "CONNECTION_BURST")
    limits = {f"M4A_LIMITS__{name}": "1000000" for name in many}
    return [str(SCRIPT), "serve"], {"M4A_HOME": str(home), "M4A_SERVER__BIND": f"127.0.0.1:{port}", **limits}


@asynccontextmanager
async def daemon(home: Path, **settings: str) -> AsyncIterator[Server]:
    """The daemon on a folder, with settings from the environment besides its defaults."""
    port = free_port()
    command, environment = daemon_start(home, port)
    async with running(command, {**environment, **settings}, home, port) as server:
        yield server


def bare_start(home: Path, port: int) -> tuple[list[str], dict[str, str]]:  # noqa: ARG001  # one shape for all subjects
    """How the bare Hypercorn is started on a port."""
    return [sys.executable, str(ROOT / "benchmarks/bare.py"), str(port)], {}


@asynccontextmanager
async def bare(home: Path) -> AsyncIterator[Server]:
    """Hypercorn with one callable."""
    port = free_port()
    async with running(*bare_start(home, port), home, port) as server:
        yield server


def bearer(secret: str) -> dict[str, str]:
    """The header that says who."""
    return {"authorization": f"Bearer {secret}"}


async def accounts(server: Server, *names: str) -> dict[str, str]:
    """Register accounts that may send and read; return their secrets."""
    operator = (server.home / "operator.key").read_text("ascii").strip()
    secrets: dict[str, str] = {}
    for name in names:
        body = {"id": name, "may_send": True, "may_read": True, "operator": False}
        raw = load.request("POST", "/admin/participant", body, bearer(operator))
        answer = await load.ask(server.port, raw)
        if answer.status != 200:
            raise RuntimeError(f"registering {name} was answered {answer.status} {answer.body!r}")
        secrets[name] = str(answer.json()["secret"])
    return secrets


async def listener(server: Server, account: str, url: str) -> None:
    """Have a listener rung for an account."""
    operator = (server.home / "operator.key").read_text("ascii").strip()
    raw = load.request("POST", "/admin/listener", {"account": account, "url": url}, bearer(operator))
    answer = await load.ask(server.port, raw)
    if answer.status != 200:
        raise RuntimeError(f"setting a listener was answered {answer.status} {answer.body!r}")


def direct(participant: str) -> dict[str, str]:
    """An account's address on the wire."""
    return {"kind": "direct", "participant": participant}


def message(to: str = "reader") -> dict[str, object]:
    """What is sent: 1 KiB of body."""
    return {"to": direct(to), "subject": "Weekly figures", "body": BODY}


def send_request(secret: str, to: str = "reader") -> bytes:
    """A send of 1 KiB."""
    return load.request("POST", "/mail/send", message(to), bearer(secret))


def peer_executable() -> str | None:
    """agent-inbox, where it is installed."""
    return os.environ.get("M4A_BENCH_PEER") or shutil.which("agent-inbox")


def peer_version(executable: str) -> str:
    """Its version, as it says itself."""
    said = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout
    return said.strip().split()[-1]


def peer_start(executable: str, home: Path, port: int) -> tuple[list[str], dict[str, str]]:
    """How agent-inbox is started on a folder and a port."""
    return [executable, "serve"], {
        "AGENT_INBOX_DB": str(home / "agent-inbox.db"),
        "AGENT_INBOX_HOST": "127.0.0.1",
        "AGENT_INBOX_PORT": str(port),
        "AGENT_INBOX_PUBLIC_URL": f"http://127.0.0.1:{port}",
    }


@asynccontextmanager
async def peer(executable: str, home: Path) -> AsyncIterator[Server]:
    """agent-inbox with its actors ``writer`` and ``reader``."""
    port = free_port()
    async with running(*peer_start(executable, home, port), home, port) as server:
        for name in ("writer", "reader"):
            body = {"preferredUsername": name}
            await load.ask(port, load.request("POST", "/actors", body, {"x-agent-name": name}))
        yield server


def peer_send_request() -> bytes:
    """The same 1 KiB to agent-inbox."""
    note = {"type": "Note", "to": ["reader"], "summary": "Weekly figures", "content": BODY}
    return load.request("POST", "/actors/writer/outbox", note, {"x-agent-name": "writer"})


async def loaded(
    server: Server, raw: Iterator[bytes], count: int, in_flight: int, status: int
) -> dict[str, float]:
    """Send ``count`` of the requests and say what that cost. Raises RuntimeError on any other status."""
    connections = await load.warmed(server.port, next(raw), in_flight)
    before = server.cpu()
    run = await load.driven(connections, islice(raw, count))
    after = server.cpu()
    if set(run.statuses) != {status}:
        raise RuntimeError(f"wanted the status {status} alone, got {dict(run.statuses)}")
    figures = {"requests/s": run.rate, **latency(run.latencies)}
    if before is not None and after is not None:
        figures["cpu s/1000"] = (after - before) / count * 1000
    return figures


def committed(path: Path, count: int) -> list[float]:
    """INSERT and COMMIT of 1 KiB on SQLite, synchronous=FULL, one after the other; the seconds of each."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE IF NOT EXISTS message (pos INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT")
        took: list[float] = []
        for _ in range(count):
            begun = perf_counter()
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO message (body) VALUES (?)", (BODY,))
            db.execute("COMMIT")
            took.append(perf_counter() - begun)
        return took
    finally:
        db.close()
