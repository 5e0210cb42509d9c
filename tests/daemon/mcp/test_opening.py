"""The SDK comes with the first request, once; what fails behind the door is told as everywhere."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api.errors import StoreUnavailableError
from tests.daemon.host.served import BOUND_SECS, until
from tests.daemon.inside import Daemons, Inside

from .talk import message

LATE = """
import asyncio, sys, tempfile
from pathlib import Path
from tests.daemon.inside import inside

def there() -> list[str]:
    return sorted(name for name in ("mcp", "mcp_types", "sse_starlette", "jsonschema") if name in sys.modules)

async def main() -> None:
    async with inside(Path(sys.argv[1])) as daemon:
        await daemon.add("ada")
        await daemon.send("ada", "ada")
        assert (await daemon.post("/mcp", {}, None)).status == 401
        print(there())
        assert (await daemon.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "ada")).status == 200
        print(there())

asyncio.run(main())
"""


@pytest.mark.promise("mcp.a-daemon-without-clients-stays-small")
def test_a_daemon_that_nobody_speaks_mcp_to_has_not_imported_it(tmp_path: Path) -> None:
    """Neither at its start nor for mail nor for a request without a credential; with the first one it has."""
    ended = subprocess.run(
        [sys.executable, "-c", LATE, str(tmp_path / "home")],
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stderr == ""
    before, after = ended.stdout.splitlines()
    assert before == "[]"
    assert "'mcp', 'mcp_types'" in after


async def test_requests_that_come_together_begin_it_once(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten first requests at once are all answered, by one that carries them."""
    from mail4agent_daemon.mcp.carrier import Carrier

    begun: list[Carrier] = []
    start = Carrier.start

    async def counted(self: Carrier) -> None:
        begun.append(self)
        await start(self)

    monkeypatch.setattr(Carrier, "start", counted)
    answers = await asyncio.gather(*(inside.post("/mcp", message("ping"), "ada") for _ in range(10)))
    assert [answer.status for answer in answers] == [200] * 10
    assert len(begun) == 1


async def test_what_fails_to_begin_is_tried_again(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request gets a fault, the log its reason, and the next request a new try."""
    from mail4agent_daemon.mcp.carrier import Carrier

    start = Carrier.start
    failures = [RuntimeError("once")]

    async def failing(self: Carrier) -> None:
        if failures:
            raise failures.pop()
        await start(self)

    monkeypatch.setattr(Carrier, "start", failing)
    first = await inside.post("/mcp", message("ping"), "ada")
    assert (first.status, first.json["kind"]) == (500, "internal")
    assert (await inside.post("/mcp", message("ping"), "ada")).status == 200


@pytest.mark.promise("mcp.a-refusal-reads-as-text")
async def test_a_fault_behind_a_tool_is_told_by_a_request_id(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words stay in the log; the tool's error names the request that finds them."""

    async def broken(*_: Any) -> None:
        raise ValueError("the secret reason")

    http_door: Any = inside.made.app.app  # pyright: ignore[reportFunctionMemberAccess]
    monkeypatch.setitem(http_door._dispatch._handlers, "mail.whoami", broken)
    answer = await inside.post("/mcp", message("tools/call", {"name": "m4a_mail_whoami"}), "ada")
    result = answer.json["result"]
    named = answer.header("x-request-id")
    assert result["isError"] is True
    assert result["_meta"]["mail4agent/refusal"] == {"kind": "internal", "request_id": named}
    assert "secret reason" not in answer.body.decode()
    (record,) = [each for each in inside.log if each["event"] == "request_failed"]
    assert (record["request_id"], record["route"]) == (named, "/mcp mail.whoami")


async def test_a_store_that_fails_is_a_refusal_of_the_tool(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over HTTP, the reason being in the log alone."""

    async def failing(*_: Any) -> None:
        raise StoreUnavailableError(operation="inbox") from OSError("the disk's own words")

    http_door: Any = inside.made.app.app  # pyright: ignore[reportFunctionMemberAccess]
    monkeypatch.setitem(http_door._dispatch._handlers, "mail.inbox", failing)
    answer = await inside.post("/mcp", message("tools/call", {"name": "m4a_mail_inbox"}), "ada")
    (content,) = answer.json["result"]["content"]
    assert content["text"] == (
        "Refused (store_unavailable): the store could not complete the operation; nothing was changed; "
        "operation inbox."
    )
    assert [record["route"] for record in inside.log if record["event"] == "refused"] == ["/mcp mail.inbox"]


async def test_a_store_that_knows_nobody_is_refused_before_the_protocol(inside: Inside) -> None:
    """503, as on every path."""
    await inside.made.store.close()
    answer = await inside.post("/mcp", message("ping"), "ada")
    assert (answer.status, answer.json["kind"]) == (503, "store_unavailable")


@pytest.mark.promise("mcp.identity-is-that-of-every-door")
async def test_a_call_pays_for_its_request_once(daemons: Daemons) -> None:
    """What an empty bucket refuses is refused before the protocol, with when to come back."""
    # A request with a small body costs two tokens; time stands still.
    settings = {"limits.account_per_sec": 1, "limits.account_burst": 6}
    daemon = await daemons.start(settings=settings, monotonic=lambda: 1000.0)
    call = message("tools/call", {"name": "m4a_mail_whoami"})
    answers = [await daemon.post("/mcp", call, "eve") for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    assert answers[3].json["kind"] == "rate_limited"
    assert answers[3].header("retry-after") is not None


async def test_a_client_that_leaves_before_its_body_is_whole_costs_nothing(inside: Inside) -> None:
    """Its connection ends, and no exchange was begun."""
    wire = await inside.connect()
    raw = inside.request("/mcp", message("ping"), "ada")
    await wire.send(raw[:-5])
    wire.close()
    async with asyncio.timeout(BOUND_SECS):
        await until(lambda: len(inside.made.connections) == 0)
    assert [record for record in inside.log if record["level"] == "error"] == []
