"""A draft in a person's own editor. The file that it works on is private, and gone afterwards."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

#: The greatest text that is read back, in bytes: past what a draft may hold.
_BACK_MAX_BYTES = 1_048_576


class EditorError(Exception):
    """The text did not come back; the draft is as it was."""

    kind = "editor_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def edited(text: str, ending: str, environment: Mapping[str, str]) -> str:
    """The text as the person left it, without the line feed that editors add. Raises EditorError."""
    command = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
    try:
        argv = shlex.split(command)
    except ValueError:
        argv = []
    if not argv:
        raise EditorError("VISUAL or EDITOR is no command")
    # 0700, which no name in it leaves; the file itself is 0600.
    with TemporaryDirectory(prefix="mail4agent-") as folder:
        path = Path(folder) / f"draft{ending}"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        try:
            ended = subprocess.run([*argv, str(path)], check=False)  # noqa: S603  # the person's own choice
        except OSError as failure:
            raise EditorError(f"{argv[0]} cannot be started: {failure.strerror}") from None
        if ended.returncode != 0:
            raise EditorError(f"{argv[0]} ended with {ended.returncode}; the draft is as it was")
        try:
            with path.open("rb") as file:
                raw = file.read(_BACK_MAX_BYTES + 1)
            back = raw.decode()
        except (OSError, UnicodeDecodeError):
            raise EditorError("the text cannot be read back as UTF-8; the draft is as it was") from None
    if len(raw) > _BACK_MAX_BYTES:
        raise EditorError("the text is past what a draft may hold; the draft is as it was")
    return back.removesuffix("\n") if not text.endswith("\n") else back
