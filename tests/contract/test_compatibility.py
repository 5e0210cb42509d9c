"""A change of the contract is additive, or its version says that it is not."""

import copy
from collections.abc import Callable
from typing import Any

import compatibility
import pytest
from compatibility import FILES, RELEASED, Contract, Level, changes, moved

RELEASE = Contract.read({name: RELEASED / name for name in FILES})
Edit = Callable[[dict[str, Any], dict[str, Any]], Any]


def test_the_version_has_moved_as_far_as_the_contract() -> None:
    """What the contract is now differs from its release by no more than its version says."""
    now = Contract.read(FILES)
    need = max((change.level for change in changes(RELEASE, now)), default=Level.NONE)
    assert moved(RELEASE.table["version"], now.table["version"]) >= need


def level(edit: Edit) -> Level:
    """How far an edit of the released contract goes."""
    edited = copy.deepcopy(RELEASE)
    edit(edited.definitions, edited.table)
    return max((change.level for change in changes(RELEASE, edited)), default=Level.NONE)


def row(table: dict[str, Any], name: str) -> dict[str, Any]:
    """A row of the table of operations."""
    return next(row for row in table["operations"] if row["name"] == name)


OPTION = {"anyOf": [{"$ref": "#/$defs/Line"}, {"type": "null"}], "default": None}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(lambda d, t: None, Level.NONE, id="nothing"),
        pytest.param(
            lambda d, t: d["Body"].update(description="other words"), Level.PATCH, id="a description"
        ),
        pytest.param(
            lambda d, t: row(t, "mail.send").update(summary="Other words."), Level.PATCH, id="a summary"
        ),
        pytest.param(
            lambda d, t: d["SendRequest"]["properties"].update(note=OPTION),
            Level.MINOR,
            id="an option of a request",
        ),
        pytest.param(
            lambda d, t: d["PageBytes"].update(maximum=2**25), Level.MINOR, id="a wider bound of a request"
        ),
        pytest.param(
            lambda d, t: d["SearchRequest"]["required"].clear(),
            Level.MINOR,
            id="a member of a request optional",
        ),
        pytest.param(
            lambda d, t: d["RoomList"]["properties"]["rooms"].update(maxItems=100),
            Level.MINOR,
            id="a shorter list in an answer",
        ),
        pytest.param(
            lambda d, t: d.update(New={"title": "New", "type": "object"}), Level.MINOR, id="a new type"
        ),
        pytest.param(
            lambda d, t: t["operations"].append({**row(t, "mail.get"), "name": "mail.new"}),
            Level.MINOR,
            id="a new operation",
        ),
        pytest.param(
            lambda d, t: row(t, "mail.get")["refusals"].append("unknown_room"),
            Level.MINOR,
            id="a new refusal of an operation",
        ),
        pytest.param(
            lambda d, t: row(t, "mail.send")["capability"].append("mail:operator"),
            Level.MINOR,
            id="one more way to be allowed",
        ),
        pytest.param(
            lambda d, t: (
                d["Refusal"]["oneOf"].append({"$ref": "#/$defs/New"})
                or d["Refusal"]["discriminator"]["mapping"].update(new="#/$defs/New")
            ),
            Level.MINOR,
            id="a new kind of refusal",
        ),
        pytest.param(
            lambda d, t: d["SendResponse"]["properties"].update(note=OPTION),
            Level.MAJOR,
            id="a new key in an answer",
        ),
        pytest.param(
            lambda d, t: d["Message"]["properties"].update(note=OPTION),
            Level.MAJOR,
            id="a new key in a message",
        ),
        pytest.param(
            lambda d, t: d["Malformed"]["properties"].update(note=OPTION),
            Level.MAJOR,
            id="a new key in a refusal",
        ),
        pytest.param(
            lambda d, t: d["DeliveryNotification"]["properties"].update(note=OPTION),
            Level.MAJOR,
            id="a new key in a notification",
        ),
        pytest.param(
            lambda d, t: d["PageBytes"].update(maximum=2**20), Level.MAJOR, id="a narrower bound of a request"
        ),
        pytest.param(
            lambda d, t: d["PageLimit"].pop("minimum"), Level.MINOR, id="no lower bound in a request"
        ),
        pytest.param(
            lambda d, t: d["PageLimit"].update(minimum=2), Level.MAJOR, id="a higher lower bound in a request"
        ),
        pytest.param(
            lambda d, t: d["Body"].update({"x-maxUtf8Bytes": 2**17}),
            Level.MAJOR,
            id="a wider bound both ways",
        ),
        pytest.param(
            lambda d, t: d["Body"].update({"x-maxUtf8Bytes": 2**15}),
            Level.MAJOR,
            id="a narrower bound both ways",
        ),
        pytest.param(
            lambda d, t: d["RoomList"]["properties"]["rooms"].update(maxItems=300),
            Level.MAJOR,
            id="a longer list in an answer",
        ),
        pytest.param(
            lambda d, t: d["RoomPosting"]["enum"].append("nobody"), Level.MAJOR, id="a new value in an answer"
        ),
        pytest.param(
            lambda d, t: d["PageOrder"]["enum"].append("random"), Level.MINOR, id="a new value of a request"
        ),
        pytest.param(
            lambda d, t: d["PageOrder"]["enum"].remove("newest"), Level.MAJOR, id="a value of a request gone"
        ),
        pytest.param(
            lambda d, t: d["SendRequest"]["required"].append("correlation"), Level.MAJOR, id="a new duty"
        ),
        pytest.param(
            lambda d, t: d["Message"]["required"].remove("body"),
            Level.MAJOR,
            id="an answer that may lack a member",
        ),
        pytest.param(
            lambda d, t: d["SendRequest"]["properties"].pop("correlation"), Level.MAJOR, id="a member gone"
        ),
        pytest.param(
            lambda d, t: d["ParticipantId"].update(pattern="^[a-z]{1,128}$"),
            Level.MAJOR,
            id="another pattern",
        ),
        pytest.param(
            lambda d, t: d["InboxRequest"]["properties"]["limit"].update(default=10),
            Level.MAJOR,
            id="another default",
        ),
        pytest.param(
            lambda d, t: d["Malformed"].update({"x-httpStatus": 422}), Level.MAJOR, id="another status"
        ),
        pytest.param(
            lambda d, t: (
                d["Refusal"]["discriminator"]["mapping"].pop("internal") and d["Refusal"]["oneOf"].pop()
            ),
            Level.MAJOR,
            id="a kind of refusal gone",
        ),
        pytest.param(lambda d, t: d.pop("Participant"), Level.MAJOR, id="a type gone"),
        pytest.param(lambda d, t: t["operations"].pop(), Level.MAJOR, id="an operation gone"),
        pytest.param(
            lambda d, t: row(t, "mail.get").update(path="/mail/read"), Level.MAJOR, id="another path"
        ),
        pytest.param(
            lambda d, t: row(t, "mail.get").update(capability=["mail:operator"]),
            Level.MAJOR,
            id="fewer ways to be allowed",
        ),
        pytest.param(
            lambda d, t: row(t, "mail.whoami").update(capability=["mail:read"]),
            Level.MAJOR,
            id="a need where there was none",
        ),
    ],
)
def test_an_edit_goes_as_far_as_it_breaks_somebody(edit: Edit, expected: Level) -> None:
    """Each kind of edit is ranked by whom it breaks."""
    assert level(edit) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1.0.0", "1.0.0", Level.NONE),
        ("1.0.0", "1.0.1", Level.PATCH),
        ("1.0.9", "1.1.0", Level.MINOR),
        ("1.9.9", "2.0.0", Level.MAJOR),
        ("1.9.0", "1.10.0", Level.MINOR),
    ],
)
def test_versions_move_by_their_first_difference(old: str, new: str, expected: Level) -> None:
    """Numbers are compared as numbers."""
    assert moved(old, new) == expected


def test_a_version_does_not_go_back() -> None:
    """An older version than the released one is an error."""
    with pytest.raises(ValueError, match="before the released"):
        moved("1.1.0", "1.0.9")


def test_the_command_fails_until_the_version_moves(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A breaking change exits 1 and says how far to move; with a new major version it passes."""
    files = {name: tmp_path / name for name in FILES}
    for name, source in FILES.items():
        text = source.read_text("utf-8").replace('"maximum": 256', '"maximum": 255')
        files[name].write_text(text, "utf-8")
    table = FILES["operations.json"].read_text("utf-8")
    monkeypatch.setattr(compatibility, "FILES", files)
    monkeypatch.setattr("sys.argv", ["compatibility.py"])
    assert compatibility.main() == 1
    told = capsys.readouterr()
    assert "major: PageLimit maximum: 256 -> 255" in told.out
    assert "must move by a major step" in told.err
    now = Contract.read(compatibility.FILES).table["version"]
    files["operations.json"].write_text(table.replace(now, "99.0.0", 1), "utf-8")
    assert compatibility.main() == 0


def test_bundles_that_say_different_things_of_one_name_are_no_contract(tmp_path: Any) -> None:
    """What two seams share is the same in both, also in what was released."""
    files = {name: tmp_path / name for name in FILES}
    for name, source in FILES.items():
        files[name].write_text(source.read_text("utf-8"), "utf-8")
    text = files["mail.bundle.json"].read_text("utf-8").replace('"maximum": 256', '"maximum": 255')
    files["mail.bundle.json"].write_text(text, "utf-8")
    with pytest.raises(ValueError, match="PageLimit"):
        Contract.read(files)
