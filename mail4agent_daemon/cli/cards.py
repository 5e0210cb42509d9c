"""Sessions as a person reads them: what is proved, what was read off and what was said are kept apart."""

from __future__ import annotations

from mail4agent_api.mail import SessionCard, SessionEntry
from mail4agent_daemon.cli.terminal import exact_time, visible


def card_lines(card: SessionCard) -> list[str]:
    """A card, one fact a line, each with where it is known from."""
    attested, read, said = card.attested, card.corroborated, card.declared
    since = exact_time(attested.started_at_unix_ms)
    began = (
        f"process {attested.pid} since {since}" if attested.pid else f"issued {since}, no process is proved"
    )
    facts = [
        ("attested" if attested.pid else "not attested", began),
        ("attested exe", attested.exe),
        ("corroborated session", _inner(read.provider_session_id)),
        ("corroborated model", _inner(read.model)),
        ("corroborated cwd", _inner(read.cwd)),
        ("declared working on", said.working_on),
        ("declared role", said.role),
        ("declared parent", said.parent),
    ]
    return [f"{name}: {visible(value)}" for name, value in facts if value]


def _inner(declared: object) -> str | None:
    """The text of a declared value; it is shown under a name that says so."""
    return None if declared is None else str(declared.inner_ref())  # type: ignore[attr-defined]


def state_of(entry: SessionEntry) -> str:
    """Whether a session is live, else when it was last seen."""
    return "live" if entry.live else f"last seen {exact_time(entry.last_seen_unix_ms)}"


def gist_of(entry: SessionEntry) -> str:
    """What a session says that it does, else what it is, in one safe line."""
    card = entry.card
    told = (card.declared.working_on, card.declared.role, _inner(card.corroborated.model), card.attested.exe)
    return visible(next((text for text in told if text), ""))
