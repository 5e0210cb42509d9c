"""Text of others, set apart: between two lines that carry a boundary drawn for this reply alone.

The boundary is drawn after the texts are known and is in none of them, so nothing that anybody wrote can
close its enclosure or open another. The enclosure holds all that a sender chose (subject, body, correlation,
refs); what the mailbox itself vouches for (ids, addresses, times) stands outside.

A reply is bounded in tokens by being bounded in bytes: a token of a tokenizer that works on bytes is one byte
at least, whatever the language of the text, so a reply of N bytes has N tokens at most. Prose has a fraction
of that, and a reply could hold more of it; but who writes a text chooses how it is tokenized, and must not
choose how much of a model's memory it takes.
"""

from collections.abc import Callable, Iterable

from mail4agent_api.addresses import text_of
from mail4agent_api.codec import encode
from mail4agent_api.mail import Boundary, Message, ToolMessage

#: Draws 16 hexadecimal digits.
Draw = Callable[[], str]

OPENING = "<<< untrusted text of others, boundary "
CLOSING = ">>> end of untrusted text, boundary "
#: No text of a reply has a place past this one.
TEXT_MAX_BYTES = 16_777_216
#: What JSON writes in two bytes.
_DOUBLED = frozenset('"\\\n\t')


def boundary_for(texts: Iterable[str], draw: Draw) -> Boundary:
    """A boundary that is in none of the texts."""
    every = tuple(texts)
    while True:
        drawn = draw()
        if not any(drawn in text for text in every):
            return drawn


def wrapped(text: str, boundary: str) -> str:
    """The text in its enclosure."""
    return f"{OPENING}{boundary}\n{text}\n{CLOSING}{boundary}"


def json_bytes(text: str) -> int:
    """How many bytes a text of the contract takes inside JSON."""
    return len(text.encode()) + sum(text.count(sign) for sign in _DOUBLED)


def fitting(text: str, room: int) -> str:
    """The longest beginning of a text that takes at most ``room`` bytes inside JSON."""
    if json_bytes(text[:room]) <= room:
        return text[:room]
    taken = 0
    for place, sign in enumerate(text):
        taken += json_bytes(sign)
        if taken > room:
            return text[:place]
    return text


def part_of(text: str, from_byte: int, room: int) -> tuple[str, int]:
    """The part of a text from a place on that takes at most ``room`` bytes inside JSON, and where it ends."""
    raw = text.encode()
    # A place within a character is that of its beginning.
    while 0 < from_byte < len(raw) and raw[from_byte] & 0xC0 == 0x80:
        from_byte -= 1
    part = fitting(raw[from_byte:].decode(), room)
    return part, min(from_byte, len(raw)) + len(part.encode())


def written(message: Message) -> list[str]:
    """Every text of a message that its sender chose."""
    refs = [part for ref in message.refs for part in (ref.kind, ref.locator, ref.digest or "")]
    return [message.subject, message.body, message.correlation or "", *refs]


def _head(message: Message) -> str:
    """What a sender wrote besides the body, a line each; none can hold a line feed."""
    lines = [f"Subject: {message.subject}"]
    if message.correlation is not None:
        lines.append(f"Correlation: {message.correlation}")
    lines += [" ".join(filter(None, ("Ref:", ref.kind, ref.locator, ref.digest))) for ref in message.refs]
    return "\n".join(lines)


def enclosed(
    message: Message, boundary: str, room: int, from_byte: int = 0
) -> tuple[ToolMessage, int, int] | None:
    """A message whose JSON takes at most ``room`` bytes, its body from a place on and cut where it must be.

    Returns it with the place in the body at which it ends and the bytes that it takes; None where not even an
    empty body has room.
    """
    body_bytes = len(message.body.encode())

    def made(text: str, *, cut: bool) -> ToolMessage:
        return ToolMessage(
            message_id=message.message_id,
            from_=text_of(message.from_),
            to=text_of(message.to),
            created_at_unix_ms=message.created_at_unix_ms,
            reply_to=message.reply_to,
            text=wrapped(text, boundary),
            body_bytes=body_bytes,
            cut=cut,
        )

    frame = len(encode(made("", cut=False)))
    left = room - frame
    if left < 0:
        return None
    head = "" if from_byte else _head(message) + "\n\n"
    shown = fitting(head, left // 2)
    part, end = part_of(message.body, from_byte, left - json_bytes(shown))
    cut = bool(from_byte) or end < body_bytes or len(shown) < len(head)
    text = shown + part
    return made(text, cut=cut), end, frame + json_bytes(text)
