"""A person reviews drafts at a terminal: what is read is what leaves, once, and everything else stays."""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import EMAIL, Office


def _body(office: Office) -> str:
    body = office.inbox.messages[-1].get_body()
    assert body is not None
    return body.get_content().replace("\r\n", "\n").rstrip("\n")


@pytest.mark.promise("outbox.a-person-reviews-at-a-terminal")
def test_an_email_is_reviewed_edited_and_sent_once(office: Office, staged: Callable[..., str]) -> None:
    """An agent drafts it; a person reads it whole, edits it, reads it again, sends it; it is there once."""
    before, id_ = len(office.inbox.messages), staged()
    editor = office.editor("path.write_text(path.read_text().replace('ten', 'eleven'))")
    with office.person("review", id_, VISUAL=editor) as terminal:
        shown = terminal.until("[q]uit")
        for text in (
            f"draft {id_}  pending  message",
            "UNTRUSTED",
            "PRIVATE",
            "leaves through: smtp work: mara@example.org by 127.0.0.1",
            "staged by:     ada",
            "to:            noor@example.net",
            "subject:       Visit on Tuesday",
            "  | Tuesday at ten?",
            "references:    <first@example.net>",
            "digest sha256:",
        ):
            assert text in shown
        terminal.type("e")
        shown = terminal.until("[q]uit")
        assert "EDITED" in shown
        assert '  |   -   "body_markdown": "Dear Noor,\\n\\nTuesday at ten?\\n\\nMara"' in shown
        assert "  | Tuesday at eleven?" in shown
        assert len(office.inbox.messages) == before
        terminal.type("s")
        assert terminal.ended() == 0
    assert "sent as <" in terminal.seen
    assert len(office.inbox.messages) == before + 1
    assert _body(office) == "Dear Noor,\n\nTuesday at eleven?\n\nMara"
    entry = office.get(id_)["entry"]
    assert (entry["status"], entry["decided_by"], entry["edited"]) == ("sent", "rosa", True)


@pytest.mark.promise("outbox.what-was-read-is-what-leaves")
def test_a_draft_that_changed_since_it_was_shown_is_shown_again(
    office: Office, staged: Callable[..., str]
) -> None:
    """What is sent is what was read last, and never what it had become meanwhile."""
    before, id_ = len(office.inbox.messages), staged()
    with office.person("review", id_) as terminal:
        terminal.until("[q]uit")
        digest = office.get(id_)["digest"]
        changed = {**EMAIL, "to": ["mallory@example.net"]}
        office.daemon.do("outbox.edit", {"id": id_, "digest": digest, "args": changed}, secret=office.rosa)
        terminal.type("s")
        shown = terminal.until("[q]uit")
        assert "It changed since it was shown" in shown
        assert "to:            mallory@example.net" in shown
        assert len(office.inbox.messages) == before
        terminal.type("k")
        assert terminal.ended() == 0
    assert office.get(id_)["entry"]["status"] == "pending"


def test_a_rejection_asks_for_its_reason_and_the_end_of_input_decides_nothing(
    office: Office, staged: Callable[..., str]
) -> None:
    """The reason is on the draft. Whoever hangs up has kept the rest."""
    first, second = staged(), staged()
    with office.person("review", first, second) as terminal:
        terminal.until("[q]uit")
        terminal.type("r")
        terminal.until("Reason: ")
        terminal.type("")
        terminal.until("[q]uit")
        terminal.type("r")
        terminal.until("Reason: ")
        terminal.type("Too early in the day.")
        terminal.until("--- 2 of 2")
        terminal.until("[q]uit")
        terminal.type("\x04")
        assert terminal.ended() == 0
    entry = office.get(first)["entry"]
    assert (entry["status"], entry["reason"]) == ("rejected", "Too early in the day.")
    assert office.get(second)["entry"]["status"] == "pending"


@pytest.mark.promise("outbox.what-was-read-is-what-leaves")
def test_keys_typed_ahead_send_no_draft_that_was_not_shown_yet(
    office: Office, staged: Callable[..., str]
) -> None:
    """Only what is typed after a draft and its question counts for it."""
    first, second = staged(), staged()
    with office.person("review", first, second) as terminal:
        terminal.until("[q]uit")
        terminal.type("s\ns")
        terminal.until("--- 2 of 2")
        terminal.until("[q]uit")
        terminal.type("q")
        assert terminal.ended() == 0
    assert [office.get(id_)["entry"]["status"] for id_ in (first, second)] == ["sent", "pending"]


@pytest.mark.promise("outbox.a-batch-is-read-whole")
def test_a_batch_is_printed_whole_before_its_one_question(office: Office, staged: Callable[..., str]) -> None:
    """No is the answer that nothing gives; yes sends each of them once."""
    before = len(office.inbox.messages)
    drafts = [staged({**EMAIL, "subject": f"Batch {number}"}) for number in range(2)]
    for answer, status, sent in (("", 1, 0), ("y", 0, 2)):
        with office.person("release", *drafts) as terminal:
            shown = terminal.until("Release these 2 drafts? [y/N]")
            assert all(f"subject:       Batch {number}" in shown for number in range(2))
            assert shown.count("  | Tuesday at ten?") == 2
            terminal.type(answer)
            assert terminal.ended() == status
        assert len(office.inbox.messages) == before + sent


def test_a_failed_release_keeps_the_draft_and_says_why(office: Office, staged: Callable[..., str]) -> None:
    """It waits on, with the reason on it."""
    id_ = staged()
    office.inbox.refusing = True
    try:
        with office.person("release", id_) as terminal:
            terminal.until("[y/N]")
            terminal.type("y")
            assert terminal.ended() == 1
    finally:
        office.inbox.refusing = False
    assert "not sent, and it waits on" in terminal.seen
    draft = office.get(id_)
    assert (draft["entry"]["status"], draft["entry"]["attempts"]) == ("pending", 1)
    assert "451" in draft["entry"]["error"]


def test_an_unknown_outcome_is_said_and_settled(office: Office, staged: Callable[..., str]) -> None:
    """A command that failed may have acted: nothing tries it again by itself, and a person says what was."""
    id_ = staged({"page": "index"}, "deploy")
    with office.person("release", id_) as terminal:
        terminal.until("[y/N]")
        terminal.type("y")
        assert terminal.ended() == 1
    assert f"outbox settle {id_} --sent" in terminal.seen.replace("\n", " ")
    assert "the command ended with 1" in office.get(id_)["entry"]["error"]
    with office.person("settle", id_, "--not-sent") as terminal:
        assert terminal.ended() == 0
    assert "UNKNOWN" in terminal.seen
    assert office.get(id_)["entry"]["status"] == "pending"


@pytest.mark.promise("outbox.what-is-shown-is-what-is-there")
def test_nothing_in_a_draft_steers_the_terminal_or_passes_for_the_program(
    office: Office, staged: Callable[..., str]
) -> None:
    """Hidden characters are numbers and counted; a text that looks like a draft is set off as text."""
    body = "Dear\u202e Noor\u200b,\n\x1b[2Jdigest sha256:forged\n! nothing to see"
    id_ = staged({"text": body, "to": "ben"}, "deploy")
    with office.person("show", id_) as terminal:
        assert terminal.ended() == 0
    assert "3 characters" in terminal.seen
    assert "  | Dear\\u{202e} Noor\\u{200b}," in terminal.seen
    assert "  | \\u{1b}[2Jdigest sha256:forged" in terminal.seen
    lines = terminal.seen.splitlines()
    assert [line for line in lines if line.startswith("digest ")] == [f"digest {office.get(id_)['digest']}"]
    assert not any(line.startswith("! nothing") for line in lines)


@pytest.mark.promise("outbox.the-scratch-file-is-private")
def test_the_scratch_file_is_private_and_gone(
    office: Office, staged: Callable[..., str], tmp_path: Path
) -> None:
    """0600 in a folder of 0700; and what an editor that fails leaves is not saved."""
    id_, told = staged(), tmp_path / "told"
    editor = office.editor(
        "modes = [str(each.stat().st_mode) for each in (path, path.parent)]\n"
        f"open({str(told)!r}, 'w').write(' '.join([str(path), *modes]))\n"
        "path.write_text('lost')\nsys.exit(1)"
    )
    with office.person("edit", id_, EDITOR=editor) as terminal:
        assert terminal.ended() == 1
    path, mode, above = told.read_text().split()
    assert (stat.S_IMODE(int(mode)), stat.S_IMODE(int(above))) == (0o600, 0o700)
    assert not Path(path).exists()
    assert not Path(path).parent.exists()
    assert office.get(id_)["entry"]["edited"] is False


def test_an_edit_loses_to_a_change_that_came_meanwhile_and_its_text_is_shown(
    office: Office, staged: Callable[..., str]
) -> None:
    """Nothing is overwritten unread."""
    id_ = staged()
    digest = office.get(id_)["digest"]
    request = json.dumps({"id": id_, "digest": digest, "args": {**EMAIL, "subject": "Meanwhile"}})
    url = f"http://127.0.0.1:{office.daemon.port}/outbox/edit"
    editor = office.editor(
        "import urllib.request\n"
        f"headers = {{'Authorization': 'Bearer {office.rosa}', 'Content-Type': 'application/json'}}\n"
        f"urllib.request.urlopen(urllib.request.Request({url!r}, {request!r}.encode(), headers)).read()\n"
        "path.write_text('mine')"
    )
    with office.person("edit", id_, EDITOR=editor) as terminal:
        assert terminal.ended() == 1
    assert "  | mine" in terminal.seen
    assert office.get(id_)["args"]["subject"] == "Meanwhile"
    assert office.get(id_)["args"]["body_markdown"] == EMAIL["body_markdown"]


@pytest.mark.promise("outbox.only-a-person-decides-at-the-command-line")
def test_below_an_agent_nothing_is_decided(office: Office, staged: Callable[..., str]) -> None:
    """Whatever credential and terminal the agent gives it."""
    id_ = staged()
    with office.person("release", id_, agent="claude") as terminal:
        assert terminal.ended() == 1
    assert "agent program claude" in terminal.seen
    assert office.get(id_)["entry"]["status"] == "pending"


@pytest.mark.promise("outbox.only-a-person-decides-at-the-command-line")
@pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's proof of a process")
def test_below_a_live_session_nothing_is_decided(office: Office, staged: Callable[..., str]) -> None:
    """A harness that no name gives away, but that the daemon knows for a session."""
    id_ = staged()
    with office.person("reject", id_, "--reason", "no", agent="harness", BECOME=office.ben) as terminal:
        assert terminal.ended() == 1
    assert "below the live session s-" in terminal.seen
    assert office.get(id_)["entry"]["status"] == "pending"


@pytest.mark.promise("outbox.only-a-person-decides-at-the-command-line")
def test_without_a_terminal_nothing_is_decided_and_all_can_be_read(
    office: Office, staged: Callable[..., str]
) -> None:
    """A script may list and show; it may not release, reject, edit or settle."""
    id_ = staged()
    for arguments in (
        ["release", id_],
        ["reject", id_, "--reason", "no"],
        ["edit", id_],
        ["settle", id_, "--sent"],
        ["review"],
    ):
        refused = office.script(*arguments, "--json")
        assert (refused.exit_code, json.loads(refused.stderr)["kind"]) == (1, "not_a_person"), arguments
    assert office.get(id_)["entry"]["status"] == "pending"
    tally = json.loads(office.script("tally", "--json").stdout)
    assert tally["sent"] == tally["unchanged"] + tally["edited"]
    assert id_ in office.script("list").stdout
    assert json.loads(office.script("show", id_, "--json").stdout)["entry"]["id"] == id_


def test_drafts_are_read_from_their_folder_without_a_daemon(
    office: Office, staged: Callable[..., str]
) -> None:
    """The same lines, and a URL where nobody is."""
    id_, root = staged(), str(office.daemon.home / "outbox")
    nobody = {"M4A_URL": "http://127.0.0.1:1"}
    assert id_ in office.script("list", "--root", root, **nobody).stdout
    shown = office.script("show", id_, "--root", root, **nobody).stdout
    assert shown == office.script("show", id_).stdout
    assert "  | Tuesday at ten?" in shown


def test_an_id_may_be_given_by_its_beginning_and_must_mean_one_draft(
    office: Office, staged: Callable[..., str]
) -> None:
    """More than one is refused with their names."""
    first, _ = staged(), staged()
    assert office.script("show", first).exit_code == 0
    both = office.script("show", first[:2])
    assert both.exit_code == 1
    assert "drafts: " in both.stderr
    assert office.script("show", "nothing").exit_code == 1


def test_a_draft_is_withdrawn_by_whoever_staged_it(office: Office, staged: Callable[..., str]) -> None:
    """Without a terminal: it takes something back, and lets nothing leave."""
    id_ = staged()
    assert office.script("withdraw", id_, "--reason", "not yet", account="ada").exit_code == 0
    entry = office.get(id_)["entry"]
    assert (entry["status"], entry["reason"]) == ("withdrawn", "not yet")


@pytest.mark.promise("sinks.mail-leaves-as-its-stager")
def test_mail_leaves_as_whoever_drafted_it(office: Office, staged: Callable[..., str]) -> None:
    """Through the mail engine of the same daemon, from ada's account, who needs mail:send at that moment."""
    args = {"to": "rosa", "subject": "Done", "body": "The branch is merged."}
    first, second = staged(args, "message_send"), staged({**args, "subject": "Again"}, "message_send")
    digests = [office.get(each)["digest"] for each in (first, second)]
    sent = office.daemon.do("outbox.release", {"id": first, "digest": digests[0]}, secret=office.rosa)
    (message,) = office.daemon.do("mail.inbox", {}, secret=office.rosa)["messages"]
    assert (message["message_id"], message["from"]["participant"]) == (sent["sent_as"], "ada")
    assert message["body"] == "The branch is merged."
    office.daemon.do("admin.participant.permit", {"id": "ada", "grant": [], "revoke": ["mail:send"]})
    try:
        kept = office.daemon.do("outbox.release", {"id": second, "digest": digests[1]}, secret=office.rosa)
    finally:
        office.daemon.do("admin.participant.permit", {"id": "ada", "grant": ["mail:send"], "revoke": []})
    assert (kept["sent"], kept["error"]) == (False, "the account that staged the draft may not send mail")


@pytest.mark.promise("sinks.files-leave-as-staged")
def test_an_attachment_leaves_as_it_was_when_it_was_staged(office: Office) -> None:
    """The person is shown its digest; what the workspace becomes afterwards leaves nowhere."""
    plan = office.workspace / "plans" / "plan.txt"
    plan.parent.mkdir()
    plan.write_bytes(b"as it was read\n")
    args = {**EMAIL, "attachments": ["plans/plan.txt"]}
    request = {"tool": "mail__send", "args": args, "workspace": str(office.workspace)}
    id_ = office.daemon.do("outbox.stage", request, secret=office.ada)["id"]
    plan.write_bytes(b"as it is later\n")
    with office.person("release", id_) as terminal:
        shown = terminal.until("[y/N]")
        digest = hashlib.sha256(b"as it was read\n").hexdigest()
        assert f"  | plans/plan.txt  15 bytes  sha256 {digest}" in shown
        terminal.type("y")
        assert terminal.ended() == 0
    (attached,) = office.inbox.messages[-1].iter_attachments()
    assert attached.get_content().replace("\r\n", "\n") == "as it was read\n"
