"""The arguments of the sinks that pass JSON on: names that the configuration lists, and paths of files."""

from collections.abc import Mapping, Sequence
from typing import Any

from .arguments import only, refused, texts
from .copies import place_of

_PATH_MAX_BYTES = 4_096
_FILES_MAX = 1_000


def carried_of(arguments: Sequence[str] | None, file_args: Sequence[str]) -> frozenset[str] | None:
    """The names that a sink carries; None where the configuration lists none, which carries every one."""
    return None if arguments is None else frozenset((*arguments, *file_args))


def accept_json(args: Mapping[str, Any], carried: frozenset[str] | None, file_args: Sequence[str]) -> None:
    """Raise MalformedError or TooLargeError for an argument that is not carried, or names no staged file."""
    if carried is not None:
        only(args, carried)
    for name in file_args:
        for path in texts(args, name, _PATH_MAX_BYTES, _FILES_MAX):
            if place_of(path) is None:
                # The far side gets copies under the same paths. An absolute one would lead it elsewhere.
                raise refused(name, "must be a path relative to the workspace, without ..")
