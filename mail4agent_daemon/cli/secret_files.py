"""New secrets: written to a file that only its owner can open, or printed once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TextIO

import typer

from mail4agent_api.mail import IssuedSecret
from mail4agent_daemon.cli.verbs import Mail

_HINT = "--secret-file"
SecretFile = Annotated[
    Path | None,
    typer.Option(
        "--secret-file",
        metavar="PATH",
        help="Write the secret to this file (mode 0600) instead of printing it.",
    ),
]


def issued(mail: Mail, path: Path | None, issue: Callable[[], IssuedSecret], *, replace: bool) -> None:
    """Have a secret issued and hand it over. An existing file is kept unless ``replace``.

    The file is made, and the room in it taken, before the secret is asked for: a secret is shown once, and a
    folder that cannot be written to must not cost one.
    """
    if path is None:
        secret = issue()
        if mail.as_json:
            mail.json(secret)
        else:
            mail.line(secret.secret)
            mail.note("Keep it: it is not shown again.")
        return
    try:
        descriptor, written = _opened(path, replace)
    except FileExistsError:
        raise typer.BadParameter("exists; another account's secret may be in it", param_hint=_HINT) from None
    except OSError as failure:
        raise typer.BadParameter(f"cannot be written: {failure.strerror}", param_hint=_HINT) from None
    is_issued = False
    try:
        with os.fdopen(descriptor, "w") as file:
            _put(file, "0" * 64)
            secret = issue()
            is_issued = True
            _put(file, secret.secret)
        if replace:
            written.replace(path)
    finally:
        if not is_issued:
            written.unlink(missing_ok=True)
    if mail.as_json:
        mail.line(json.dumps({"id": secret.id}))
    else:
        mail.line(f"{secret.id}: secret written")


def _opened(path: Path, replace: bool) -> tuple[int, Path]:
    """A new file of mode 0600: the target itself, or one beside it that can take its place in one step."""
    if replace:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        return descriptor, Path(name)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), path


def _put(file: TextIO, secret: str) -> None:
    file.seek(0)
    file.write(f"{secret}\n")
    file.flush()
    os.fsync(file.fileno())
