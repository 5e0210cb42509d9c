"""The store in one SQLite file: one writing thread with group commit, reads beside it."""

from .faults import (
    StoreBusyError,
    StoreDamagedError,
    StoreForeignError,
    StoreGoneError,
    StoreNewerError,
    StoreOpenError,
    StoreUnwritableError,
)
from .store import SqliteStore

__all__ = [
    "SqliteStore",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreForeignError",
    "StoreGoneError",
    "StoreNewerError",
    "StoreOpenError",
    "StoreUnwritableError",
]
