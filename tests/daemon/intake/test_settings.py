"""The settings of the intake and its keys, made once and kept as digests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mail4agent_core.ids import digest_of
from mail4agent_daemon.intake.settings import (
    NAME,
    IntakeSettingsError,
    digest_in,
    made_settings,
    read_settings,
)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command."""
    command = [sys.executable, "-m", "mail4agent_daemon", "frontdoor", "serve", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.promise("intake.nothing-on-the-disk-opens-anything")
def test_the_first_settings_are_made_once_with_keys_that_are_shown_once(tmp_path: Path) -> None:
    """The file has their digests and is private; a second time nothing is overwritten."""
    folder = tmp_path / "box"
    made = run("--folder", str(folder), "--init", "https://forms.example.org", "--json")
    keys = json.loads(made.stdout)
    text = (folder / NAME).read_text()
    assert (folder / NAME).stat().st_mode & 0o777 == 0o600
    assert keys["drain"] not in text
    assert keys["types"] not in text
    settings = read_settings(folder)
    assert digest_in(settings.keys.drain) == digest_of(keys["drain"])
    assert digest_in(settings.keys.types) == digest_of(keys["types"])
    again = run("--folder", str(folder), "--init", "https://forms.example.org")
    assert (again.returncode, (folder / NAME).read_text()) == (2, text)
    assert "is not overwritten" in again.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("bind =", "bindd =", "bindd: Extra inputs are not permitted"),
        ("[budgets]", "[budgets]\nmails = 3", "budgets.mails: Extra inputs are not permitted"),
        ("https://forms.example.org", "http://forms.example.org", "public_url: must be https://HOST"),
        ("https://forms.example.org", "https://forms.example.org/x", "public_url: must be https://HOST"),
        ("127.0.0.1:18310", "none", "bind: must be an address and a port"),
        ("sha256:", "md5:", "keys.drain: must be sha256: and 64 hexadecimal digits"),
        ('["127.0.0.1"]', '["proxy"]', "trusted_proxies.0"),
        ("[keys]", "[", "is no TOML"),
    ],
)
def test_a_setting_that_is_wrong_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    """With its key, and never with a value."""
    made_settings(tmp_path, "https://forms.example.org")
    path = tmp_path / NAME
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(IntakeSettingsError, match=said.replace("[", r"\[")):
        read_settings(tmp_path)


def test_without_settings_the_intake_does_not_start(tmp_path: Path) -> None:
    """It says how to make them."""
    failed = run("--folder", str(tmp_path))
    assert failed.returncode == 2
    assert "frontdoor serve --init" in failed.stderr
