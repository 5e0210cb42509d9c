"""Settings: which place counts, what is refused, and that what is printed is what is in force."""

import json
from pathlib import Path
from typing import Any

import pytest

from mail4agent_daemon.app import endpoints_of
from mail4agent_daemon.settings import Effective, Settings, SettingsError, load, toml_of

pytestmark = pytest.mark.promise("daemon.settings-are-checked")


def loaded(home: Path, toml: str = "", variables: dict[str, str] | None = None, **flags: object) -> Effective:
    """The settings of a file, an environment and flags (written ``section__key``)."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(toml)
    return load(
        variables or {}, home=home, flags={name.replace("__", "."): flag for name, flag in flags.items()}
    )


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    """Loopback and the UNIX socket, half a year of settled mail."""
    effective = load({}, home=tmp_path / "none")
    assert effective.settings == Settings()
    assert (effective.settings.server.bind, effective.settings.retention.keep_days) == (
        "127.0.0.1:18301",
        180,
    )
    assert effective.origins == {"home": "--home"}
    assert effective.socket == tmp_path / "none" / "daemon.sock"
    assert not (tmp_path / "none").exists()


def test_file_environment_and_flags_override_one_another_in_that_order(tmp_path: Path) -> None:
    """Each setting says where it came from."""
    toml = '[server]\nbind = "127.0.0.1:1"\nsocket = false\n[log]\nlevel = "error"\nformat = "json"\n'
    variables = {"M4A_SERVER__BIND": "127.0.0.1:2", "M4A_LOG__LEVEL": "warning"}
    effective = loaded(tmp_path, toml, variables, server__bind="127.0.0.1:3", server__socket=None)
    settings = effective.settings
    assert (settings.server.bind, settings.server.socket) == ("127.0.0.1:3", False)
    assert (settings.log.level, settings.log.format) == ("warning", "json")
    file = str(tmp_path / "config.toml")
    assert effective.origins == {
        "home": "--home",
        "server.bind": "--bind",
        "server.socket": file,
        "log.level": "M4A_LOG__LEVEL",
        "log.format": file,
    }


@pytest.mark.parametrize(
    ("name", "text", "setting", "value"),
    [
        ("M4A_SERVER__SOCKET", "false", "server.socket", False),
        ("M4A_SERVER__SOCKET", "Yes", "server.socket", True),
        (
            "M4A_SERVER__NAMES",
            "mail.example, other:8080 ,",
            "server.names",
            ("mail.example", "other:8080"),
        ),
        ("M4A_SERVER__TLS_CERT", "", "server.tls_cert", None),
        ("M4A_SERVER__TLS_CERT", "cert.pem", "server.tls_cert", Path("cert.pem")),
        ("M4A_RETENTION__KEEP_DAYS", "0", "retention.keep_days", 0),
        ("M4A_Server__Bind", "none", "server.bind", "none"),
    ],
)
def test_the_environment_is_text(tmp_path: Path, name: str, text: str, setting: str, value: object) -> None:
    """Which is read as what the setting is."""
    effective = loaded(tmp_path, variables={name: text})
    section, _, key = setting.partition(".")
    assert getattr(getattr(effective.settings, section), key) == value


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (
            "[sever]\n",
            ["'sever'", "server, identity, retention, store, mailbox, frontdoor, model, outbox, log"],
        ),
        ("server = 1", ["[server]"]),
        ("[server", ["not valid TOML"]),
        ("a = '\xff'", ["not valid TOML"]),
        ("[server]\nsocket = 1", ["server.socket is not valid"]),
        ('[server]\nsocket = "yes"', ["server.socket is not valid"]),
        ("[server]\nbind = 18301", ["server.bind is not valid"]),
        ('[server]\nbind = "localhost"', ["server.bind is not valid", "127.0.0.1:18301"]),
        ('[server]\nnames = ["a b"]', ["server.names is not valid"]),
        ("[retention]\nkeep_days = -1", ["retention.keep_days is not valid"]),
        ("[retention]\nkeep_days = 36501", ["retention.keep_days is not valid"]),
        ("[retention]\nkeep_days = true", ["retention.keep_days is not valid"]),
        ("[retention]\nkeep_days = 1.5", ["retention.keep_days is not valid"]),
        ('[log]\nlevel = "loud"', ["log.level is not valid"]),
        ("#" * 1_048_577, ["larger than"]),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, toml: str, words: list[str]
) -> None:
    """The sentence names the file, the key and what it may be."""
    (tmp_path / "config.toml").write_bytes(toml.encode("latin-1"))
    with pytest.raises(SettingsError) as refused:
        load({}, home=tmp_path)
    assert [word for word in ["config.toml", *words] if word not in str(refused.value)] == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("M4A_SERVER__BNID", "x", ["'bnid'", "bind, socket"]),
        ("M4A_SEVER__BIND", "x", ["'sever'"]),
        ("M4A_SERVER_BIND", "x", ["two underscores", "M4A_SERVER__"]),
        ("M4A_LOG", "debug", ["two underscores", "M4A_LOG__"]),
        ("M4A_SERVER__", "x", ["no setting ''"]),
        ("M4A_SERVER__SOCKET", "maybe", ["server.socket is not valid"]),
        ("M4A_RETENTION__KEEP_DAYS", "4 weeks", ["retention.keep_days is not valid"]),
        ("M4A_RETENTION__KEEP_DAYS", "9" * 5000, ["retention.keep_days is not valid"]),
        ("M4A_SERVER__BIND", "[::1]:99999", ["server.bind is not valid"]),
    ],
)
def test_a_variable_that_cannot_be_used_is_refused_by_name(
    tmp_path: Path, name: str, text: str, words: list[str]
) -> None:
    """A misspelt one never passes silently."""
    with pytest.raises(SettingsError) as refused:
        load({name: text}, home=tmp_path)
    assert [word for word in [name, *words] if word not in str(refused.value)] == []


def test_what_others_read_is_not_for_the_daemon(tmp_path: Path) -> None:
    """Where and who of the clients are no settings of it."""
    variables = {
        "M4A_URL": "x",
        "M4A_TOKEN": "x",
        "M4A_TOKEN_FILE": "x",
        "M4A_X": "x",
    }
    assert load(variables, home=tmp_path).settings == Settings()


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    """The one in the data folder need not."""
    with pytest.raises(SettingsError, match=r"other\.toml does not exist"):
        load({}, home=tmp_path, config=tmp_path / "other.toml")


@pytest.mark.parametrize(
    ("variables", "flag", "home", "origin"),
    [
        ({"M4A_HOME": "/a/b/../c"}, None, "/a/c", "M4A_HOME"),
        ({"M4A_HOME": "/a"}, Path("/b"), "/b", "--home"),
        ({"M4A_HOME": ""}, Path("~/m"), str(Path("~/m").expanduser()), "--home"),
    ],
)
def test_the_data_folder_is_named_or_the_platforms(
    variables: dict[str, str], flag: Path | None, home: str, origin: str
) -> None:
    """The flag wins, an empty variable is none, and the path is absolute."""
    effective = load(variables, home=flag)
    assert (str(effective.home), effective.origins["home"]) == (home, origin)
    assert load({}).home.name == "mail4agent"


def test_a_home_of_nobody_is_refused() -> None:
    """A user that the machine does not know has no folder."""
    with pytest.raises(SettingsError, match="M4A_HOME"):
        load({"M4A_HOME": "~no-such-user-here/mail"})


def test_certificates_lie_beside_the_mail(tmp_path: Path) -> None:
    """A relative path counts from the data folder, wherever the daemon is started."""
    effective = loaded(
        tmp_path, '[server]\ntls_cert = "cert.pem"\ntls_key = "/etc/key.pem"\nbind = "[::1]:7"'
    )
    endpoints = endpoints_of(effective)
    assert (endpoints.certfile, endpoints.keyfile) == (tmp_path / "cert.pem", Path("/etc/key.pem"))
    assert (endpoints.host, endpoints.port) == ("::1", 7)


@pytest.mark.parametrize(
    "toml",
    [
        "",
        '[server]\nbind = "none"\nnames = ["ä.example"]\n'.replace("ä", "a"),
        '[server]\ntls_cert = "/c/ü \\"q\\".pem"\n[retention]\nkeep_days = 0\n[log]\nlevel = "debug"\n',
    ],
)
def test_what_is_printed_is_a_file_with_the_same_settings(tmp_path: Path, toml: str) -> None:
    """Every setting is there; the text can be saved as config.toml."""
    effective = loaded(tmp_path, toml)
    text = toml_of(effective)
    assert loaded(tmp_path, text).settings == effective.settings
    known: dict[str, Any] = Settings().model_dump()
    assert [
        key
        for keys in known.values()
        for key in keys
        if f"\n{key} = " not in text and f"\n# {key} =" not in text
    ] == []
    assert text.count(str(tmp_path / "config.toml")) >= 1


def test_every_setting_is_documented_with_its_default() -> None:
    """The page of the command line has a row for each."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text("utf-8")
    known: dict[str, dict[str, Any]] = Settings().model_dump(mode="json")
    names = [f"{section}.{key}" for section, keys in known.items() for key in keys]
    assert [name for name in names if f"`{name}`" not in page] == []
    rows = {name: row for row in page.splitlines() for name in names if row.startswith(f"| `{name}` |")}
    wrong = [
        name
        for name, row in rows.items()
        if f"`{json.dumps(known[name.partition('.')[0]][name.partition('.')[2]])}`" not in row
    ]
    assert len(rows) >= len(names) - 2  # the two of TLS share a row and have no default
    assert wrong == []
