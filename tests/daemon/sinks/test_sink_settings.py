"""The settings of sinks: what each needs, and that a mistake stops the start with a sentence that helps."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.engine import MailEngine
from mail4agent_core.mail.store import MailStore
from mail4agent_core.outbox.sink import Sink, sink_text
from mail4agent_daemon.settings import SettingsError, load, toml_of
from mail4agent_daemon.sinks.building import SinkError, Surroundings, sinks_of
from tests.process import DaemonProcess, NotStartedError

pytestmark = pytest.mark.promise("sinks.settings-are-checked")

KEY = "whsec_" + base64.b64encode(bytes(32)).decode()
SMTP = 'kind = "smtp"\nhost = "mail.example.org"\nfrom_address = "mara@example.org"\n'
COMMAND = f'kind = "command"\nargv = ["{sys.executable}"]\n'


def written(home: Path, sink: str, outbox: str = 'tools = { notify = "one" }') -> None:
    """A settings file with one sink."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f"[outbox]\n{outbox}\n[sinks.one]\n{sink}\n")


def built(home: Path, sink: str, outbox: str = 'tools = { notify = "one" }', **environment: str) -> Sink:
    """The sink of the tool notify."""
    written(home, sink, outbox)
    settings = load({}, home=home).settings
    nobody: Any = None
    around = Surroundings(
        home=home,
        environment=environment,
        clock=HandClock(),
        engine=cast(MailEngine, nobody),
        store=cast(MailStore, nobody),
    )
    return sinks_of(settings.outbox, settings.sinks, around)["notify"]


@pytest.mark.parametrize(
    ("sink", "text"),
    [
        ('kind = "mail"', "mail one"),
        (SMTP, "smtp one: mara@example.org by mail.example.org:587"),
        (SMTP + 'tls = "implicit"', "smtp one: mara@example.org by mail.example.org:465"),
        (
            'kind = "http"\nurl = "https://hooks.example.org/x?token=1"\nkey_env = "KEY"',
            "http one: hooks.example.org/x",
        ),
        (
            'kind = "mcp"\nurl = "http://127.0.0.1:9/mcp"\ntool = "post"',
            "mcp one: post at http://127.0.0.1:9/mcp",
        ),
        (COMMAND, f"command one: {sys.executable}"),
    ],
)
def test_each_kind_says_where_it_leads_without_a_secret(tmp_path: Path, sink: str, text: str) -> None:
    """That is what a reviewer reads, and what the digest covers."""
    assert sink_text(built(tmp_path, sink, KEY=KEY)) == text


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        ('kind = "fax"', "sinks.one.kind is not valid: must be one of mail, smtp, http, mcp, command"),
        ('host = "x"', "sinks.one.kind is not valid"),
        (SMTP + "tsl = 1", "there is no setting 'tsl' in sinks.one, whose kind is smtp"),
        (SMTP + 'password = "p"', "there is no setting 'password'"),
        (SMTP + "port = 0", "sinks.one.port is not valid"),
        ('kind = "command"\nargv = ["true"]', "the absolute path of a program"),
        ('kind = "command"\nargv = "/bin/true -x"', "sinks.one.argv is not valid"),
        (COMMAND + "timeout_secs = 0", "sinks.one.timeout_secs is not valid"),
    ],
)
def test_a_key_that_is_none_is_refused_by_name(tmp_path: Path, sink: str, said: str) -> None:
    """Before anything is built."""
    written(tmp_path, sink)
    with pytest.raises(SettingsError) as refusal:
        load({}, home=tmp_path)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("outbox", "said"),
    [
        ('tools = { notify = "two" }', "write [sinks.two], or name another (there are: one)"),
        ('publish_tools = ["site"]', "site has no sink; add it to [outbox.tools]"),
        ('tools = { "no tool" = "one" }', "must be names of tools"),
    ],
)
def test_a_tool_without_a_sink_is_refused(tmp_path: Path, outbox: str, said: str) -> None:
    """A draft that nothing could carry out is never staged."""
    written(tmp_path, COMMAND, outbox)
    with pytest.raises(SettingsError) as refusal:
        load({}, home=tmp_path)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        (SMTP + 'tls = "none"', "tls may be none only on this machine"),
        (SMTP + 'username = "mara"', "go together"),
        (SMTP + 'username = "mara"\npassword_env = "GONE"', "password_env names GONE"),
        (
            SMTP + 'username = "mara"\npassword_file = "open"',
            "password_file names a file that others can open",
        ),
        (SMTP + 'username = "m"\npassword_file = "a"\npassword_env = "B"', "are both there; take one out"),
        (SMTP + 'ca_file = "gone.pem"', "ca_file must be a PEM file"),
        (SMTP.replace("mara@", "mara"), "from_address must be one email address"),
        ('kind = "http"\nurl = "https://example.org/"', "must say where the signing key is"),
        ('kind = "http"\nurl = "https://example.org/"\nkey_env = "SHORT"', "must lead to whsec_"),
        ('kind = "http"\nurl = "http://example.org/"\nkey_env = "KEY"', "plain http to another machine"),
        ('kind = "http"\nurl = "https://a:b@example.org/"\nkey_env = "KEY"', "without a user"),
        ('kind = "mcp"', "command or url must say where the server is"),
        ('kind = "mcp"\nurl = "http://example.org/mcp"', "plain http to another machine"),
        (
            'kind = "mcp"\nurl = "https://example.org/mcp"\nfile_args = ["a"]',
            "file_args cannot be had with a url",
        ),
        ('kind = "mcp"\ncommand = ["/nonexistent/server"]', "/nonexistent/server is not there"),
        ('kind = "command"\nargv = ["/nonexistent/x"]', "/nonexistent/x is not there"),
        (COMMAND + 'env_from = ["GONE"]', "env_from names GONE"),
    ],
)
def test_a_sink_that_cannot_be_built_says_what_to_change(tmp_path: Path, sink: str, said: str) -> None:
    """It names the section and the key, and no secret."""
    (tmp_path / "open").write_text("a-password")
    (tmp_path / "open").chmod(0o644)
    with pytest.raises(SinkError) as refusal:
        built(tmp_path, sink, KEY=KEY, SHORT="whsec_AAAA")
    assert said in str(refusal.value)
    assert str(refusal.value).startswith("sinks.one: ")
    assert "a-password" not in str(refusal.value)
    assert "whsec_AAAA" not in str(refusal.value)


def test_a_publication_needs_a_sink_that_carries_files(tmp_path: Path) -> None:
    """What is reviewed by its files must have some."""
    outbox = 'tools = { notify = "one" }\npublish_tools = ["notify"]'
    with pytest.raises(SinkError):
        built(tmp_path, COMMAND, outbox)
    assert built(tmp_path, COMMAND + 'file_args = ["bundle"]', outbox).file_args == ("bundle",)


def test_a_secret_is_read_from_a_private_file_or_a_variable(tmp_path: Path) -> None:
    """Never from the settings themselves, and it is in nothing that is printed."""
    password = tmp_path / "password"
    password.touch(0o600)
    password.write_text("of-the-file\n")
    for key, where in (("password_file", "password"), ("password_env", "PASSWORD")):
        sink = built(tmp_path, f'{SMTP}username = "mara"\n{key} = "{where}"', PASSWORD="of-the-variable")
        assert "of-the" not in repr(sink)
    printed = toml_of(load({}, home=tmp_path))
    assert 'password_env = "PASSWORD"' in printed
    assert "of-the" not in printed


def test_what_is_printed_loads_as_the_same(tmp_path: Path) -> None:
    """Sinks and tools included."""
    written(tmp_path, SMTP + 'username = "m"', 'tools = { "a.b" = "one" }\npublish_tools = ["a.b"]')
    effective = load({}, home=tmp_path)
    (tmp_path / "config.toml").write_text(toml_of(effective))
    assert load({}, home=tmp_path).settings == effective.settings


def test_sinks_are_not_set_by_variables(tmp_path: Path) -> None:
    """A whole sink has no one value; the name says so."""
    with pytest.raises(SettingsError) as refusal:
        load({"M4A_SINKS__ONE": "smtp"}, home=tmp_path)
    assert "settings file alone" in str(refusal.value)


def test_a_daemon_does_not_start_with_a_sink_that_cannot_be_built(tmp_path: Path) -> None:
    """Standard error has the sentence."""
    written(tmp_path / "home", 'kind = "command"\nargv = ["/nonexistent/x"]')
    (tmp_path / "home").chmod(0o700)
    daemon = DaemonProcess(tmp_path / "home")
    with pytest.raises(NotStartedError) as refusal:
        daemon.start()
    assert "sinks.one: the program /nonexistent/x is not there" in str(refusal.value)
