"""The digest that a person's decision names: of everything that would leave, and of where it would go."""

import hashlib

from .canonical import canonical
from .item import OutboxItem


def digest_of(item: OutboxItem, sink: str | None) -> str:
    """``sha256:`` and 64 lower-case hexadecimal digits, over canonical JSON.

    ``sink`` is what the settings say by now, not what a file said: where a draft goes is part of what was
    read. Raises MalformedError for arguments that are no JSON.
    """
    said = {
        "tool": item.tool,
        "kind": str(item.kind),
        "args": item.args,
        "workspace": item.workspace,
        "sink": sink,
        "staged_by": item.staged_by,
        "files": [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in item.files],
    }
    return f"sha256:{hashlib.sha256(canonical(said)).hexdigest()}"


def attempt_key(item_id: str, digest: str) -> str:
    """What a sink is given to recognise a repeat by: the same for every attempt at the same draft."""
    return hashlib.sha256(f"{item_id}\n{digest}".encode()).hexdigest()
