"""Where a client finds the daemon and its credential, and what it will not use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mail4agent_client import DEFAULT_URL, MailClient, Secret, SettingInvalidError
from mail4agent_client.settings import TOKEN_FILE_LIMIT, settings_of

TOKEN = "5f" * 32
OTHER = "6e" * 32


def _private(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_nothing_given_means_the_default_address_and_no_credential() -> None:
    """An empty environment is usable for what needs no credential."""
    settings = settings_of(environment={})
    assert (settings.url, settings.base, settings.socket) == (DEFAULT_URL, DEFAULT_URL, None)
    assert settings.credential is None


def test_an_argument_wins_over_the_environment(tmp_path: Path) -> None:
    """What is said here is nearer than what is said for every program."""
    environment = {"M4A_URL": "http://127.0.0.1:1", "M4A_TOKEN": OTHER}
    settings = settings_of("http://127.0.0.1:2", token=TOKEN, environment=environment)
    assert settings.base == "http://127.0.0.1:2"
    assert settings.credential is not None
    assert settings.credential.reveal() == TOKEN
    settings = settings_of(token_file=_private(tmp_path / "t", TOKEN), environment=environment)
    assert settings.credential is not None
    assert settings.credential.reveal() == TOKEN


def test_the_environment_gives_address_and_credential(tmp_path: Path) -> None:
    """A token in the environment wins over a file named there, and an empty variable is none."""
    file = _private(tmp_path / "t", f"{OTHER}\n")
    settings = settings_of(
        environment={"M4A_URL": "http://localhost:9", "M4A_TOKEN": "", "M4A_TOKEN_FILE": str(file)}
    )
    assert settings.base == "http://localhost:9"
    assert settings.credential is not None
    assert settings.credential.reveal() == OTHER
    assert settings.credential_from == "M4A_TOKEN_FILE"
    settings = settings_of(environment={"M4A_TOKEN": TOKEN, "M4A_TOKEN_FILE": "/nowhere"})
    assert settings.credential_from == "M4A_TOKEN"


@pytest.mark.parametrize(
    ("url", "base", "socket"),
    [
        ("http://127.0.0.1:18301/", "http://127.0.0.1:18301", None),
        ("http://localhost/m4a/", "http://localhost/m4a", None),
        ("http://[::1]:5", "http://[::1]:5", None),
        ("http://127.9.9.9", "http://127.9.9.9", None),
        ("https://mail.example", "https://mail.example", None),
        ("unix:/run/m4a.sock", "http://localhost", "/run/m4a.sock"),
        ("unix:///run/m4a.sock", "http://localhost", "/run/m4a.sock"),
    ],
)
def test_an_address_in_any_of_its_forms_is_taken(url: str, base: str, socket: str | None) -> None:
    """Loopback over http, anything over https, and a socket by its path."""
    settings = settings_of(url, environment={})
    assert (settings.base, settings.socket) == (base, socket)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:18301",
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:x",
        "http://user:pw@127.0.0.1",
        "http://127.0.0.1/?token=x",
        "http://127.0.0.1/#x",
        "http://127.0.0.1\r\nx: y",
        "http://127.0.0.1 ",
        "http://bücher.example",
        "http://[::1",
        "unix:relative.sock",
        "unix:/",
        "http://mail.example",
        "http://10.0.0.1",
        "http://127.0.0.1.example",
        "http://localhost.example",
        "http://0.0.0.0",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    """No address, an address that hides something, or plain http to another machine."""
    with pytest.raises(SettingInvalidError) as caught:
        settings_of(url, token=TOKEN, environment={})
    assert caught.value.setting == "url"


def test_plain_http_to_another_machine_is_used_when_that_is_asked_for() -> None:
    """A private network is the caller's to judge."""
    assert settings_of("http://10.0.0.1", allow_plain_http=True, environment={}).base == "http://10.0.0.1"


@pytest.mark.parametrize("token", ["", "a b", "a\r\nx: y", "a\n", "ä", "x" * 513])
def test_a_credential_that_could_break_a_header_is_refused_without_being_shown(token: str) -> None:
    """A header ends at a line end; so does nothing else of the request."""
    with pytest.raises(SettingInvalidError) as caught:
        settings_of(token=token, environment={})
    assert not token or token not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="other systems have no file modes")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_credential_file_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    """A secret that was readable is to be replaced, not used."""
    file = _private(tmp_path / "t", TOKEN)
    file.chmod(mode)
    with pytest.raises(SettingInvalidError, match="chmod 600"):
        settings_of(token_file=file, environment={})


def test_a_credential_file_that_is_none_is_refused(tmp_path: Path) -> None:
    """Missing, a folder, empty, or too long to be one."""
    for path in (
        tmp_path / "none",
        tmp_path,
        _private(tmp_path / "e", "\n"),
        _private(tmp_path / "l", "x" * 5000),
    ):
        with pytest.raises(SettingInvalidError) as caught:
            settings_of(token_file=path, environment={})
        assert caught.value.setting == "token_file"
    assert TOKEN_FILE_LIMIT < 5000


def test_a_secret_shows_itself_only_when_asked() -> None:
    """Logs and tracebacks print representations."""
    secret = Secret(TOKEN)
    assert TOKEN not in f"{secret} {secret!r} {[secret]} {settings_of(token=secret, environment={})!r}"
    assert secret.reveal() == TOKEN


def test_a_client_refuses_its_settings_when_it_is_made() -> None:
    """Not at its first request, which may be much later."""
    with pytest.raises(SettingInvalidError):
        MailClient("http://mail.example", token=TOKEN)


def test_a_pipe_in_the_place_of_a_credential_holds_nobody_up(tmp_path: Path) -> None:
    """It is refused at once, though nobody is at its other end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(SettingInvalidError, match="regular file"):
        settings_of(token_file=pipe, environment={})


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
def test_a_host_that_no_resolver_takes_is_no_url(host: str) -> None:
    """It is refused where it is set, by name."""
    with pytest.raises(SettingInvalidError, match="M4A_URL is not a URL"):
        settings_of(environment={"M4A_URL": f"https://{host}"})
