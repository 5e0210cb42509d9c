"""How a page writes the folder of the daemon's own user."""

from pathlib import Path

import pytest

from mail4agent_daemon.console.pages import from_home


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/house", "~"),
        ("/house/mail is 3 MB", "~/mail is 3 MB"),
        ("kept in /house/mail, (/house/notes)", "kept in ~/mail, (~/notes)"),
        ("/srv/house/mail", "/srv/house/mail"),
        ("../house/mail", "../house/mail"),
        ("/housekeeping/mail", "/housekeeping/mail"),
        ("/house\n", "/house\n"),
    ],
)
def test_only_the_folder_itself_is_shown_as_home(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not one of the same name further down another path: that would show a path that is not there."""
    monkeypatch.setattr(Path, "home", lambda: Path("/house"))
    assert from_home(text) == shown
