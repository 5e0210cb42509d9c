"""What `make interop` runs: other languages judge the vectors, and the original's own client is served.

Go and Rust must be there. Each runner prints what it got wrong and how many verdicts it gave; the first that
fails ends the run.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.process import served  # noqa: E402  found only once the repository is on the path

SCHEMAS = HERE.parents[1] / "schemas"
CARGO = ["cargo", "run", "--quiet", "--locked"]
JUDGES = {
    "go": ["go", "run", "-mod=readonly", ".", str(SCHEMAS)],
    "rust": [*CARGO, "--", str(SCHEMAS)],
    "original": [*CARGO, "--bin", "oracle", "--", str(SCHEMAS)],
}


def main() -> int:
    """Run them all. 0 when every verdict was right and every answer was read."""
    for folder, command in JUDGES.items():
        print(f"interop: {folder}", flush=True)
        subprocess.run(command, cwd=HERE / folder, check=True)
    print("interop: the original's client against a daemon", flush=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "home") as daemon:
        place = {"M4A_URL": f"http://127.0.0.1:{daemon.port}", "OPERATOR_TOKEN": daemon.operator}
        command = [*CARGO, "--bin", "drive"]
        subprocess.run(command, cwd=HERE / "original", env={**os.environ, **place}, check=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failure:
        sys.exit(f"interop: {failure.cmd[0]} ended with {failure.returncode}")
