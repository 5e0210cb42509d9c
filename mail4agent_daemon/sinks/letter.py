"""A draft as an email: which arguments it may have, and the message that they make.

Nothing in an argument can become a header, or be read as another text: a header is one line, an address has
the characters of one, an encoded word is refused, and the standard library's policy refuses a line break
besides.
"""

import mimetypes
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import PurePosixPath
from typing import Any

from mail4agent_api.errors import TooLargeError

from .arguments import FIELD, checked, only, refused, text, texts

FILES = "attachments"
BODIES = ("body", "body_markdown", "body_text")
_CARRIED = frozenset({"to", "cc", "bcc", "subject", *BODIES, "reply_to", "in_reply_to", "references", FILES})
#: Everybody it goes to, together.
RECIPIENTS_MAX = 100
_BODY_MAX_BYTES = 262_144
_SUBJECT_MAX_BYTES = 998
_ADDRESS_MAX_BYTES = 254
_NAME_MAX_BYTES = 128
_REFERENCES_MAX = 64
_FILES_MAX = 64
_PATH_MAX_BYTES = 4_096
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_BARE = re.compile(rf"(?P<local>{_ATOM}(?:\.{_ATOM})*)@(?P<domain>{_LABEL}(?:\.{_LABEL})*)")
_NAMED = re.compile(r"(?P<name>[^<>]*)<(?P<bare>[^<>]+)>")
#: What a program for mail reads as an encoded word (RFC 2047) and shows as another text than was reviewed.
#: The standard library does too when it writes a header, line breaks among what it finds.
_ENCODED = "=?"
_MESSAGE_ID = re.compile(rf"<{_ATOM}(?:\.{_ATOM})*@[A-Za-z0-9.\[\]:_-]{{1,255}}>")


def address_of(value: str, name: str) -> Address:
    """One address, ``a@b`` or ``Name <a@b>``. Raises MalformedError and TooLargeError."""
    shown, bare = "", _plain(checked(value, name, _NAME_MAX_BYTES + _ADDRESS_MAX_BYTES + 3), name).strip()
    named = _NAMED.fullmatch(bare)
    if named is not None:
        shown, bare = named["name"].strip().strip('"').strip(), named["bare"]
    if len(shown.encode()) > _NAME_MAX_BYTES:
        raise TooLargeError(field=FIELD, limit=_NAME_MAX_BYTES, actual=len(shown.encode()))
    # A name with these could pass for another address.
    if not set(shown).isdisjoint('@,;:"\\'):
        raise refused(name, "must have a name without @ , ; : quotes and backslashes before its address")
    found = _BARE.fullmatch(bare)
    if found is None or len(bare) > _ADDRESS_MAX_BYTES or len(found["local"]) > 64:
        raise refused(name, "must be one email address, or a list with one in each place")
    return Address(display_name=shown, username=found["local"], domain=found["domain"])


def _plain(value: str, name: str) -> str:
    """A text that a header may say. Raises MalformedError for one that would be decoded into another."""
    if _ENCODED in value:
        raise refused(name, f"must not hold {_ENCODED}, which programs for mail decode into another text")
    return value


@dataclass(frozen=True, slots=True)
class Letter:
    """What the arguments of a draft say, checked."""

    to: tuple[Address, ...]
    cc: tuple[Address, ...]
    bcc: tuple[Address, ...]
    subject: str
    body: str
    reply_to: tuple[Address, ...]
    in_reply_to: str | None
    references: tuple[str, ...]
    attachments: tuple[str, ...]

    @property
    def recipients(self) -> tuple[str, ...]:
        """Every address once, in the order of the draft."""
        return tuple(dict.fromkeys(each.addr_spec for each in (*self.to, *self.cc, *self.bcc)))

    def message(
        self, sender: Address, key: str, now_ms: int, files: Iterable[tuple[str, bytes]]
    ) -> EmailMessage:
        """The message as it leaves, without its blind copies; ``files`` are pairs of path and content.

        The id is made of the key, so that every attempt at one draft has the same.
        """
        made = EmailMessage(policy=SMTP)
        made["From"] = sender
        for name, addresses in (("To", self.to), ("Cc", self.cc), ("Reply-To", self.reply_to)):
            if addresses:
                made[name] = addresses
        made["Subject"] = self.subject
        made["Date"] = datetime.fromtimestamp(now_ms // 1_000, UTC)
        made["Message-ID"] = f"<{key}@{sender.domain}>"
        if self.in_reply_to is not None:
            made["In-Reply-To"] = self.in_reply_to
        if self.references:
            made["References"] = " ".join(self.references)
        made.set_content(self.body, charset="utf-8")
        for path, content in files:
            # A folder's files were not named by an argument, so that only here is each of them looked at.
            file = _plain(PurePosixPath(path).name, FILES)
            # Of its name alone: a whole path may be taken for a URL that says its own type.
            main, _, sub = (mimetypes.guess_type(file)[0] or "application/octet-stream").partition("/")
            made.add_attachment(content, maintype=main, subtype=sub, filename=file)
        return made


def letter_of(args: Mapping[str, Any]) -> Letter:
    """Read the arguments of a draft. Raises MalformedError and TooLargeError."""
    only(args, _CARRIED)
    bodies = [name for name in BODIES if args.get(name) is not None]
    if len(bodies) != 1:
        raise refused("body", f"must be there once, as {', '.join(BODIES)}")
    body = text(args, bodies[0], _BODY_MAX_BYTES, lines=True)
    assert body is not None
    to, cc, bcc = (_addresses(args, name) for name in ("to", "cc", "bcc"))
    letter = Letter(
        to=to,
        cc=cc,
        bcc=bcc,
        subject=_plain(text(args, "subject", _SUBJECT_MAX_BYTES) or "", "subject"),
        body=body,
        reply_to=_addresses(args, "reply_to"),
        in_reply_to=next(iter(_ids(args, "in_reply_to", 1)), None),
        references=_ids(args, "references", _REFERENCES_MAX),
        attachments=tuple(_plain(each, FILES) for each in texts(args, FILES, _PATH_MAX_BYTES, _FILES_MAX)),
    )
    if not to + cc + bcc:
        raise refused("to", "must name at least one recipient")
    if len(letter.recipients) > RECIPIENTS_MAX:
        raise TooLargeError(field=FIELD, limit=RECIPIENTS_MAX, actual=len(letter.recipients))
    return letter


def _addresses(args: Mapping[str, Any], name: str) -> tuple[Address, ...]:
    most = _NAME_MAX_BYTES + _ADDRESS_MAX_BYTES + 3
    return tuple(address_of(each, name) for each in texts(args, name, most, RECIPIENTS_MAX))


def _ids(args: Mapping[str, Any], name: str, count: int) -> tuple[str, ...]:
    """Message ids: a list of them, or one text with spaces between."""
    value = args.get(name)
    if isinstance(value, str):
        value = checked(value, name, _SUBJECT_MAX_BYTES * count).split(" ")
    given = texts({name: value}, name, _SUBJECT_MAX_BYTES, count)
    found = tuple(each for each in given if each)
    if not all(_MESSAGE_ID.fullmatch(_plain(each, name)) for each in found):
        raise refused(name, "must be message ids, each between < and >")
    return found
