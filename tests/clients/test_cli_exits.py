"""How the command line ends: every exit status, and JSON that says why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from mail4agent_api.codec import parse
from mail4agent_api.errors import MalformedError
from mail4agent_daemon.cli import application
from mail4agent_daemon.cli.exits import Exit
from tests.vectors import Vector, vectors

UNKNOWN = "m4a_" + "0" * 24
OPTIONS = {"reply_to": "--reply-to", "correlation": "--correlation", "idempotency_key": "--key"}
MAIL_VERBS: list[list[str]] = [
    ["send", "bob", "x"],
    ["reply", UNKNOWN, "x"],
    ["inbox"],
    ["inbox", "--watch"],
    ["read", UNKNOWN],
    ["ack", UNKNOWN],
    ["wait", "--secs", "0"],
    ["thread", UNKNOWN],
    ["search", "x"],
    ["sent"],
    ["whoami"],
    ["peers"],
]
ADMIN_VERBS: list[list[str]] = [
    ["admin", "account", "add", "carol"],
    ["admin", "account", "list"],
    ["admin", "account", "rotate", "carol"],
    ["admin", "account", "revoke", "carol"],
    ["admin", "account", "permit", "carol"],
    ["admin", "account", "remove", "carol", "--yes"],
    ["admin", "room", "add", "r"],
    ["admin", "room", "list"],
    ["admin", "room", "members", "r"],
    ["admin", "room", "join", "r", "carol"],
    ["admin", "room", "leave", "r", "carol"],
    ["admin", "room", "remove", "r", "--yes"],
    ["admin", "purge", "account", "carol", "--yes"],
    ["admin", "purge", "message", UNKNOWN, "--yes"],
    ["admin", "retention"],
    ["admin", "inbox", "bob"],
    ["admin", "audit"],
    ["admin", "listener", "list"],
    ["admin", "listener", "retry", "bob"],
]
pytestmark = pytest.mark.promise("cli.exit-status-tells")


@pytest.mark.parametrize("arguments", MAIL_VERBS + ADMIN_VERBS, ids=" ".join)
def test_no_daemon_is_three(cli: Any, closed_url: str, arguments: list[str]) -> None:
    """Every verb says where it looked, as one JSON object for programs."""
    account = "operator" if arguments[0] == "admin" else "alice"
    ran = cli(account, *arguments, "--json", M4A_URL=closed_url)
    assert ran.status == Exit.UNREACHABLE == 3
    assert ran.refusal == {"kind": "connect_failed", "url": closed_url, "reason": "Connection refused"}


@pytest.mark.parametrize("arguments", MAIL_VERBS + ADMIN_VERBS, ids=" ".join)
def test_no_credential_is_four(cli: Any, tmp_path: Path, arguments: list[str]) -> None:
    """Every verb but those for everybody needs one, and says how it is given."""
    ran = cli(None, *arguments, "--json", M4A_HOME=str(tmp_path / "none"))
    assert ran.status == Exit.UNAUTHENTICATED == 4
    assert ran.refusal["kind"] == "credential_missing"


@pytest.mark.parametrize("arguments", MAIL_VERBS + ADMIN_VERBS, ids=" ".join)
def test_a_dead_credential_is_four(cli: Any, tmp_path: Path, arguments: list[str]) -> None:
    """A secret that the daemon does not know is no permission problem."""
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text("0" * 64)
    ran = cli(None, *arguments, "--token-file", str(key), "--json")
    assert ran.status == 4
    assert ran.refusal == {"kind": "unauthenticated"}


@pytest.mark.parametrize("arguments", ADMIN_VERBS, ids=" ".join)
def test_an_operators_verb_without_the_right_is_one(cli: Any, arguments: list[str]) -> None:
    """The refusal names the capability, and a person is told whose credential it was."""
    ran = cli("alice", *arguments, "--json")
    assert ran.status == Exit.REFUSED == 1
    assert ran.refusal == {"kind": "permission_denied", "need": "mail:operator"}
    assert "M4A_TOKEN_FILE" in cli("alice", *arguments).err


@pytest.mark.parametrize(
    "arguments",
    [
        ["read", UNKNOWN],
        ["reply", UNKNOWN, "x"],
        ["thread", UNKNOWN],
        ["inbox", "--after", UNKNOWN],
        ["ack", UNKNOWN],
    ],
    ids=" ".join,
)
def test_an_unknown_message_is_one(cli: Any, arguments: list[str]) -> None:
    """What does not exist is refused."""
    assert cli("alice", *arguments, "--json").status == 1


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["send"],
        ["nonsense"],
        ["inbox", "--nonsense"],
        ["inbox", "--limit", "many"],
        ["inbox", "--since", "yesterday"],
        ["inbox", "--since", "0001-01-01"],
        ["inbox", "--since", "0001-01-01T00:00:00+14:00"],
        ["inbox", "--since", "9999-12-31T23:59:59-14:00"],
        ["inbox", "--after", "x/y"],
        ["inbox", "--watch", "--newest"],
        ["send", "bob", "x", "--file", __file__],
        ["send", "bob", "--file", "/nowhere/at/all"],
        ["send", "bob", "x", "--ref", "no-equals-sign"],
        ["admin", "account", "remove", "carol"],
        ["admin", "room", "remove", "r"],
        ["admin", "purge", "account", "carol"],
        ["admin", "purge", "message", UNKNOWN, "--json"],
        ["admin", "inbox", "alice", "--after", UNKNOWN],
        ["admin", "account", "add", "carol", "--secret-file", __file__],
        ["admin", "account", "add", "carol", "--secret-file", "/nowhere/at/all"],
        ["whoami", "--url", "ftp://127.0.0.1"],
        ["whoami", "--url", "http://mail.example"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_two(cli: Any, arguments: list[str]) -> None:
    """What cannot be carried out as written changes nothing."""
    ran = cli("operator", *arguments)
    assert ran.status == Exit.USAGE == 2
    assert ran.err or not arguments


def test_a_credential_file_that_others_can_read_is_four(cli: Any, tmp_path: Path) -> None:
    """A person is told how to mend it."""
    key = tmp_path / "key"
    key.touch(0o644)
    key.write_text("0" * 64)
    ran = cli(None, "whoami", "--token-file", str(key))
    assert ran.status == 4
    assert "chmod 600" in ran.err


def test_an_answer_outside_the_contract_is_three(cli: Any, scripted: Any) -> None:
    """Another server on the port is no daemon."""
    scripted.answer(200, b"<html>")
    ran = cli("alice", "whoami", "--json", M4A_URL=scripted.url)
    assert ran.status == 3
    assert (ran.refusal["kind"], ran.refusal["status"]) == ("answer_invalid", 200)


def test_every_verb_prints_one_json_value(cli: Any) -> None:
    """With --json standard output is one object, and standard error is empty."""
    sent = cli("alice", "send", "bob", "x", "--json").json["message_id"]
    for arguments in (
        ["inbox"],
        ["read", sent],
        ["ack", sent],
        ["reply", sent, "y"],
        ["thread", sent],
        ["search", "x"],
        ["sent"],
        ["wait", "--secs", "0"],
        ["whoami"],
        ["peers"],
    ):
        ran = cli("bob", *arguments, "--json")
        assert isinstance(ran.json, dict), arguments
        assert ran.err == ""
        assert ran.out.count("\n") == 1


@pytest.mark.parametrize("group", [[], ["admin"]])
def test_the_help_text_lists_the_exit_statuses(cli: Any, group: list[str]) -> None:
    """Nobody has to look for them."""
    text = " ".join(cli(None, *group, "--help").out.split())
    for number in range(6):
        assert re.search(rf"\b{number} [a-z]", text)


def test_no_option_takes_a_secret() -> None:
    """A command line is seen by every process on the machine."""

    def options(command: Any) -> list[str]:
        own = [name for parameter in command.params for name in parameter.opts]
        return own + [name for child in getattr(command, "commands", {}).values() for name in options(child)]

    words = [
        name for name in options(get_command(application())) if re.search("token|secret|key|password", name)
    ]
    # --key is an idempotency key; --new-key names the file that the key is written to.
    assert set(words) == {"--token-file", "--secret-file", "--key", "--key-file", "--new-key"}


def test_an_interrupt_is_a_hundred_and_thirty(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of every program that a person stops."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mail4agent_client.SyncMailClient.whoami", interrupted)
    ran = cli("alice", "whoami")
    assert (ran.status, ran.out, ran.err) == (Exit.INTERRUPTED, "", "")


def _arguments(vector: Vector) -> list[str] | None:
    """The command line that says what a SendRequest vector says; None where there is none."""
    try:
        value = parse(vector.raw)
    except MalformedError:
        return None
    match value:
        case {
            "to": {"kind": "direct", "participant": str(to), **surplus},
            "subject": str(subject),
            "body": str(body),
            **more,
        }:
            refs = more.pop("refs", [])
            arguments = ["send", "--subject", subject, "--json"]
        case _:
            return None
    if surplus or not isinstance(refs, list) or not set(more) <= set(OPTIONS):
        return None
    for name, text in more.items():
        if not isinstance(text, str):
            return None
        arguments += [OPTIONS[name], text]
    for ref in refs:
        match ref:
            case {"kind": str(kind), "locator": str(locator), **rest} if not {":", "="} & set(kind) and set(
                rest
            ) <= {"digest"}:
                digest = rest.get("digest", "")
                arguments += ["--ref", f"{kind}{f':{digest}' if rest else ''}={locator}"]
            case _:
                return None
    return [*arguments, "--", to, body]


SENDS = [
    (each, _arguments(each))
    for each in vectors()
    if each.type == "SendRequest" and _arguments(each) is not None
]


@pytest.mark.parametrize(("vector", "arguments"), SENDS, ids=[str(vector) for vector, _ in SENDS])
def test_a_send_at_and_past_each_bound_gets_what_the_vectors_say(
    cli: Any, vector: Vector, arguments: list[str]
) -> None:
    """The command line adds no bound and lifts none."""
    ran = cli("alice", *arguments)
    if vector.valid:
        # The message it answers, or its recipient, need not exist; the contract has nothing against it.
        assert ran.status == 0 or ran.refusal["kind"] in {
            "unknown_message",
            "unknown_participant",
            "idempotency_conflict",
        }
        return
    assert ran.status == 1
    assert vector.refusal is not None
    assert {name: ran.refusal[name] for name in vector.refusal} == vector.refusal


def test_the_vectors_reach_both_sides_of_the_bounds() -> None:
    """The cases above are not empty."""
    described = [vector for vector, _ in SENDS]
    assert sum(vector.valid for vector in described) >= 5
    assert {"subject", "body", "correlation"} <= {
        (vector.refusal or {}).get("field") for vector in described if not vector.valid
    }


def test_a_prompt_completes_recipients_and_stays_silent_without_a_daemon(
    daemon: Any, closed_url: str
) -> None:
    """A prompt never shows an error."""
    settings = {"_ROOT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "mail4agent send a"}
    key = {"M4A_TOKEN_FILE": str(daemon.key("alice"))}
    found = CliRunner().invoke(
        application(), env={**settings, **key, "M4A_URL": daemon.url}, prog_name="root"
    )
    assert "alice" in found.stdout
    assert "bob" not in found.stdout
    for broken in (
        {**key, "M4A_URL": closed_url},
        {"M4A_URL": daemon.url, "M4A_TOKEN": "0" * 64},
        {"M4A_URL": "nonsense"},
    ):
        silent = CliRunner().invoke(application(), env={**settings, **broken}, prog_name="root")
        assert (silent.exit_code, silent.stderr) == (0, "")
        assert "alice" not in silent.stdout


@pytest.mark.promise("identity.helper")
def test_whatever_the_command_line_asks_it_asks_for_the_process_that_started_it(
    cli: Any, scripted: Any
) -> None:
    """A verb, the look for near names after its refusal, and completion at the prompt."""
    directory = {"participants": [], "rooms": []}
    scripted.answer(404, {"kind": "unknown_participant", "participant": "alise"})
    scripted.answer(200, directory)
    assert cli("alice", "send", "alise", "hello", "--subject", "s", M4A_URL=scripted.url).status == 1
    scripted.answer(200, directory)
    settings = {"_ROOT_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "mail4agent send a"}
    credential = {"M4A_URL": scripted.url, "M4A_TOKEN": "0" * 64}
    CliRunner().invoke(application(), env={**settings, **credential}, prog_name="root")
    asked = [(seen.path, seen.headers.get("m4a-session")) for seen in scripted.seen]
    assert asked == [
        ("/mail/send", "parent"),
        ("/mail/directory", "parent"),
        ("/mail/directory", "parent"),
    ]


def test_json_of_a_failure_holds_its_facts(cli: Any, scripted: Any) -> None:
    """A program need not parse a sentence."""
    scripted.hang_up()
    scripted.hang_up()
    scripted.hang_up()
    ran = cli("alice", "whoami", "--json", M4A_URL=scripted.url)
    assert ran.refusal == {"kind": "connection_lost", "url": scripted.url}
    assert json.loads(ran.err)
