"""What the daemon tells an operator of itself."""

import platform
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from mail4agent_api.mail import Checkup, SettingList
from mail4agent_api.operations import CONTRACT_VERSION
from mail4agent_daemon import inventory
from mail4agent_daemon.checkup import examine
from mail4agent_daemon.house import House
from mail4agent_daemon.settings import load, settings_of

from .running import Daemon, ran, running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    """A daemon with a secret in its environment."""
    home = tmp_path_factory.mktemp("house") / "home"
    model = {"BASE_URL": "http://127.0.0.1:9/v1", "NAME": "reader", "KEY": "planted-key-of-a-model"}
    with running(home, **{f"M4A_MODEL__{name}": value for name, value in model.items()}) as daemon:
        # Its first run, which comes by itself, would fall between two looks.
        assert daemon.post("/admin/retention", {"run": True}).status == 200
        yield daemon


def test_a_checkup_finds_what_doctor_finds(served: Daemon):
    """The same checks in the same words, but for those that change by the moment."""
    told = Checkup.model_validate(served.post("/admin/checkup", {"database": True}).json)
    doctor = ran(served.home, "doctor", "--json").json["findings"]
    ours = [(each.check, each.state) for each in told.findings if each.check != "model"]
    assert ours == [(each["check"], each["state"]) for each in doctor]
    assert [each.check for each in told.findings].count("model") == 1


def test_a_checkup_reads_the_whole_database_only_when_asked(served: Daemon):
    """Without it, nothing is said of the database."""
    told = [
        {each["check"] for each in served.post("/admin/checkup", asked).json["findings"]}
        for asked in ({}, {"database": True})
    ]
    assert told[1] - told[0] == {"database"}


@pytest.mark.promise("admin.checkup-tells-what-is-held")
def test_a_checkup_tells_sizes_versions_and_what_retention_did(served: Daemon):
    """Of the file and its log, of what runs, of the last run; of folders the names are counted."""
    (served.home / "outbox").mkdir(0o700, exist_ok=True)
    for name in ("a.json", "b.json", ".lock"):
        (served.home / "outbox" / name).touch(0o600)
    told = {each["check"]: each["text"] for each in served.post("/admin/checkup", {}).json["findings"]}
    assert re.fullmatch(r"mail\.sqlite3 takes \d+\.\d MiB, its log \d+\.\d MiB", told["size"])
    assert f"contract {CONTRACT_VERSION}, Python {platform.python_version()}, SQLite 3" in told["versions"]
    for name in ("mail4agent", "hypercorn", "starlette", "pydantic"):
        assert f"{name} {version(name)}" in told["versions"]
    assert re.fullmatch(
        r"settled mail is kept 180 days; it ran 20\d\d-.* UTC and removed 0 messages, 0 keys",
        told["retention"],
    )
    assert told["files"] == "drafts: 2, requests: 0, mailbox messages: 0, runs: 0"


@pytest.mark.promise("admin.checkup-tells-what-is-held")
def test_a_folder_is_counted_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One with more says so; a mailbox counts what is in its recipients' folders, and follows no link."""
    monkeypatch.setattr(inventory, "COUNTED_MAX", 3)
    for recipient in ("chat", "scout"):
        (tmp_path / "messages" / recipient).mkdir(parents=True)
        (tmp_path / "messages" / recipient / "1.json").touch()
    (tmp_path / "messages" / "loop").symlink_to(tmp_path / "messages")
    for n in range(5):
        (tmp_path / "runs" / str(n)).mkdir(parents=True)
    text = inventory.folders(load({}, home=tmp_path))[2]
    assert text == "drafts: 0, requests: 0, mailbox messages: 2, runs: 3 or more"


@pytest.mark.promise("admin.settings-show-no-secret")
def test_settings_are_listed_without_their_secrets(served: Daemon):
    """A secret has its origin and no value; everything else is as `config` prints it."""
    answer = served.post("/admin/settings", {})
    assert b"planted-key" not in answer.body
    told = {each.name: each for each in SettingList.model_validate(answer.json).settings}
    assert (told["model.key"].value, told["model.key"].origin) == (None, "M4A_MODEL__KEY")
    assert told["model.name"].value == '"reader"'
    assert told["server.socket"].origin == "default"


@pytest.mark.promise("admin.settings-show-no-secret")
def test_settings_of_a_sink_are_listed_one_by_one(tmp_path: Path):
    """Those that are set, each under the name of its sink."""
    (tmp_path / "config.toml").write_text('[sinks.post]\nkind = "mail"\n')
    told = {name: value for name, value, _ in settings_of(load({}, home=tmp_path))}
    assert told["sinks.post.kind"] == '"mail"'
    assert House(load({}, home=tmp_path)).handlers().keys() == {"admin.checkup", "admin.settings"}
    assert examine(load({}, home=tmp_path / "none"), whole=False)[0].state == "bad"
