"""Fixtures of the tests of sinks."""

from pathlib import Path

import pytest

from .certificates import Certificate, certificate


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The loop of the standard library; what starts processes is tested on the daemon's own too."""
    return request.param


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """A certificate for 127.0.0.1 and localhost that vouches for itself."""
    return certificate(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder for the staged copies of a test."""
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder
