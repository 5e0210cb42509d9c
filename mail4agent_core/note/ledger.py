"""One run as its journal tells it: what was read so far, folded node by node, and going on from there.

Nothing here is a second truth. Every view is folded from the records, so that a process that is killed loses
no view that the next one does not find again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import journal
from .composition import Composition, composed
from .faults import UnknownNodeError, UnreadableRecordError
from .journal import Reading, Torn
from .owed import NodeFold
from .paths import RunPaths
from .record import Record
from .recorded import Delivery, deliveries_of, is_commit
from .standing import Standing, StandingFold
from .words import Kind, Source

#: The kinds besides commits that a view is folded from; every other record is passed by.
FOLDED = frozenset(
    (
        Kind.NODE_DISPATCHED, Kind.NODE_SETTLED, Kind.NOTE_SHOWN, Kind.TURN_STARTED,
    )
)  # fmt: skip


@dataclass(slots=True)
class _Node:
    fold: NodeFold
    standing: StandingFold
    #: What concerns the node and is not folded yet.
    waiting: deque[Record]


@dataclass(slots=True)
class Ledger:
    """The views of one run."""

    paths: RunPaths
    #: Where the next reading begins, in bytes.
    end: int = 0
    #: Lines that hold no record, and the last line where it is torn.
    unreadable: int = 0
    torn: Torn | None = None
    _nodes: dict[str, _Node] = field(default_factory=dict[str, _Node])
    _keyed: dict[tuple[str, str], Delivery] = field(default_factory=dict[tuple[str, str], Delivery])
    #: Commits that cannot be read and may concern any node.
    _unreadable: list[Record] = field(default_factory=list[Record])

    def refresh(self, follow: Callable[[Iterable[Record]], None] | None = None) -> None:
        """Take what was appended since; ``follow`` is told each stretch of it. Raises LedgerError."""
        for found in journal.readings(self.paths.journal, self.end):
            self.take(found)
            if follow is not None:
                follow(found.records)

    def take(self, found: Reading) -> None:
        """Take a reading that begins where the last one ended."""
        self.end, self.torn = found.end, found.torn
        self.unreadable += found.unreadable
        for record in found.records:
            for node in _nodes_of(record):
                self._node(node)
            if is_commit(record):
                self._take_commit(record)
            elif record.kind in FOLDED and record.node in self._nodes:
                self._nodes[record.node].waiting.append(record)

    def _take_commit(self, record: Record) -> None:
        try:
            deliveries = deliveries_of(record)
        except UnreadableRecordError:
            # Which nodes it concerns is for their folds to say.
            self._unreadable.append(record)
            for each in self._nodes.values():
                each.waiting.append(record)
            return
        for node in dict.fromkeys(delivery.node for delivery in deliveries):
            self._node(node).waiting.append(record)
        for delivery in deliveries:
            if delivery.idempotency_key is not None:
                self._keyed.setdefault((delivery.node, delivery.idempotency_key), delivery)

    def _node(self, node: str) -> _Node:
        found = self._nodes.get(node)
        if found is None:
            found = self._nodes[node] = _Node(NodeFold(node), StandingFold(node), deque(self._unreadable))
        return found

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the run has, in the order in which they are first told of."""
        return tuple(self._nodes)

    def sent_under(self, node: str, key: str) -> Delivery | None:
        """What was delivered to a node under an idempotency key."""
        return self._keyed.get((node, key))

    def fold(self, node: str) -> NodeFold:
        """What is owed, watched and shown of one node. Raises UnreadableRecordError, UnknownNodeError."""
        return self._folded(node).fold

    def standing(self, node: str) -> Standing:
        """What stands for one node. Raises UnreadableRecordError, UnknownNodeError."""
        return self._folded(node).standing.standing

    def composition(
        self, node: str, *, continuation: bool = False, supersedes: Sequence[str] = ()
    ) -> Composition:
        """What the node's next dispatch is composed with. Raises UnreadableRecordError, UnknownNodeError."""
        return composed(
            self.standing(node),
            self.fold(node).owed,
            continuation=continuation,
            superseded=[self.standing(other) for other in supersedes],
        )

    def _folded(self, node: str) -> _Node:
        state = self._nodes.get(node)
        if state is None:
            raise UnknownNodeError(node)
        while state.waiting:
            record = state.waiting[0]
            # Both folds refuse the same records, so neither is ahead when one refuses.
            state.standing.apply(record)
            state.fold.apply(record)
            state.waiting.popleft()
        return state


def _nodes_of(record: Record) -> Iterator[str]:
    """The nodes that a record of the pipeline tells of: of a plan, of a label, of an operation."""
    if record.source != Source.PIPELINE:
        return
    if record.node is not None:
        yield record.node
    plan: Any = record.payload.get("plan")
    tasks: Any = plan.get("tasks") if isinstance(plan, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    operations: Any = record.payload.get("operations")
    for each in (*_objects(tasks), *_objects(operations)):
        for named in (each.get("id"), each.get("node")):
            if isinstance(named, str):
                yield named
            elif isinstance(named, Mapping) and isinstance(named.get("id"), str):  # pyright: ignore[reportUnknownMemberType]
                yield named["id"]


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
