"""Why a PostgreSQL database is not opened, and what is not known of one that was.

The first are for the person who starts the daemon; they never go over the wire, and never hold the password.
"""

from mail4agent_core.mail.sqlite.faults import StoreOpenError


class DatabaseNewerError(StoreOpenError):
    """The database was written by a newer version of the program."""

    def __init__(self, name: str, found: int, known: int) -> None:
        super().__init__(
            f"{name} has schema {found}; this version knows schemas up to {known}. "
            "Start the newer version, or restore a backup."
        )
        self.found = found
        self.known = known


class DatabaseForeignError(StoreOpenError):
    """The database holds something else."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} holds tables that are not of mail4agent. Nothing in it was changed; give it a database "
            "of its own."
        )


class DatabaseUnreachableError(StoreOpenError):
    """The server does not answer, or lets nobody in."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} cannot be used: {reason}.")


class DatabaseAddressError(StoreOpenError):
    """The address of the database is none. It is not repeated: it may hold a password."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the PostgreSQL address that is set cannot be used: {reason}.")


class OutcomeUnknownError(Exception):
    """The connection was lost during a commit, and the server did not say in time whether it was done."""
