"""New secrets: written to a file that only its owner can open, or printed once."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TextIO

import typer

from mail4agent_api.addresses import text_of
from mail4agent_api.mail import IssuedSecret, IssuedSession
from mail4agent_daemon.cli.exits import SecretStrandedError
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


def issued(
    mail: Mail,
    path: Path | None,
    issue: Callable[[], IssuedSecret] | Callable[[], IssuedSession],
    *,
    replace: bool,
) -> None:
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
    is_issued = is_written = False
    try:
        with os.fdopen(descriptor, "w") as file:
            _put(file, "0" * 64)
            secret = issue()
            is_issued = True
            _put(file, secret.secret)
        is_written = True
        if replace:
            # It may have become something else while the daemon was asked.
            _check_replaceable(path)
            written.replace(path)
    except OSError as failure:
        reason = failure.strerror or "unknown"
        if not is_issued:
            raise typer.BadParameter(f"cannot be written: {reason}", param_hint=_HINT) from None
        raise SecretStrandedError(str(path), str(written) if is_written else None, reason) from None
    finally:
        if not is_issued:
            written.unlink(missing_ok=True)
    if not mail.as_json:
        mail.line(f"{_holder(secret)}: secret written")
    elif isinstance(secret, IssuedSession):
        mail.line(json.dumps({"address": secret.address.model_dump()}))
    else:
        mail.line(json.dumps({"id": secret.id}))


def _holder(secret: IssuedSecret | IssuedSession) -> str:
    return text_of(secret.address) if isinstance(secret, IssuedSession) else secret.id


def _opened(path: Path, replace: bool) -> tuple[int, Path]:
    """A new file of mode 0600: the target itself, or one beside it that can take its place in one step."""
    if replace:
        _check_replaceable(path)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        return descriptor, Path(name)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), path


def _check_replaceable(path: Path) -> None:
    """Raise OSError when something stands there that is no regular file of the user's own.

    A rename would take the place of a device, a pipe or a link to where the secret is wanted.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if os.name == "posix" and found.st_uid != os.geteuid():
        raise OSError(errno.EPERM, "it belongs to somebody else")


def _put(file: TextIO, secret: str) -> None:
    file.seek(0)
    file.write(f"{secret}\n")
    file.flush()
    os.fsync(file.fileno())
