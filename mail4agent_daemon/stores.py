"""Which store keeps the mail: a file of this daemon's own, or a database that several share."""

from typing import Protocol

from mail4agent_core.clock import Clock
from mail4agent_core.mail.figures import Figures
from mail4agent_core.mail.sqlite import SqliteStore, StoreOpenError
from mail4agent_core.mail.store import MailStore

from .settings import Effective


class Store(MailStore, Protocol):
    """A store that says what its writer has done."""

    @property
    def figures(self) -> Figures:
        """What the writer has done."""
        ...


async def open_store(effective: Effective, clock: Clock) -> Store:
    """Open the store that is set. Raises StoreOpenError."""
    url = effective.settings.store.url
    if url is None:
        return await SqliteStore.open(effective.database, clock)
    try:
        # Loaded where it is used: a daemon with a file needs no client of PostgreSQL.
        from mail4agent_core.mail.postgres import PostgresStore
    except ImportError as fault:
        raise StoreOpenError(
            "a PostgreSQL database is set, and psycopg is not installed: install mail4agent[postgres]"
        ) from fault
    return await PostgresStore.open(url, clock)
