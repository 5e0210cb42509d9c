"""The store in one SQLite file: one writing thread with group commit, reads beside it."""

from .faults import StoreForeignError, StoreNewerError, StoreOpenError, StoreUnwritableError
from .store import SqliteStore

__all__ = ["SqliteStore", "StoreForeignError", "StoreNewerError", "StoreOpenError", "StoreUnwritableError"]
