"""The example of docs/sinks.md is one that the daemon loads."""

import re
from pathlib import Path

from mail4agent_daemon.settings import load
from mail4agent_daemon.sinks.settings import KINDS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "sinks.md"


def test_the_pages_example_loads_and_every_key_is_told(tmp_path: Path) -> None:
    """All five kinds stand in it, and each key of a kind stands in its section."""
    text = PAGE.read_text("utf-8")
    example = re.search(r"^```toml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert example is not None
    (tmp_path / "config.toml").write_text(example[1])
    settings = load({}, home=tmp_path).settings
    assert {each.kind for each in settings.sinks.values()} == set(KINDS)
    assert set(settings.outbox.tools.values()) == set(settings.sinks)
    for kind, model in KINDS.items():
        section = re.search(rf"^## {kind}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
        assert section is not None
        told = set(re.findall(r"`([a-z_]+)`", section[1]))
        assert set(model.model_fields) - {"kind"} <= told, kind
