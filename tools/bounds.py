"""Generate ``mail4agent_api/bounds.py``: those of the mail seam under the names that the original's consumers
know, those of other seams under names that begin with the seam's.
"""

import re
from typing import Any

HEADER = "# Generated from schemas/bundle/ by tools/generate.py; do not edit.\n"
#: A fixed prefix and a counted run of hexadecimal digits.
_PREFIXED_HEX = re.compile(
    r"\^(?P<prefix>[A-Za-z0-9_-]+)\[0-9a-f\]\{(?P<least>[0-9]+)(?:,(?P<most>[0-9]+))?\}\$"
)

Definitions = dict[str, Any]


def _hex(definitions: Definitions, name: str, group: str) -> Any:
    found = _PREFIXED_HEX.fullmatch(definitions[name]["pattern"])
    if found is None:
        raise ValueError(f"{name}: the pattern is no prefix with a counted run of hexadecimal digits")
    text = found[group] or found["least"]
    return text if group == "prefix" else int(text)


def mail(definitions: Definitions) -> list[tuple[str, Any, str]]:
    """Name, value and meaning of each constant of the mail seam, in the order of the original's file."""
    properties = {name: definition.get("properties", {}) for name, definition in definitions.items()}
    return [
        ("MESSAGE_ID_PREFIX", _hex(definitions, "MessageId", "prefix"), "what every message id starts with"),
        (
            "MESSAGE_ID_HEX_LEN",
            _hex(definitions, "MessageId", "least"),
            "lower-case hexadecimal digits after it",
        ),
        (
            "SELECTOR_MAX_BYTES",
            definitions["Selector"]["maxLength"],
            "bytes of a participant id, a room id, a ref kind, a key",
        ),
        (
            "SUBJECT_MAX_BYTES",
            definitions["Line"]["x-maxUtf8Bytes"],
            "bytes of a subject and of any other line of text",
        ),
        ("BODY_MAX_BYTES", definitions["Body"]["x-maxUtf8Bytes"], "bytes of a body"),
        ("REFS_MAX", properties["Message"]["refs"]["maxItems"], "refs of one message"),
        ("REF_LOCATOR_MAX_BYTES", definitions["RefLocator"]["x-maxUtf8Bytes"], "bytes of a ref's locator"),
        (
            "REF_DIGEST_MAX_CHARS",
            definitions["RefDigest"]["maxLength"],
            "hexadecimal digits of a ref's digest",
        ),
        ("INBOX_LIMIT_MAX", definitions["PageLimit"]["maximum"], "messages of one page"),
        (
            "INBOX_LIMIT_DEFAULT",
            properties["InboxRequest"]["limit"]["default"],
            "messages of a page when the request names no limit",
        ),
        (
            "INBOX_WAIT_SECS_MAX",
            definitions["WaitSecs"]["maximum"],
            "seconds of one wait; an inbox request that asks for more gets these",
        ),
        ("SESSION_ID_PREFIX", _hex(definitions, "SessionId", "prefix"), "what every session id starts with"),
        (
            "SESSION_ID_HEX_MIN_CHARS",
            _hex(definitions, "SessionId", "least"),
            "lower-case hexadecimal digits after it, at least",
        ),
        ("SESSION_ID_HEX_MAX_CHARS", _hex(definitions, "SessionId", "most"), "and at most"),
        ("PAGE_BYTES_MAX", definitions["PageBytes"]["maximum"], "bytes of one page"),
        (
            "PAGE_BYTES_DEFAULT",
            properties["InboxRequest"]["max_bytes"]["default"],
            "bytes of a page when the request names no bound",
        ),
        (
            "SEND_MANY_MAX",
            properties["SendManyRequest"]["messages"]["maxItems"],
            "messages of one send_many request",
        ),
        (
            "ACK_MANY_MAX",
            properties["AckManyRequest"]["message_ids"]["maxItems"],
            "ids of one ack_many request",
        ),
    ]


def mailbox(definitions: Definitions) -> list[tuple[str, Any, str]]:
    """Name, value and meaning of each constant of the file mailbox."""
    return [
        (
            "MAILBOX_PRODUCER_MAX_CHARS",
            definitions["ProducerName"]["maxLength"],
            "characters of a producer's name",
        ),
        (
            "MAILBOX_SESSION_MAX_CHARS",
            definitions["MailboxSession"]["maxLength"],
            "characters of a session's name",
        ),
        (
            "MAILBOX_ID_MAX_CHARS",
            definitions["MailboxMessageId"]["maxLength"],
            "characters of a message's id",
        ),
        (
            "MAILBOX_SCHEMA",
            definitions["MailboxSchema"]["minimum"],
            "the version of the files that are written",
        ),
    ]


#: The constants of each seam that has some.
CONSTANTS = (mail, mailbox)


def bounds_module(definitions: Definitions) -> str:
    """The text of ``mail4agent_api/bounds.py``, unformatted."""
    lines = [
        HEADER,
        '"""The bounds of the contract of mail4agent, for code that must know one beforehand."""\n',
        "from typing import Final\n",
    ]
    for name, value, meaning in (row for seam in CONSTANTS for row in seam(definitions)):
        lines += [f"#: {meaning[0].upper()}{meaning[1:]}.", f"{name}: Final = {value!r}".replace("'", '"')]
    return "\n".join([*lines, ""])
