"""Parked readers: how long after the send's own answer a woken one has its page, and what each weighs."""

import asyncio
import resource
from time import perf_counter

import load
import subjects
from measure import Report, Series, arguments, percentile

PARKED = 5_000
#: Below the daemon's bound of parked readers an account.
PER_ACCOUNT = 250
SENDS = 200
PARK_SECS = 60
#: What the reader is given to be parked before the send, in seconds.
SETTLE_SECS = 0.005
#: Descriptors that this process needs besides its parked connections.
SPARE_FILES = 100


class Reader:
    """A reader that waits for what comes after the last message it saw."""

    def __init__(self, connection: load.Connection, secret: str) -> None:
        self._connection = connection
        self._headers = subjects.bearer(secret)
        self._after: dict[str, object] | None = None
        self.answered_at = 0.0

    async def next(self) -> None:
        """Wait for one message, and note when its page was here."""
        body = {"wait_secs": 25, "limit": 1, "after": self._after}
        answer = await self._connection.ask(load.request("POST", "/mail/inbox", body, self._headers))
        self.answered_at = perf_counter()
        page = answer.json()
        if answer.status != 200 or len(page["messages"]) != 1:
            raise RuntimeError(f"the reader was answered {answer.status} {answer.body!r}")
        message = page["messages"][0]
        self._after = {name: message[name] for name in ("created_at_unix_ms", "message_id")}


async def woken(reader: Reader, sender: load.Connection, send: bytes) -> dict[str, float]:
    """Seconds that one send took, and that its reader had to wait on after the send's answer."""
    waiting = asyncio.create_task(reader.next())
    await asyncio.sleep(SETTLE_SECS)
    begun = perf_counter()
    answer = await sender.ask(send)
    answered_at = perf_counter()
    if answer.status != 200:
        raise RuntimeError(f"the send was answered {answer.status} {answer.body!r}")
    await waiting
    return {"send": answered_at - begun, "wake": reader.answered_at - answered_at}


async def turns(reader: Reader, sender: load.Connection, send: bytes) -> dict[str, float]:
    """One round."""
    seen = [await woken(reader, sender, send) for _ in range(SENDS)]
    wakes = [each["wake"] * 1000 for each in seen]
    return {
        "send p50 ms": percentile([each["send"] * 1000 for each in seen], 0.5),
        "wake p50 ms": percentile(wakes, 0.5),
        "wake p99 ms": percentile(wakes, 0.99),
    }


async def park(server: subjects.Server, secrets: list[str]) -> list[load.Connection]:
    """Park readers, each on a connection of its own."""
    connections = await load.connect(server.port, len(secrets))
    for connection, secret in zip(connections, secrets, strict=True):
        connection.ask(load.request("POST", "/mail/wait", {"wait_secs": PARK_SECS}, subjects.bearer(secret)))
    # An answer to a request made later says that all before it were taken up.
    await load.ask(server.port, subjects.HEALTH)
    await asyncio.sleep(1)
    return connections


def allow_files(wanted: int) -> None:
    """Raise this process's bound of open files; the daemon inherits it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )


async def main() -> None:
    options = arguments(__doc__ or "", rounds=3)
    allow_files(PARKED + SPARE_FILES)
    report = Report(
        "wake", f"{PARKED:,} readers parked on connections of their own; each send wakes one more"
    )
    names = [f"parked-{n}" for n in range(PARKED // PER_ACCOUNT)]
    few, many, weight = (
        Series("no other reader parked"),
        Series(f"{PARKED:,} others parked"),
        Series("mail4agent"),
    )
    with subjects.scratch() as folder:
        async with subjects.daemon(folder / "daemon") as daemon:
            secrets = await subjects.accounts(daemon, "writer", "reader", *names)
            sender, receiver = await load.connect(daemon.port, 2)
            reader = Reader(receiver, secrets["reader"])
            send = subjects.send_request(secrets["writer"])
            await turns(reader, sender, send)
            for _ in range(options.rounds):
                few.rounds.append(await turns(reader, sender, send))
                before = daemon.memory()
                others = await park(daemon, [secrets[name] for name in names for _ in range(PER_ACCOUNT)])
                after = daemon.memory()
                if before is not None and after is not None and not weight.rounds:
                    # Only the first time: what was freed is kept by the process and used again.
                    kibs = (after - before) * 1024 / PARKED
                    weight.rounds.append({"before MiB": before, "parked MiB": after, "KiB a reader": kibs})
                many.rounds.append(await turns(reader, sender, send))
                for each in others:
                    each.close()
                await asyncio.sleep(1)
    report.table("wake", [few, many])
    report.table("memory", [weight])
    report.at_most("wake after the send's answer, p50 ms", many.median("wake p50 ms"), 2)
    report.at_most("memory of a parked reader, KiB", weight.median("KiB a reader"), 30)
    report.finish()


if __name__ == "__main__":
    load.run(main())
