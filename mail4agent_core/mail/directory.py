"""The directory, put together from what is encoded already: it may list thousands of sessions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from mail4agent_api.codec import encode
from mail4agent_api.mail import Directory, DirectoryEntry, RoomEntry, RoomId

from .records import Account
from .session import Session
from .store import Registry
from .wire import Wire

_NO_SESSIONS = b'"sessions":[]}'


@dataclass(frozen=True, slots=True)
class Listing:
    """Registered accounts, their sessions by account, every room, and the rooms that the caller is in."""

    accounts: list[Account]
    sessions: list[Session]
    rooms: list[RoomId]
    mine: frozenset[RoomId]


@dataclass(frozen=True, slots=True)
class Standing:
    """A session as the directory reports it."""

    session: Session
    last_seen: int
    live: bool


def listing(registry: Registry, mine: Iterable[RoomId], dead_after: int, most: int) -> Listing:
    """Everything that the directory lists.

    Sessions that died before a time are left out, and so are those of an account past ``most``.
    """
    accounts = [account for account in registry.accounts(None, None) if account.removed_at is None]
    sessions = registry.sessions.listed(dead_after, most)
    return Listing(accounts, sessions, registry.room_ids(), frozenset(mine))


def directory_wire(listing: Listing, standings: Sequence[Standing]) -> Wire[Directory]:
    """Encode a directory; the standings are those of its sessions, in their order."""
    by_account = {
        account: b",".join(map(_entry, group))
        for account, group in groupby(standings, lambda each: each.session.address.participant)
    }
    participants = (_participant(account, by_account.get(account.id, b"")) for account in listing.accounts)
    raw = b'{"participants":[%b],"rooms":[%b]}' % (b",".join(participants), b",".join(_rooms(listing)))
    return Wire(Directory, raw)


def _participant(account: Account, sessions: bytes) -> bytes:
    head = encode(DirectoryEntry(id=account.id, label=account.label, sessions=[]))
    assert head.endswith(_NO_SESSIONS), "the sessions are an entry's last member"
    return b"%b%b]}" % (head[:-2], sessions)


def _entry(standing: Standing) -> bytes:
    session = standing.session
    return b'{"id":"%b","card":%b,"last_seen_unix_ms":%d,"live":%b}' % (
        session.address.session.encode(),
        session.wire,
        standing.last_seen,
        b"true" if standing.live else b"false",
    )


def _rooms(listing: Listing) -> Iterator[bytes]:
    return (encode(RoomEntry(id=room, member=room in listing.mine)) for room in listing.rooms)
