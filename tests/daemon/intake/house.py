"""A real intake in a process of its own, a real SMTP server, plain HTTP to the one, mails from the other."""

import asyncio
import http.client
import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiosmtpd.smtp import SMTP, Envelope, Session

from mail4agent_daemon.intake.settings import made_settings

BOUND_SECS = 20.0
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
HTML = "text/html"
_LISTENS = re.compile(rb"listens on http://127\.0\.0\.1:([0-9]{1,5})\b")
_LINK = re.compile(r"/confirm/([A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Mails:
    """What a server takes mails into; ``refusing`` answers each text with a failure that may pass."""

    def __init__(self) -> None:
        self.came: queue.Queue[EmailMessage] = queue.Queue()
        self.raw: list[bytes] = []
        self.refusing = False

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.refusing:
            return "451 later"
        assert isinstance(envelope.content, bytes)
        self.raw.append(envelope.content)
        made = message_from_bytes(envelope.content, policy=policy.SMTP)
        assert isinstance(made, EmailMessage)
        self.came.put(made)
        return "250 taken"

    def token(self) -> str:
        """The token in the next mail."""
        found = _LINK.search(self.came.get(timeout=BOUND_SECS).get_content())
        assert found is not None
        return found[1]


@dataclass
class House:
    """An intake that serves."""

    folder: Path
    mails: Mails
    port: int
    drain: str
    types: str
    process: "subprocess.Popen[bytes]"
    log_file: Path
    _names: Iterator[int] = field(default_factory=lambda: iter(range(1, 10_000)))

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOUND_SECS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str, accept: str = HTML) -> Answer:
        """Get a page."""
        return self.ask("GET", path, headers={"Accept": accept})

    def send(self, type_id: str, value: object, **headers: str) -> Answer:
        """Submit JSON; bytes are sent as they are."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask("POST", f"/f/{type_id}", body, {"Content-Type": JSON, **headers})

    def fill(self, type_id: str, pairs: object, **headers: str) -> Answer:
        """Submit a form as a browser does."""
        body = pairs if isinstance(pairs, bytes) else urlencode(pairs).encode()  # pyright: ignore[reportArgumentType, reportCallIssue]
        return self.ask("POST", f"/f/{type_id}", body, {"Content-Type": FORM, "Accept": HTML, **headers})

    def press(self, path: str, accept: str = JSON) -> Answer:
        """Press the one button of a page."""
        return self.ask("POST", path, b"", {"Content-Type": FORM, "Accept": accept})

    def upload(self, path: str, parts: list[tuple[str, str, bytes]], accept: str = JSON) -> Answer:
        """Send files: field, name and content each."""
        return self.ask(
            "POST",
            path,
            multipart(parts),
            {"Content-Type": "multipart/form-data; boundary=b-1", "Accept": accept},
        )

    def box(self, path: str, value: object = None, key: str | None = None) -> Answer:
        """Ask the box, as its drain unless another key is given."""
        headers = {"Authorization": f"Bearer {key or self.drain}", "Content-Type": JSON}
        return self.ask("POST", f"/box/{path}", json.dumps(value or {}).encode(), headers)

    def push(self, text: str) -> Answer:
        """Push a manifest."""
        return self.box("types/push", {"language": "toml", "text": text}, self.types)

    def queued(self, holder: str = "home", after: int = 0, **more: object) -> list[dict[str, Any]]:
        """The rows past a number, under a lease of one's own."""
        lease = self.box("lease", {"holder": holder, "secs": 60})
        assert lease.status == 200, lease.body
        answer = self.box("queue", {"holder": holder, "after": after, "limit": 100, **more})
        assert answer.status == 200, answer.body
        return answer.json["rows"]

    def confirmed(self, type_id: str, value: object) -> Answer:
        """Submit and confirm; the answer to the confirmation."""
        answer = self.send(type_id, value)
        assert answer.json == {"step": "confirm_by_mail", "upload": None}, answer.body
        return self.press(f"/confirm/{self.mails.token()}")

    def fresh(self) -> str:
        """An address that had no mail yet."""
        return f"visitor-{next(self._names)}@example.net"


def multipart(parts: list[tuple[str, str, bytes]], boundary: str = "b-1") -> bytes:
    """A body of files."""
    out = b""
    for name, filename, content in parts:
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n'
        out += head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n"
    return out + f"--{boundary}--\r\n".encode()


#: Nothing that a test counts to its end by chance.
_PLENTY = {
    "requests_per_minute": 0,
    "submissions_per_hour": 0,
    "network_submissions_per_hour": 0,
    "mails_per_recipient_per_day": 3,
    "submissions_per_day": 0,
    "wrong_keys_per_hour": 0,
    "free_bytes_min": 0,
}


@contextmanager
def mail_server() -> Iterator[tuple[Mails, int]]:
    """An SMTP server on a free port, and what came to it."""
    mails = Mails()
    loop = asyncio.new_event_loop()
    transports: list[asyncio.BaseTransport] = []

    class _Connection(SMTP):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            transports.append(transport)
            super().connection_made(transport)

    async def serve() -> asyncio.Server:
        return await loop.create_server(
            lambda: _Connection(mails, hostname="localhost", loop=loop), "127.0.0.1", 0
        )

    async def end(server: asyncio.Server) -> None:
        server.close()
        for transport in transports:
            transport.close()
        for _ in range(3):
            await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(), loop).result(BOUND_SECS)
    try:
        yield mails, server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(end(server), loop).result(BOUND_SECS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(BOUND_SECS)
        loop.close()


@contextmanager
def house(
    folder: Path,
    *manifests: str,
    top: str = "",
    environment: Mapping[str, str] | None = None,
    **budgets: int,
) -> Iterator[House]:
    """An intake with these types for the length of the block; ``top`` are further lines of its settings."""
    with mail_server() as (mails, smtp_port):
        keys = made_settings(folder, "http://localhost")
        settings = folder / "intake.toml"
        text = settings.read_text().replace("127.0.0.1:18310", "127.0.0.1:0")
        text = text.replace('host = "localhost"', f'host = "127.0.0.1"\nport = {smtp_port}')
        text = text.replace("forms@localhost", "forms@example.org")
        if top:
            text = re.sub(r"trusted_proxies = .*", top, text)
        text += "".join(f"{name} = {value}\n" for name, value in {**_PLENTY, **budgets}.items())
        settings.write_text(text)
        with serving(folder, mails, keys.drain, keys.types, environment) as made:
            for manifest in manifests:
                answer = made.push(manifest)
                assert answer.status == 200, answer.body
            yield made


@contextmanager
def serving(
    folder: Path, mails: Mails, drain: str, types: str, environment: Mapping[str, str] | None = None
) -> Iterator[House]:
    """The process over a folder that has its settings; ``environment`` is added to this one's."""
    log_file = folder.with_name(f"{folder.name}.log")
    command = [sys.executable, "-m", "mail4agent_daemon", "frontdoor", "serve", "--folder", str(folder)]
    with log_file.open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **(environment or {})},
        )
    try:
        assert process.stdout is not None
        said = b""
        while not (found := _LISTENS.search(said)):
            ready = select.select([process.stdout], [], [], BOUND_SECS)[0]
            more = process.stdout.read1() if ready else b""  # type: ignore[attr-defined]
            assert more, log_file.read_text()
            said += more
        yield House(folder, mails, int(found[1]), drain, types, process, log_file)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(BOUND_SECS)
        assert process.stdout is not None
        process.stdout.close()
