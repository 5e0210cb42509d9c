"""The store in memory: for tests and for embedding.

It keeps the rules of the store Protocol in the plainest way, and nothing after the process ends.
"""

from .store import MemoryStore

__all__ = ["MemoryStore"]
