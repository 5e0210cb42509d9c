"""How a page writes the folder of the daemon's own user."""

from pathlib import Path

import pytest

from mail4agent_daemon.console.pages import from_home


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/root", "~"),
        ("/root/mail is 3 MB", "~/mail is 3 MB"),
        ("kept in /root/mail, (/root/notes)", "kept in ~/mail, (~/notes)"),
        ("/srv/root/mail", "/srv/root/mail"),
        ("../root/mail", "../root/mail"),
        ("/rootless/mail", "/rootless/mail"),
        ("/root\n", "/root\n"),
    ],
)
def test_only_the_folder_itself_is_shown_as_home(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one of the same name further down another path: that would show a path that is not there."""
    monkeypatch.setattr(Path, "home", lambda: Path("/root"))
    assert from_home(text) == shown
