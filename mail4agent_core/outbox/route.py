"""What a run asks of the outbox at each call: whether a tool's calls are staged, and as what kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .item import OutboxKind
from .store import OutboxStore


class OutboxRoute:
    """The store and the names of the tools whose calls are staged."""

    def __init__(self, store: OutboxStore, routed: Iterable[str], publishes: Iterable[str]) -> None:
        self.store = store
        self._routed = frozenset(routed)
        self._publishes = frozenset(publishes)
        self._session_id: str | None = None

    def routes(self, tool: str) -> bool:
        """Whether a tool's calls are staged and not carried out."""
        return tool in self._routed

    def routed(self) -> list[str]:
        """The tools whose calls are staged, by name."""
        return sorted(self._routed)

    def publishes(self) -> list[str]:
        """The tools that the settings call publications, by name."""
        return sorted(self._publishes)

    def kind_of(self, tool: str) -> OutboxKind:
        """What the settings say. A tool that they do not name is a message, whose arguments are shown."""
        return OutboxKind.PUBLISH if tool in self._publishes else OutboxKind.MESSAGE

    def set_session_id(self, session_id: str) -> None:
        """Say which session this is, once it exists."""
        self._session_id = session_id

    def session_id(self) -> str | None:
        """The session, where one is known."""
        return self._session_id

    def warnings(self, tools: Collection[str], sinks: Collection[str] | None = None) -> list[str]:
        """What a person should be told at the start: names that stage nothing, and calls that leave unstaged.

        ``tools`` are those that the run has, ``sinks`` those that a release can carry out.
        """
        out = [f"outbox: no tool is named {name}; nothing is staged for it" for name in self.routed()
               if name not in tools]  # fmt: skip
        out += [
            f"outbox: {name} is a publication but is not routed; its calls are carried out at once"
            for name in self.publishes()
            if name not in self._routed
        ]
        if sinks is not None:
            out += [
                f"outbox: {name} is routed but has no sink; its drafts cannot be released"
                for name in self.routed()
                if name not in sinks
            ]
        return out
