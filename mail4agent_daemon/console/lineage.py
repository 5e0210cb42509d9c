"""Whether a browser runs below an agent, which decides nothing: the rule of the command line, at this door.

It holds where the kernel vouched for the connection's process. A process that means to get around it can;
SECURITY.md says so, and which set-up closes that.
"""

from mail4agent_core.mail.sessions import Sessions
from mail4agent_daemon.attest import Attested, Attestor
from mail4agent_daemon.link import Link


class Lineage:
    """Looks for agents among the processes above a connection."""

    def __init__(self, attestor: Attestor, sessions: Sessions) -> None:
        self._attestor = attestor
        self._sessions = sessions

    async def agent(self, link: Link | None) -> str | None:
        """What the connection comes from, where that is an agent program or a live session."""
        if link is None:
            return None
        if link.proof is None:
            # Nobody asked where the account's policy asks for no proof; who decides is asked of all of them.
            link.proof = await self._attestor.attest(link.peer)
        proof = link.proof
        if not isinstance(proof, Attested):
            return None
        for each in (proof, *self._attestor.ancestors(proof.process)):
            if each.program is not None:
                return f"the agent program {each.program} (process {each.process.pid})"
            session = await self._sessions.living_at(each.process)
            if session is not None:
                return f"the live session {session.session}"
        return None
