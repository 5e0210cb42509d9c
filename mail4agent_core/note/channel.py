"""The queue of a run that somebody else drives: envelopes in, outcomes out, in the original's own files.

``channel/commands.jsonl`` takes one envelope a line, ``channel/command-outcomes.jsonl`` what became of it.
The original refuses a line with a key that it does not know, so the idempotency key of a note stands beside
the queue, in ``channel/note-keys.jsonl``, which a driver of ours reads.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import jiter

from .files import append, locked, made_folder, opened, read_from, refuse_link, set_tail_aside
from .paths import RunPaths
from .record import json_line

_COMMANDS: Final = "commands.jsonl"
_OUTCOMES: Final = "command-outcomes.jsonl"
_KEYS: Final = "note-keys.jsonl"


@dataclass(frozen=True, slots=True)
class Queued:
    """An envelope on the queue."""

    number: int
    author: str
    commands: tuple[Mapping[str, Any], ...]
    #: The idempotency key of each command; None for an envelope of another program.
    keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an envelope, and of each command: applied, validated, delivered or refused."""

    number: int
    applied: bool
    results: tuple[str, ...]
    reason: str | None = None


class Channel:
    """The queue of one run."""

    def __init__(self, paths: RunPaths) -> None:
        self._folder = paths.channel

    def put(self, author: str, commands: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> int:
        """Queue an envelope durably; returns its number. Raises LedgerError."""
        with self._locked():
            number = max((each.number for each in self._queued()), default=-1) + 1
            self._append(_KEYS, {"id": number, "keys": list(keys)})
            self._append(_COMMANDS, {"id": number, "author": author, "commands": list(commands)})
        return number

    def waiting(self) -> list[Queued]:
        """The envelopes without an outcome, in order. Raises LedgerError."""
        answered = {outcome.number for outcome in self.outcomes()}
        keys = {each["id"]: each["keys"] for each in self._objects(_KEYS, {"id": int, "keys": list})}
        return [
            replace(each, keys=_keys_of(each, keys.get(each.number)))
            for each in self._queued()
            if each.number not in answered
        ]

    def answer(self, queued: Queued, outcome: Outcome) -> None:
        """Tell durably what became of an envelope. Raises LedgerError."""
        results: list[dict[str, Any]] = [
            {"index": index, "op": command.get("op"), "outcome": word}
            for index, (command, word) in enumerate(zip(queued.commands, outcome.results, strict=True))
        ]
        written: dict[str, Any] = {"id": queued.number, "applied": outcome.applied}
        if outcome.reason is not None:
            written["reason"] = outcome.reason
            for each in results:
                if each["outcome"] == "refused":
                    each["reason"] = outcome.reason
        with self._locked():
            self._append(_OUTCOMES, {**written, "results": results})

    def outcome(self, number: int) -> Outcome | None:
        """What became of an envelope, None while that is open. Raises LedgerError."""
        return next((each for each in self.outcomes() if each.number == number), None)

    def outcomes(self) -> Iterator[Outcome]:
        """Every outcome. Raises LedgerError."""
        for each in self._objects(_OUTCOMES, {"id": int, "applied": bool, "results": list}):
            reason = each.get("reason")
            words = tuple(str(r.get("outcome")) for r in each["results"] if isinstance(r, dict))  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
            yield Outcome(each["id"], each["applied"], words, reason if isinstance(reason, str) else None)

    def _queued(self) -> Iterator[Queued]:
        for each in self._objects(_COMMANDS, {"id": int, "author": str, "commands": list}):
            # Another program wrote it: a command that is none is refused as one without members.
            commands: list[Any] = each["commands"]
            read: list[dict[str, Any]] = [c if isinstance(c, dict) else {} for c in commands]
            yield Queued(each["id"], each["author"], tuple(read))

    def _objects(self, name: str, shape: Mapping[str, type]) -> Iterator[dict[str, Any]]:
        """The objects of a file that have these members; other lines are another program's business."""
        refuse_link(self._folder)
        path = self._folder / name
        try:
            with opened(path) as handle:
                raw = read_from(handle)
        except FileNotFoundError:
            return
        for line in raw[: raw.rfind(b"\n") + 1].split(b"\n"):
            try:
                value: Any = jiter.from_json(line)
            except ValueError:
                continue
            if isinstance(value, dict) and all(type(value.get(k)) is t for k, t in shape.items()):  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
                yield value

    def _append(self, name: str, value: Mapping[str, Any]) -> None:
        path = self._folder / name
        with opened(path, write=True, create=True) as handle:
            set_tail_aside(handle, path)
            append(handle, path, json_line(value))

    @contextmanager
    def _locked(self) -> Generator[None]:
        locks = self._folder / ".lock"
        for folder in (self._folder, locks):
            made_folder(folder)
        path: Path = locks / "commands.lock"
        with opened(path, write=True, create=True) as handle, locked(handle, path):
            yield


def _keys_of(queued: Queued, keys: Sequence[Any] | None) -> tuple[str, ...] | None:
    """The keys that stand beside an envelope, None unless each command has one."""
    found = tuple(key for key in keys or () if isinstance(key, str))
    return found if keys is not None and len(found) == len(keys) == len(queued.commands) else None
