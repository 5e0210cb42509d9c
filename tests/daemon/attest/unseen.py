"""Run where /proc tells little: becomes nobody, then attests a connection and says what came of it."""

import asyncio
import encodings.idna  # noqa: F401  # nobody may not read the library, and a connection needs it
import socket
import sys
from contextlib import ExitStack

from mail4agent_daemon.attest import Attested, Attestor
from tests.daemon.attest.caller import become
from tests.daemon.attest.conftest import NOBODY, Caller, Door


def main() -> None:
    """Attest a connection of root's, or of one's own, as root or as nobody."""
    of_root, as_nobody = "root" in sys.argv, "nobody" in sys.argv
    with ExitStack() as stack:
        door = Door(stack.enter_context(socket.create_server(("127.0.0.1", 0))), stack)
        if of_root:
            caller = Caller()
            stack.callback(caller.close)
            caller.do("connect", name="a", to=door.address)
        else:
            stack.enter_context(socket.create_connection(door.address))
        peer = door.accept()
        attestor = Attestor()
        stack.callback(attestor.close)
        if as_nobody:
            become(NOBODY)
        answer = asyncio.run(attestor.attest(peer))
        said = "attested" if isinstance(answer, Attested) else answer.reason
        sys.stdout.write(f"{said} {attestor.reason or 'available'}")
        sys.stdout.flush()
        if as_nobody and of_root:
            # Nobody cannot end root's process; it ends by itself when its orders do.
            stack.pop_all()


if __name__ == "__main__":
    main()
