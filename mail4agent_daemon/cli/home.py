"""The daemon's folder on this machine, and the operator's key in it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

#: The file that the daemon writes at its first start.
OPERATOR_KEY = "operator.key"


def home() -> Path:
    """``$M4A_HOME``, or the platform's data folder for mail4agent."""
    named = os.environ.get("M4A_HOME")
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("mail4agent"))
