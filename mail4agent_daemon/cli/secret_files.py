"""New secrets: written to a file that only its owner can open, or printed once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mail4agent_api.mail import IssuedSecret
from mail4agent_daemon.cli.verbs import Mail

SecretFile = Annotated[
    Path | None,
    typer.Option(
        "--secret-file",
        metavar="PATH",
        help="Write the secret to this file (mode 0600) instead of printing it.",
    ),
]


def issued(mail: Mail, path: Path | None, issue: Callable[[], IssuedSecret], *, replace: bool) -> None:
    """Have a secret issued and hand it over.

    The file is made before the secret is asked for: a secret is shown once, and a folder that cannot be
    written to must not cost one. An existing file is kept unless ``replace``.
    """
    if path is None:
        secret = issue()
        if mail.as_json:
            mail.json(secret)
        else:
            mail.line(secret.secret)
            mail.note("Keep it: it is not shown again.")
        return
    if path.exists() and not replace:
        raise typer.BadParameter("exists; another account's secret may be in it", param_hint="--secret-file")
    try:
        # mkstemp makes it 0600; it is beside its target, so that putting it in place is one step.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as failure:
        raise typer.BadParameter(
            f"cannot be written: {failure.strerror}", param_hint="--secret-file"
        ) from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w") as file:
            secret = issue()
            file.write(f"{secret.secret}\n")
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            # A link, unlike a renaming, fails when the target has appeared meanwhile.
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    if mail.as_json:
        mail.line(f'{{"id":"{secret.id}"}}')
    else:
        mail.line(f"{secret.id}: secret written")
