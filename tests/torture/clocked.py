"""The daemon's script with the machine's clock moved by what a file says, and the hand that moves it.

Run as a module it is ``mail4agent``; the first argument names the file, which holds signed milliseconds.
"""

from __future__ import annotations

import mmap
import struct
import sys
import time
from pathlib import Path

_OFFSET = struct.Struct("<q")


class ClockHand:
    """Steps the clock of a daemon that runs on a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset_ms = 0
        path.write_bytes(_OFFSET.pack(0))

    def step(self, ms: int) -> None:
        """Move by ``ms`` milliseconds, back when negative."""
        self.offset_ms += ms
        with self.path.open("r+b") as file:
            file.write(_OFFSET.pack(self.offset_ms))


def main() -> None:
    """Run the script on the moved clock."""
    with Path(sys.argv.pop(1)).open("rb") as file:
        shared = mmap.mmap(file.fileno(), _OFFSET.size, access=mmap.ACCESS_READ)
    machine_ns, machine = time.time_ns, time.time
    # Whoever in the process asks for the date is told the moved one; what measures durations is not.
    time.time_ns = lambda: machine_ns() + _OFFSET.unpack_from(shared)[0] * 1_000_000
    time.time = lambda: machine() + _OFFSET.unpack_from(shared)[0] / 1_000
    from mail4agent_daemon.__main__ import main as script

    script()


if __name__ == "__main__":
    main()
