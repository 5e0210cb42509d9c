"""An agent that triages one request through the MCP door: ``triage.py url``, the secret on standard input.

It fetches the brief, stages an email, and reports it. It prints all that it was given, one reply a line.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

EMAIL = {"subject": "Your visit", "body_markdown": "Hello,\n\nTuesday at ten?\n\nMara"}


async def triaged(url: str, secret: str) -> None:
    """Do it; a tool that refuses ends the process."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        asyncio.timeout(30),
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):

        async def call(name: str, /, **arguments: Any) -> Any:
            result = await client.call_tool(name, arguments)
            sys.stdout.write(result.model_dump_json() + "\n")
            if result.is_error:
                sys.exit(1)
            return result.structured_content

        page = await call("m4a_frontdoor_next")
        (brief,) = page["briefs"]
        opening, text, closing = brief["text"].split("\n")
        assert opening.endswith(page["boundary"])
        assert closing.endswith(page["boundary"])
        told = json.loads(text)
        draft = await call("m4a_outbox_stage", tool="mail__send", args={**EMAIL, "to": [told["reply_to"]]})
        await call("m4a_frontdoor_triaged", seq=brief["seq"], drafts=[draft["id"]])


if __name__ == "__main__":
    asyncio.run(triaged(sys.argv[1], json.loads(sys.stdin.read())))
