"""Every figure that docs/performance.md quotes, one script after the other. Each can be run alone."""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import plots
from measure import RESULTS

HERE = Path(__file__).parent
SCRIPTS = (
    "codec",
    "start",
    "send",
    "concurrency",
    "sizes",
    "rooms",
    "databases",
    "attest",
    "identify",
    "wait",
    "inbox",
    "unread",
    "doorbells",
    "note",
    "outbox",
    "frontdoor",
    "drain",
    "intake",
    "console",
)


def main() -> int:
    begun = perf_counter()
    failed: list[str] = []
    present = [name for name in SCRIPTS if (HERE / f"{name}.py").exists()]
    for name in present:
        (RESULTS / f"{name}.json").unlink(missing_ok=True)
        started = perf_counter()
        code = subprocess.run(
            [sys.executable, str(HERE / f"{name}.py"), *sys.argv[1:]], check=False
        ).returncode
        print(f"{name}: {perf_counter() - started:.0f} s\n", flush=True)
        if code:
            failed.append(name)
    print(f"{len(present)} scripts in {perf_counter() - begun:.0f} s; their figures as JSON are in {RESULTS}")
    missed = [f"{name}: {figure}" for name in present for figure in missed_by(name)]
    for path, text in plots.drawings().items():
        (HERE.parent / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE.parent / path).write_text(text, "utf-8")
    print("missed: " + ("; ".join(missed) or "nothing"))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def missed_by(name: str) -> list[str]:
    """The figures of a script that are not what was wanted of them."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return []
    return [
        target["figure"]
        for target in json.loads(path.read_text("utf-8")).get("targets", ())
        if not target["met"]
    ]


if __name__ == "__main__":
    sys.exit(main())
