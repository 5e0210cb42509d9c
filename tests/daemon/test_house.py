"""What the daemon tells an operator of itself."""

from pathlib import Path

import pytest

from mail4agent_api.mail import Checkup, SettingList
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
