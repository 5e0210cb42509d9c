"""What proving the caller adds to requests: on a connection that is kept, and to the first of a new one."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import repeat
from pathlib import Path
from time import perf_counter

import load
import subjects
from measure import Measurement, Report, Series, arguments, in_turn, latency, ratio

POLICIES = ("off", "preferred")


@asynccontextmanager
async def daemon(home: Path, policy: str) -> AsyncIterator[subjects.Server]:
    """The daemon with a policy."""
    port = subjects.free_port()
    command, environment = subjects.daemon_start(home, port)
    environment["M4A_IDENTITY__ATTESTATION"] = policy
    async with subjects.running(command, environment, home, port) as server:
        yield server


async def first_requests(server: subjects.Server, raw: bytes, count: int) -> dict[str, float]:
    """A connection for each request; the seconds of the request alone."""
    took: list[float] = []
    for _ in range(count):
        (connection,) = await load.connect(server.port)
        begun = perf_counter()
        answer = await connection.ask(raw)
        took.append(perf_counter() - begun)
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"answered {answer.status} {answer.body!r}")
    return latency(took)


def over(figures: dict[str, Series], name: str) -> float | None:
    """A figure with the proof over the one without."""
    return ratio(figures["preferred"].median(name), figures["off"].median(name))


async def main() -> None:
    options = arguments(__doc__ or "", rounds=5)
    report = Report("identify", "reading one message by its id, attestation off and preferred")
    with subjects.scratch() as folder:
        async with AsyncExitStack() as stack:
            servers = {
                policy: await stack.enter_async_context(daemon(folder / policy, policy))
                for policy in POLICIES
            }
            raw: dict[str, bytes] = {}
            for policy, server in servers.items():
                secret = (await subjects.accounts(server, "reader"))["reader"]
                sent = await load.ask(server.port, subjects.send_request(secret))
                body = {"message_id": sent.json()["message_id"]}
                raw[policy] = load.request("POST", "/mail/get", body, subjects.bearer(secret))

            def kept(in_flight: int) -> dict[str, Measurement]:
                return {
                    policy: lambda policy=policy: subjects.loaded(
                        servers[policy], repeat(raw[policy]), 3000, in_flight, 200
                    )
                    for policy in POLICIES
                }

            one = await in_turn(options.rounds, kept(1))
            many = await in_turn(options.rounds, kept(16))
            firsts: dict[str, Measurement] = {
                policy: lambda policy=policy: first_requests(servers[policy], raw[policy], 200)
                for policy in POLICIES
            }
            first = await in_turn(options.rounds, firsts)
    report.table("a kept connection", one.values())
    report.table("16 kept connections", many.values())
    report.table("the first request of a connection, by a process that is known", first.values())
    report.at_most("kept connection, p50, preferred over off", over(one, "p50 ms"), 1.1)
    report.at_most(
        "16 kept connections, CPU, preferred over off",
        over(many, "cpu s/1000"),
        1.1,
    )
    report.finish()


if __name__ == "__main__":
    load.run(main())
