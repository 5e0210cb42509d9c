"""The operator's key of the daemon on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def operator_key() -> Path:
    """Where the daemon writes it at its first start."""
    # Only an operator's verb without a credential needs these.
    from mail4agent_daemon.bootstrap import KEY_NAME
    from mail4agent_daemon.settings import home_of

    return home_of(os.environ) / KEY_NAME
