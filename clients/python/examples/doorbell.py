"""A doorbell: is rung by the daemon when mail comes, fetches the message and prints it.

    mail4agent admin listener set bob http://127.0.0.1:18400/doorbell --new-key doorbell.key
    M4A_TOKEN_FILE=bob.key python doorbell.py --port 18400 --key-file doorbell.key

A ring tells ids only, and it may come twice: when the daemon was killed before it noted the answer. So each
is checked (signature, age), dropped when its ``webhook-id`` is known, answered at once, and worked on
afterwards. Whatever is missed while nothing runs here stays unread in the inbox.
"""

import argparse
import base64
import binascii
import hashlib
import hmac
import json
import queue
import sys
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from mail4agent_api.addresses import text_of
from mail4agent_api.codec import decode
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import DeliveryNotification, Message, MessageId, Position
from mail4agent_client import ClientError, SyncMailClient

#: A notification has under 700 bytes.
BODY_MAX_BYTES = 4_096
#: An older ring may be one that somebody recorded, in seconds.
AGE_MAX_SECS = 300
#: How many rings are remembered to know a repeat.
REMEMBERED = 10_000
PATHS = ("/", "/doorbell")


class Verifier:
    """Tells who rings: whoever has the key. Standard Webhooks 1.0.0, symmetric signatures."""

    def __init__(self, key: str) -> None:
        if not key.startswith("whsec_"):
            raise ValueError("a key begins with whsec_")
        self._secret = base64.b64decode(key.removeprefix("whsec_"), validate=True)

    def is_genuine(self, identity: str, timestamp: str, signatures: str, body: bytes) -> bool:
        """Whether one of the signatures is for these bytes, and the time is about now."""
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
            return False
        if abs(time.time() - int(timestamp)) > AGE_MAX_SECS:
            return False
        content = f"{identity}.{timestamp}.".encode("latin-1") + body
        wanted = base64.b64encode(hmac.digest(self._secret, content, hashlib.sha256)).decode()
        # Compared in constant time: how long it takes must not tell how much of a guess was right.
        return any(
            version == "v1" and hmac.compare_digest(wanted.encode(), given.encode("latin-1"))
            for version, _, given in (each.partition(",") for each in signatures.split(" "))
        )


class Remembered:
    """The rings that came, so that a repeat is known; the oldest are forgotten."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[str, None] = OrderedDict()

    def is_first(self, identity: str) -> bool:
        """Whether a ring comes for the first time; from now on it does not."""
        with self._lock:
            if identity in self._known:
                return False
            self._known[identity] = None
            if len(self._known) > self._most:
                self._known.popitem(last=False)
            return True


class Doorbell(ThreadingHTTPServer):
    """Listens on loopback; what was rung about is put into ``rung``."""

    daemon_threads = True

    def __init__(self, port: int, verifier: Verifier) -> None:
        super().__init__(("127.0.0.1", port), Ring)
        self.verifier = verifier
        self.remembered = Remembered()
        self.rung: queue.Queue[DeliveryNotification] = queue.Queue(REMEMBERED)


class Ring(BaseHTTPRequestHandler):
    """One request."""

    server: Doorbell  # pyright: ignore[reportIncompatibleVariableOverride]
    timeout = 5
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Take a ring: 204 when it is genuine, a repeat too, so that it is not sent again."""
        self.close_connection = True
        length = self.headers.get("content-length", "")
        if self.path not in PATHS:
            return self._answer(404)
        if not (length.isdigit() and len(length) <= 6 and int(length) <= BODY_MAX_BYTES):
            return self._answer(413)
        body = self.rfile.read(int(length))
        identity = self.headers.get("webhook-id", "")
        given = (self.headers.get("webhook-timestamp", ""), self.headers.get("webhook-signature", ""))
        if not self.server.verifier.is_genuine(identity, *given, body):
            return self._answer(401)
        try:
            notification = decode(DeliveryNotification, body)
        except RefusalError:
            return self._answer(400)
        if self.server.rung.full():
            return self._answer(503)  # it is rung again later
        if self.server.remembered.is_first(identity):
            self.server.rung.put(notification)
        return self._answer(204)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the class above
        """Say nothing of each request."""


def show(mail: SyncMailClient, message_id: MessageId) -> None:
    """Fetch a message and print what it is."""
    try:
        message = mail.get(message_id=message_id)
    except (RefusalError, ClientError) as failure:
        print(f"doorbell: {message_id} was not fetched: {type(failure).__name__}", file=sys.stderr)  # noqa: T201
        return
    tell(message)


def tell(message: Message) -> None:
    """Print what a message is as one line of JSON, which holds nothing but ASCII."""
    line = {"from": text_of(message.from_), "to": text_of(message.to), "subject": message.subject}
    print(json.dumps({"message_id": message.message_id, **line}), flush=True)  # noqa: T201


def catch_up(mail: SyncMailClient) -> set[MessageId]:
    """Print all unread mail, which was rung about while nothing ran here, and say which that was."""
    told: set[MessageId] = set()
    after: Position | None = None
    while page := mail.inbox(unread_only=True, after=after).messages:
        for message in page:
            tell(message)
            told.add(message.message_id)
        last = page[-1]
        after = Position(created_at_unix_ms=last.created_at_unix_ms, message_id=last.message_id)
    return told


def main() -> int:
    """Run until it is interrupted."""
    parser = argparse.ArgumentParser(description="Print mail when the daemon rings.")
    parser.add_argument("--port", type=int, default=18_400, help="where to listen; 0 takes a free port")
    parser.add_argument("--key-file", type=Path, required=True, help="the key that rings are signed with")
    given = parser.parse_args()
    try:
        verifier = Verifier(given.key_file.read_text("ascii").strip())
    except (OSError, ValueError, binascii.Error) as failure:
        print(f"doorbell: {given.key_file} holds no key: {failure}", file=sys.stderr)  # noqa: T201
        return 2
    with SyncMailClient() as mail, Doorbell(given.port, verifier) as doorbell:
        threading.Thread(target=doorbell.serve_forever, daemon=True).start()
        print(f"doorbell: listens on http://127.0.0.1:{doorbell.server_port}/doorbell", flush=True)  # noqa: T201
        try:
            told = catch_up(mail)
            while True:
                rung = doorbell.rung.get().message_id
                if rung in told:
                    told.discard(rung)
                else:
                    show(mail, rung)
        except KeyboardInterrupt:
            doorbell.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
