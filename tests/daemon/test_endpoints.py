"""Where a daemon may listen."""

import os
import socket
from pathlib import Path

import pytest

from mail4agent_daemon.endpoints import EndpointError, Endpoints, listening
from mail4agent_daemon.limits import Limits

LIMITS = Limits()


def refused(endpoints: Endpoints, match: str) -> None:
    """Listening there is refused."""
    with pytest.raises(EndpointError, match=match), listening(endpoints, LIMITS):
        pass


@pytest.mark.promise("daemon.settings-are-checked")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_beyond_loopback_needs_tls_or_a_word(host: str) -> None:
    """An address that others reach is refused without TLS, unless cleartext is allowed by name."""
    refused(Endpoints(host=host, port=0), "reachable from other machines")


def test_cleartext_beyond_loopback_can_be_allowed() -> None:
    """The explicit flag opens it."""
    with listening(Endpoints(host="0.0.0.0", port=0, allow_cleartext=True), LIMITS) as listeners:
        assert listeners.host == "0.0.0.0"


@pytest.mark.parametrize(
    ("host", "own"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("127.9.9.9", "127.9.9.9")]
)
def test_loopback_is_free(host: str, own: str) -> None:
    """All of loopback needs neither; a socket that listens takes connections before it is served."""
    own = host.replace("localhost", "127.0.0.1")
    with listening(Endpoints(host=host, port=0), LIMITS) as listeners:
        assert listeners.url == f"http://{own}:{listeners.port}"
        assert listeners.port
        socket.create_connection((own, listeners.port), timeout=20).close()


@pytest.mark.parametrize("host", ["", "example.com", "127.0.0.1:80", "256.0.0.1"])
def test_a_host_must_be_an_address(host: str) -> None:
    """Names are not looked up: what they point to may change."""
    refused(Endpoints(host=host, port=0), "must be an IP address")


def test_a_port_that_is_taken_is_named() -> None:
    """The message says where it could not listen."""
    with listening(Endpoints(port=0), LIMITS) as listeners:
        assert listeners.port
        refused(Endpoints(port=listeners.port), f"cannot listen on 127.0.0.1, port {listeners.port}")


def test_nothing_to_listen_on_is_refused() -> None:
    """Neither an address nor a socket is a mistake."""
    refused(Endpoints(host=None), "nothing to listen on")


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_out_of_range_is_refused(port: int) -> None:
    """Ports have 16 bits."""
    refused(Endpoints(port=port), "0 to 65535")


def test_the_unix_socket_is_private_and_goes_with_its_daemon(tmp_path: Path) -> None:
    """Only its user may connect; afterwards the file is gone."""
    path = tmp_path / "daemon.sock"
    with listening(Endpoints(host=None, socket_path=path), LIMITS) as listeners:
        assert (path.stat().st_mode & 0o777, listeners.url) == (0o600, None)
    assert not path.exists()


def test_a_stale_unix_socket_is_replaced(tmp_path: Path) -> None:
    """What a killed daemon left behind does not keep the next one from starting."""
    path = tmp_path / "daemon.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    with listening(Endpoints(host=None, socket_path=path), LIMITS):
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(path))
        client.close()


def test_what_is_no_socket_is_not_removed(tmp_path: Path) -> None:
    """A file of that name stays, and so does the target of a link."""
    path = tmp_path / "daemon.sock"
    path.write_text("mine")
    refused(Endpoints(host=None, socket_path=path), "in the way")
    assert path.read_text() == "mine"
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    refused(Endpoints(host=None, socket_path=path), "in the way")


def test_the_socket_of_a_successor_is_not_removed(tmp_path: Path) -> None:
    """A daemon that ends removes only its own socket."""
    path = tmp_path / "daemon.sock"
    with listening(Endpoints(host=None, socket_path=path), LIMITS):
        path.rename(tmp_path / "old")
        successor = socket.socket(socket.AF_UNIX)
        successor.bind(str(path))
    assert path.is_socket()
    successor.close()


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    """The kernel takes 107 bytes; the message comes before anything is served, and frees the port."""
    refused(Endpoints(port=0, socket_path=tmp_path / ("d" * 120)), "cannot listen on")


def test_half_of_tls_is_refused(tmp_path: Path) -> None:
    """A certificate without its key is a mistake, never cleartext."""
    refused(Endpoints(port=0, certfile=tmp_path / "cert.pem"), "both")


def test_a_certificate_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A missing or broken file is named at start."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    refused(Endpoints(port=0, certfile=cert, keyfile=key), "no usable pair")
    cert.write_text("nothing")
    key.write_text("nothing")
    refused(Endpoints(port=0, certfile=cert, keyfile=key), "no usable pair")


def test_a_refused_start_leaves_no_descriptor(tmp_path: Path) -> None:
    """Each refusal closes what it had opened."""
    before = os.open(tmp_path, os.O_RDONLY)
    os.close(before)
    refused(Endpoints(port=0, socket_path=tmp_path / ("d" * 120)), "cannot listen on")
    after = os.open(tmp_path, os.O_RDONLY)
    os.close(after)
    assert after == before
