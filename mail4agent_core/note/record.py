"""One record of a run's journal: an envelope on a line, written by three programs in turn.

Lines of other programs are read as they are. What this package writes is spelled so that the original reads
it: no key beside the eight that an envelope has, and ``phase`` never.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

import jiter

from .words import Source

#: What the pipeline writes; 1 and 2 are read.
VERSION: Final = 2
#: What the agents' graph writes.
PRODUCER_VERSION: Final = 1
_VERSIONS = (1, 2)
_KEYS = frozenset(
    ("v", "ts", "stream", "seq", "source", "kind", "phase", "labels", "payload", "artifacts")
)  # fmt: skip
_SOURCES = frozenset(Source)
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_EMPTY: Final[dict[str, Any]] = {}
_LISTS = (list, tuple)
_START = b'{"v":'
#: A line with more starts of records than this holds no record that was torn.
_STARTS_MAX = 16


class Record(NamedTuple):
    """One envelope."""

    v: int
    #: RFC 3339 in UTC to the millisecond.
    ts: str
    #: Who wrote it: ``<host>-<pid>`` for the pipeline.
    stream: str
    #: Rises within a stream.
    seq: int
    source: str
    kind: str
    labels: Mapping[str, Any] = _NOTHING
    payload: Mapping[str, Any] = _NOTHING
    artifacts: tuple[Any, ...] = ()
    phase: str | None = None

    @property
    def node(self) -> str | None:
        """The node that the record is stamped with."""
        node = self.labels.get("node")
        return node if isinstance(node, str) else None

    @property
    def where(self) -> str:
        """The record's name: its stream and its number there."""
        return f"{self.stream}/{self.seq}"

    @classmethod
    def of(cls, raw: bytes) -> Self | None:
        """The record on a line without its line feed, None for what is none.

        Of a fragment with a whole record behind it, the record.
        """
        found = cls._whole(raw)
        if found is not None:
            return found
        start = raw.find(_START, 1)
        for _ in range(_STARTS_MAX):
            if found is not None or start < 0:
                break
            found = cls._whole(raw[start:])
            start = raw.find(_START, start + 1)
        return found

    @classmethod
    def _whole(cls, raw: bytes) -> Self | None:
        try:
            value: Any = jiter.from_json(raw, allow_inf_nan=False, cache_mode="keys")
        except ValueError:
            return None
        if type(value) is not dict:
            return None
        members: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        get = members.get
        v, ts, stream, seq = get("v"), get("ts"), get("stream"), get("seq")
        source, kind, phase = get("source"), get("kind"), get("phase")
        labels, payload = get("labels", _EMPTY), get("payload", _EMPTY)
        artifacts: Any = get("artifacts", ())
        # The types that the reader makes, so an exact look is enough, and it is the faster one.
        if (
            v in _VERSIONS
            and type(v) is int
            and type(ts) is str
            and type(stream) is str
            and type(seq) is int
            and seq >= 0
            and type(source) is str
            and source in _SOURCES
            and type(kind) is str
            and type(labels) is dict
            and type(payload) is dict
            and type(artifacts) in _LISTS
            and (phase is None or type(phase) is str)
            and members.keys() <= _KEYS
        ):
            # As `cls(...)`, at half of its cost: a journal has a hundred thousand of these.
            fields = (v, ts, stream, seq, source, kind, labels, payload, tuple(artifacts), phase)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            return tuple.__new__(cls, fields)  # pyright: ignore[reportUnknownMemberType]
        return None

    def line(self) -> bytes:
        """The record as a line, its line feed included. Raises ValueError for what JSON cannot write."""
        written: dict[str, Any] = {
            "v": self.v,
            "ts": self.ts,
            "stream": self.stream,
            "seq": self.seq,
            "source": str(self.source),
            "kind": str(self.kind),
        }
        if self.phase is not None:
            written["phase"] = self.phase
        written |= {
            "labels": dict(self.labels),
            "payload": dict(self.payload),
            "artifacts": list(self.artifacts),
        }
        return json_line(written)


def json_line(value: Mapping[str, Any]) -> bytes:
    """A JSON object on a line of its own, as the original writes it. Raises ValueError."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"
