"""Where the model is: from the file or the environment, its key from neither settings nor a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from mail4agent_daemon.model import key_of
from mail4agent_daemon.settings import SettingsError, load, toml_of

BASE = {"M4A_MODEL__BASE_URL": "http://127.0.0.1:8080/v1/", "M4A_MODEL__NAME": "small"}


def test_without_an_address_there_is_no_model(tmp_path: Path) -> None:
    """Nothing reads prose unless a person says what does."""
    assert load({}, home=tmp_path).model is None
    assert load({"M4A_MODEL__NAME": "small"}, home=tmp_path).model is None


@pytest.mark.promise("frontdoor.the-models-key-is-kept")
def test_the_key_comes_from_the_environment_and_is_not_shown(tmp_path: Path) -> None:
    """What is printed as settings can be saved, and holds no secret."""
    effective = load({**BASE, "M4A_MODEL__KEY": "sk-PLANTED"}, home=tmp_path)
    assert effective.model is not None
    assert key_of(effective.model.key) == "sk-PLANTED"
    assert effective.model.completions == "http://127.0.0.1:8080/v1/chat/completions"
    text = toml_of(effective)
    assert "PLANTED" not in text + repr(effective)
    (tmp_path / "config.toml").write_text(text)
    assert load({}, home=tmp_path).settings.model.base_url == BASE["M4A_MODEL__BASE_URL"]


@pytest.mark.promise("frontdoor.the-models-key-is-kept")
def test_a_key_in_a_file_of_settings_is_refused(tmp_path: Path) -> None:
    """Settings are copied and shown; a file of its own is not. The refusal does not repeat it."""
    (tmp_path / "config.toml").write_text('[model]\nkey = "sk-PLANTED"\n')
    with pytest.raises(SettingsError, match=r"model\.key is a secret") as refused:
        load({}, home=tmp_path)
    assert "PLANTED" not in str(refused.value)


def test_a_file_of_the_key_counts_from_the_data_folder(tmp_path: Path) -> None:
    """A relative path lies beside the settings."""
    effective = load({**BASE, "M4A_MODEL__KEY_FILE": "model.key"}, home=tmp_path)
    assert effective.model is not None
    assert effective.model.key == tmp_path / "model.key"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"M4A_MODEL__BASE_URL": "http://192.168.1.7/v1"}, "base_url must begin with https://"),
        ({"M4A_MODEL__NAME": ""}, "base_url needs name"),
        ({"M4A_MODEL__KEY": "a", "M4A_MODEL__KEY_FILE": "b"}, "must not both be given"),
        ({"M4A_MODEL__TIMEOUT_SECS": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_model_that_is_set_wrongly_stops_the_start(
    tmp_path: Path, more: dict[str, str], words: str
) -> None:
    """Each contradiction has its sentence."""
    with pytest.raises(SettingsError, match=words):
        load({**BASE, **more}, home=tmp_path)
