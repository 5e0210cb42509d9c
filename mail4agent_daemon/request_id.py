"""The name of one request, in its answer and in the log."""

import re
import secrets

_ACCEPTABLE = re.compile(rb"[A-Za-z0-9._-]{1,64}\Z")


def minted() -> str:
    """Return a new name: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def chosen(given: bytes | None) -> str:
    """Return the caller's name for its request when it is 1 to 64 characters of ``[A-Za-z0-9._-]``, else a
    new one.
    """
    return given.decode("ascii") if given is not None and _ACCEPTABLE.match(given) else minted()
