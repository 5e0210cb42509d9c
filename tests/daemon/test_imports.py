"""What a run of the command line imports. Modules are counted, not time."""

import json
import subprocess
import sys
from typing import Any

import pytest
import typer
from pydantic_core import SchemaSerializer, SchemaValidator

from mail4agent_api import codec
from mail4agent_api.mail import ParticipantId, Refusal, SendRequest
from mail4agent_daemon.cli import ADMIN_VERBS, VERBS, application

_RUN = """
import json, sys
from mail4agent_daemon.cli import main
sys.argv = ["mail4agent", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
from mail4agent_api._wire import WireModel
built = [kind.__name__ for kind in WireModel.__subclasses__() if kind.__pydantic_complete__]
with open(3, "w") as out:
    json.dump([sorted(sys.modules), built], out)
"""
_NOUNS = {*VERBS, *ADMIN_VERBS, "mailboxes"}


def _commands(app: typer.Typer) -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    return dict(group.commands)


def _imported(*words: str) -> tuple[set[str], list[str]]:
    """The modules that a run has at its end, and the types of the contract that it built."""
    ran = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$@" 3>&1 >/dev/null', sys.executable, _RUN, *words],
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    modules, built = json.loads(ran.stdout)
    return set(modules), built


@pytest.mark.parametrize(
    ("words", "nouns"),
    [
        (("send", "--help"), {"posting"}),
        (("whoami", "--help"), {"people"}),
        (("listen", "--help"), {"listeners", "accounts"}),
        (("admin", "room", "--help"), {"rooms", "accounts"}),
        (("config",), {"daemon"}),
    ],
)
def test_a_verb_imports_its_own_noun_and_builds_few_types(words: tuple[str, ...], nouns: set[str]) -> None:
    """Not the engines of the outbox, the front door and the notes, and no door of the daemon."""
    modules, built = _imported(*words)
    of_cli = {name.removeprefix("mail4agent_daemon.cli.") for name in modules}
    assert of_cli & _NOUNS == nouns
    engines = ("mail4agent_core.note", "mail4agent_core.outbox", "mail4agent_core.frontdoor")
    assert not {name for name in modules if name.startswith((*engines, "mail4agent_daemon.app"))}
    seams = ("mailbox", "frontdoor", "note", "outbox", "intake")
    assert not modules & {f"mail4agent_api.{seam}" for seam in seams}
    assert len(built) <= 6


def test_each_verb_is_found_by_its_first_word_alone() -> None:
    """With the very same parameters as among all of them; a word that is no verb gets them all."""
    whole = _commands(application())
    assert sorted(whole) == sorted([*(verb for verbs in VERBS.values() for verb in verbs), "admin", "msg"])
    assert list(_commands(application(["no-verb"]))) == list(whole)
    for verb, command in whole.items():
        alone = _commands(application([verb, "x"]))
        assert verb in alone
        assert [each.name for each in alone[verb].params] == [each.name for each in command.params]
    admin = whole["admin"].commands
    assert sorted(admin) == sorted(verb for verbs in ADMIN_VERBS.values() for verb in verbs)
    for verb in admin:
        alone = _commands(application(["admin", verb]))
        assert list(alone) == ["admin"]
        assert verb in alone["admin"].commands


def test_the_codec_holds_what_pydantic_built_and_no_stand_in() -> None:
    """For an object, a union and a text of its own: a stand-in would be asked for again at each value."""
    for kind in (SendRequest, Refusal, ParticipantId):
        entry = codec._entry(kind)
        assert type(entry.validator) is SchemaValidator
        assert type(entry.serializer) is SchemaSerializer
