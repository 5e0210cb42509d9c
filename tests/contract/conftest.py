"""The tools that make generated files are scripts, not a package.

Their folder is put where they find each other.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
