"""Where a model is: an address that prose and a key may be sent to. It asks nobody, and loads no client."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")
_PATH = re.compile(r"[A-Za-z0-9._~/%-]{0,1024}")


class ModelUrlError(ValueError):
    """An address is none of an endpoint; the message follows the setting's name."""


def checked_url(text: str, *, allow_plain_http: bool) -> str:
    """The base of an endpoint, such as ``http://127.0.0.1:8080/v1``, without a slash at its end.

    Prose is a stranger's own and the key is a secret: without encryption they go to this machine alone,
    unless a person allows it for a machine of his network. Raises ModelUrlError.
    """
    url = _split(text)
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise ModelUrlError("must have no user, no query and no fragment")
    host = url.hostname or ""
    if url.scheme == "http" and not (allow_plain_http or _is_loopback(host)):
        raise ModelUrlError("must begin with https:// beyond this machine, or set allow_plain_http")
    return text.rstrip("/")


def _split(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise ModelUrlError("must name a machine and a port that there can be") from None
    if not text.startswith(("http://", "https://")) or not text.isascii() or not text.isprintable():
        raise ModelUrlError("must be an address that begins with https:// or http://")
    if port == 0 or _HOST.fullmatch(url.hostname or "") is None or _PATH.fullmatch(url.path) is None:
        raise ModelUrlError("must name a machine, a port and a path that there can be")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is, and what it may cost."""

    base: str
    name: str
    #: The key itself, or the file that holds it, which is read anew for each call.
    key: SecretStr | Path | None = None
    timeout_secs: float = 300.0

    @property
    def completions(self) -> str:
        """The address that is asked."""
        return f"{self.base}/chat/completions"
