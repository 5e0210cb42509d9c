"""A room of four: the lead asks once, three answer where everybody reads it, and all agree on the count."""

import asyncio
import sys

from mail4agent_client import MailClient

ANSWERS = {"parser": "the parser is ready", "store": "the store is ready", "docs": "the pages are ready"}


def say(who: str, what: str) -> None:
    """Print a line of the conversation."""
    # One write a line: the roles share an output.
    print(f"{who:>9}: {what}\n", end="", flush=True)


async def follow(mail: MailClient, role: str, room: str) -> None:
    """Read what the others post until the lead closes the round."""
    heard = 0
    async for message in mail.watch("unread", room=room, ack=True):
        if message.body == "who is ready?":
            await mail.reply_text(message, ANSWERS[role])
            say(role, "answered in the room")
        elif message.body.startswith("we release"):
            # One's own posts are not shown, so each of the three hears the two others.
            say(role, f"heard {heard} others before: {message.body}")
            return
        else:
            heard += 1


async def lead(mail: MailClient, room: str) -> None:
    """Ask once, wait for three answers, close the round."""
    asked = await mail.send_text(f"#{room}", "who is ready?", subject="Release")
    say("lead", "asked the room")
    heard: list[str] = []
    async for message in mail.watch("unread", room=room, thread=asked.message_id, ack=True):
        heard.append(message.body)
        if len(heard) == len(ANSWERS):
            await mail.reply_text(message, f"we release: {len(heard)} of {len(ANSWERS)} are ready")
            say("lead", "; ".join(sorted(heard)))
            return


async def main(role: str, room: str) -> None:
    """Play one role."""
    async with MailClient() as mail:
        await (lead(mail, room) if role == "lead" else follow(mail, role, room))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
