"""The files that a confirmed submission still takes: parts of one body, each looked at and measured.

The declared type of a part says nothing. Its name is kept to be shown to a person, never used as a path, and
must not mislead: one plain line that ends as what the file is.
"""

import hashlib
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from mail4agent_api.errors import MalformedError, UnsupportedMediaTypeError
from mail4agent_core.frontdoor.manifest import Problem

from .contents import ENDINGS, ContentType, content_type

PARTS_MAX = 20
#: What a body has besides its files: boundaries and heads.
OVERHEAD_BYTES = 65_536
NAME_MAX_BYTES = 255
#: Letters, digits, marks and plain signs; nothing that separates, hides or turns text around.
_UNPLAIN = re.compile(
    '[\x00-\x1f\x7f-\x9f/\\\\:*?"<>|\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e'
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_NOT_A_KIND = "must be a PDF, a PNG or a JPEG, whole and nothing else besides"
_NOT_A_NAME = "must have a plain file name that ends in .pdf, .png, .jpg or .jpeg, as the file is"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it was measured."""

    blob: str
    field: str
    filename: str
    #: ``sha256:`` and 64 hexadecimal digits.
    sha256: str
    content_type: ContentType
    content: bytes

    @property
    def measured(self) -> dict[str, object]:
        """What a form validates of it."""
        return {
            "filename": self.filename,
            "size": len(self.content),
            "sha256": self.sha256,
            "content_type": self.content_type,
        }


@dataclass(slots=True)
class _Part:
    field: str = ""
    filename: str | None = None
    content: bytes = b""


def boundary_of(headers: list[tuple[bytes, bytes]]) -> bytes:
    """The boundary that the one content type names. Raises UnsupportedMediaTypeError."""
    kinds = [value for name, value in headers if name == b"content-type"]
    packed = any(name == b"content-encoding" and value.lower() != b"identity" for name, value in headers)
    if len(kinds) != 1 or packed:
        raise UnsupportedMediaTypeError
    kind, options = parse_options_header(kinds[0].decode("latin-1"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 70:
        raise UnsupportedMediaTypeError
    return boundary


def uploads_of(raw: bytes, boundary: bytes, fields: Collection[str]) -> tuple[list[Upload], list[Problem]]:
    """The files of a body for the fields that take one, and what is wrong with them.

    A part of a browser in which nothing was chosen is none. Raises MalformedError for what is no such body.
    """
    uploads: list[Upload] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for part in _parts(raw, boundary):
        if part.field not in fields:
            problems.append(Problem("", "has a field that is not asked for"))
            continue
        if not part.filename and not part.content:
            continue
        if part.field in seen:
            problems.append(Problem(part.field, "is given more than once"))
            continue
        seen.add(part.field)
        kind = content_type(part.content)
        if kind is None:
            problems.append(Problem(part.field, _NOT_A_KIND))
        elif not _is_name(part.filename or "", kind):
            problems.append(Problem(part.field, _NOT_A_NAME))
        else:
            digest = "sha256:" + hashlib.sha256(part.content).hexdigest()
            uploads.append(
                Upload(secrets.token_hex(16), part.field, part.filename or "", digest, kind, part.content)
            )
    return uploads, sorted(set(problems))


def _is_name(name: str, kind: ContentType) -> bool:
    stem, dot, ending = name.rpartition(".")
    return (
        bool(dot and stem.strip(". "))
        and name == name.strip()
        and not name.startswith(".")
        and len(name.encode("utf-8", "replace")) <= NAME_MAX_BYTES
        and _UNPLAIN.search(name) is None
        and ENDINGS.get(ending.lower()) == kind
    )


def _parts(raw: bytes, boundary: bytes) -> list[_Part]:
    parts: list[_Part] = []
    reading = _Reading(parts)
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": reading.begin,
                "on_part_data": reading.data,
                "on_header_field": reading.header_name,
                "on_header_value": reading.header_value,
                "on_header_end": reading.header_end,
                "on_headers_finished": reading.headers_finished,
                "on_end": reading.end,
            },
        )
        parser.write(raw)
        parser.finalize()
    except FormParserError:
        raise _malformed() from None
    if not reading.ended:
        raise _malformed()
    for part, pieces in zip(parts, reading.contents, strict=True):
        part.content = b"".join(pieces)
    return parts


def _malformed() -> MalformedError:
    return MalformedError(field="request", reason="must be whole multipart/form-data")


class _Reading:
    """What the parser has told of so far."""

    def __init__(self, parts: list[_Part]) -> None:
        self.parts = parts
        self.contents: list[list[bytes]] = []
        self.ended = False
        self._name = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}

    def begin(self) -> None:
        """A further part."""
        if len(self.parts) >= PARTS_MAX:
            raise MalformedError(field="request", reason=f"must have at most {PARTS_MAX} parts")
        self.parts.append(_Part())
        self.contents.append([])
        self._headers = {}

    def data(self, raw: bytes, start: int, end: int) -> None:
        """A piece of the part's content."""
        self.contents[-1].append(raw[start:end])

    def header_name(self, raw: bytes, start: int, end: int) -> None:
        """A piece of a header's name."""
        self._name += raw[start:end]

    def header_value(self, raw: bytes, start: int, end: int) -> None:
        """A piece of a header's value."""
        self._value += raw[start:end]

    def header_end(self) -> None:
        """A whole header; one that is there twice could mean two things."""
        name = self._name.lower()
        if name in self._headers:
            raise _malformed()
        self._headers[name] = self._value
        self._name = self._value = b""

    def headers_finished(self) -> None:
        """The part's head."""
        kind, options = parse_options_header(self._headers.get(b"content-disposition", b"").decode("latin-1"))
        if kind != b"form-data" or b"name" not in options or b"content-transfer-encoding" in self._headers:
            raise _malformed()
        try:
            self.parts[-1].field = options[b"name"].decode("utf-8")
            filename = options.get(b"filename")
            self.parts[-1].filename = None if filename is None else filename.decode("utf-8")
        except UnicodeDecodeError:
            raise _malformed() from None

    def end(self) -> None:
        """The last boundary was there."""
        self.ended = True
