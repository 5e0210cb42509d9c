"""Which processes of a user hold a socket.

The kernel does not count the holders of a descriptor, so they have to be looked for: every descriptor of
every process of the user, once. After that a process seen before is answered from less, and here is why that
is sound. A process gets a socket by making it, by being forked from a holder, or by being given it
(``SCM_RIGHTS``, ``pidfd_getfd``). One that was looked into before and had not the socket then cannot get it
by fork: it was there already. So of all that were looked into only the maker can have it, and every other
holder was forked from it since: it is one that was not looked into yet, and is now.

What is not seen is a socket that was given on purpose to a process that was looked into before. It is the
giver's session, as with any secret handed over.
"""

import threading
from dataclasses import dataclass, field

from .proc import Proc, UnreadableError

#: So many sockets are remembered of processes that came since the last look at all.
_SINCE_MAX = 50_000
#: From so many on, those of processes that have ended are forgotten, each time that their number has doubled.
_SINCE_MIN = 1_000
#: So many of the processes that were attested last are looked at before all others.
_RECENT_MAX = 32
#: So many descriptors, from the last one's number on, are tried before a process is looked into.
_GUESSES = 3


@dataclass(frozen=True, slots=True)
class Held:
    """A process that holds the socket, and under which descriptor."""

    pid: int
    descriptor: str


@dataclass(frozen=True, slots=True)
class Found:
    """Who holds a socket."""

    holders: tuple[Held, ...]
    hidden: bool
    """Some process of the user could not be looked into."""


@dataclass(slots=True)
class _Seen:
    """What is known of one user's processes."""

    processes: dict[int, int] = field(default_factory=dict[int, int])
    """Those that were there, by pid and number: they were looked into, or were not the user's."""
    whole: dict[int, list[Held]] = field(default_factory=dict[int, list[Held]])
    """The holders of each socket when all processes were looked into."""
    since: dict[int, list[Held]] = field(default_factory=dict[int, list[Held]])
    """The same of processes that came later."""
    forgets_at: int = field(default_factory=lambda: _SINCE_MIN)
    """With how many sockets of those it is looked which processes have ended."""
    hidden: set[int] = field(default_factory=set[int])
    """Those that may not be looked into."""
    recent: list[int] = field(default_factory=list[int])
    """Those that were attested, the last one last."""
    last: dict[int, int] = field(default_factory=dict[int, int])
    """The descriptor under which each of these held the last socket that was looked for."""


class Holders:
    """Finds the holders of sockets, and remembers what it saw. Safe to call from several threads."""

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self._seen: dict[int, _Seen] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """How many sockets are remembered."""
        with self._lock:
            return sum(len(seen.whole) + len(seen.since) for seen in self._seen.values())

    def find(self, inode: int, uid: int) -> Found:
        """The processes of the user that hold the socket. Raises OSError where there is no /proc."""
        with self._lock:
            seen = self._refreshed(uid)
            if seen is not None:
                found = self._known(seen, inode)
                if found is not None:
                    return found
            seen = self._look_at_all(uid)
            return self._found(seen, seen.whole.get(inode, []), inode)

    def attested(self, pid: int, uid: int) -> None:
        """Remember that a process was attested: its next socket is looked for in it first."""
        with self._lock:
            seen = self._seen.get(uid)
            if seen is not None and pid in seen.processes:
                if pid in seen.recent:
                    seen.recent.remove(pid)
                seen.recent.append(pid)
                del seen.recent[:-_RECENT_MAX]

    def _known(self, seen: _Seen, inode: int) -> Found | None:
        """The answer from what was seen before; None when only a look at all can tell."""
        whole, since = seen.whole.get(inode), seen.since.get(inode)
        if whole is None and since is None:
            held = self._guessed(seen, inode) or self._recent(seen, inode)
            if held is None:
                return None
            seen.last[held.pid] = int(held.descriptor)
            return Found((held,), bool(seen.hidden))
        if whole is None:
            return None  # its maker may be one that was looked into before it made the socket
        found = self._found(seen, [*whole, *(since or ())], inode)
        return found if found.holders else None  # a number that the kernel gave to another socket by now

    def _guessed(self, seen: _Seen, inode: int) -> Held | None:
        """The maker, where its new descriptor is the last one's or one of the next: most often it is.

        A process with thousands of descriptors would else be read through for each connection it makes.
        """
        for pid in reversed(seen.recent):
            last = seen.last.get(pid)
            if last is not None:
                for descriptor in map(str, range(last, last + _GUESSES)):
                    if self._proc.holds(pid, descriptor, inode):
                        return Held(pid, descriptor)
        return None

    def _recent(self, seen: _Seen, inode: int) -> Held | None:
        """The maker, if it was attested lately."""
        for pid in reversed(seen.recent):
            descriptor = self._sockets(seen, pid).get(inode)
            if descriptor is not None:
                return Held(pid, descriptor)
        return None

    def _found(self, seen: _Seen, holders: list[Held], inode: int) -> Found:
        """Those that hold it now, each once: a pid that came back may have been looked into twice."""
        now: dict[int, Held] = {}
        for held in holders:
            if self._proc.holds(held.pid, held.descriptor, inode):
                now[held.pid] = held
            elif descriptor := self._sockets(seen, held.pid).get(inode):
                now[held.pid] = Held(held.pid, descriptor)
        return Found(tuple(now.values()), bool(seen.hidden))

    def _refreshed(self, uid: int) -> _Seen | None:
        """What is known of the user's processes, with those that came since; None when that is of no use."""
        seen = self._seen.get(uid)
        if seen is None or len(seen.since) > _SINCE_MAX:
            return None
        there = self._proc.processes()
        came = [pid for pid, number in there.items() if seen.processes.get(pid) != number]
        seen.hidden.intersection_update(there.keys() - came)
        seen.recent = [pid for pid in seen.recent if there.get(pid) == seen.processes[pid]]
        seen.last = {pid: seen.last[pid] for pid in seen.recent if pid in seen.last}
        seen.processes = there
        if len(seen.since) > seen.forgets_at:
            # A pid that came back is looked into anew below.
            gone = set(came)
            live = {
                inode: [held for held in holders if held.pid in there and held.pid not in gone]
                for inode, holders in seen.since.items()
            }
            seen.since = {inode: holders for inode, holders in live.items() if holders}
            seen.forgets_at = max(2 * len(seen.since), _SINCE_MIN)
        for pid in came:
            self._look_at(seen, pid, uid, seen.since)
        return seen

    def _look_at_all(self, uid: int) -> _Seen:
        before = self._seen.get(uid)
        seen = _Seen(self._proc.processes())
        for pid in seen.processes:
            self._look_at(seen, pid, uid, seen.whole)
        if before is not None:
            numbers = before.processes
            seen.recent = [pid for pid in before.recent if seen.processes.get(pid) == numbers[pid]]
        self._seen[uid] = seen
        return seen

    def _look_at(self, seen: _Seen, pid: int, uid: int, into: dict[int, list[Held]]) -> None:
        if self._belongs(pid, uid):
            for inode, descriptor in self._sockets(seen, pid).items():
                into.setdefault(inode, []).append(Held(pid, descriptor))

    def _sockets(self, seen: _Seen, pid: int) -> dict[int, str]:
        try:
            return self._proc.sockets(pid)
        except UnreadableError:
            seen.hidden.add(pid)
            return {}

    def _belongs(self, pid: int, uid: int) -> bool:
        """Whether the process may hold a socket that the user made.

        What root made any process may hold, because root can start one as anybody. A process that hides
        from its own user looks like root's.
        """
        if uid == 0:
            return True
        owner = self._proc.owner(pid)
        return owner == uid or (owner == 0 and uid in self._proc.uids(pid))
