"""What systemd is told of a service with ``Type=notify``: one datagram to the socket it named, and nothing
elsewhere.
"""

import os
import socket
from contextlib import suppress


def notify(state: str) -> None:
    """Send a state such as ``READY=1`` or ``STOPPING=1``; does nothing where systemd did not start this
    process.
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # An abstract socket's name is written with @ and starts with a zero byte.
    name = "\0" + address[1:] if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        channel.connect(name)
        channel.sendall(state.encode("ascii"))
