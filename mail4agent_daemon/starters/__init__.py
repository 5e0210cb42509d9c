"""Five request types of a small team to begin with, each ready to be served: a file of TOML for each."""

from importlib.resources import files
from typing import Final

STARTERS: Final = ("meeting", "speaking", "review", "support", "other")


def starter(type_id: str) -> bytes:
    """The manifest of one of ``STARTERS``, as TOML. Raises KeyError for another."""
    if type_id not in STARTERS:
        raise KeyError(type_id)
    return files(__name__).joinpath(f"{type_id}.toml").read_bytes()
