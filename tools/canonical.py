"""The one way generated JSON is written."""

import json
from typing import Any


def pretty(value: Any) -> str:
    """Two spaces of indent, ASCII only, a newline at the end."""
    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"
