"""Rows that no real box gives: a person sees each, none stops those behind it, and none comes home twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.daemon.intake.manifests import TALK, VISIT

from .home import Home, home_of
from .hostile_box import HostileBox, hostile_box

KEY = "k" * 43
BLOB = "b" * 32
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with the types visit and talk."""
    with home_of(tmp_path_factory.mktemp("home"), VISIT, TALK) as made:
        yield made


@pytest.fixture
def box() -> Iterator[HostileBox]:
    """A box that somebody took over."""
    with hostile_box() as made:
        yield made


def visit(seq: int, **more: Any) -> dict[str, Any]:
    """A row as it should be."""
    return {
        "seq": seq,
        "type_id": "visit",
        "type_version": 1,
        "created_at": "2026-12-01T10:00:00Z",
        "values": {"visitor_email": f"v{seq}@example.net"},
        "attachments": [],
        **more,
    }


def talk(seq: int, blob: str, content: bytes, **said: Any) -> dict[str, Any]:
    """A row with a file, and what it says of the file."""
    told = {
        "field": "slides",
        "filename": "a.pdf",
        "size": len(content),
        "sha256": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "content_type": "application/pdf",
        "blob": blob,
        **said,
    }
    return visit(seq, type_id="talk", values={"email": f"v{seq}@example.net"}, attachments=[told])


@pytest.mark.promise("drain.a-bad-row-stops-nothing")
def test_a_hundred_bad_rows_stand_in_no_good_ones_way(home: Home, box: HostileBox) -> None:
    """Each becomes an invalid record, is acknowledged, and the good one behind them comes home valid."""
    bad: list[Any] = [visit(number, surprise="x") for number in range(1001, 1099)]
    bad += [visit(1099, type_id="nosuch"), visit(1100, values={"visitor_email": "no address"})]
    box.rows = [*bad, visit(1101)]
    tally = home.drained(box.url, KEY)
    assert tally == {
        "drained": 101, "written": 101, "already_held": 0, "invalid": 100, "acknowledged": 101, "left": 0,
    }  # fmt: skip
    assert home.record_of(1101)["valid"] is True
    assert not any(home.record_of(number)["valid"] for number in range(1001, 1101))
    assert home.drained(box.url, KEY)["drained"] == 0


@pytest.mark.promise("drain.a-bad-row-stops-nothing")
def test_a_row_without_a_number_is_passed_over_and_told(home: Home, box: HostileBox) -> None:
    """It can be neither kept nor acknowledged."""
    box.rows = ["no row", {"seq": "2001"}, visit(2001)]
    done = home.run(box.url, KEY)
    assert done.exit_code == 0, done.output
    assert "has no number" in done.stderr
    assert home.record_of(2001)["valid"] is True
    assert box.acknowledged == [2001]


@pytest.mark.promise("drain.a-bad-row-stops-nothing")
@pytest.mark.parametrize(
    ("seq", "served", "said"),
    [
        (3001, b"%PDF-1.4 another", {}),
        (3002, PDF + b"more", {}),
        (3003, PDF[:-1], {}),
        (3004, PDF, {"sha256": "sha256:" + "0" * 64}),
    ],
)
def test_a_file_that_is_not_what_the_box_says_of_it_is_kept_by_nobody(
    home: Home, box: HostileBox, seq: int, served: bytes, said: dict[str, Any]
) -> None:
    """The record is invalid, and has no file."""
    box.blobs[BLOB] = served
    box.rows = [talk(seq, BLOB, PDF, **said)]
    tally = home.drained(box.url, KEY)
    assert (tally["written"], tally["invalid"], tally["acknowledged"]) == (1, 1, 1)
    record = home.record_of(seq)
    assert (record["valid"], record.get("attachments", [])) == (False, [])


@pytest.mark.promise("drain.a-bad-row-stops-nothing")
def test_a_row_whose_file_cannot_be_had_now_waits_and_stops_none_behind_it(
    home: Home, box: HostileBox
) -> None:
    """It stays in the box and comes home with a later drain."""
    box.rows = [talk(4001, BLOB, PDF), visit(4002)]
    tally = home.drained(box.url, KEY)
    assert (tally["written"], tally["left"], box.acknowledged) == (1, 1, [4002])
    box.blobs[BLOB] = PDF
    assert home.drained(box.url, KEY)["written"] == 1
    record = home.record_of(4001)
    assert record["valid"] is True
    assert (home.daemon.home / "requests" / record["attachments"][0]["path"]).read_bytes() == PDF


@pytest.mark.promise("drain.brings-each-submission-home-once")
def test_a_row_whose_acknowledgement_was_lost_comes_home_once(home: Home, box: HostileBox) -> None:
    """The box gives it again; home knows it, and it is acknowledged once more."""
    box.rows = [visit(5001)]
    box.losing = 1
    home.run(box.url, KEY)
    box.rows = [visit(5001)]
    tally = home.drained(box.url, KEY)
    assert (tally["written"], tally["already_held"], tally["acknowledged"]) == (0, 1, 1)
    assert home.record_of(5001)["valid"] is True
    box.rows = [visit(5001, values={"visitor_email": "other@example.net"})]
    assert home.drained(box.url, KEY)["left"] == 1
    assert home.record_of(5001)["values"]["visitor_email"] == "v5001@example.net"
