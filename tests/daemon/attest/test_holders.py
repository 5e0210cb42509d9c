"""Who holds a socket, remembered from one question to the next, against machines wholly known."""

import random
from dataclasses import dataclass, field

import pytest

from mail4agent_daemon.attest.holders import Holders
from mail4agent_daemon.attest.proc import Proc, UnreadableError

pytestmark = pytest.mark.promise("identity.shared-is-nobodys")


@dataclass
class Machine(Proc):
    """Processes that make sockets, fork, close, change their user and end; pids come round again."""

    pids_most: int = 40_000
    uid_of: dict[int, int] = field(default_factory=dict[int, int])
    tables: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    hiding: set[int] = field(default_factory=set[int])
    looked: list[int] = field(default_factory=list[int])
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    last_pid: int = 1
    last_inode: int = 100
    last_number: int = 0

    def spawn(self, uid: int, parent: int | None = None) -> int:
        """A process, with all that its parent holds."""
        while True:
            self.last_pid = self.last_pid + 1 if self.last_pid < self.pids_most else 2
            if self.last_pid not in self.tables:
                break
        self.last_number += 1
        self.numbers[self.last_pid] = self.last_number
        self.uid_of[self.last_pid] = uid
        self.tables[self.last_pid] = dict(self.tables[parent]) if parent is not None else {}
        return self.last_pid

    def end(self, pid: int) -> None:
        """It ends, and closes all."""
        del self.tables[pid], self.uid_of[pid]
        self.hiding.discard(pid)

    def open(self, pid: int) -> int:
        """A socket of the process."""
        self.last_inode += 1
        self.tables[pid][self.last_inode] = str(len(self.tables[pid]))
        return self.last_inode

    def holders(self, inode: int) -> set[int]:
        """The truth."""
        return {pid for pid, table in self.tables.items() if inode in table}

    def processes(self) -> dict[int, int]:
        """All of them."""
        return {pid: self.numbers[pid] for pid in self.tables}

    def owner(self, pid: int) -> int | None:
        """Root for one that hides."""
        return 0 if pid in self.hiding else self.uid_of.get(pid)

    def uids(self, pid: int) -> tuple[int, ...]:
        """The true user."""
        return (self.uid_of[pid],) * 4 if pid in self.uid_of else ()

    def sockets(self, pid: int) -> dict[int, str]:
        """Not for one that hides."""
        if pid in self.hiding:
            raise UnreadableError
        self.looked.append(pid)
        return dict(self.tables.get(pid, {}))

    def holds(self, pid: int, descriptor: str, inode: int) -> bool:
        """Whether it does now."""
        return self.tables.get(pid, {}).get(inode) == descriptor


@pytest.mark.parametrize("seed", range(60))
def test_holders_are_the_true_ones_after_any_history(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Whatever was made, forked, closed and asked before, whichever pid came back, whatever was forgotten."""
    chance = random.Random(seed)
    monkeypatch.setattr("mail4agent_daemon.attest.holders._SINCE_MIN", chance.choice([0, 3, 1_000]))
    # Few pids, so that they come back within a history; or many, so that memory is of use.
    machine = Machine(pids_most=chance.choice([12, 40_000]))
    finder = Holders(machine)
    users = [1000, 1001]
    for _ in range(5):
        machine.spawn(chance.choice(users))
    for _ in range(400):
        pid = chance.choice(list(machine.tables))
        act = chance.random()
        if act < 0.25 and len(machine.tables) < 10:
            machine.spawn(machine.uid_of[pid], pid)
        elif act < 0.45:
            machine.open(pid)
        elif act < 0.55 and machine.tables[pid]:
            del machine.tables[pid][chance.choice(list(machine.tables[pid]))]
        elif act < 0.62 and len(machine.tables) > 3:
            machine.end(pid)
        elif act < 0.64:
            machine.last_pid = 1
        elif machine.tables[pid]:
            inode, uid = chance.choice(list(machine.tables[pid])), machine.uid_of[pid]
            found = finder.find(inode, uid)
            assert {held.pid for held in found.holders} == machine.holders(inode)
            if len(found.holders) == 1 and chance.random() < 0.8:
                finder.attested(pid, uid)


def seen_machine() -> tuple[Machine, Holders, int]:
    """A hundred processes, one of which was attested; nothing looked into since."""
    machine = Machine()
    for _ in range(100):
        machine.open(machine.spawn(1000))
    finder = Holders(machine)
    one = list(machine.tables)[50]
    assert len(finder.find(machine.open(one), 1000).holders) == 1
    finder.attested(one, 1000)
    machine.looked.clear()
    return machine, finder, one


def test_what_ended_is_forgotten():
    """Thousands of processes with sockets come and go, and what is remembered of them stays small."""
    machine, finder, one = seen_machine()
    for _ in range(60):
        came = [machine.spawn(1000) for _ in range(50)]
        for pid in came:
            machine.open(pid)
        assert [held.pid for held in finder.find(machine.open(one), 1000).holders] == [one]
        for pid in came:
            machine.end(pid)
    assert len(finder) <= 1_200


@pytest.mark.promise("identity.seen-processes-cost-little")
def test_only_what_came_since_is_looked_into():
    """A known process's next socket costs a look into it and into each that came; the one after it none."""
    machine, finder, one = seen_machine()
    came = [machine.spawn(1000) for _ in range(3)]
    for expected in ([*came, one], []):
        found = finder.find(machine.open(one), 1000)
        assert [held.pid for held in found.holders] == [one]
        assert sorted(machine.looked) == sorted(expected)
        machine.looked.clear()


@pytest.mark.promise("identity.seen-processes-cost-little")
def test_another_users_processes_are_not_looked_into():
    """They cannot hold what the user made; what root made anybody may hold."""
    machine, finder, one = seen_machine()
    other = machine.spawn(1001)
    finder.find(machine.open(one), 1000)
    assert other not in machine.looked
    root = machine.spawn(0)
    finder.find(machine.open(root), 0)
    assert other in machine.looked


def test_a_pid_that_came_back_is_looked_into():
    """A process with the pid of one that was seen before may have been forked with the socket."""
    machine, finder, one = seen_machine()
    other = list(machine.tables)[7]
    inode = machine.open(one)
    machine.end(other)
    machine.last_pid = other - 1
    assert machine.spawn(1000, one) == other
    assert {held.pid for held in finder.find(inode, 1000).holders} == {one, other}


def test_a_number_that_another_socket_has_by_now_is_looked_for_again():
    """The kernel gives inodes again: an old answer is checked, and thrown away."""
    machine, finder, one = seen_machine()
    (inode, descriptor), *_ = machine.tables[one].items()
    finder.find(inode, 1000)
    del machine.tables[one][inode]
    other = list(machine.tables)[7]
    machine.tables[other][inode] = descriptor
    assert [held.pid for held in finder.find(inode, 1000).holders] == [other]


def test_a_descriptor_that_moved_is_still_held():
    """A process may close one number of it and keep another: it is a holder beside the one that did not."""
    machine, finder, one = seen_machine()
    inode = machine.open(one)
    child = machine.spawn(1000, one)
    finder.find(inode, 1000)
    machine.tables[one][inode] = "moved"
    assert {held.pid for held in finder.find(inode, 1000).holders} == {one, child}


def test_a_process_that_hides_is_told_of():
    """It may hold the socket, and cannot be looked into."""
    machine, finder, one = seen_machine()
    assert not finder.find(machine.open(one), 1000).hidden
    hider = machine.spawn(1000)
    machine.hiding.add(hider)
    assert finder.find(machine.open(one), 1000).hidden
    machine.end(hider)
    assert not finder.find(machine.open(one), 1000).hidden
