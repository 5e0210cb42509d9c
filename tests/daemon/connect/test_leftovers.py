"""What a killed run or an odd surrounding must not leave behind."""

from pathlib import Path

import pytest

from mail4agent_daemon.connect.clients import CLIENTS, Surroundings

from .conftest import Person


@pytest.mark.promise("connect.disconnect-gives-the-bytes-back")
def test_what_a_killed_run_had_prepared_goes_with_the_next_one(person: Person) -> None:
    """It is a copy of the person's file; another's file of nearly that name stays."""
    path = person.file("cursor", '{"mcpServers":{}}')
    left = path.with_name(f".{path.name}.0123456789abcdef.tmp")
    left.write_text("a copy")
    other = path.with_name(f".{path.name}.mine.tmp")
    other.write_text("not ours")
    person.connect("cursor")
    assert not left.exists()
    left.write_text("a copy")
    person.disconnect("cursor")
    assert not left.exists()
    assert other.read_text() == "not ours"


@pytest.mark.promise("connect.disconnect-gives-the-bytes-back")
@pytest.mark.parametrize("client", ["claude", "codex", "opencode"])
def test_a_relative_folder_of_a_client_is_one_from_where_the_person_stands(
    client: str, tmp_path: Path
) -> None:
    """Or disconnecting from elsewhere would look for the file in another place."""
    variables = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME")
    where = Surroundings(dict.fromkeys(variables, "settings"), tmp_path / "home", tmp_path / "here")
    assert tmp_path / "here" / "settings" in CLIENTS[client].user_file(where).parents
