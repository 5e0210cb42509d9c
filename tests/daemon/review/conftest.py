"""A daemon with an SMTP sink, an SMTP server of its own, and who drafts and reviews."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from typer.testing import CliRunner, Result

from mail4agent_daemon.cli import application
from tests.process import DaemonProcess, served

from .person import Person, Terminal

EMAIL = {
    "to": ["noor@example.net"],
    "subject": "Visit on Tuesday",
    "body_markdown": "Dear Noor,\n\nTuesday at ten?\n\nMara",
    "references": ["<first@example.net>"],
}


@dataclass
class Inbox:
    """What the SMTP server took."""

    messages: list[EmailMessage] = field(default_factory=list[EmailMessage])
    refusing: bool = False
    #: Done when a message has come, before it is taken.
    meanwhile: Callable[[], object] = bool

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.refusing:
            return "451 come again"
        self.meanwhile()
        content = envelope.original_content
        assert content is not None
        made = message_from_bytes(content, policy=policy.SMTP)
        assert isinstance(made, EmailMessage)
        self.messages.append(made)
        return "250 taken"


@dataclass
class Office:
    """One daemon, its mail server, and the accounts ada (drafts) and rosa (reviews)."""

    daemon: DaemonProcess
    inbox: Inbox
    folder: Path
    workspace: Path
    rosas: Person
    ada: str
    rosa: str
    #: Whose processes are sessions.
    ben: str

    def stage(self, args: dict[str, Any] | None = None, tool: str = "mail__send") -> Any:
        """Draft an email as ada; the answer."""
        return self.daemon.do(
            "outbox.stage", {"tool": tool, "args": EMAIL if args is None else args}, secret=self.ada
        )

    def get(self, id_: str) -> Any:
        """A draft as rosa reads it."""
        return self.daemon.do("outbox.get", {"id": id_}, secret=self.rosa)

    def environment(self, account: str = "rosa", **more: str) -> dict[str, str]:
        """What a command of an account is started with."""
        key = self.folder / f"{account}.key"
        return {"M4A_URL": f"http://127.0.0.1:{self.daemon.port}", "M4A_TOKEN_FILE": str(key), **more}

    def person(
        self, *arguments: str, agent: str | None = None, **more: str
    ) -> AbstractContextManager[Terminal]:
        """Rosa runs a verb of ``outbox`` at a terminal."""
        return self.rosas.at(self.environment(**more), "outbox", *arguments, agent=agent)

    def script(self, *arguments: str, account: str = "rosa", **more: str) -> Result:
        """A verb of ``outbox`` without a terminal."""
        environment = self.environment(account, TERM="dumb", COLUMNS="100", **more)
        return CliRunner().invoke(
            application(), ["outbox", *arguments], input="y\n", env=environment, catch_exceptions=False
        )

    def editor(self, script: str) -> str:
        """An editor that does what a script says to the file ``path``."""
        path = self.folder / "editor.py"
        path.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{script}\n")
        return f"python3 {path}"


def account(
    daemon: DaemonProcess, folder: Path, name: str, grant: list[str], attestation: str = "off"
) -> str:
    """Register an account with rights, its key beside the home; its secret."""
    body = {"id": name, "may_send": True, "may_read": True, "attestation": attestation}
    secret = daemon.do("admin.participant", body)["secret"]
    daemon.do("admin.participant.permit", {"id": name, "grant": grant, "revoke": []})
    key = folder / f"{name}.key"
    key.touch(0o600)
    key.write_text(secret)
    return secret


@contextmanager
def opened(folder: Path, environment: Mapping[str, str] | None = None) -> Iterator[Office]:
    """One in a folder for the length of the block; its daemon is started with more environment."""
    inbox = Inbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(inbox, hostname="127.0.0.1", port=port)
    controller.start()
    person = Person(folder)
    home = folder / "home"
    home.mkdir(0o700)
    workspace = folder / "workspace"
    workspace.mkdir()
    (home / "config.toml").write_text(
        f"""
[outbox]
workspaces = ["{workspace}"]
[outbox.tools]
mail__send = "work"
message_send = "own"
deploy = "site"
[sinks.work]
kind = "smtp"
host = "127.0.0.1"
port = {port}
tls = "none"
from_address = "Mara <mara@example.org>"
[sinks.own]
kind = "mail"
[sinks.site]
kind = "command"
argv = ["/bin/false"]
"""
    )
    try:
        with served(home, environment=environment) as daemon:
            yield Office(
                daemon,
                inbox,
                folder,
                workspace,
                person,
                ada=account(daemon, folder, "ada", ["outbox:stage"]),
                rosa=account(daemon, folder, "rosa", ["outbox:review"]),
                ben=account(daemon, folder, "ben", [], attestation="preferred"),
            )
    finally:
        person.close()
        controller.stop()


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """One for a module; its drafts stay."""
    with opened(tmp_path_factory.mktemp("office")) as office:
        yield office


@pytest.fixture
def staged(office: Office) -> Callable[..., str]:
    """Draft an email; its id."""

    def stage(args: dict[str, Any] | None = None, tool: str = "mail__send") -> str:
        return office.stage(args, tool)["id"]

    return stage
