"""Where the daemon is and who the caller is: explicit arguments, else the environment, else the default.

``M4A_URL`` is ``http://HOST[:PORT]``, ``https://HOST[:PORT]`` or ``unix:/PATH``. The credential is
``M4A_TOKEN``, or the content of the file that ``M4A_TOKEN_FILE`` names, which only its owner may be able to
read. A credential does not leave the machine unencrypted unless that is asked for.

A hook imports this at each step of its agent, so it imports little itself, and late: dataclasses alone would
take longer than all the rest.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from mail4agent_client.errors import SettingInvalidError

DEFAULT_URL = "http://127.0.0.1:18301"
#: The Host header on a UNIX socket, where no host is meant; the daemon takes it as its own.
SOCKET_HOST = "http://localhost"
#: Bytes of a credential file that are looked at.
TOKEN_FILE_LIMIT = 4096
#: Characters of a credential.
TOKEN_MAX = 512


class Secret:
    """A credential that shows itself only when it is asked to."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The credential itself."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    __str__ = __repr__


class Settings:
    """Where requests go and what they carry."""

    __slots__ = ("base", "credential", "credential_from", "socket", "url")

    def __init__(
        self, url: str, base: str, socket: str | None, credential: Secret | None, credential_from: str | None
    ) -> None:
        #: As it was given, for messages; it never holds a credential.
        self.url = url
        #: Scheme, host, port and path prefix, without a slash at the end.
        self.base = base
        #: The path of a UNIX socket, None for TCP.
        self.socket = socket
        #: None: only what needs no credential can be asked.
        self.credential = credential
        #: The name of the setting that gave the credential, for messages.
        self.credential_from = credential_from


def settings_of(
    url: str | None = None,
    *,
    token: str | Secret | None = None,
    token_file: str | os.PathLike[str] | None = None,
    allow_plain_http: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """Resolve what was given and what the environment says. Raises SettingInvalidError naming the setting at
    fault.
    """
    environment = os.environ if environment is None else environment
    name = "url"
    if url is None and environment.get("M4A_URL"):
        name, url = "M4A_URL", environment["M4A_URL"]
    url = DEFAULT_URL if url is None else url
    base, socket = _address(name, url, allow_plain_http)
    source, credential = _credential(token, token_file, environment)
    return Settings(url, base, socket, credential, source)


def _address(name: str, url: str, allow_plain_http: bool) -> tuple[str, str | None]:
    """Return base URL and socket path."""
    if not url.isascii() or not url.isprintable() or " " in url:
        raise SettingInvalidError(name, "must be a URL of printable ASCII")
    if url.startswith("unix:"):
        path = "/" + url.removeprefix("unix:").lstrip("/")
        if path == "/" or not url.startswith("unix:/"):
            raise SettingInvalidError(
                name, "must name a socket by its absolute path, as in unix:/run/mail4agent.sock"
            )
        return SOCKET_HOST, path
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise SettingInvalidError(name, "is not a URL") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise SettingInvalidError(name, "must be http://HOST, https://HOST or unix:/PATH")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise SettingInvalidError(name, "must not hold a user, a query or a fragment")
    if parts.scheme == "http" and not allow_plain_http and not _is_loopback(host):
        raise SettingInvalidError(
            name, "is plain http to another machine, where the credential could be read on the way; use https"
        )
    try:
        # What has no name in the DNS fails in the resolver in a way that nobody expects there.
        if not _is_loopback(host):
            host.encode("idna")
    except UnicodeError:
        raise SettingInvalidError(name, "is not a URL") from None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}", None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _credential(
    token: str | Secret | None, token_file: str | os.PathLike[str] | None, environment: Mapping[str, str]
) -> tuple[str | None, Secret | None]:
    if isinstance(token, Secret):
        token = token.reveal()
    if token is not None:
        return "token", _checked("token", token)
    if token_file is not None:
        return "token_file", read_token("token_file", token_file)
    if environment.get("M4A_TOKEN"):
        return "M4A_TOKEN", _checked("M4A_TOKEN", environment["M4A_TOKEN"])
    if environment.get("M4A_TOKEN_FILE"):
        return "M4A_TOKEN_FILE", read_token("M4A_TOKEN_FILE", environment["M4A_TOKEN_FILE"])
    return None, None


def _checked(name: str, text: str) -> Secret:
    # Anything else could end the header and start another.
    if not 1 <= len(text) <= TOKEN_MAX or not all("!" <= character <= "~" for character in text):
        raise SettingInvalidError(name, "must be 1 to 512 printable ASCII characters without a space")
    return Secret(text)


def _opened(path: str, flags: int) -> int:
    # A pipe with nobody at its other end must not hold up the step of an agent.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_token(name: str, path: str | os.PathLike[str]) -> Secret:
    """Read a credential from a file that nobody but its owner can open; ``name`` is the setting to blame.
    Raises SettingInvalidError.
    """
    try:
        # Not by pathlib, which would cost a hook a fifth of its start.
        with open(os.path.expanduser(path), "rb", opener=_opened) as file:  # noqa: PTH111
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise SettingInvalidError(name, "must name a regular file")
            if os.name == "posix":
                if status.st_mode & 0o077:
                    raise SettingInvalidError(
                        name, "names a file that others can open; make it private with chmod 600"
                    )
                if status.st_uid not in {os.geteuid(), 0}:
                    raise SettingInvalidError(name, "names a file of another user")
            content = file.read(TOKEN_FILE_LIMIT)
    except OSError as failure:
        raise SettingInvalidError(
            name, f"names a file that cannot be read: {os.strerror(failure.errno or 0)}"
        ) from None
    except ValueError:
        raise SettingInvalidError(name, "is not a path") from None
    return _checked(name, content.decode("ascii", "replace").strip("\r\n \t"))
