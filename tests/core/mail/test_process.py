"""The names of processes and of the sessions that they are."""

import pytest

from mail4agent_core.mail.process import ProcessId, session_id_of, start_ms


@pytest.mark.parametrize(
    ("pid", "start", "session"),
    [
        (4242, 1000, "s-c3029f8b84c3442431d3e41a143e97ec"),
        (111, 222, "s-20e11510573f12e48b1195c7e9fe5173"),
    ],
)
def test_session_id_is_the_originals(pid: int, start: int, session: str):
    """The original gives the same id to the same process."""
    assert session_id_of(pid, start) == session


def test_session_id_changes_with_either_part():
    """Neither the same pid at another time nor another pid at the same time has the same id."""
    assert len({session_id_of(1, 2), session_id_of(1, 3), session_id_of(2, 2), session_id_of(2, 1)}) == 4


@pytest.mark.parametrize(("pid", "start"), [(-1, 0), (2**32, 0), (1, -1), (1, 2**64)])
def test_what_is_no_process_has_no_session_id(pid: int, start: int):
    """A pid outside u32 or a start outside u64 is an OverflowError."""
    with pytest.raises(OverflowError):
        session_id_of(pid, start)


def test_a_start_is_counted_from_the_boot_and_cut_to_milliseconds():
    """A tick is 10 ms unless the kernel says otherwise; fractions are cut."""
    assert start_ms(1_000_000, 123) == 1_001_230
    assert start_ms(1_000_000, 1, 1024) == 1_000_000
    assert start_ms(1_000_000, 3, 1024) == 1_000_002


def test_processes_are_told_apart_by_all_three():
    """Boot, pid and start are all part of what a process is."""
    one = ProcessId("boot", 7, 100)
    assert one == ProcessId("boot", 7, 100)
    assert len({one, ProcessId("other", 7, 100), ProcessId("boot", 8, 100), ProcessId("boot", 7, 101)}) == 4
