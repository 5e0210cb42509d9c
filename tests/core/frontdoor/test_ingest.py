"""Taking in what a drain brings: each submission once, with all of its files, whenever the work stops."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import AlreadyExistsError, MalformedError, StoreUnavailableError, TooLargeError
from mail4agent_core.files import Folder
from mail4agent_core.frontdoor.ingest import OWN_MAX, Receipt, ingest
from mail4agent_core.frontdoor.quarantine import Reader, prose
from mail4agent_core.frontdoor.store import Frontdoor
from mail4agent_core.frontdoor.submission import DRAIN_SAID, NO_TYPE, NOT_VALID, OURS, Submission

from .records import NAME, PDF, PROSE, attachment, original, placed, record, types


def submission(epoch: str = "e1", files: dict[str, bytes] | None = None, **changes: Any) -> Submission:
    """A drained submission."""
    return Submission.of(epoch, original(**changes), files or {})


def with_file(**changes: Any) -> Submission:
    """One with a file."""
    return submission(files={"cv": PDF}, attachments=[attachment()], **changes)


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_a_submission_becomes_a_record_with_its_files_beside_it(store: Frontdoor) -> None:
    """Under a name of home's own, private; the record says of which box it is the which."""
    receipt = ingest(store, with_file(seq=41, type_version=1, later={"kept": 1}))
    assert receipt == Receipt(41, valid=True, repeated=False)
    held = store.record(41)
    assert (held.state, held.box_seq, held.box_epoch, held.type_version) == ("drained", 41, "e1", 1)
    assert held.raw["later"] == {"kept": 1}
    path = store.root / held.attachments[0].path
    assert held.attachments[0].path == "attachments/0000000041/cv.pdf"
    assert path.read_bytes() == PDF
    assert path.stat().st_mode & 0o777 == 0o600
    assert (store.root / "0000000041-meeting.json").exists()


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
@pytest.mark.parametrize(
    ("changes", "files"),
    [
        ({"sha256": f"sha256:{'0' * 64}"}, {"cv": PDF}),
        ({"size": len(PDF) + 1}, {"cv": PDF}),
        ({}, {"cv": PDF + b"!"}),
        ({}, {}),
        ({}, {"cv": PDF, "other": PDF}),
        ({"field": "_cv"}, {"_cv": PDF}),
        ({"field": "../cv"}, {"../cv": PDF}),
        ({"content_type": "text/html"}, {"cv": PDF}),
    ],
)
def test_a_file_that_is_not_what_its_record_says_is_refused_and_nothing_is_kept(
    store: Frontdoor, changes: dict[str, Any], files: dict[str, bytes]
) -> None:
    """Digests that lie, sizes that lie, files that are missing or that nobody listed."""
    with pytest.raises(MalformedError):
        ingest(store, Submission.of("e1", original(attachments=[attachment(**changes)]), files))
    assert [each.name for each in store.root.iterdir()] == []


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_a_file_of_which_nobody_says_yet_where_it_rests_is_kept(store: Frontdoor) -> None:
    """The contract's null for a path is as good as no path."""
    ingest(store, submission(seq=1, files={"cv": PDF}, attachments=[attachment(path=None)]))
    assert store.record(1).attachments[0].path == "attachments/0000000001/cv.pdf"


@pytest.mark.promise("frontdoor.a-submission-is-known-by-its-box")
def test_the_same_submission_is_acknowledged_again_and_other_content_is_refused(store: Frontdoor) -> None:
    """Whatever has become of it meanwhile."""
    first = ingest(store, with_file(seq=41))
    store.write(store.record(41).changed(state="closed"))
    again = ingest(store, with_file(seq=41, drained_at="2026-08-07T00:00:00Z"))
    assert (first.seq, again) == (41, Receipt(41, valid=True, repeated=True))
    assert store.record(41).state == "closed"
    for other in (submission(seq=41), with_file(seq=41, values={"purpose": "talk"})):
        with pytest.raises(AlreadyExistsError):
            ingest(store, other)
    assert len(store.listing().entries) == 1


@pytest.mark.promise("frontdoor.a-submission-is-known-by-its-box")
def test_a_box_that_counts_from_one_again_gets_numbers_of_home(store: Frontdoor) -> None:
    """And keeps getting them, next to each other."""
    assert ingest(store, submission("e1", seq=41)).seq == 41
    assert ingest(store, submission("e1", seq=3)).seq == 3
    assert ingest(store, submission("e2", seq=3)).seq == 42
    assert ingest(store, submission("e2", seq=90)).seq == 43
    assert ingest(store, submission("e2", seq=3)) == Receipt(42, valid=True, repeated=True)
    assert (store.record(42).box_seq, store.record(42).box_epoch) == (3, "e2")


@pytest.mark.promise("frontdoor.a-submission-is-known-by-its-box")
def test_a_number_that_a_file_of_nobody_has_is_not_given_twice(store: Frontdoor) -> None:
    """What cannot be read may be a request all the same."""
    placed(store.root, b"{", name="0000000041-meeting.json")
    assert ingest(store, submission(seq=41)).seq == 42
    assert ingest(store, submission(seq=OWN_MAX + 1)).seq == 43


@pytest.mark.promise("frontdoor.a-submission-is-known-by-its-box")
def test_what_the_originals_drain_brought_already_is_not_brought_again(store: Frontdoor) -> None:
    """Its record has no epoch; it is known by its content."""
    placed(store.root, original(seq=41, state="triaged"))
    assert ingest(store, submission(seq=41)) == Receipt(41, valid=True, repeated=True)
    assert ingest(store, submission(seq=41, created_at="2026-08-09T00:00:00Z")).seq == 42


@pytest.mark.promise("frontdoor.a-submission-is-known-by-its-box")
def test_other_values_than_the_originals_drain_brought_are_another_request(store: Frontdoor) -> None:
    """To acknowledge them would lose them: the box forgets what was acknowledged."""
    placed(store.root, original(seq=41))
    assert ingest(store, submission(seq=41, values={"purpose": "talk"})).seq == 42


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_a_file_of_the_original_that_cannot_be_read_whole_keeps_no_submission_out(store: Frontdoor) -> None:
    """The submission gets another number."""
    raw = json.dumps(original(seq=41)).replace("45", "1e999")
    placed(store.root, raw.encode(), name="0000000041-meeting.json")
    assert ingest(store, submission(seq=41)).seq == 42


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_an_empty_extraction_is_only_said_at_home_too() -> None:
    """A request that a person reopened would count as extracted."""
    with pytest.raises(MalformedError):
        submission(extraction={})


@pytest.mark.promise("frontdoor.closed-by-default")
def test_the_local_type_says_what_is_valid_and_what_is_prose(store: Frontdoor) -> None:
    """Not the drain, which may be wrong or worse."""
    values = {"requester_name": NAME, "email": "ada@example.org", "purpose": "talk", "_slot": PROSE}
    ingest(store, submission(seq=1, values=values, free_text=[], reply_to="eve@example.org"))
    held = store.record(1)
    assert held.reply_to == "ada@example.org"
    assert held.free_text == ("requester_name", "email", "_slot")
    assert set(dict(prose(held, types("meeting", 1)).open(Reader.PERSON))) == set(held.free_text)


@pytest.mark.promise("frontdoor.closed-by-default")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"type_id": "visit"}, NO_TYPE),
        ({"type_version": 2}, NO_TYPE),
        ({"values": {"smuggled": PROSE}}, NOT_VALID),
        ({"values": {"email": "Eve <eve@example.org>"}}, NOT_VALID),
        ({"valid": False}, DRAIN_SAID),
        ({"valid": ...}, DRAIN_SAID),
    ],
)
def test_what_the_local_type_does_not_take_is_kept_as_invalid(
    store: Frontdoor, changes: dict[str, Any], reason: str
) -> None:
    """With its raw values, no list of prose and nowhere to reply to."""
    assert not ingest(store, submission(**changes)).valid
    held = store.record(1)
    assert (held.valid, held.raw["invalid_reason"], held.free_text, held.reply_to) == (
        False,
        reason,
        (),
        None,
    )
    assert dict(held.values) == changes.get("values", original()["values"])


@pytest.mark.promise("frontdoor.closed-by-default")
@pytest.mark.parametrize("name", OURS)
def test_what_is_only_said_at_home_is_refused_from_a_drain(name: str) -> None:
    """An extraction or a note of a drain would be told a run."""
    said = {"outbox": ["d-1"], "extraction": {"topic": PROSE}, "note_by_person": True, "box_seq": 1}
    with pytest.raises(MalformedError) as refused:
        submission(**{name: said.get(name, PROSE)})
    assert refused.value.refusal.field == name
    assert PROSE not in str(refused.value.refusal)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"state": "extracted"}, MalformedError),
        ({"type_id": "Meeting"}, MalformedError),
        ({"created_at": "yesterday"}, MalformedError),
        ({"drained_at": "2026-99-06T00:00:00Z"}, MalformedError),
        ({"values": []}, MalformedError),
        ({"values": {"a": float("inf")}}, MalformedError),
        ({"values": {f"v{number}": 1 for number in range(201)}}, TooLargeError),
        ({"values": {"a": "x" * (1 << 20)}}, TooLargeError),
        ({"attachments": [attachment(field=f"f{number}") for number in range(17)]}, TooLargeError),
        ({"attachments": [attachment(), attachment()]}, MalformedError),
    ],
)
def test_a_submission_past_its_bounds_is_refused(changes: dict[str, Any], error: type[Exception]) -> None:
    """200 values, a mebibyte, 16 files."""
    with pytest.raises(error):
        submission(**changes)


def test_values_at_their_bounds_are_taken(store: Frontdoor) -> None:
    """200 of them."""
    ingest(store, submission(values={f"v{number}": 1 for number in range(200)}))
    assert len(store.record(1).values) == 200


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_a_disk_that_fails_leaves_no_record_and_the_next_try_finds_its_way(
    store: Frontdoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was left of the files is cleared away."""
    write = Folder.write

    def failing(self: Folder, name: str, raw: bytes, *, settle: bool = True) -> None:
        if name.endswith(".json"):
            raise OSError(28, "No space left on device")
        write(self, name, raw, settle=settle)

    monkeypatch.setattr(Folder, "write", failing)
    with pytest.raises(StoreUnavailableError):
        ingest(store, with_file(seq=41))
    monkeypatch.undo()
    assert store.listing().entries == ()
    left = store.root / "attachments" / "0000000041"
    (left / "old.pdf").write_bytes(b"of another")
    assert ingest(store, with_file(seq=41)).seq == 41
    assert [path.name for path in left.iterdir()] == ["cv.pdf"]


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_a_link_in_place_of_the_files_folder_is_not_followed(store: Frontdoor, tmp_path: Path) -> None:
    """Whoever planted it would get the bytes."""
    (tmp_path / "there").mkdir()
    (store.root / "attachments").symlink_to(tmp_path / "there")
    with pytest.raises(StoreUnavailableError):
        ingest(store, with_file())
    assert list((tmp_path / "there").iterdir()) == []
    assert store.listing().entries == ()


def _drain(root: Path, start: int, pipe: int) -> None:
    """Bring submissions for ever; write the number of each that was acknowledged."""
    with Frontdoor.open(root, types=types) as opened:
        for number in range(start, start + 100_000):
            raw = b"%PDF" + bytes(64) * number
            listed = attachment(raw)
            said = Submission.of("e1", original(seq=number, attachments=[listed]), {"cv": raw})
            receipt = ingest(opened, said)
            os.write(pipe, f"{number} {receipt.seq}\n".encode())


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
def test_a_drain_that_is_killed_loses_nothing_acknowledged_and_leaves_no_record_without_its_file(
    tmp_path: Path,
) -> None:
    """Twenty kills, each after as many acknowledgements as the last one had not."""
    root = tmp_path / "requests"
    acknowledged: dict[int, int] = {}
    for kill in range(20):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                _drain(root, kill * 3 + 1, writing)
            finally:
                os._exit(1)
        os.close(writing)
        with os.fdopen(reading, "rb") as lines:
            for _ in range(kill % 4 + 1):
                number, seq = map(int, lines.readline().split())
                acknowledged[number] = seq
            os.kill(child, signal.SIGKILL)
            # What it wrote before the signal came was acknowledged as well.
            for line in lines:
                if line.endswith(b"\n"):
                    number, seq = map(int, line.split())
                    acknowledged[number] = seq
        os.waitpid(child, 0)
    with Frontdoor.open(root, types=types) as opened:
        listing = opened.listing()
        assert (listing.unreadable, listing.duplicates) == ((), frozenset())
        for number, seq in acknowledged.items():
            assert (seq, opened.record(seq).box_seq) == (number, number)
        for entry in listing.entries:
            held = opened.record(entry.seq)
            raw = (root / held.attachments[0].path).read_bytes()
            assert attachment(raw)["sha256"] == held.attachments[0].sha256
        # Brought again, what was not acknowledged and what was are told apart by what is there.
        assert ingest(opened, submission(seq=99_999)).repeated is False


def test_the_example_is_a_submission() -> None:
    """As the drain writes it."""
    assert submission().record == record()
