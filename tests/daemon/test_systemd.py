"""What systemd hears."""

import socket
from pathlib import Path

import pytest

from mail4agent_daemon.systemd import notify


@pytest.mark.parametrize("abstract", [False, True])
def test_a_state_reaches_the_socket_that_systemd_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool
) -> None:
    """One datagram with the state, over a path or an abstract name."""
    name = f"@{tmp_path}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind("\0" + name[1:] if abstract else name)
        heard.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", name)
        notify("READY=1")
        assert heard.recv(100) == b"READY=1"


@pytest.mark.parametrize("name", ["", "relative", "/nowhere/at/all"])
def test_without_systemd_nothing_happens(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Neither a missing name nor one that nobody listens at disturbs the daemon."""
    monkeypatch.setenv("NOTIFY_SOCKET", name)
    assert notify("READY=1") is None
