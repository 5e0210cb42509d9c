"""Files: only those that are asked for, told by their bytes, whole, and nothing else besides."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from mail4agent_daemon.intake.contents import content_type

from .house import House, house, multipart
from .manifests import TALK

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xda\x00\x02\x12\x34\xff\xd9"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\0"))
    + _chunk(b"IEND", b"")
)


def archive(content: bytes = b"\0" * 1_000_000) -> bytes:
    """A ZIP file that unpacks to much more than it is."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("bomb", content)
    return raw.getvalue()


def commented(content: bytes) -> bytes:
    """A ZIP archive whose comment is the end of a PDF, behind the beginning of one."""
    raw = io.BytesIO(b"%PDF-1.4\n")
    raw.seek(0, io.SEEK_END)
    with zipfile.ZipFile(raw, "a") as packed:
        packed.writestr("x", content)
        packed.comment = b"\n%%EOF\n"
    return raw.getvalue()


@pytest.mark.promise("intake.a-file-is-one-thing")
@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (PDF, "application/pdf"), (PNG, "image/png"), (JPEG, "image/jpeg"),
        (b"", None), (PDF[:-7], None), (b" " + PDF, None), (PDF + b"<html>", None), (PDF + archive(), None),
        (commented(b"x"), None), (archive(), None), (PNG + b"\0", None), (PNG[:-1], None),
        (PNG + archive(), None), (PNG.replace(b"IHDR", b"IDAT"), None),
        (JPEG + b"\0", None), (JPEG[:-1], None), (JPEG + JPEG, None),
        (JPEG + archive(), None), (b"\xff\xd8\xff\xd9", None), (b"GIF89a" + PDF, None), (b"<svg>", None),
        (b"MZ" + PDF, None), (b"\x89PNG\r\n\x1a\n" + b"\xff" * 40, None),
    ],
)  # fmt: skip
def test_a_file_is_told_by_its_bytes_from_first_to_last(raw: bytes, kind: str | None) -> None:
    """What is two things, is cut, or has something behind its end is none."""
    assert content_type(raw) == kind


@pytest.fixture
def upload(open_house: House) -> str:
    """The path at which a confirmed submission takes its files."""
    return open_house.confirmed("talk", {"email": open_house.fresh()}).json["upload"]


@pytest.mark.promise("intake.a-refused-file-keeps-the-link")
@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([], "slides"),
        ([("slides", "", b"")], "slides"),
        ([("picture", "a.png", PNG)], "slides"),
        ([("slides", "a.pdf", archive())], "slides"),
        ([("slides", "a.png", PNG)], "slides"),
        ([("slides", "a.pdf", PNG)], "slides"),
        ([("slides", "a.pdf.exe", PDF)], "slides"),
        ([("slides", "../../a.pdf", PDF)], "slides"),
        ([("slides", "a\u202efdp.pdf", PDF)], "slides"),
        ([("slides", ".pdf", PDF)], "slides"),
        ([("slides", "a" * 256 + ".pdf", PDF)], "slides"),
        ([("slides", "a.pdf", b"%PDF-1.4" + b" " * 100_000 + b"%%EOF")], "slides"),
        ([("slides", "a.pdf", PDF), ("slides", "b.pdf", PDF)], "slides"),
        ([("slides", "a.pdf", PDF), ("email", "b.pdf", PDF)], "request"),
    ],
)
def test_files_that_are_not_good_are_refused_and_the_link_stays(
    open_house: House, upload: str, parts: list[tuple[str, str, bytes]], field: str
) -> None:
    """The field is named, and another try on the same link succeeds."""
    answer = open_house.upload(upload, parts)
    assert (answer.status, answer.json["kind"], answer.json["field"]) == (400, "malformed", field)
    page = open_house.upload(upload, parts, "text/html")
    assert page.status == 400
    assert 'id="summary"' in page.text
    good = [("slides", "my talk.pdf", PDF), ("picture", "Ä nice one.PNG", PNG)]
    assert open_house.upload(upload, good).json == {"step": "queued", "upload": None}
    assert open_house.upload(upload, good).status == 404
    names = [each["filename"] for each in open_house.queued()[-1]["attachments"]]
    assert names == ["Ä nice one.PNG", "my talk.pdf"]


@pytest.mark.parametrize(
    ("raw", "kind", "status"),
    [
        (b"", "multipart/form-data; boundary=b-1", 400),
        (multipart([("slides", "a.pdf", PDF)])[:-6], "multipart/form-data; boundary=b-1", 400),
        (multipart([("slides", "a.pdf", PDF)] * 21), "multipart/form-data; boundary=b-1", 400),
        (b"--b-1\r\nX: y\r\n\r\nz\r\n--b-1--\r\n", "multipart/form-data; boundary=b-1", 400),
        (
            multipart([("slides", "a.pdf", PDF)]).replace(b'filename="a', b'filename="\xff'),
            "multipart/form-data; boundary=b-1",
            400,
        ),
        (multipart([("slides", "a.pdf", PDF)]), "multipart/form-data", 415),
        (multipart([("slides", "a.pdf", PDF)]), "multipart/mixed; boundary=b-1", 415),
        (b"slides=x", "application/x-www-form-urlencoded", 415),
    ],
)
def test_a_body_that_is_no_upload_is_refused(
    open_house: House, upload: str, raw: bytes, kind: str, status: int
) -> None:
    """Cut, crowded, without a name, with a name that is no UTF-8, or of another type."""
    answer = open_house.ask("POST", upload, raw, {"Content-Type": kind})
    assert answer.status == status, answer.body
    assert answer.json["kind"] in {"malformed", "unsupported_media_type"}


def test_more_than_the_files_may_be_is_refused_by_its_head(open_house: House, upload: str) -> None:
    """The bound is the sum of what this submission still takes."""
    answer = open_house.upload(upload, [("slides", "a.pdf", b"x" * 300_000)])
    assert (answer.status, answer.json["kind"]) == (413, "request_too_large")


def test_the_bytes_of_a_network_are_counted_by_the_day(tmp_path: Path) -> None:
    """Refused uploads count too."""
    with house(tmp_path / "box", TALK, upload_bytes_per_network_per_day=1_000) as made:
        upload = made.confirmed("talk", {"email": made.fresh()}).json["upload"]
        assert made.upload(upload, [("slides", "a.pdf", b"x" * 500)]).status == 400
        answer = made.upload(upload, [("slides", "a.pdf", PDF + b" " * 500)])
        assert (answer.status, answer.json["kind"]) == (429, "rate_limited")
