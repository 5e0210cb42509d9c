"""A strict type checker passes what is right and finds every planted mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("typing_cases.py")
ROOT = CASES.parents[2]


def test_pyright_finds_exactly_the_planted_mistakes(tmp_path: Path) -> None:
    """Each line that is marked as an error is one, and no other line is."""
    source = CASES.read_text("utf-8")
    settings = {
        "include": [os.path.relpath(CASES, tmp_path)],
        "extraPaths": [os.path.relpath(ROOT, tmp_path)],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "reportUnusedExpression": "none",
        "reportUnusedVariable": "none",
    }
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(project)],
        capture_output=True, text=True, check=False, timeout=110, cwd=ROOT,
    )  # fmt: skip
    report = json.loads(done.stdout)
    found = {item["range"]["start"]["line"] + 1 for item in report["generalDiagnostics"]}
    planted = {number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# error")}
    assert report["summary"]["filesAnalyzed"] == 1
    assert len(planted) >= 10
    assert found == planted, report["generalDiagnostics"]
