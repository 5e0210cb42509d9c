"""An agent that waits overnight: it sleeps until mail comes, whatever happens to the daemon meanwhile."""

import asyncio
import sys

from mail4agent_client import MailClient


def say(who: str, what: str) -> None:
    """Print a line of the conversation."""
    # One write a line: the roles share an output.
    print(f"{who:>9}: {what}\n", end="", flush=True)


async def owl() -> None:
    """Sleep until there is work, do it, answer, and go home."""
    async with MailClient() as mail:
        say("owl", "sleeps until mail comes")
        # The watch waits at the daemon, asks again when a wait ends, and outlives the daemon's restarts.
        async for message in mail.watch("unread", ack=True):
            say("owl", f"woke up for: {message.body}")
            await mail.reply_text(message, "done: the figures are in the table")
            return


async def lark(owl: str) -> None:
    """Leave work for the night, and read in the morning what became of it."""
    async with MailClient() as mail:
        # A key of its own: whatever becomes of the connection, the work is given once.
        sent = await mail.send_text(owl, "please run the long benchmark", idempotency_key="tonight")
        say("lark", "left work for the night")
        async for message in mail.watch("unread", thread=sent.message_id, ack=True):
            say("lark", f"found in the morning: {message.body}")
            return


if __name__ == "__main__":
    asyncio.run(owl() if sys.argv[1] == "owl" else lark(sys.argv[3]))
