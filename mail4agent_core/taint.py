"""The two legs of a conversation's taint: set by what it reads, never cleared, carried by what it writes.

``private``: something that its owner keeps private was read. ``untrusted``: something that a stranger may
have written was read. A conversation with both can be talked into giving away what it knows.
"""

from typing import cast

from mail4agent_api.mail import Taint

CLEAN = Taint(private=False, untrusted=False)
#: What is assumed where nothing, or nothing whole, was recorded.
BOTH = Taint(private=True, untrusted=True)


def merged(one: Taint, other: Taint) -> Taint:
    """What a conversation has after it took in what has the other taint."""
    return Taint(private=one.private or other.private, untrusted=one.untrusted or other.untrusted)


def armed(taint: Taint) -> bool:
    """Whether both legs are set, so that what leaves must be stopped."""
    return taint.private and taint.untrusted


def recorded(value: object) -> Taint:
    """The taint that a parsed JSON value records, both legs for anything but an object of exactly two
    booleans.

    A missing leg, a number, a text or a further key is not what the harness writes: somebody else did.
    """
    match value:
        case {"private": bool(private), "untrusted": bool(untrusted)} if (
            len(cast(dict[str, object], value)) == 2
        ):
            return Taint(private=private, untrusted=untrusted)
        case _:
            return BOTH
