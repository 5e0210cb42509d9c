"""The address of a PostgreSQL database, which may hold a password."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

_SCHEMES = ("postgresql", "postgres")
_SECRETS = frozenset(("password", "sslpassword"))


def checked_store_url(url: str | None) -> str | None:
    """The URL as it is. Raises ValueError, which says nothing of what stands in it."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises for what is no port
    except ValueError:
        raise ValueError("must be an address such as postgresql://user@host/name") from None
    if parts.scheme not in _SCHEMES or parts.fragment:
        raise ValueError("must be an address such as postgresql://user@host/name")
    return url


def without_password(url: str) -> str:
    """The same address as it may be shown."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    asked = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in _SECRETS]
    netloc = f"{user.partition(':')[0]}{at}{host}"
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(asked, safe="/"), ""))
