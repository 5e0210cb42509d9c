"""The log: one event a line, bounded, without anybody's words."""

import io
import json
import logging
import sqlite3

import pytest

from mail4agent_daemon.limits import Limits
from mail4agent_daemon.log import VALUE_MAX_CHARS, Level, Log, adopt_libraries, log_to_stderr


@pytest.fixture
def stream() -> io.StringIO:
    """Where lines go."""
    return io.StringIO()


def records(stream: io.StringIO) -> list[dict[str, object]]:
    """The records that were written."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def failure_of(error: Exception) -> Exception:
    """The error, raised once, so that it knows where."""
    try:
        raise error
    except type(error) as raised:
        return raised


def test_a_record_is_one_line_of_json(stream: io.StringIO) -> None:
    """Time, level and event come first, then the values as they are."""
    Log(stream).info("started", port=18301, tls=False, host=None, secs=0.5)
    (record,) = records(stream)
    assert str(record.pop("ts")).endswith("Z")
    assert record == {
        "level": "info",
        "event": "started",
        "port": 18301,
        "tls": False,
        "host": None,
        "secs": 0.5,
    }


@pytest.mark.parametrize("odd", ["\n", "\x1b", "\x00", "\u202e", "\u2028", "\x85", "\ud800", "\ufeff"])
@pytest.mark.parametrize("human", [False, True])
def test_a_value_cannot_break_out_of_its_line(stream: io.StringIO, odd: str, human: bool) -> None:
    """Control characters, line separators and what reorders text are replaced."""
    Log(stream, human=human).info("odd", value=f"a{odd}b")
    line = stream.getvalue()
    assert "a\ufffdb" in line
    assert line.encode()
    assert line.count("\n") == 1
    assert odd not in line.removesuffix("\n")


def test_a_value_is_bounded(stream: io.StringIO) -> None:
    """A long text is cut."""
    Log(stream).info("long", value="é" * 10_000)
    (record,) = records(stream)
    assert len(str(record["value"])) == VALUE_MAX_CHARS


def test_levels_below_are_left_out(stream: io.StringIO) -> None:
    """A log at warning has no info."""
    log = Log(stream, Level.WARNING)
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [record["event"] for record in records(stream)] == ["c", "d"]


def test_a_failure_has_its_place_and_not_its_words(stream: io.StringIO) -> None:
    """Type and frames of the failure and its cause are kept, the text of neither."""
    cause = failure_of(KeyError("secret"))
    error = RuntimeError("secret")
    error.__cause__ = cause
    Log(stream).failed("failed", failure_of(error))
    (record,) = records(stream)
    outer, inner = record["failure"]  # type: ignore[misc]
    assert (outer["type"], inner["type"]) == ("RuntimeError", "KeyError")
    assert outer["frames"][0].endswith("failure_of")
    assert "secret" not in stream.getvalue()


def test_the_words_of_the_system_and_of_the_database_are_kept(stream: io.StringIO) -> None:
    """What a full disk or a broken file says is what an operator needs; the path is not in it."""
    log = Log(stream)
    log.failed("a", failure_of(OSError(28, "No space left on device", "/a/path")))
    log.failed("b", failure_of(sqlite3.OperationalError("disk I/O error")))
    assert [record["failure"][0]["text"] for record in records(stream)] == [  # type: ignore[index]
        "No space left on device",
        "disk I/O error",
    ]
    assert "/a/path" not in stream.getvalue()


def test_a_chain_without_end_is_cut(stream: io.StringIO) -> None:
    """Neither many causes nor deep recursion make a long record."""

    def deep(left: int) -> None:
        if left:
            deep(left - 1)
        raise ValueError

    error: Exception | None = None
    for _ in range(50):
        try:
            deep(50)
        except ValueError as raised:
            raised.__cause__ = error
            error = raised
    Log(stream).failed("deep", error)
    assert len(stream.getvalue()) < 20_000


def test_a_person_gets_short_lines(stream: io.StringIO) -> None:
    """On a terminal a record is words, and a failure is indented below."""
    log = Log(stream, human=True)
    log.info("started", port=1, none=None)
    log.failed("broken", failure_of(OSError(28, "No space left on device")))
    first, second, third, *_ = stream.getvalue().splitlines()
    assert first.split(" ")[1:] == ["started", "port=1"]
    assert second.split(" ")[1:] == ["ERROR", "broken"]
    assert third == "    OSError: No space left on device"


def test_a_stream_that_is_gone_disturbs_nobody(stream: io.StringIO) -> None:
    """A closed standard error loses records, not requests."""
    stream.close()
    Log(stream).info("lost")


def test_libraries_speak_through_the_log(stream: io.StringIO) -> None:
    """Their warnings become events with the template of their text, without its values."""
    root = logging.getLogger()
    handlers = list(root.handlers)
    handler = adopt_libraries(Log(stream))
    try:
        logging.getLogger("library").warning("connection %s lost", "secret")
        logging.getLogger("library").error("secret")
        logging.getLogger("library").info("ignored")
    finally:
        root.removeHandler(handler)
        for each in handlers:
            root.addHandler(each)
    first, second = records(stream)
    assert (first["logger"], first["level"], first["text"]) == ("library", "warning", "connection %s lost")
    assert (second["level"], second["text"]) == ("error", None)
    assert "secret" not in stream.getvalue()


def test_standard_error_that_is_no_terminal_gets_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A collector reads what a pipe gets."""
    log_to_stderr().info("started")
    assert json.loads(capsys.readouterr().err)["event"] == "started"


def test_a_limit_that_bounds_nothing_is_refused() -> None:
    """Zero and less are mistakes of whoever set them."""
    with pytest.raises(ValueError, match="parked_max"):
        Limits(parked_max=0)
