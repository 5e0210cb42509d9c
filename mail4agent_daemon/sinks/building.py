"""Sinks from their settings. Whatever cannot be built stops the start, with a sentence that says what to
change.
"""

import ipaddress
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from mail4agent_api.codec import decode_value
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import ListenerKey
from mail4agent_client import SettingInvalidError
from mail4agent_client.settings import read_token
from mail4agent_core.clock import Clock
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.store import MailStore
from mail4agent_core.outbox.sink import Sink

from .command import CommandSink
from .exchange import Place, place_of
from .http import HttpSink
from .letter import address_of
from .mail import MailSink
from .settings import (
    CommandSinkSettings,
    HttpSinkSettings,
    MailSinkSettings,
    McpSinkSettings,
    OutboxSettings,
    SinkSettings,
    SmtpSinkSettings,
)

if TYPE_CHECKING:
    from .smtp import SmtpSink

_PORTS = {"starttls": 587, "implicit": 465, "none": 25}
_SECRET = re.compile(r"[!-~]{1,512}")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


class SinkError(Exception):
    """A sink cannot be built; the message says which, and what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What any sink is built from besides its settings: where relative paths begin, variables, the time."""

    home: Path
    environment: Mapping[str, str]
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings(Ground):
    """What the sinks of a daemon are built from, which may send its mail."""

    engine: MailEngine
    store: MailStore


def sinks_of(
    outbox: OutboxSettings, sinks: Mapping[str, SinkSettings], around: Surroundings
) -> dict[str, Sink]:
    """The sink of each routed tool. Raises SinkError for any that cannot be built, used or not."""
    built = {name: _built(name, settings, around) for name, settings in sinks.items()}
    found: dict[str, Sink] = {}
    for tool, name in outbox.tools.items():
        if name not in built:
            raise SinkError(f"outbox.tools: {tool} goes to the sink {name!r}, which is not there")
        if tool in outbox.publish_tools and not built[name].file_args:
            raise SinkError(
                f"sinks.{name}: {tool} publishes files, so the sink must name file_args, or {tool} must not"
                " stand in outbox.publish_tools"
            )
        found[tool] = built[name]
    return found


def smtp_sink(name: str, settings: SmtpSinkSettings, ground: Ground) -> "SmtpSink":
    """The sink that sends email through one server. Raises SinkError."""
    return _Builder(name, ground).smtp(settings)


def _built(name: str, settings: SinkSettings, around: Surroundings) -> Sink:
    builder = _Builder(name, around)
    match settings:
        case MailSinkSettings():
            return MailSink(name, around.engine, around.store)
        case SmtpSinkSettings():
            return builder.smtp(settings)
        case HttpSinkSettings():
            return builder.http(settings)
        case McpSinkSettings():
            return builder.mcp(settings)
        case CommandSinkSettings():
            return builder.command(settings)


class _Builder:
    """Builds one sink; every complaint names its section."""

    def __init__(self, name: str, around: Ground) -> None:
        self._name = name
        self._around = around

    def _wrong(self, key: str, what: str) -> SinkError:
        return SinkError(f"sinks.{self._name}: {key} {what}")

    def smtp(self, settings: SmtpSinkSettings) -> "SmtpSink":
        """An SMTP server."""
        from .smtp import SmtpSink

        host = settings.host
        if _HOST.fullmatch(host) is None and not _is_loopback(host):
            raise self._wrong("host", "must be the name or the address of a mail server")
        if settings.tls == "none" and not _is_loopback(host):
            raise self._wrong(
                "tls", f"may be none only on this machine, and {host} is another; use starttls or implicit"
            )
        try:
            sender = address_of(settings.from_address, "from_address")
        except RefusalError:
            raise self._wrong("from_address", "must be one email address") from None
        password = self._secret("password", settings.password_env, settings.password_file)
        if (settings.username is None) != (password is None):
            raise self._wrong("username", "and password_env or password_file go together; give both or none")
        login = None if settings.username is None or password is None else (settings.username, password)
        return SmtpSink(
            self._name,
            "127.0.0.1" if host == "localhost" and settings.tls == "none" else host,
            settings.port or _PORTS[settings.tls],
            sender,
            self._around.clock,
            tls=settings.tls,
            context=None if settings.tls == "none" else self._trust(settings.ca_file),
            login=login,
            timeout_secs=settings.timeout_secs,
        )

    def http(self, settings: HttpSinkSettings) -> Sink:
        """A receiver of signed requests."""
        place = self._place(settings.url)
        key = self._secret("key", settings.key_env, settings.key_file)
        if key is None:
            raise self._wrong("key_file", "or key_env must say where the signing key is")
        try:
            decode_value(ListenerKey, key)
        except RefusalError:
            raise self._wrong(
                "key_file", "or key_env must lead to whsec_ and the base64 of 24 to 64 bytes"
            ) from None
        return HttpSink(
            self._name,
            place,
            key,
            self._around.clock,
            arguments=settings.arguments,
            file_args=settings.file_args,
            context=self._trust(settings.ca_file) if place.secure else None,
            timeout_secs=settings.timeout_secs,
        )

    def mcp(self, settings: McpSinkSettings) -> Sink:
        """A tool of an MCP server."""
        # The SDK takes as long to import as the rest of the daemon.
        from .mcp import McpSink, Program, Remote

        token = self._secret("token", settings.token_env, settings.token_file)
        server: Program | Remote
        if settings.command is not None and settings.url is None:
            if token is not None:
                raise self._wrong("token_file", "and token_env are for a url; a command gets env_from")
            server = Program(
                self._program(settings.command), self._variables(settings.env, settings.env_from)
            )
        elif settings.url is not None and settings.command is None:
            place = self._place(settings.url)
            if settings.file_args:
                raise self._wrong(
                    "file_args", "cannot be had with a url: the server could not read the files"
                )
            if settings.env or settings.env_from:
                raise self._wrong("env", "and env_from are for a command; a url gets token_file or token_env")
            server = Remote(settings.url, token, self._trust(settings.ca_file) if place.secure else True)
        else:
            raise self._wrong("command", "or url must say where the server is, one of the two")
        return McpSink(
            self._name,
            server,
            settings.tool,
            version("mail4agent"),
            arguments=settings.arguments,
            file_args=settings.file_args,
            timeout_secs=settings.timeout_secs,
        )

    def command(self, settings: CommandSinkSettings) -> Sink:
        """A program of this machine."""
        return CommandSink(
            self._name,
            self._program(settings.argv),
            arguments=settings.arguments,
            file_args=settings.file_args,
            environment=self._variables(settings.env, settings.env_from),
            timeout_secs=settings.timeout_secs,
        )

    def _program(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        if not Path(argv[0]).is_file():
            raise self._wrong("the program", f"{argv[0]} is not there; write the path of one that is")
        return argv

    def _variables(self, fixed: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
        """The fixed ones, and those of the daemon's own that are named. A missing one is a mistake."""
        found = dict(fixed)
        for name in names:
            if name not in self._around.environment:
                raise self._wrong("env_from", f"names {name}, which the daemon's environment does not have")
            found[name] = self._around.environment[name]
        return found

    def _place(self, url: str) -> Place:
        try:
            place = place_of(url)
        except ValueError as failure:
            raise self._wrong("url", str(failure)) from None
        if not place.secure and not _is_loopback(place.host):
            raise self._wrong("url", "is plain http to another machine; use https")
        return place

    def _secret(self, what: str, variable: str | None, file: Path | None) -> str | None:
        if variable is not None and file is not None:
            raise self._wrong(f"{what}_env", f"and {what}_file are both there; take one out")
        if file is not None:
            try:
                return read_token(f"{what}_file", self._around.home / file).reveal()
            except SettingInvalidError as failure:
                raise self._wrong(failure.setting, failure.reason) from None
        if variable is None:
            return None
        value = self._around.environment.get(variable)
        if value is None or _SECRET.fullmatch(value) is None:
            raise self._wrong(
                f"{what}_env",
                f"names {variable}, which must hold 1 to 512 printable ASCII characters without a space",
            )
        return value

    def _trust(self, ca_file: Path | None) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self._around.home / ca_file if ca_file else None)
        except OSError:
            raise self._wrong("ca_file", "must be a PEM file with certificates that can be read") from None


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
