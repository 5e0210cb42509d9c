# Generated from schemas/bundle/ by tools/generate.py; do not edit.

"""The bounds of the contract of mail4agent, for code that must know one beforehand."""

from typing import Final

#: What every message id starts with.
MESSAGE_ID_PREFIX: Final = "m4a_"
#: Lower-case hexadecimal digits after it.
MESSAGE_ID_HEX_LEN: Final = 24
#: Bytes of a participant id, a room id, a ref kind, a key.
SELECTOR_MAX_BYTES: Final = 128
#: Bytes of a subject and of any other line of text.
SUBJECT_MAX_BYTES: Final = 512
#: Bytes of a body.
BODY_MAX_BYTES: Final = 65536
#: Refs of one message.
REFS_MAX: Final = 8
#: Bytes of a ref's locator.
REF_LOCATOR_MAX_BYTES: Final = 512
#: Hexadecimal digits of a ref's digest.
REF_DIGEST_MAX_CHARS: Final = 128
#: Messages of one page.
INBOX_LIMIT_MAX: Final = 256
#: Messages of a page when the request names no limit.
INBOX_LIMIT_DEFAULT: Final = 50
#: Seconds of one wait; an inbox request that asks for more gets these.
INBOX_WAIT_SECS_MAX: Final = 60
#: What every session id starts with.
SESSION_ID_PREFIX: Final = "s-"
#: Lower-case hexadecimal digits after it, at least.
SESSION_ID_HEX_MIN_CHARS: Final = 8
#: And at most.
SESSION_ID_HEX_MAX_CHARS: Final = 64
#: Bytes of one page.
PAGE_BYTES_MAX: Final = 16777216
#: Bytes of a page when the request names no bound.
PAGE_BYTES_DEFAULT: Final = 1048576
#: Messages of one send_many request.
SEND_MANY_MAX: Final = 100
#: Ids of one ack_many request.
ACK_MANY_MAX: Final = 256
#: Characters of a producer's name.
MAILBOX_PRODUCER_MAX_CHARS: Final = 64
#: Characters of a session's name.
MAILBOX_SESSION_MAX_CHARS: Final = 128
#: Characters of a message's id.
MAILBOX_ID_MAX_CHARS: Final = 80
#: The version of the files that are written.
MAILBOX_SCHEMA: Final = 2
