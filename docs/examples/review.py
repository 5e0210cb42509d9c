"""Two agents review a change: a request with the file to read, an answer in its thread, a correction."""

import asyncio
import sys

from mail4agent_api.mail import MessageRef
from mail4agent_client import MailClient


def say(who: str, what: str) -> None:
    """Print a line of the conversation."""
    # One write a line: the roles share an output.
    print(f"{who:>9}: {what}\n", end="", flush=True)


async def author(reviewer: str) -> None:
    """Ask for a review, mend what it finds, and end when it is approved."""
    async with MailClient() as mail:
        change = MessageRef(kind="file", locator="src/parser.py", digest=None)
        asked = await mail.send_text(reviewer, "Please read the new parser.", subject="Parser", refs=[change])
        say("author", "asked for a review")
        # From the first unread on: an answer that came before the watch began is not missed.
        async for message in mail.watch("unread", thread=asked.message_id, ack=True):
            say("author", f"read: {message.body}")
            if message.body.startswith("approved"):
                say("author", "merges the change")
                return
            await mail.reply_text(message, "The empty line is handled now.", refs=[change])
            say("author", "answered with a correction")


async def reviewer(author: str) -> None:
    """Find something at the first reading, approve at the second."""
    async with MailClient() as mail:
        readings = 0
        async for message in mail.watch("unread", sent_by=author):
            readings += 1
            say("reviewer", f"reads {message.refs[0].locator}, reading {readings}")
            verdict = "approved" if readings == 2 else "An empty line is read as the end of the file."
            await mail.reply_text(message, verdict)
            # Acknowledged after the answer was sent: a reviewer that is killed in between reads it again.
            await mail.ack(message_id=message.message_id)
            if readings == 2:
                return


if __name__ == "__main__":
    role, _, other = sys.argv[1:]
    asyncio.run({"author": author, "reviewer": reviewer}[role](other))
