"""What a ring is as a request: where it goes, and its identity and signature as Standard Webhooks 1.0.0 says.

The content that is signed is ``{id}.{timestamp}.{body}``; no part before the body holds a full stop.
"""

import base64
import hashlib
import hmac
from dataclasses import dataclass
from urllib.parse import urlsplit

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import MessageId, ParticipantAddress

#: A session's own listener is reached under these paths only: nothing else on its port can be made to act.
OWN_PATHS = ("/", "/doorbell")
_DEFAULT_PORT = 80


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a listener's URL leads, always on 127.0.0.1: what the Host header says, the port, the target."""

    host: str
    port: int
    target: str


def destination_of(url: str) -> Destination:
    """Take a ListenerUrl apart. No name is resolved, now or later."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}?{parts.query}" if "?" in url else parts.path or "/"
    return Destination(parts.netloc, parts.port or _DEFAULT_PORT, target)


def webhook_id(message_id: MessageId, owner: ParticipantAddress) -> str:
    """The identity of a ring: a message, and a listener by its owner's address. Attempts do not change it."""
    return f"{message_id}_{hashlib.sha256(text_of(owner).encode()).hexdigest()[:16]}"


def signature_of(key: str, identity: str, timestamp: int, body: bytes) -> str:
    """The value of ``webhook-signature`` for a ListenerKey; the timestamp is in seconds."""
    secret = base64.b64decode(key.removeprefix("whsec_"), validate=True)
    content = b"%b.%d.%b" % (identity.encode(), timestamp, body)
    return f"v1,{base64.b64encode(hmac.digest(secret, content, 'sha256')).decode()}"
