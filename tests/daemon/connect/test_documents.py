"""Texts of clients' files: what is wanted goes in, comes out again, and nothing else moves."""

import json
from typing import Any

import pytest

from mail4agent_daemon.connect.documents import (
    TakenError,
    Wish,
    granted,
    is_granted,
    parsed,
    withdrawn,
)
from mail4agent_daemon.connect.faults import DocumentError

ENTRY = {"command": "/bin/m", "args": ["mcp-stdio"], "env": {"M4A_TOKEN_FILE": "/k"}}
SERVER = Wish(("mcpServers", "mail4agent"), ENTRY)
HOOK = Wish(("hooks", "Stop"), {"hooks": [{"type": "command", "command": "/k stop"}]}, is_element=True)
TABLE = Wish(("mcp_servers", "mail4agent"), ENTRY)

JSON = {
    "nothing": "",
    "blank": "\n\n",
    "an empty object": "{}",
    "an empty object of two lines": "{\n}\n",
    "one line": '{"a": 1}',
    "one tight line": '{"a":1,"mcpServers":{"o":{}},"hooks":{"Stop":[]}}',
    "two spaces": '{\n  "a": 1\n}\n',
    "four spaces": '{\n    "mcpServers": {\n        "o": {"command": "y"}\n    }\n}',
    "tabs, carriage returns, trailing commas": '{\r\n\t"a": 1, // note\r\n\t"b": [1,],\r\n}\r\n',
    "a byte order mark": '\ufeff{"mcpServers": {}}',
    "comments behind the last member": '{\n  "mcpServers": {\n    "o": {} // keep\n    /* tail */\n  }\n}',
    "a comment in an empty object": "{ // only\n}",
    "a comment behind one line": '{"a": 1 // x\n}',
    "comments around": '// c\n{\n  "a": 1,\n}\n// d\n',
    "a hook of somebody else": '{\n  "hooks": {\n    "Stop": [\n      {"hooks": []}\n    ]\n  }\n}',
    "quotes and slashes in strings": '{\n  "a//b": "/* \\" */",\n  "mcpServers": {}\n}',
}
TOML = {
    "nothing": "",
    "no last line end": "a=1",
    "another server": 'a = 1 # c\n\n[mcp_servers.o]\ncommand="y"\n',
    "carriage returns": 'model = "x"\r\n\r\n[tui]\r\ntheme = "y"\r\n',
    "headers in strings and lists": (
        '[x]\ns = """\n[mcp_servers.mail4agent]\n"""\nl = [\n [1],\n]\n\n# about z\n[[z]]\na=1\n'
    ),
    "dotted keys": 'mcp_servers.o.command = "y"\n',
}


def ours(value: Any) -> bool:
    """Whether a value is ours."""
    return "/k" in json.dumps(value)


@pytest.mark.parametrize("text", JSON.values(), ids=JSON.keys())
@pytest.mark.promise("connect.files-keep-every-other-byte")
def test_json_takes_what_is_wanted_and_gives_its_bytes_back(text: str) -> None:
    """Nothing that was there gives way to it; taken back, the file is as it was."""
    change = granted("json", text, [SERVER, HOOK], ours, replace=False)
    document = parsed("json", change.text)
    assert is_granted(document, SERVER)
    assert is_granted(document, HOOK)
    assert all(each.old == "" for each in change.splices)
    assert withdrawn("json", change.text, [SERVER, HOOK], ours, exact=change.splices) == text


@pytest.mark.parametrize("text", JSON.values(), ids=JSON.keys())
@pytest.mark.promise("connect.touched-files-lose-ours-alone")
def test_json_that_was_touched_since_loses_ours_alone(text: str) -> None:
    """Without a way back to the bytes, the values that remain are those that were there before."""
    change = granted("json", text, [SERVER, HOOK], ours, replace=False)
    left = withdrawn("json", change.text, [SERVER, HOOK], ours, made=change.made)
    assert parsed("json", left) == parsed("json", text)
    assert "//" not in text or left.count("//") == text.count("//")


@pytest.mark.promise("connect.touched-files-lose-ours-alone")
def test_what_came_after_ours_stays_with_its_comment() -> None:
    """A member and a comment that a person put behind ours are there when ours is gone."""
    change = granted("json", '{\n  "a": 1\n}\n', [SERVER], ours, replace=False)
    text = change.text.replace("\n  }\n}", '\n  },\n  // mine\n  "z": [1]\n}')
    assert text != change.text
    left = withdrawn("json", text, [SERVER], ours, made=change.made)
    assert left == '{\n  "a": 1,\n  // mine\n  "z": [1]\n}\n'


@pytest.mark.parametrize("text", TOML.values(), ids=TOML.keys())
@pytest.mark.promise("connect.files-keep-every-other-byte")
def test_toml_takes_a_table_and_gives_its_bytes_back(text: str) -> None:
    """What was there is the beginning of what is there; taken back, the file is as it was."""
    change = granted("toml", text, [TABLE], ours, replace=False)
    assert change.text.startswith(text)
    assert is_granted(parsed("toml", change.text), TABLE)
    assert withdrawn("toml", change.text, [TABLE], ours, exact=change.splices) == text
    touched = f"{change.text}\n# mine\n[last]\nb = 2\n"
    left = withdrawn("toml", touched, [TABLE], ours)
    assert parsed("toml", left) == {**parsed("toml", text), "last": {"b": 2}}
    assert "# mine\n[last]" in left


def test_line_ends_are_those_of_the_file() -> None:
    """No line feed stands alone in a file that has carriage returns."""
    json_text = granted(
        "json", JSON["tabs, carriage returns, trailing commas"], [SERVER], ours, replace=False
    )
    toml_text = granted("toml", TOML["carriage returns"], [TABLE], ours, replace=False)
    for change in (json_text, toml_text):
        assert change.text.count("\n") == change.text.count("\r\n")


@pytest.mark.promise("connect.idempotent")
def test_what_is_there_is_not_put_in_again() -> None:
    """The same wishes a second time change no character, whatever a person added to ours."""
    once = granted("json", "{}", [SERVER, HOOK], ours, replace=False).text
    added = once.replace('"args"', '"alwaysLoad": true, "args"')
    assert granted("json", added, [SERVER, HOOK], ours, replace=False).text == added


def test_ours_is_changed_where_it_stands_and_keeps_additions() -> None:
    """Another value of ours takes the old one's place, with what a person added to it."""
    old = '{\n  "mcpServers": {\n    "mail4agent": {"command": "/old", "env": {"K": "/k"}, "x": 1}\n  }\n}\n'
    text = granted("json", old, [SERVER], ours, replace=False).text
    entry = parsed("json", text)["mcpServers"]["mail4agent"]
    assert entry == {**ENTRY, "env": {"K": "/k", "M4A_TOKEN_FILE": "/k"}, "x": 1}


@pytest.mark.parametrize(
    ("kind", "wish", "text"),
    [
        ("json", SERVER, '{"mcpServers": {"mail4agent": {"command": "other"}, "z": 1}}'),
        ("toml", TABLE, 'a = 1\n\n[mcp_servers.mail4agent]\ncommand = "other"\n\n# z\n[z]\nb = 1\n'),
    ],
)
@pytest.mark.promise("connect.others-are-not-overwritten")
def test_somebody_elses_entry_is_refused_and_replaced_only_when_asked(
    kind: Any, wish: Wish, text: str
) -> None:
    """What took its place gives it back, byte for byte in an untouched file and by value in a touched one."""
    with pytest.raises(TakenError, match="mail4agent"):
        granted(kind, text, [wish], ours, replace=False)
    change = granted(kind, text, [wish], ours, replace=True)
    assert is_granted(parsed(kind, change.text), wish)
    assert withdrawn(kind, change.text, [wish], ours, exact=change.splices) == text
    left = withdrawn(kind, change.text, [wish], ours, made=change.made, replaced=change.replaced)
    assert parsed(kind, left) == parsed(kind, text)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[]", "line 1, column 1"),
        ('{"mcpServers": null}', "mcpServers is no object"),
        ('{"mcpServers": {}, "mcpServers": {}}', "mcpServers stands there twice"),
        ('{\n  "a": 1', "line 2, column 9"),
        ("nope", "line 1, column 1"),
        ('{"a" 1}', "a colon"),
        ('{"a":1}}', "behind the document"),
        ('{"a":01}', "a value|a comma"),
        ('{"a":"\n"}', "a string"),
        ('{"a": "\\x"}', "not a valid one"),
        ("[" * 200, "no object|deeper"),
        ('{"a": ' + "[" * 200, "deeper"),
        ('{"a": ' + "9" * 5000 + "}", "too long"),
        ("{/* never ends", "a string"),
    ],
)
@pytest.mark.promise("connect.unreadable-files-are-refused")
def test_json_that_cannot_be_read_is_refused_with_its_place(text: str, where: str) -> None:
    """Where it is wrong is said by line and column, or by the name of what stands in the way."""
    with pytest.raises(DocumentError, match=where):
        granted("json", text, [SERVER], ours, replace=True)


@pytest.mark.parametrize(
    "text",
    ["a =\n", "mcp_servers = 3\n", "mcp_servers = {}\n", '[mcp_servers]\nmail4agent = {command = "/k"}\n'],
)
@pytest.mark.promise("connect.unreadable-files-are-refused")
def test_toml_that_cannot_take_a_table_is_refused(text: str) -> None:
    """What is no TOML, and what keeps its servers otherwise than in tables, stays as it is."""
    with pytest.raises(DocumentError, match=r"line 1|mcp_servers"):
        granted("toml", text, [TABLE], ours, replace=True)
