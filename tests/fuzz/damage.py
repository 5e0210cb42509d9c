"""Damaged files: mutations of good ones, and bytes that break readers by themselves."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

#: Bytes that a reader must survive whatever it reads: each broke some reader somewhere.
KNOWN: dict[str, bytes] = {
    "nothing": b"",
    "a line feed": b"\n",
    "zeros": bytes(4096),
    "no UTF-8": b"\xff\xfe\xfd",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": "{}".encode("utf-16"),
    "deep lists": b"[" * 3000,
    "deep lists that end": b"[" * 60_000 + b"]" * 60_000,
    "deep objects": b'{"a":' * 3000 + b"1" + b"}" * 3000,
    "deep lists of TOML": b"a = " + b"[" * 3000 + b"]" * 3000,
    "deep tables of TOML": b"a = " + b"{a = " * 1500 + b"1" + b"}" * 1500,
    "a long key of TOML": b"[" + b"a." * 3000 + b"a]\n",
    "a great number": b'{"seq": ' + b"9" * 5000 + b"}",
    "a great number of TOML": b"a = " + b"9" * 5000,
    "a great exponent": b'{"ends_ms": 1e400, "seq": 1e400, "pid": -1e400}',
    "no number": b'{"seq": NaN, "at": Infinity}',
    "a date that is none": b"a = 2026-02-31T25:61:61Z",
    "a lone surrogate": b'{"body": "\\ud800", "id": "\\udfff"}',
    "a key twice": b'{"id": 1, "id": 2}',
    "a text": b'"text"',
    "null": b"null",
    "a list": b"[1, 2]",
    "many lines": b"{}\n" * 5000,
    "a line that never ends": b'{"v":2,' + b" " * 100_000,
}
#: Values that stand where others are expected.
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**53 + 1, 2**64, -(2**63) - 1, 1e308, 0.5, "", "\x00", "a\nb", "../../x",
    "\u202e", "x" * 5000, "\ud800", [], {}, [[]], {"": None}, [{}], ["a", 1], {"a": {"b": {"c": []}}},
)  # fmt: skip
PIECES = (
    b"\x00",
    b"\xff",
    b"\n",
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\u0000",
    b"9" * 400,
    b"=",
    b"'''",
    b"#",
    b",",
)


def odd(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with one part of it, or itself, replaced, removed or renamed."""
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        what = draw(st.integers(0, 5))
        rest = {each: part for each, part in value.items() if each != key}
        if what == 0:
            return rest
        if what == 1:
            return {**rest, draw(st.sampled_from(["", "_x", "id", "\x00", "schema"])): value[key]}
        return {**value, key: odd(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], odd(draw, value[at]), *value[at + 1 :]]
    return draw(st.sampled_from(ODD))


@st.composite
def damaged(draw: st.DrawFn, good: bytes) -> bytes:
    """A good file with a few parts of it changed; of JSON, whole values."""
    if draw(st.booleans()):
        lines = good.splitlines() if b"\n{" in good.strip() else [good]
        try:
            values = [json.loads(line) for line in lines]
        except (ValueError, UnicodeDecodeError):
            pass
        else:
            at = draw(st.integers(0, len(values) - 1))
            values[at] = odd(draw, values[at])
            ending = b"\n" if len(values) > 1 or good.endswith(b"\n") else b""
            return b"\n".join(json.dumps(value).encode() for value in values) + ending
    raw = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(raw)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)))
        raw[at : at + draw(st.integers(0, 12))] = piece
    return bytes(raw[: draw(st.integers(0, len(raw)))] if draw(st.integers(0, 4)) == 0 else raw)
