"""Why a client is not connected, or not disconnected."""

from __future__ import annotations


class ConnectError(Exception):
    """Nothing was done, or what was begun was taken back, unless the sentence says what is left.

    ``kind`` is what programs match on: ``client_missing``, ``script_missing``, ``document_invalid``,
    ``file_unusable``, ``file_changed``, ``entry_taken``, ``account_taken``, ``already_connected``,
    ``not_connected``, ``path_ambiguous``, ``record_unusable``, ``client_failed``, ``proof_failed``, ``busy``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class DocumentError(Exception):
    """A client's file is not what its client could read; the message says where and why."""
