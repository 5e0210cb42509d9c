"""Turns at a look that may be long: one wait of an account at a time, the others queue for it.

The store takes a few such looks of an account and refuses the rest. A wait has its place already, which
bounds their number; so it is never refused for it and waits for its turn as it waits for mail.
"""

from .waiting import Ticket


class Turns:
    """Who looks now, and who is next, for each account."""

    def __init__(self) -> None:
        self._holders: dict[str, Ticket] = {}
        #: In the order in which they came; none is empty.
        self._queues: dict[str, dict[Ticket, None]] = {}

    def take(self, ticket: Ticket) -> bool:
        """Take the turn, or queue for it: the ticket is woken when it has come."""
        holder = self._holders.setdefault(ticket.account, ticket)
        if holder is not ticket:
            self._queues.setdefault(ticket.account, {})[ticket] = None
        return holder is ticket

    def leave(self, ticket: Ticket) -> None:
        """Give the turn to the next, or leave the queue; harmless without either."""
        account = ticket.account
        queue = self._queues.get(account, {})
        if self._holders.get(account) is not ticket:
            queue.pop(ticket, None)
        elif queue:
            following = next(iter(queue))
            del queue[following]
            self._holders[account] = following
            following.note()
            following.resume()
        else:
            del self._holders[account]
        if not queue:
            self._queues.pop(account, None)
