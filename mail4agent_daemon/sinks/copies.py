"""The staged copies of a draft's files, as a sink reads them: hashed as they are read, so that what was
reviewed is what leaves.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from mail4agent_core.files import regular
from mail4agent_core.outbox.sink import StagedFile

from .far_side import not_sent


def content_of(file: StagedFile) -> bytes:
    """The bytes of a staged copy. Raises NotSentError when they are not those that were staged."""
    try:
        # What took the place of a copy since it was hashed may be a pipe, at which a release would wait.
        opened = regular(str(file.copy), None)
        if opened is None:
            raise not_sent("the copy of a file is no file; stage the draft again")
        with os.fdopen(opened[0], "rb") as source:
            content = source.read(file.size + 1)
    except OSError:
        raise not_sent("the copy of a file cannot be read; stage the draft again") from None
    if len(content) != file.size or hashlib.sha256(content).hexdigest() != file.sha256:
        raise not_sent("the copy of a file is not what was staged; stage the draft again")
    return content


def place_of(path: str) -> PurePosixPath | None:
    """Where a file lies below the folder that a program runs in; None for a path that leads elsewhere."""
    place = PurePosixPath(path)
    return None if place.is_absolute() or ".." in place.parts or not place.parts else place


@contextmanager
def laid_out(files: Iterable[StagedFile]) -> Iterator[Path]:
    """A private folder that holds nothing but the copies, each under the path that the arguments name.

    It is gone after the block. Raises NotSentError.
    """
    with TemporaryDirectory(prefix="mail4agent-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        for file in files:
            place = place_of(file.path)
            if place is None:
                raise not_sent("a file must be named by a path relative to its workspace")
            content, target = content_of(file), folder / place
            try:
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                target.touch(0o600, exist_ok=False)
                target.write_bytes(content)
            except (OSError, ValueError):
                raise not_sent("the copy of a file cannot be laid out for the sink") from None
        yield folder
