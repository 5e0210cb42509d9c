"""Seeded damage to valid requests: to the value, its bytes, the request around it, HTTP's framing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from mail4agent_api.operations import OPERATIONS
from tests import oracle

#: Waits end at once, whatever the mutation made of them.
WAITING = frozenset(("mail.inbox", "mail.wait"))


@dataclass(frozen=True, slots=True)
class Draft:
    """A well-framed HTTP/1.1 request, in its parts."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def raw(self) -> bytes:
        """The bytes to send, with the body's true length."""
        lines = [
            f"{self.method} {self.target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        if self.body or self.method in {"POST", "PUT", "PATCH"}:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join((*lines, "", "")).encode("latin-1") + self.body

    def with_header(self, name: str, *values: str) -> Draft:
        """The same request with these values for a header, none at all for no value."""
        kept = tuple(each for each in self.headers if each[0].lower() != name.lower())
        return replace(self, headers=(*kept, *((name, value) for value in values)))


class Mutator:
    """Draws damage from one random source."""

    def __init__(self, seed: int, port: int) -> None:
        self._random = Random(seed)
        self._port = port

    def value(self, value: Any) -> Any:
        """A JSON value with one part of it changed."""
        value = copy.deepcopy(value)
        holder = [value]
        where, key = self._random.choice(_places(holder))
        if isinstance(where, dict) and self._random.random() < 0.4:
            self._members(where, key)
        elif isinstance(where, list) and where is not holder and self._random.random() < 0.5:
            where.extend([where[key]] * self._random.choice((1, 9, 101, 257)))
        else:
            where[key] = self._other(where[key])
        return holder[0]

    def _members(self, members: dict[str, Any], key: str) -> None:
        match self._random.randrange(4):
            case 0:
                del members[key]
            case 1:
                members[
                    self._random.choice(
                        ("from", "sender", "__proto__", "constructor", "x" * 300, "é\n", "kind")
                    )
                ] = members[key]
            case 2:
                members[key.upper()] = members.pop(key)
            case _:
                members[key] = None

    def _other(self, value: Any) -> Any:
        pool: list[Any] = [
            None, True, False, 0, -1, 1, 256, 257, 60, 61, 65_535, 65_536, 2**32, 2**53, 2**63 - 1, 2**63,
            2**64 - 1, 2**64, 10**30, 0.5, 1.0, 1e300,
            "", " ", "\n", "\u0000", "\u007f", "\u0085", "a\n", "../../etc/passwd", "' OR 1=1 --", "ada",
            "desk", "direct", "session", "room", "s-00000000",
            "m4a_" + "0" * 24, "é" * 256, "é" * 257, "a" * 512, "a" * 513, "😀" * 128, "a" * 65_536,
            "a" * 65_537, "é" * 32_769, [], [[]], {}, {"kind": "direct"},
        ]  # fmt: skip
        if isinstance(value, str) and value and self._random.random() < 0.3:
            at = self._random.randrange(len(value))
            return (
                value[:at]
                + self._random.choice(("\u202e", "\ufeff", "A", "\x1b", "%", '"'))
                + value[at + 1 :]
            )
        return self._random.choice(pool)

    def text(self, raw: bytes) -> bytes:
        """JSON text damaged as bytes."""
        random = self._random
        at = random.randrange(len(raw) + 1)
        end = min(len(raw), at + random.choice((1, 2, 5, 20)))
        damage: tuple[Callable[[], bytes], ...] = (
            lambda: raw[:at],
            lambda: raw[:at] + raw[end:],
            lambda: raw[:end] + raw[at:],
            lambda: (
                raw[:at] + bytes([raw[at] ^ 1 << random.randrange(8)]) + raw[at + 1 :]
                if at < len(raw)
                else raw + b"\0"
            ),
            lambda: raw[:at] + random.randbytes(random.choice((1, 3, 8))) + raw[at:],
            lambda: (
                raw[:at]
                + random.choice(
                    (b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xc0\x80", b"\xf5")
                )
                + raw[at:]
            ),
            lambda: random.choice((b"\xef\xbb\xbf", b"\xff\xfe", b" ", b"\n", b"\x00", b"//", b"[")) + raw,
            lambda: raw + random.choice((b" ", b"\n", b"\x00", b",", b"}", b"{}", b"null", b"\xef\xbb\xbf")),
            lambda: raw.decode().encode(random.choice(("utf-16", "utf-32", "utf-16-be", "utf-7"))),
            lambda: _twice(raw),
            lambda: _numbered(
                raw,
                random.choice(
                    (
                        b"NaN",
                        b"Infinity",
                        b"-Infinity",
                        b"1e400",
                        b"1e2",
                        b"-0",
                        b"-0.0",
                        b"00",
                        b"+1",
                        b"1.",
                        b"0x10",
                        b"1" * 5000,
                    )
                ),
            ),
            lambda: b"[" * random.choice((64, 199, 201, 5000)) + b"]" * random.choice((64, 199, 201)),
            lambda: b'{"to":' * 300 + b"1" + b"}" * 300,
        )
        return random.choice(damage)()

    def around(self, draft: Draft) -> Draft:
        """A request with another method, path, or header."""
        random = self._random
        pick = random.choice
        damage: tuple[Callable[[], Draft], ...] = (
            lambda: replace(
                draft,
                method=pick(
                    (
                        "GET",
                        "PUT",
                        "PATCH",
                        "DELETE",
                        "HEAD",
                        "OPTIONS",
                        "TRACE",
                        "post",
                        "BREW",
                        "P" * 300,
                        "CONNECT",
                    )
                ),
            ),
            lambda: replace(draft, target=self._target(draft.target)),
            lambda: draft.with_header("Content-Type", *pick(_TYPES)),
            lambda: draft.with_header(
                "Authorization",
                *pick(credentials(dict(draft.headers)["Authorization"].removeprefix("Bearer "))),
            ),
            lambda: draft.with_header("Host", *self._hosts()),
            lambda: draft.with_header("Origin", *self._origins()),
            lambda: draft.with_header(*pick(_HEADERS)),
        )
        return pick(damage)()

    def _target(self, path: str) -> str:
        pick = self._random.choice
        return pick(
            (
                f"{path}/", f"/{path}", path.upper(), path.replace("a", "%61"), f"{path}?",
                f"{path}?limit=1", f"{path}%00", f"{path};v=1", f"{path}#x", "/", "*", "//",
                f"http://127.0.0.1:{self._port}{path}", f"/..{path}", path[:-1], "/metrics", "/health",
                "/mcp/", "/admin", "/%2e%2e/etc/passwd", "/" + "a" * 9000,
            )
        )  # fmt: skip

    def _hosts(self) -> tuple[str, ...]:
        port = self._port
        return self._random.choice(
            (
                ("evil.example",), ("",), (f"127.0.0.1:{port + 1 if port < 65535 else 1}",),
                (f"LOCALHOST:{port}",), (f"[::1]:{port}",), ("127.0.0.1",),
                (f"127.0.0.1:{port}.evil.example",),
                (f"user@127.0.0.1:{port}",), (f"0.0.0.0:{port}",), ("localhost.",), (f"127.0.0.1:0{port}",),
                ("\u00e9",),
            )
        )  # fmt: skip

    def _origins(self) -> tuple[str, ...]:
        own = f"http://127.0.0.1:{self._port}"
        return self._random.choice(
            (
                ("null",),
                ("",),
                (own,),
                (own, own),
                (own, "http://evil.example"),
                ("http://evil.example",),
                (own.upper(),),
                (f"{own}/",),
                (own.replace("http", "https"),),
                (f"{own}, null",),
            )
        )


#: Values of Content-Type: exactly one JSON in UTF-8 is meant.
_TYPES: tuple[tuple[str, ...], ...] = (
    (), ("",), ("text/plain",), ("application/json",), ("APPLICATION/JSON",),
    ("application/json; charset=utf-8",), ('application/json;charset="UTF-8"',),
    ("application/json; charset=latin-1",),
    ("application/json", "application/json"), ("application/json, text/plain",),
    ("application/x-www-form-urlencoded",), ("multipart/form-data; boundary=x",), ("application/jsonx",),
    ("application/json;",), ("\u00e9",), ("application/problem+json",),
)  # fmt: skip
#: Headers that change nothing.
_HEADERS: tuple[tuple[str, str], ...] = (
    ("Accept", "text/html"), ("Accept-Encoding", "gzip, br"), ("X-Request-Id", "a" * 65),
    ("X-Request-Id", "\u00e9\u00ff"), ("X-Request-Id", "mine-1"), ("Cookie", "a=b; " * 100),
    ("Upgrade", "websocket"), ("Upgrade", "h2c"), ("Connection", "Upgrade"),
    ("X-Forwarded-Host", "evil.example"), ("X-Forwarded-For", "10.0.0.1"),
    ("Forwarded", "host=evil.example"),
    ("X-HTTP-Method-Override", "DELETE"), ("Content-Encoding", "gzip"), ("Range", "bytes=0-1"),
    ("If-Match", "*"), ("Expect", "100-continue"), ("TE", "trailers"), ("Referer", "http://evil.example/"),
)  # fmt: skip


def credentials(secret: str) -> tuple[tuple[str, ...], ...]:
    """Values of Authorization: missing, wrong, malformed, doubled; the last three are right."""
    good = f"Bearer {secret}"
    flipped = ("0" if secret[0] != "0" else "1") + secret[1:]
    return (
        (), ("",), ("Bearer",), ("Bearer ",), (secret,), (f"Basic {secret}",), (f"Bearer {secret[:-1]}",),
        (f"Bearer {secret}0",), (f"Bearer {flipped}",), (good, good),
        (good, f"Bearer {flipped}"), (f"Bearer\t{secret}",), (f"Bearer {secret[:-1].upper()}F",),
        (f"Bearer {secret}, {good}",), ("Bearer " + "f" * 9000,), ("Bearer \u00e9\u00ff",),
        (f'Bearer "{secret}"',), ("Bearer ' OR 1=1 --",), (f"bearer {secret}",), (f"Bearer  {secret}",),
        (f"{good} ",),
    )  # fmt: skip


def ended(operation: str, raw: bytes) -> bytes:
    """The same body; where it is a valid one that would wait, one that does not."""
    request = OPERATIONS[operation].request
    if operation in WAITING and request is not None and oracle.decodes(request.__name__, raw):
        return json.dumps({**oracle.parse(raw), "wait_secs": 0}).encode()
    return raw


def framings(draft: Draft) -> tuple[bytes, ...]:
    """Requests that HTTP forbids, or that this server does not speak: refused, and the connection closed."""
    head, _, _ = draft.raw.partition(b"Content-Length")
    body, size = draft.body, len(draft.body)
    line, _, rest = draft.raw.partition(b"\r\n")
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
    return (
        head + b"Content-Length: %d\r\nContent-Length: %d\r\n\r\n" % (size, size + 1) + body,
        head + b"Content-Length: %d, %d\r\n\r\n" % (size, size + 1) + body,
        head + b"Content-Length: -1\r\n\r\n" + body,
        head + b"Content-Length: +%d\r\n\r\n" % size + body,
        head + b"Content-Length: 0x10\r\n\r\n" + body,
        head + b"Content-Length: 1e3\r\n\r\n" + body,
        head + b"Content-Length: 99999999999999999999999\r\n\r\n" + body,
        head + b"Content-Length: 16777217\r\n\r\n" + body,
        head + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % size,
        head + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        head + b"Transfer-Encoding: identity\r\n\r\n" + body,
        head + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
        chunked + b"zz\r\n" + body,
        chunked + b"-1\r\n" + body,
        chunked + b"fffffffffffffffffffffff\r\n" + body,
        chunked + b"2;" + b"a" * 70_000 + b"\r\n{}\r\n0\r\n\r\n",
        chunked + b"2\r\n{}XX0\r\n\r\n",
        b"%b HTTP/2.0\r\n%b" % (line.rpartition(b" ")[0], rest),
        b"%b HTTP/1.9\r\n%b" % (line.rpartition(b" ")[0], rest),
        b"%b\r\n%b" % (line.rpartition(b" ")[0], rest),
        b"%b\r\nBad Name: x\r\n%b" % (line, rest),
        b"%b\r\n: x\r\n%b" % (line, rest),
        b"%b\r\nX: \x00\r\n%b" % (line, rest),
        b"%b\r\nHost: 127.0.0.1\r\n%b" % (line, rest),
        b"%b\r\nX: %b\r\n%b" % (line, b"a" * 20_000, rest),
        b"%b\r\n%b%b" % (line, b"X: a\r\n" * 6_000, rest),
        line.replace(b"/", b"/%b" % (b"a" * 20_000), 1) + b"\r\n" + rest,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST  /mail/send  HTTP/1.1\r\n\r\n",
    )


def cut_short(random: Random, draft: Draft) -> bytes:
    """A request that ends before it is whole."""
    raw = draft.raw
    return raw[: random.randrange(1, len(raw))]


def flipped(random: Random, draft: Draft) -> bytes:
    """A request with some of its bytes, anywhere, turned into others."""
    raw = bytearray(draft.raw)
    for _ in range(random.choice((1, 1, 2, 5))):
        raw[random.randrange(len(raw))] ^= 1 << random.randrange(8)
    return bytes(raw)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a value, from the outside in."""
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        holder = pending.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])
    return places


def _twice(raw: bytes) -> bytes:
    """The object with its first member twice."""
    inner = raw.strip()[1:-1]
    return b"{%b,%b}" % (inner, inner.partition(b",")[0]) if inner else b'{"a":1,"a":1}'


def _numbered(raw: bytes, number: bytes) -> bytes:
    """The object with a number in place of its first value, or as a member of its own."""
    head, colon, rest = raw.partition(b":")
    return head + colon + number + rest[rest.find(b",") :] if b"," in rest else b'{"limit":' + number + b"}"
