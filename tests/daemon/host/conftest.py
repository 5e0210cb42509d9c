"""Fixtures of the tests that speak to a served application."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from .served import Host, Hosts


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Each loop that the daemon runs on."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def hosts(tmp_path: Path) -> AsyncIterator[Hosts]:
    """Servers to start."""
    async with AsyncExitStack() as stack:
        yield Hosts(tmp_path, stack)


@pytest.fixture
async def host(hosts: Hosts) -> Host:
    """A server with the usual limits."""
    return await hosts.start()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    )
    files = ["-keyout", str(key), "-out", str(cert), "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command.split(), *files], check=True, capture_output=True)
    return cert, key
