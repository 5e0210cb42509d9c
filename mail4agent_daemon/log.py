"""Structured logs: one event a line on a stream, JSON for a collector, short text for a person at a terminal.

A record holds a time, a level, the name of an event and bounded plain values. It never holds a body, a
subject, a secret, a query string, a raw path or a stranger's words; of an exception it holds the type and
where it happened, and its text only where the operating system or the database engine wrote it.
"""

import logging
import sqlite3
import sys
from datetime import UTC, datetime
from enum import IntEnum
from types import TracebackType
from typing import Protocol

import orjson

Value = str | int | float | bool | None

#: Longer texts are cut; nothing that is logged on purpose is longer.
VALUE_MAX_CHARS = 256
FRAMES_MAX = 24
CAUSES_MAX = 4
#: Control characters, and those that reorder or hide text on a terminal.
_UNPRINTABLE = {
    point: "\ufffd"
    for first, last in (
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0x2066, 0x2069),
        (0xD800, 0xDFFF),
        (0xFEFF, 0xFEFF),
    )
    for point in range(first, last + 1)
}


class Level(IntEnum):
    """How much a record matters; the numbers are those of the standard library."""

    DEBUG = logging.DEBUG
    INFO = logging.INFO
    WARNING = logging.WARNING
    ERROR = logging.ERROR


class Stream(Protocol):
    """Where lines go."""

    def write(self, text: str, /) -> object:
        """Take one or more whole lines."""
        ...

    def flush(self) -> object:
        """Pass on what was taken."""
        ...


def plain(text: str) -> str:
    """Return ``text`` on one line, without control characters, at most ``VALUE_MAX_CHARS`` long."""
    cut = text if len(text) <= VALUE_MAX_CHARS else text[: VALUE_MAX_CHARS - 1] + "…"
    return cut if cut.isascii() and cut.isprintable() else cut.translate(_UNPRINTABLE)


class Log:
    """Writes records of at least ``level`` to ``stream``; ``human`` chooses the short form."""

    def __init__(self, stream: Stream, level: Level = Level.INFO, *, human: bool = False) -> None:
        self._stream = stream
        self._human = human
        self.level = level

    def debug(self, event: str, **values: Value) -> None:
        """Record what only a developer of the daemon wants to know."""
        self.write(Level.DEBUG, event, values)

    def info(self, event: str, **values: Value) -> None:
        """Record what happened as it should."""
        self.write(Level.INFO, event, values)

    def warning(self, event: str, **values: Value) -> None:
        """Record what an operator may want to change."""
        self.write(Level.WARNING, event, values)

    def error(self, event: str, **values: Value) -> None:
        """Record what an operator must know."""
        self.write(Level.ERROR, event, values)

    def failed(self, event: str, failure: BaseException | None, **values: Value) -> None:
        """Record what failed, with the type of ``failure`` and where it was raised."""
        self.write(Level.ERROR, event, values, failure)

    def write(
        self, level: Level, event: str, values: dict[str, Value], failure: BaseException | None = None
    ) -> None:
        """Write one record. A stream that is gone loses it: logging never fails a request."""
        if level < self.level:
            return
        record: dict[str, Value | list[dict[str, object]]] = {
            "ts": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level.name.lower(),
            "event": event,
        }
        for name, value in values.items():
            record[name] = plain(value) if isinstance(value, str) else value
        if failure is not None:
            record["failure"] = described(failure)
        line = _short(record) if self._human else orjson.dumps(record).decode()
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            return


def described(failure: BaseException) -> list[dict[str, object]]:
    """Return the failure and its causes, outermost first: type, place of each frame, and text where it is
    safe.
    """
    chain: list[dict[str, object]] = []
    link: BaseException | None = failure
    while link is not None and len(chain) <= CAUSES_MAX:
        entry: dict[str, object] = {"type": type(link).__qualname__, "frames": _frames(link.__traceback__)}
        if isinstance(link, OSError) and link.strerror:
            entry["text"] = plain(link.strerror)
        elif isinstance(link, sqlite3.Error):
            entry["text"] = plain(str(link))
        chain.append(entry)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return chain


def _frames(traceback: TracebackType | None) -> list[str]:
    places: list[str] = []
    while traceback is not None:
        frame = traceback.tb_frame
        places.append(f"{frame.f_globals.get('__name__', '?')}:{traceback.tb_lineno} {frame.f_code.co_name}")
        traceback = traceback.tb_next
    return places[-FRAMES_MAX:]


def _short(record: dict[str, Value | list[dict[str, object]]]) -> str:
    ts, level, event = str(record.pop("ts")), str(record.pop("level")), str(record.pop("event"))
    chain = record.pop("failure", None)
    words = [ts[11:23], "" if level == "info" else level.upper(), event]
    words += [f"{name}={value}" for name, value in record.items() if value is not None]
    lines = [" ".join(filter(None, words))]
    for entry in chain if isinstance(chain, list) else ():
        lines.append(f"    {entry['type']}: {entry['text']}" if "text" in entry else f"    {entry['type']}")
        frames = entry["frames"]
        lines += [f"      {frame}" for frame in frames] if isinstance(frames, list) else []
    return "\n".join(lines)


def log_to_stderr(level: Level = Level.INFO, *, human: bool | None = None) -> Log:
    """Return a log on standard error, in the short form when that is a terminal unless ``human`` says
    otherwise.
    """
    return Log(sys.stderr, level, human=sys.stderr.isatty() if human is None else human)


class LibraryHandler(logging.Handler):
    """Carries what libraries log through the standard library into a ``Log``.

    Their text is not ours and may quote a request, so only its unformatted template is kept.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record of a library as the event ``library``."""
        level = Level.ERROR if record.levelno >= logging.ERROR else Level.WARNING
        template = record.msg if isinstance(record.msg, str) and record.args else ""
        failure = record.exc_info[1] if record.exc_info else None
        self._log.write(level, "library", {"logger": record.name, "text": template or None}, failure)


def adopt_libraries(log: Log) -> LibraryHandler:
    """Send warnings and errors of all libraries to ``log`` and nowhere else; returns the handler for its
    removal.
    """
    handler = LibraryHandler(log)
    root = logging.getLogger()
    for present in list(root.handlers):
        root.removeHandler(present)
    root.addHandler(handler)
    return handler
