"""The floor under a POST: one ASGI callable that reads the body and answers.

It stands on Hypercorn with the daemon's server settings.

Run as ``python bare.py PORT``; it serves until it is told to stop.
"""

import asyncio
import signal
import sys
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config

ANSWER = b'{"message_id":"m4a_000000000000000000000000","from":{"kind":"direct","participant":"writer"}}'
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(ANSWER)).encode())]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, answer with as many bytes as a send is answered with."""
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER})


async def main(port: int) -> None:
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.accesslog = None
    config.errorlog = None
    config.backlog = 4096
    config.keep_alive_timeout = 75
    config.keep_alive_max_requests = 1_000_000_000
    config.include_server_header = False
    config.include_date_header = False
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    await serve(app, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        asyncio.run(main(int(sys.argv[1])))
    else:
        uvloop.run(main(int(sys.argv[1])))
