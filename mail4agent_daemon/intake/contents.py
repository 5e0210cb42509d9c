"""What kind of file bytes are, told by the bytes alone: PDF, PNG or JPEG from their first byte to their last.

Nothing is unpacked or drawn. A file that is two things at once is refused: bytes behind the end of the
picture or document, or the directory of a ZIP archive that reaches to the last byte.
"""

from typing import Literal

ContentType = Literal["application/pdf", "image/png", "image/jpeg"]
_PNG = b"\x89PNG\r\n\x1a\n"
_ZIP_END = b"PK\x05\x06"
_ZIP_END_BYTES = 22
_COMMENT_MAX = 65_535
_PDF_TAIL = 1_024
#: Segments of a JPEG that have no length.
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))
#: Endings of names, by what a file must be to have them.
ENDINGS: dict[str, ContentType] = {
    "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
}  # fmt: skip


def content_type(raw: bytes) -> ContentType | None:
    """What the bytes are, None for anything else and for what is two things at once."""
    if _is_archive(raw):
        return None
    if _is_pdf(raw):
        return "application/pdf"
    if _is_png(raw):
        return "image/png"
    return "image/jpeg" if _is_jpeg(raw) else None


def _is_archive(raw: bytes) -> bool:
    """Whether a reader of ZIP would find its directory, which it looks for from the end."""
    at = len(raw) - _ZIP_END_BYTES
    least = max(0, at - _COMMENT_MAX)
    while (at := raw.rfind(_ZIP_END, least, at + len(_ZIP_END))) >= 0:
        if at + _ZIP_END_BYTES + int.from_bytes(raw[at + 20 : at + 22], "little") >= len(raw):
            return True
        at -= 1
    return False


def _is_pdf(raw: bytes) -> bool:
    if not raw.startswith(b"%PDF-"):
        return False
    end = raw.rfind(b"%%EOF", max(0, len(raw) - _PDF_TAIL))
    return end >= 0 and not raw[end + 5 :].strip(b"\r\n\t \x00")


def _is_png(raw: bytes) -> bool:
    if not raw.startswith(_PNG) or raw[12:16] != b"IHDR":
        return False
    at = len(_PNG)
    while at + 12 <= len(raw):
        size = int.from_bytes(raw[at : at + 4], "big")
        kind = raw[at + 4 : at + 8]
        at += 12 + size
        if kind == b"IEND":
            return size == 0 and at == len(raw)
    return False


def _is_jpeg(raw: bytes) -> bool:
    if not raw.startswith(b"\xff\xd8\xff") or not raw.endswith(b"\xff\xd9"):
        return False
    at = 2
    while at + 4 <= len(raw):
        if raw[at] != 0xFF:
            return False
        marker = raw[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _BARE:
            at += 2
        elif marker == 0xDA:
            return _ends_once(raw, at)
        elif marker == 0xD9:
            return False
        else:
            size = int.from_bytes(raw[at + 2 : at + 4], "big")
            if size < 2:
                return False
            at += 2 + size
    return False


def _ends_once(raw: bytes, scan: int) -> bool:
    """Whether the end of the picture is the end of the file: within its data 0xFF 0xD9 cannot stand."""
    return raw.find(b"\xff\xd9", scan) == len(raw) - 2
