"""A person's home in a temporary folder, and connect called as the command line calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mail4agent_client import SyncMailClient
from mail4agent_client.settings import Secret
from mail4agent_daemon.connect import connecting
from mail4agent_daemon.connect.clients import CLIENTS, Surroundings
from mail4agent_daemon.connect.connecting import Connected, Disconnected
from mail4agent_daemon.connect.plan import Request
from tests.daemon.running import Daemon, running

#: Programs beyond the standard ones: none, so that no client of the machine is found.
NOWHERE = "/nonexistent"


@dataclass
class Person:
    """Somebody with a home and a project, beside a daemon."""

    daemon: Daemon
    home: Path
    project: Path
    operator: SyncMailClient
    name: str
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": NOWHERE})

    def request(self, client: str, account: str | None = None, **given: Any) -> Request:
        """What is asked for; accounts have this test's own name, because the daemon is the module's."""
        where = Surroundings(self.environment, self.home, self.project, "linux")
        name = f"{client}-{self.name}" if account is None else account
        options = {"by_file": True, "hooks": False, "url": self.daemon.url, **given}
        return Request(CLIENTS[client], name, where, self.daemon.home, **options)

    def connect(self, client: str, account: str | None = None, **given: Any) -> Connected:
        """Connect."""
        return connecting.connect(self.request(client, account, **given), self.operator, self.with_secret)

    def disconnect(self, client: str, account: str | None = None, **given: Any) -> Disconnected:
        """Disconnect."""
        return connecting.disconnect(self.request(client, account, **given), self.operator)

    def with_secret(self, secret: Secret) -> SyncMailClient:
        """A client of the daemon."""
        return SyncMailClient(self.daemon.url, token=secret)

    def key(self, client: str) -> Path:
        """Where the secret of a client's account lies."""
        return self.request(client).key

    def file(self, client: str, text: str | bytes | None = None, *, project: bool = False) -> Path:
        """A client's file, with a content when one is given."""
        path = CLIENTS[client].file(self.request(client).where, project=project)
        assert path is not None
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def accounts(self) -> set[str]:
        """The names of all accounts."""
        return {str(each.id) for each in self.operator.admin_participant_list().participants}

    def works(self, client: str) -> bool:
        """Whether the stored secret opens the account."""
        secret = self.key(client).read_text().strip()
        answer = self.daemon.ask(
            "POST",
            "/mail/whoami",
            b"{}",
            {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
        )
        return answer.status == 200


@pytest.fixture(scope="package")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One daemon for all tests of connecting, with an account ada."""
    with running(tmp_path_factory.mktemp("connect") / "home") as one:
        one.add("ada")
        yield one


@pytest.fixture
def person(daemon: Daemon, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Person]:
    """Somebody whose home is empty."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    with SyncMailClient(daemon.url, token=daemon.keys["operator"]) as operator:
        name = f"{abs(hash(request.node.nodeid)):x}"
        yield Person(daemon, tmp_path / "home", tmp_path / "project", operator, name)


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, tuple[int, bytes]]]:
    """Every file below a folder with its mode and bytes."""

    def taken(folder: Path) -> dict[str, tuple[int, bytes]]:
        return {
            str(each.relative_to(folder)): (each.stat().st_mode, each.read_bytes() if each.is_file() else b"")
            for each in sorted(folder.rglob("*"))
        }

    return taken
