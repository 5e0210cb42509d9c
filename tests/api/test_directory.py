"""The directory, and the card of a session with its three grades of trust."""

import copy
import json
import pickle
from typing import Any

import pytest

from mail4agent_api._wire import Declared
from mail4agent_api.codec import decode, decode_value, encode
from mail4agent_api.errors import MalformedError
from mail4agent_api.mail import (
    Directory,
    DirectoryEntry,
    ParticipantId,
    RoomEntry,
    RoomId,
    SessionAttested,
    SessionCard,
    SessionCorroborated,
    SessionDeclared,
    SessionEntry,
    SessionId,
)

CARD = SessionCard(
    attested=SessionAttested(pid=4242, started_at_unix_ms=1, exe="claude.exe"),
    corroborated=SessionCorroborated(provider_session_id=Declared("prov-1"), model=Declared("opus")),
    declared=SessionDeclared(working_on="parity work"),
)


def test_session_card_validates_every_group_and_rejects_a_control_character_anywhere() -> None:
    """A good card encodes; a control character is refused under the label of its group and field."""
    value = json.loads(encode(CARD))
    assert value["corroborated"] == {"provider_session_id": "prov-1", "model": "opus", "cwd": None}
    for group, name in [
        ("attested", "exe"),
        ("corroborated", "provider_session_id"),
        ("corroborated", "model"),
        ("corroborated", "cwd"),
        ("declared", "working_on"),
        ("declared", "role"),
    ]:
        bad = {**value, group: {**value[group], name: "bad\u0007"}}
        with pytest.raises(MalformedError) as refused:
            decode_value(SessionCard, bad)
        assert refused.value.refusal.field == f"{group} {name}"


def test_directory_entry_nests_its_sessions_and_defaults_to_none_on_decode() -> None:
    """An entry has its sessions inside, and one from before sessions has none."""
    session = SessionEntry(id=SessionId("s-7f3a0000"), card=CARD, last_seen_unix_ms=1, live=True)
    entry = DirectoryEntry(id=ParticipantId("claude"), sessions=[session])
    assert decode(DirectoryEntry, encode(entry)) == entry
    assert decode(DirectoryEntry, b'{"id": "claude", "label": null}').sessions == []


@pytest.mark.promise("api.answers-gain-no-keys")
def test_directory_entry_serialises_with_id_label_and_sessions() -> None:
    """Exactly three keys, and back again."""
    entry = DirectoryEntry(id=ParticipantId("alice"), label="Alice")
    assert json.loads(encode(entry)) == {"id": "alice", "label": "Alice", "sessions": []}
    assert decode(DirectoryEntry, encode(entry)) == entry


def test_directory_entry_rejects_a_control_character_label() -> None:
    """A name that would steer a terminal is refused."""
    with pytest.raises(MalformedError) as refused:
        decode_value(DirectoryEntry, {"id": "alice", "label": "bad\u0007label"})
    assert refused.value.refusal.field == "label"


def test_room_entry_round_trips_its_member_flag() -> None:
    """A room and whether the caller is in it."""
    entry = RoomEntry(id=RoomId("room-1"), member=True)
    assert json.loads(encode(entry)) == {"id": "room-1", "member": True}
    assert decode(RoomEntry, encode(entry)) == entry


def test_directory_validates_every_entry_it_carries() -> None:
    """Good entries pass, and one bad entry among them is found."""
    directory = Directory(
        participants=[DirectoryEntry(id=ParticipantId("alice"))],
        rooms=[RoomEntry(id=RoomId("room-1"), member=False)],
    )
    assert decode(Directory, encode(directory)) == directory
    bad = DirectoryEntry.model_construct(id=ParticipantId("alice"), label="bad\u0007", sessions=[])
    directory.participants.append(bad)
    with pytest.raises(MalformedError) as refused:
        encode(directory)
    assert refused.value.refusal.field == "label"


def test_a_corroborated_value_is_only_had_by_asking_for_it() -> None:
    """Declared is no text: it must be opened, does not change, and says what it is."""
    model: Any = CARD.corroborated.model
    assert isinstance(model, Declared)
    assert not isinstance(model, str)
    assert (model.inner_ref(), model.into_inner(), str(model)) == ("opus", "opus", "opus")
    assert repr(model) == "Declared('opus')"
    assert model == Declared("opus")
    assert model != "opus"
    assert len({model, Declared("opus"), Declared("other")}) == 2
    with pytest.raises(AttributeError):
        model._value = "other"


def test_a_card_survives_copying_and_pickling() -> None:
    """A copy has the same wrappers inside."""
    for made in (copy.deepcopy(CARD), pickle.loads(pickle.dumps(CARD)), CARD.model_copy(deep=True)):
        assert made == CARD
        assert isinstance(made.corroborated.model, Declared)
