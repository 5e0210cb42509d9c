"""Who wrote to whom, from what the store in memory has counted."""

from mail4agent_core.mail.flow import FlowCount, FlowCounts

from .state import State


def most(state: State, slot: int, limit: int) -> FlowCounts:
    """Those who wrote most from a slot on."""
    names = {each.number: name for name, each in state.accounts.items()}
    pairs: dict[tuple[int, str], tuple[int, int]] = {}
    for (at, account, box), (messages, last) in state.flow.items():
        if at >= slot and account in names:
            pair = account, box.partition("/")[0]
            before = pairs.get(pair, (0, 0))
            pairs[pair] = before[0] + messages, max(before[1], last)
    counts = [FlowCount(names[account], to, *counted) for (account, to), counted in pairs.items()]
    counts.sort(key=lambda each: (-each.messages, each.sender, each.to))
    return FlowCounts(tuple(counts[:limit]), len(counts), sum(each.messages for each in counts))
