"""Listeners and their rings in memory."""

from collections.abc import Collection
from dataclasses import replace

from mail4agent_api.addresses import participant_of, text_of
from mail4agent_api.mail import ListenerState, ParticipantAddress, ParticipantId
from mail4agent_core.mail.doorbells import (
    FAILED_LEAST,
    KEEP_MS,
    OF_THE_MESSAGE,
    OUTSTANDING_MAX,
    PAUSE_MAX_MS,
    STEP,
    Attempt,
    Doorbell,
    Ring,
    Turn,
    is_rung,
    may_hear,
)
from mail4agent_core.mail.wire import first_of

from .state import Bell, State, Stored


def doorbells_of(state: State, account: ParticipantId) -> list[Doorbell]:
    """An account's listener, then its sessions'."""
    return [
        _shown(bell) for _, bell in sorted(state.bells.items()) if bell.doorbell.owner.participant == account
    ]


def set_listener(state: State, owner: ParticipantAddress, url: str, key: str | None, uid: int | None) -> None:
    """Make or replace a listener."""
    name = text_of(owner)
    bell = state.bells.get(name)
    if bell is None:
        doorbell = Doorbell(state.number(), owner, url, key, uid, 0, 0, 0, None, None, None, 0)
        state.bells[name] = Bell(doorbell, max(state.at, default=0))
    else:
        bell.doorbell = replace(bell.doorbell, url=url, key=key, uid=uid)
        _forgive(bell)


def _forgive(bell: Bell) -> None:
    """Forget that it failed."""
    bell.doorbell = replace(bell.doorbell, failure=None, failures=0, failing_since=None)
    bell.due_at = 0


def retry(state: State, owner: ParticipantAddress) -> None:
    """Take a listener for one that was just set."""
    bell = state.bells.get(text_of(owner))
    if bell is not None:
        _forgive(bell)


def listeners(state: State, wanted: ListenerState, after: str | None, limit: int | None) -> list[Doorbell]:
    """The listeners of a state behind an owner, by their owners."""
    found = [
        _shown(bell)
        for owner, bell in sorted(state.bells.items())
        if owner > (after or "") and bell.doorbell.failures >= FAILED_LEAST[wanted]
    ]
    return found[:limit]


def drop_listeners_of(state: State, account: ParticipantId) -> None:
    """Delete the listeners of an account and its sessions."""
    state.bells = {
        name: bell for name, bell in state.bells.items() if bell.doorbell.owner.participant != account
    }


def joined(state: State, account: ParticipantId, box: str) -> None:
    """Keep an account's listeners from what stands in a room that it joins."""
    for bell in state.bells.values():
        if bell.doorbell.owner.participant == account:
            bell.floors[box] = max(state.boxes[box], default=0)


def listening_to(state: State, boxes: Collection[str]) -> list[str]:
    """The owners whose listeners are told of mail in any of the boxes."""
    return sorted(owner for owner in state.bells if not _boxes(state, owner).isdisjoint(boxes))


def next_ring(state: State, last: int, owner: str, attempt: Attempt | None, now: int) -> Turn | None:
    """As ``DoorbellStore.next_ring`` says; ``last`` is the highest position given."""
    bell = state.bells.get(owner)
    if bell is None:
        return None
    if attempt is not None and attempt.counts_for(bell.doorbell):
        _note(bell, attempt)
    oldest = first_of(max(now - KEEP_MS, 0))
    more = _look_over(state, last, owner, bell, oldest)
    if now < bell.due_at <= now + PAUSE_MAX_MS:
        return Turn(due_at=bell.due_at if bell.rings or more else None)
    boxes = _boxes(state, owner) if _hears(state, owner) else frozenset[str]()
    for _ in range(STEP):
        if not bell.rings:
            return Turn(due_at=now if more else None)
        attempts, pos = min((attempts, pos) for pos, attempts in bell.rings.items())
        message = state.at.get(pos)
        if message is not None and message.box in boxes:
            if pos >= oldest:
                return Turn(ring=Ring(_shown(bell), pos, attempts, message.wire))
            bell.doorbell = replace(bell.doorbell, given_up=bell.doorbell.given_up + 1)
        del bell.rings[pos]
    return Turn(due_at=now)


def _shown(bell: Bell) -> Doorbell:
    return replace(bell.doorbell, outstanding=len(bell.rings), due_at=bell.due_at)


def _note(bell: Bell, attempt: Attempt) -> None:
    doorbell, pos = bell.doorbell, attempt.ring.pos
    if attempt.failure is None:
        rung = doorbell.rung + (bell.rings.pop(pos, None) is not None)
        bell.doorbell = replace(doorbell, rung=rung, last_rung_at=attempt.at)
        _forgive(bell)
        return
    if attempt.failure in OF_THE_MESSAGE and pos in bell.rings:
        bell.rings[pos] += 1
    failures = doorbell.failures + 1
    bell.doorbell = replace(
        doorbell,
        last_failed_at=attempt.at,
        failure=attempt.failure,
        failures=failures,
        failing_since=attempt.at if doorbell.failing_since is None else doorbell.failing_since,
    )
    bell.due_at = attempt.retry_at


def _look_over(state: State, last: int, owner: str, bell: Bell, oldest: int) -> bool:
    step = min(STEP, OUTSTANDING_MAX - len(bell.rings))
    if step <= 0:
        return True
    standing = sorted(
        pos
        for box in _boxes(state, owner)
        for pos in state.boxes[box]
        if pos > max(bell.cursor, bell.floors.get(box, 0))
    )
    found = standing[:step]
    wanted = [pos for pos in found if _hears(state, owner) and _is_rung(state, owner, state.at[pos])]
    fresh = [pos for pos in wanted if pos >= oldest]
    bell.rings.update(dict.fromkeys(fresh, 0))
    given_up = bell.doorbell.given_up + len(wanted) - len(fresh)
    bell.doorbell = replace(bell.doorbell, given_up=given_up)
    bell.cursor = found[-1] if len(found) == step else last
    return len(found) == step


def _is_rung(state: State, owner: str, message: Stored) -> bool:
    account = participant_of(owner).participant
    same_account = message.account == state.accounts[account].number
    names = (name for name, reader in state.readers.items() if reader.number == message.sender)
    return is_rung(owner, message.box, next(names, None), same_account=same_account)


def _hears(state: State, owner: str) -> bool:
    account, slash, _ = owner.partition("/")
    present = state.accounts[ParticipantId(account)].account
    return not slash or may_hear(present.capabilities, has_secret=present.secret_issued_at is not None)


def _boxes(state: State, owner: str) -> frozenset[str]:
    """The boxes whose mail an owner's listener is told of."""
    boxes = state.boxes_of(participant_of(owner))
    if "/" not in owner and boxes:
        boxes |= {box for box in state.boxes if box.startswith(f"{owner}/")}
    return frozenset(boxes)
