"""The operations of the front door over HTTP: what they answer, who may, and what no refusal tells."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.operations import OPERATIONS
from mail4agent_client import SyncMailClient
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_daemon.checkup import examine
from mail4agent_daemon.settings import load
from tests.core.frontdoor.records import NAME, PROSE, attachment, extraction, original, placed
from tests.process import DaemonProcess, served

FORM = """
id = "meeting"
version = 1
title = "A meeting"
[[fields]]
name = "requester_name"
label = "Name"
kind = "text"
max_length = 100
[[fields]]
name = "purpose"
label = "Reason"
kind = "select"
options = [{ value = "collaboration", label = "Work" }, { value = "talk", label = "A talk" }]
[[fields]]
name = "duration_minutes"
label = "Minutes"
kind = "integer"
[[fields]]
name = "purpose_detail"
label = "Tell us"
kind = "long_text"
max_length = 5000
[[fields]]
name = "cv"
label = "CV"
kind = "file"
max_bytes = 8388608
"""
NUMBERS = count(1)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaemonProcess]:
    """A daemon with a local type, and an account that may do all that there is to requests."""
    with served(tmp_path_factory.mktemp("frontdoor") / "home") as daemon:
        (daemon.home / "types").mkdir(mode=0o700)
        (daemon.home / "types" / "meeting.toml").write_text(FORM)
        daemon.register("clerk")
        daemon.open_frontdoor("clerk")
        yield daemon
        assert PROSE not in daemon.log
        assert NAME not in daemon.log


@pytest.fixture
def secret(daemon: DaemonProcess) -> str:
    """A new secret of the account."""
    return daemon.do("admin.participant.rotate", {"id": "clerk"})["secret"]


def extracted(daemon: DaemonProcess) -> int:
    """The number of a new request that was extracted."""
    seq = 100_000 + next(NUMBERS)
    placed(daemon.home / "requests", original(seq=seq, state="extracted", extraction=extraction()))
    return seq


def pieces(raw: bytes) -> list[str]:
    """Bytes as the contract carries them."""
    text = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    return [text[at : at + 65_536] for at in range(0, len(text), 65_536)]


@pytest.mark.promise(
    "frontdoor.operations-answer-what-the-library-does", "frontdoor.ingest-is-files-record-acknowledgement"
)
def test_a_submission_of_eight_mebibytes_comes_in_and_is_read_whole(
    daemon: DaemonProcess, secret: str
) -> None:
    """With its file, valid by the local type; brought again it is the same one, and another is refused."""
    raw = b"%PDF" + bytes(8 * 1024 * 1024 - 4)
    body = {
        "box_epoch": "e1",
        "record": original(seq=41, attachments=[attachment(raw)]),
        "files": [{"field": "cv", "data": pieces(raw)}],
    }
    first = daemon.do("frontdoor.ingest", body, secret=secret)
    assert first == {"seq": 41, "valid": True, "repeated": False}
    assert daemon.do("frontdoor.ingest", body, secret=secret)["repeated"]
    other = {**body, "record": original(seq=41), "files": []}
    refused = daemon.ask("frontdoor.ingest", other, secret=secret)
    assert refused == (409, {"kind": "already_exists", "id": "41"})
    item = daemon.do("frontdoor.get", {"seq": 41}, secret=secret)
    assert item["prose"] == {"requester_name": [NAME], "purpose_detail": [PROSE]}
    assert item["fields"] == {"purpose": "collaboration", "duration_minutes": 45}
    assert (daemon.home / "requests" / item["record"]["attachments"][0]["path"]).read_bytes() == raw


@pytest.mark.promise("frontdoor.operations-answer-what-the-library-does", "frontdoor.briefs-taint")
def test_a_request_goes_its_way_by_the_client(daemon: DaemonProcess, secret: str) -> None:
    """Briefed, triaged, reopened, parked and closed."""
    seq = extracted(daemon)
    with SyncMailClient(f"http://127.0.0.1:{daemon.port}", token=secret) as client:
        (brief,) = [brief for brief in client.frontdoor_next(limit=16).briefs if brief.seq == seq]
        assert brief.taint.untrusted
        assert client.frontdoor_triaged(seq=seq).to == "triaged"
        assert client.frontdoor_triaged(seq=seq).to == "triaged"
        assert client.frontdoor_reopen(seq=seq).to == "extracted"
        assert client.frontdoor_needs_info(seq=seq, note="which day?").to == "needs_info"
        listed = client.frontdoor_list(state="needs_info")
        assert [each.seq for each in listed.requests] == [seq]
        closed = client.frontdoor_close(seq=seq, reason="no answer")
        assert (closed.from_, closed.to) == ("needs_info", "closed")
        assert client.frontdoor_reconcile().total == 0
    marked = Briefed(daemon.home / "requests")
    assert marked.has("clerk")


def test_a_page_of_requests_follows_a_number(daemon: DaemonProcess, secret: str) -> None:
    """With how many there are, and what could not be read."""
    first, second = extracted(daemon), extracted(daemon)
    placed(daemon.home / "requests", b"{", name="0000000099-half.json")
    page = daemon.do("frontdoor.list", {"after": first, "limit": 1}, secret=secret)
    assert [each["seq"] for each in page["requests"]] == [second]
    assert page["total"] >= 2
    assert page["unreadable"] == [
        {"name": "0000000099-half.json", "reason": "is not JSON, or was not written to its end"}
    ]


@pytest.mark.promise("frontdoor.operations-answer-what-the-library-does")
def test_prose_waits_where_no_model_is_configured(daemon: DaemonProcess, secret: str) -> None:
    """The refusal names what is missing."""
    placed(daemon.home / "requests", original(seq=77))
    refused = daemon.ask("frontdoor.extract", {"seq": 77}, secret=secret)
    assert refused == (404, {"kind": "unknown_item", "id": "model"})


@pytest.mark.parametrize(
    ("operation", "more"),
    [("get", {}), ("triaged", {}), ("close", {"reason": "spam"}), ("extract", {}), ("reopen", {})],
)
def test_a_request_that_is_not_there_is_named(
    daemon: DaemonProcess, secret: str, operation: str, more: dict[str, Any]
) -> None:
    """By its number, which is all that is known of it."""
    refused = daemon.ask(f"frontdoor.{operation}", {"seq": 9, **more}, secret=secret)
    assert refused == (404, {"kind": "unknown_item", "id": "9"})


@pytest.mark.promise("frontdoor.unknown-keys-are-not-quoted", "frontdoor.a-run-never-sees-the-prose")
@pytest.mark.parametrize("operation", sorted(name for name in OPERATIONS if name.startswith("frontdoor.")))
def test_a_key_that_is_not_known_is_refused_and_not_repeated(
    daemon: DaemonProcess, secret: str, operation: str
) -> None:
    """It may be a stranger's word, however harmless it looks."""
    body = {"seq": 1, "reason": "x", "box_epoch": "e1", "record": original(), "plugh": 1}
    request = OPERATIONS[operation].request
    assert request is not None
    known = {key: value for key, value in body.items() if key in {*request.model_fields, "plugh"}}
    refused = daemon.ask(operation, known, secret=secret)
    assert refused == (400, {"kind": "malformed", "field": "request", "reason": "has an unknown key"})


@pytest.mark.promise("frontdoor.nothing-rots-silently")
def test_doctor_names_what_is_stuck_and_quotes_nothing(tmp_path: Path) -> None:
    """By its number; without a folder of requests it says nothing of them."""
    effective = load({}, home=tmp_path)
    assert [each for each in examine(effective) if each.check == "requests"] == []
    placed(tmp_path / "requests", original(seq=7, valid=False))
    for seq in range(20, 32):
        placed(tmp_path / "requests", original(seq=seq, state="extraction_failed"))
    found = [each for each in examine(effective) if each.check == "requests"]
    assert [each.state for each in found] == ["note", *["bad"] * 9, "note"]
    assert found[0].text.startswith("request 7 is not valid")
    assert found[-1].text == "3 more; see mail4agent frontdoor list"
    assert PROSE not in str(found)
    (tmp_path / "requests").rename(tmp_path / "elsewhere")
    (tmp_path / "requests").symlink_to(tmp_path / "elsewhere")
    assert [each.state for each in examine(effective) if each.check == "requests"] == ["bad"]


@pytest.mark.promise("frontdoor.the-prose-has-one-door")
def test_one_operation_serves_prose_and_to_one_capability(daemon: DaemonProcess) -> None:
    """No door but HTTP has it, and no other capability opens it."""
    assert OPERATIONS["frontdoor.get"].doors == ("http",)
    assert OPERATIONS["frontdoor.get"].capability == ("frontdoor:review",)
    others = ["frontdoor:drain", "frontdoor:extract", "frontdoor:brief"]
    secret = daemon.register("nosy")
    daemon.do("admin.participant.permit", {"id": "nosy", "grant": others, "revoke": []})
    seq = extracted(daemon)
    refused = daemon.ask("frontdoor.get", {"seq": seq}, secret=secret)
    assert refused == (403, {"kind": "permission_denied", "need": "frontdoor:review"})
    for operation, body in (
        ("frontdoor.next", {"limit": 16}),
        ("frontdoor.triaged", {"seq": seq}),
        ("frontdoor.extract", {}),
    ):
        answer = str(daemon.ask(operation, body, secret=secret))
        assert PROSE not in answer
        assert NAME not in answer
