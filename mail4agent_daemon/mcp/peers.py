"""Whom a caller can write to, a page at a time: the directory in the order of its addresses."""

from collections.abc import Iterator
from typing import NamedTuple

from mail4agent_api.codec import encode
from mail4agent_api.mail import (
    AddressText,
    Directory,
    DirectoryEntry,
    DirectoryRequest,
    PeerState,
    SessionEntry,
    ToolPeer,
    ToolPeersRequest,
    ToolPeersResult,
)

from .enclosure import Draw, boundary_for, fitting, json_bytes, wrapped

PEERS_MAX = 256
#: Of what one address says of itself, in bytes.
SAID_MAX_BYTES = 200
_LONGEST = f"{'a' * 128}/s-{'0' * 64}"


class _Listed(NamedTuple):
    address: AddressText
    state: PeerState
    #: What its holder says of itself, on one line.
    said: str


def ask(request: ToolPeersRequest) -> DirectoryRequest:  # noqa: ARG001  the directory has no parameters
    """The operation's request."""
    return DirectoryRequest()


def tell(request: ToolPeersRequest, directory: Directory, draw: Draw) -> ToolPeersResult:
    """A page of it, within the bound that was asked for."""
    listed = sorted(_listed(directory, dead=request.dead))
    if request.after is not None:
        listed = [each for each in listed if each.address > request.after]
    boundary = boundary_for((each.said for each in listed), draw)

    def made(peers: list[ToolPeer], text: str, following: AddressText | None) -> ToolPeersResult:
        return ToolPeersResult(boundary=boundary, peers=peers, text=wrapped(text, boundary), next=following)

    room = request.max_tokens - len(encode(made([], "", _LONGEST)))
    peers: list[ToolPeer] = []
    lines: list[str] = []
    for each in listed[:PEERS_MAX]:
        peer = ToolPeer(address=each.address, state=each.state)
        line = f"{each.address}: {fitting(each.said, SAID_MAX_BYTES)}\n" if each.said else ""
        room -= len(encode(peer)) + 1 + json_bytes(line)
        if room < 0:
            break
        peers.append(peer)
        lines.append(line)
    following = peers[-1].address if peers and len(peers) < len(listed) else None
    return made(peers, "".join(lines).rstrip("\n"), following)


def _listed(directory: Directory, *, dead: bool) -> Iterator[_Listed]:
    for room in directory.rooms:
        yield _Listed(f"#{room.id}", "member" if room.member else "open", "")
    for entry in directory.participants:
        yield from _account(entry, dead=dead)


def _account(entry: DirectoryEntry, *, dead: bool) -> Iterator[_Listed]:
    yield _Listed(str(entry.id), "account", entry.label or "")
    for session in entry.sessions:
        if session.live or dead:
            yield _Listed(f"{entry.id}/{session.id}", "live" if session.live else "dead", _said(session))


def _said(session: SessionEntry) -> str:
    declared, corroborated = session.card.declared, session.card.corroborated
    parts = {
        "role": declared.role,
        "works on": declared.working_on,
        "model": None if corroborated.model is None else corroborated.model.inner_ref(),
        "in": None if corroborated.cwd is None else corroborated.cwd.inner_ref(),
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value)
