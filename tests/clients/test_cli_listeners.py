"""``listen`` and ``admin listener`` on the command line, against a real daemon."""

import base64
import stat
from pathlib import Path
from typing import Any

import pytest

URL = "http://127.0.0.1:9/doorbell"


@pytest.fixture(autouse=True)
def _nobody_listens(cli: Any) -> Any:
    """Bob has no listener after a test."""
    yield
    assert cli(None, "admin", "listener", "remove", "bob").status == 0


def test_an_operator_sets_shows_and_removes_a_listener(cli: Any) -> None:
    """Each with its JSON; a repeat of the removal is none the worse."""
    assert cli(None, "admin", "listener", "get", "bob").out == ""
    assert cli(None, "admin", "listener", "set", "bob", URL, "--json").json == {}
    assert (
        cli(None, "admin", "listener", "get", "bob").out == f"bob\t{URL}\tunsigned\t0\t0\t0\tnot rung yet\n"
    )
    (shown,) = cli(None, "admin", "listener", "get", "bob", "--json").json["listeners"]
    assert (shown["url"], shown["signed"], shown["owner"]["participant"]) == (URL, False, "bob")
    for _ in range(2):
        assert cli(None, "admin", "listener", "remove", "bob", "--json").json == {}
    assert cli(None, "admin", "listener", "get", "bob", "--json").json == {"listeners": []}


def test_a_new_key_is_written_for_its_owner_and_is_never_shown(cli: Any, tmp_path: Path) -> None:
    """32 bytes in a file of mode 0600 that must not be there before; the same file serves again."""
    key_file = tmp_path / "doorbell.key"
    ended = cli(None, "admin", "listener", "set", "bob", URL, "--new-key", str(key_file))
    assert (ended.status, ended.out) == (0, "")
    key = key_file.read_text().strip()
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert len(base64.b64decode(key.removeprefix("whsec_"), validate=True)) == 32
    shown = cli(None, "admin", "listener", "get", "bob", "--json")
    assert shown.json["listeners"][0]["signed"]
    assert key not in shown.out
    again = cli(None, "admin", "listener", "set", "bob", URL, "--new-key", str(key_file))
    assert again.status == 2
    assert cli(None, "admin", "listener", "set", "bob", URL, "--key-file", str(key_file)).status == 0
    assert key_file.read_text().strip() == key


def test_a_new_key_goes_when_the_listener_is_refused(cli: Any, tmp_path: Path) -> None:
    """No file is left for a listener that there is not."""
    key_file = tmp_path / "doorbell.key"
    ended = cli(
        None, "admin", "listener", "set", "bob", "http://example.com/", "--new-key", str(key_file), "--json"
    )
    assert (ended.refusal["kind"], ended.refusal["field"]) == ("malformed", "url")
    assert not key_file.exists()


@pytest.mark.parametrize("content", [b"", b"whsec_short\n", b"\xff\xfe", b"x" * 300])
def test_a_file_without_a_key_is_refused(cli: Any, tmp_path: Path, content: bytes) -> None:
    """By the command line or the contract; nothing is set."""
    key_file = tmp_path / "doorbell.key"
    key_file.write_bytes(content)
    assert cli(None, "admin", "listener", "set", "bob", URL, "--key-file", str(key_file)).status in {1, 2}
    assert cli(None, "admin", "listener", "get", "bob").out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("listen",),
        ("listen", URL, "--stop"),
        ("listen", "--stop", "--key-file", "x"),
        ("listen", URL, "--key-file", "x", "--new-key", "y"),
        ("listen", URL, "--key-file", "none-such"),
    ],
)
def test_wrong_usage_of_listen_is_status_2(cli: Any, arguments: tuple[str, ...]) -> None:
    """Before the daemon is asked."""
    assert cli("bob", *arguments).status == 2


def test_an_account_that_no_kernel_proved_may_not_listen(cli: Any) -> None:
    """Whoever only has a secret is told so, to listen and to stop."""
    for arguments in ((URL,), ("--stop",)):
        ended = cli("bob", "listen", *arguments, "--json")
        assert (ended.status, ended.refusal["kind"]) == (4, "attestation_failed")


def test_near_names_are_told_for_an_account_that_is_not_there(cli: Any) -> None:
    """As with every other verb that names one."""
    ended = cli(None, "admin", "listener", "get", "bobb")
    assert ended.status == 1
    assert "bob" in ended.err


@pytest.mark.promise("doorbell.dead-is-tried-again")
def test_listeners_are_listed_by_state_and_tried_again_by_owner(cli: Any) -> None:
    """As rows and JSON; a session's by its address, and whoever has none is told so."""
    assert cli(None, "admin", "listener", "set", "bob", URL).status == 0
    assert cli(None, "admin", "listener", "list").out == ""
    row = f"bob\t{URL}\t0\t0\t0\tnot rung yet\n"
    assert cli(None, "admin", "listener", "list", "--state", "all").out == row
    (found,) = cli(None, "admin", "listener", "list", "--state", "all", "--json").json["listeners"]
    assert (found["dead"], found["failures"], found["listener"]["url"]) == (False, 0, URL)
    assert cli(None, "admin", "listener", "retry", "bob", "--json").json["listener"]["url"] == URL
    nobody = cli(None, "admin", "listener", "retry", "bob/s-01234567")
    assert (nobody.status, nobody.err) == (0, "bob/s-01234567 has no listener.\n")
    assert cli(None, "admin", "listener", "remove", "bob/s-01234567").status == 0
    assert cli(None, "admin", "listener", "list", "--state", "all").out == row
    assert cli("bob", "admin", "listener", "list").status == 1
