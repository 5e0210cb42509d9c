"""What a hook costs its agent: the script from its start to its end, beside Python that does nothing.

    python benchmarks/hook.py [--runs N]

Against a daemon of its own with nothing to tell, over TCP and the UNIX socket, and with no daemon at all.
Prints milliseconds (the median) and the ratio to ``python -c pass`` of the same run.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.daemon.running import Daemon, running  # noqa: E402

INPUT = b'{"session_id": "7f3c", "hook_event_name": "PostToolUse"}'


def milliseconds(command: list[str], variables: dict[str, str]) -> float:
    """One run."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("M4A_")}
    start = time.perf_counter()
    ended = subprocess.run(command, env=inherited | variables, input=INPUT, capture_output=True, check=True)
    took = (time.perf_counter() - start) * 1_000
    assert ended.stdout == b"", ended.stdout
    return took


def subjects(daemon: Daemon) -> dict[str, tuple[list[str], dict[str, str]]]:
    """What is measured."""
    script = str(Path(sys.executable).with_name("mail4agent-hook"))
    token = daemon.add("ada")
    socket = f"unix:{daemon.home / 'daemon.sock'}"
    return {
        "python -c pass": ([sys.executable, "-c", "pass"], {}),
        "hook, nothing to tell, TCP": ([script, "tool"], {"M4A_URL": daemon.url, "M4A_TOKEN": token}),
        "hook, nothing to tell, UNIX": ([script, "tool"], {"M4A_URL": socket, "M4A_TOKEN": token}),
        "hook, daemon away": ([script, "tool"], {"M4A_URL": "unix:/nowhere", "M4A_TOKEN": token}),
    }


def main() -> None:
    """Run them in turns, so that a noisy moment meets all alike."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "home") as daemon:
        measured = subjects(daemon)
        took: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(runs):
            for name, (command, variables) in measured.items():
                took[name].append(milliseconds(command, variables))
    bare = statistics.median(took["python -c pass"])
    for name, figures in took.items():
        middle, worst = statistics.median(figures), max(figures)
        print(f"{name:<30} {middle:6.1f} ms  worst {worst:6.1f} ms  {middle / bare:4.1f} times bare")


if __name__ == "__main__":
    main()
