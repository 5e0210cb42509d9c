"""A home with a daemon, and the box that it drains: real processes, and the command as a person gives it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from mail4agent_core.frontdoor.manifest import TypeFolder
from mail4agent_daemon.cli import application
from tests.daemon.review.conftest import account
from tests.process import DaemonProcess, served


@dataclass
class Home:
    """A daemon, and ``drain``, an account that holds ``frontdoor:drain`` and nothing else."""

    daemon: DaemonProcess
    folder: Path

    @property
    def types(self) -> TypeFolder:
        """The request types of this home."""
        return TypeFolder(self.daemon.home / "types")

    def environment(self, url: str, key: str) -> dict[str, str]:
        """What a drain is started with."""
        return {
            "M4A_HOME": str(self.daemon.home),
            "M4A_URL": f"http://127.0.0.1:{self.daemon.port}",
            "M4A_TOKEN_FILE": str(self.folder / "drain.key"),
            "M4A_BOX__URL": url,
            "M4A_BOX__KEY": key,
            "TERM": "dumb",
        }

    def run(self, url: str, key: str, *flags: str, **more: str) -> Result:
        """Drain once."""
        return CliRunner().invoke(
            application(),
            ["frontdoor", "drain", "--json", *flags],
            env={**self.environment(url, key), **more},
            catch_exceptions=False,
        )

    def drained(self, url: str, key: str, *flags: str) -> dict[str, int]:
        """Drain once, with success; what became of the rows."""
        done = self.run(url, key, *flags)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def records(self) -> list[dict[str, Any]]:
        """Every request that is on the disk, by its number."""
        folder = self.daemon.home / "requests"
        return [json.loads(path.read_text()) for path in sorted(folder.glob("[0-9]*.json"))]

    def record_of(self, box_seq: int, epoch: str | None = None) -> dict[str, Any]:
        """The one request that a row became."""
        (found,) = [
            each
            for each in self.records()
            if each.get("box_seq") == box_seq and epoch in (None, each["box_epoch"])
        ]
        return found


@contextmanager
def home_of(folder: Path, *manifests: str, environment: Mapping[str, str] | None = None) -> Iterator[Home]:
    """A home with these request types for the length of the block."""
    home = folder / "home"
    home.mkdir(0o700)
    for manifest in manifests:
        TypeFolder(home / "types").add(manifest.encode(), "toml")
    with served(home, environment=environment) as daemon:
        account(daemon, folder, "drain", ["frontdoor:drain"])
        yield Home(daemon, folder)
