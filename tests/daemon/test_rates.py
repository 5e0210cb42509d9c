"""How fast requests are taken: what a bucket gives, what is refused, and what that costs nobody else."""

import json

import pytest

from mail4agent_api.errors import RateLimitedError
from mail4agent_daemon import body, rates
from mail4agent_daemon.link import Link
from mail4agent_daemon.peer import Peer
from mail4agent_daemon.rates import RETRY_MAX_SECS, Rate, Rates, cost_of

from .inside import Daemons, Inside

LETTER = {"to": {"kind": "direct", "participant": "ben"}, "subject": "s", "body": "b"}


class HandSeconds:
    """Monotonic seconds that a test turns; while it is set up each look turns them by ``stride``."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.stride = 0.0

    def __call__(self) -> float:
        self.now += self.stride
        return self.now


@pytest.fixture
def seconds() -> HandSeconds:
    """They stand until they are turned."""
    return HandSeconds()


TEN = Rate(10, 20)


def made(seconds: HandSeconds, connection: Rate = TEN, account: Rate = TEN) -> Rates:
    """Buckets of 20 that get 10 a second, unless told otherwise."""
    return Rates(connection, account, seconds)


def admitted(buckets: Rates, account: str, upto: int = 1000) -> int:
    """How many requests of an account are taken in a row."""
    for n in range(upto):
        try:
            buckets.admit_account(account, 1)
        except RateLimitedError:
            return n
    return upto


@pytest.mark.promise("limits.requests-are-metered")
def test_a_bucket_gives_its_burst_and_then_its_rate(seconds: HandSeconds) -> None:
    """Twenty at once; after a second ten more; never more than twenty saved."""
    buckets = made(seconds)
    assert admitted(buckets, "ada") == 20
    seconds.now += 1
    assert admitted(buckets, "ada") == 10
    seconds.now += 3600
    assert admitted(buckets, "ada") == 20
    assert buckets.refused == {"connection": 0, "account": 3}


@pytest.mark.promise("limits.requests-are-metered")
def test_buckets_are_each_accounts_and_each_connections_own(seconds: HandSeconds) -> None:
    """An empty one empties no other."""
    buckets = made(seconds)
    one, other = Link(Peer("tcp")), Link(Peer("tcp"))
    assert admitted(buckets, "ada") == 20
    assert admitted(buckets, "ben") == 20
    buckets.admit_connection(one, 20)
    buckets.admit_connection(other, 20)
    with pytest.raises(RateLimitedError):
        buckets.admit_connection(one, 1)
    assert buckets.refused["connection"] == 1


def test_the_time_to_wait_is_when_the_tokens_are_there(seconds: HandSeconds) -> None:
    """Whole seconds, at least one, at most a day; what is refused has taken nothing."""
    buckets = made(seconds)
    buckets.admit_account("ada", 20)
    with pytest.raises(RateLimitedError) as soon:
        buckets.admit_account("ada", 1)
    with pytest.raises(RateLimitedError) as later:
        buckets.admit_account("ada", 15)
    assert (soon.value.refusal.retry_after_secs, later.value.refusal.retry_after_secs) == (1, 2)
    seconds.now += 1.5
    buckets.admit_account("ada", 15)
    slow = made(seconds, account=Rate(1, 1_000_000))
    slow.admit_account("ada", 1_000_000)
    with pytest.raises(RateLimitedError) as capped:
        slow.admit_account("ada", 1_000_000)
    assert capped.value.refusal.retry_after_secs == RETRY_MAX_SECS


def test_what_costs_more_than_a_bucket_takes_a_whole_one(seconds: HandSeconds) -> None:
    """It could never be taken otherwise."""
    buckets = made(seconds)
    buckets.admit_account("ada", 257)
    with pytest.raises(RateLimitedError):
        buckets.admit_account("ada", 1)


def test_no_limit_is_none(seconds: HandSeconds) -> None:
    """A zero in either number turns the bucket off, and nothing is kept."""
    for off in (Rate(0, 20), Rate(10, 0)):
        buckets = made(seconds, off, off)
        assert admitted(buckets, "ada") == 1000
        buckets.admit_connection(Link(Peer("tcp")), 1000)
        assert len(buckets) == 0


@pytest.mark.parametrize(("size", "cost"), [(0, 1), (1, 2), (65_536, 2), (65_537, 3), (16_777_216, 257)])
def test_a_body_costs_a_token_for_each_started_piece(size: int, cost: int) -> None:
    """64 KiB to the token; one that does not say its size pays for the largest ordinary one."""
    assert cost_of(size) == cost
    assert cost_of(None) == 33


@pytest.mark.promise("limits.buckets-are-bounded")
def test_full_buckets_are_not_kept(seconds: HandSeconds) -> None:
    """Accounts that were idle leave nothing behind once others go on."""
    buckets = made(seconds)
    for n in range(100):
        buckets.admit_account(f"a{n}", 20)
    assert len(buckets) == 100
    seconds.now += 2
    for _ in range(60):
        buckets.admit_account("ada", 1)
        seconds.now += 0.1
    assert len(buckets) == 1


@pytest.mark.promise("limits.buckets-are-bounded")
def test_the_account_that_was_idle_longest_is_forgotten_first(
    seconds: HandSeconds, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are never more buckets than the bound, and who goes on stays limited."""
    monkeypatch.setattr(rates, "BUCKETS_MAX", 3)
    buckets = made(seconds)
    for account in ("ada", "ben", "cem", "ada", "dan"):
        buckets.admit_account(account, 10)
    assert len(buckets) == 3
    with pytest.raises(RateLimitedError):
        buckets.admit_account("ada", 1)
    assert admitted(buckets, "ben") == 20


async def limited(
    daemons: Daemons, seconds: HandSeconds, limits: dict[str, float] | None = None, **settings: int
) -> Inside:
    """A daemon with such buckets and a clock of its own, full ones to begin with."""
    chosen = {f"limits.{name}": value for name, value in settings.items()}
    seconds.stride = 3600.0
    daemon = await daemons.start(settings=chosen, monotonic=seconds, **(limits or {}))
    seconds.now += 3600
    seconds.stride = 0.0
    return daemon


@pytest.mark.promise("limits.requests-are-metered")
async def test_a_connection_that_is_too_fast_is_told_when_to_come_back(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """429 with Retry-After before a credential is looked at; it stays open, and others are served."""
    daemon = await limited(daemons, seconds, connection_per_sec=1, connection_burst=3)
    wire = await daemon.connect()
    asked = daemon.request("/mail/whoami", b"", "ada")
    assert [(await wire.ask(asked)).status for _ in range(2)] == [200, 200]
    refused = await wire.ask(daemon.request("/mail/whoami", b"", None))
    assert refused.status == 401
    for request in (asked, daemon.request("/mail/whoami", b"", None), daemon.request("/nowhere", b"", None)):
        refused = await wire.ask(request)
        assert (refused.status, refused.header("retry-after")) == (429, "1")
        assert refused.json == {"kind": "rate_limited", "retry_after_secs": 1}
        assert refused.header("connection") is None
    page = await wire.ask(daemon.request("/health", b"", None, "GET"))
    assert page.status == 429
    assert (await (await daemon.connect()).ask(asked)).status == 200
    seconds.now += 1
    assert (await wire.ask(asked)).status == 200
    told = (await daemon.get("/metrics")).body.decode()
    assert 'mail4agent_rate_limited_total{bucket="connection"} 4.0' in told


@pytest.mark.promise("limits.requests-are-metered")
async def test_an_account_that_is_too_fast_is_refused_on_all_its_connections(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """Others are not, nor are the pages that need no credential."""
    daemon = await limited(daemons, seconds, account_per_sec=1, account_burst=2)
    for expected in (200, 200, 429):
        assert (await daemon.post("/mail/whoami", b"", "ada")).status == expected
    assert (await daemon.post("/mail/whoami", b"", "ben")).status == 200
    assert (await daemon.get("/health")).status == 200
    seconds.now += 1
    assert (await daemon.post("/mail/whoami", b"", "ada")).status == 200


@pytest.mark.promise("limits.a-refused-body-is-not-kept")
@pytest.mark.parametrize("bucket", ["connection", "account"])
async def test_a_large_body_on_an_empty_bucket_is_not_read_and_its_connection_stays(
    daemons: Daemons, seconds: HandSeconds, monkeypatch: pytest.MonkeyPatch, bucket: str
) -> None:
    """Two MiB are let go by; the next request on the connection is answered."""
    daemon = await limited(daemons, seconds, **{f"{bucket}_per_sec": 1, f"{bucket}_burst": 2})
    wire = await daemon.connect()
    for _ in range(2):
        assert (await wire.ask(daemon.request("/mail/whoami", b"", "ada"))).status == 200

    async def never_read(*_: object) -> None:
        raise AssertionError("a body was read")

    monkeypatch.setattr("mail4agent_daemon.gate.read_body", never_read)
    refused = await wire.ask(daemon.request("/mail/send", b"x" * 2_097_152, "ada"))
    assert (refused.status, refused.header("connection")) == (429, None)
    assert int(refused.header("retry-after") or 0) == 2
    monkeypatch.setattr("mail4agent_daemon.gate.read_body", body.read_body)
    seconds.now += 3600
    assert (await wire.ask(daemon.request("/mail/whoami", b"", "ada"))).status == 200


@pytest.mark.promise("limits.a-refused-body-is-not-kept")
async def test_a_client_that_asks_before_it_sends_is_refused_without_its_body(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """It is not asked to send what nobody would read."""
    daemon = await limited(daemons, seconds, connection_per_sec=1, connection_burst=1)
    wire = await daemon.connect()
    await wire.ask(daemon.request("/mail/whoami", b"", "ada"))
    head, _, _ = daemon.request("/mail/send", LETTER, "ada").partition(b"\r\n\r\n")
    refused = await wire.ask(head + b"\r\nExpect: 100-continue\r\n\r\n")
    assert (refused.status, refused.header("connection")) == (429, "close")


async def test_an_upload_that_stands_still_on_an_empty_bucket_is_refused_and_closed(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """What does not come within its time ends the connection instead."""
    patience = {"unread_request_timeout_secs": 0.05}
    daemon = await limited(daemons, seconds, patience, connection_per_sec=1, connection_burst=1)
    wire = await daemon.connect()
    await wire.ask(daemon.request("/mail/whoami", b"", "ada"))
    refused = await wire.ask(daemon.request("/mail/send", LETTER, "ada")[:-5])
    assert (refused.status, refused.header("connection")) == (429, "close")


@pytest.mark.promise("limits.requests-are-metered")
async def test_many_messages_at_once_cost_as_much_as_one_by_one(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """All of them are refused or none, and a refused batch posts nothing."""
    daemon = await limited(daemons, seconds, account_per_sec=1, account_burst=12)
    assert (await daemon.post("/mail/send_many", {"messages": [LETTER] * 10}, "ada")).status == 200
    seconds.now += 10
    refused = await daemon.post("/mail/send_many", {"messages": [LETTER] * 11}, "ada")
    assert (refused.status, refused.json["kind"]) == (429, "rate_limited")
    page = (await daemon.post("/mail/inbox", {}, "ben")).json
    assert page["unread"] == 10


async def test_a_wait_costs_its_token_once(daemons: Daemons, seconds: HandSeconds) -> None:
    """However long it parks and however often it looks."""
    daemon = await limited(daemons, seconds, account_per_sec=1, account_burst=2)
    wire = await daemon.park("/mail/wait", {"wait_secs": 60}, "ben")
    await daemon.send("ada", "ben")
    assert (await wire.answer()).status == 200
    seconds.now += 1
    assert (await daemon.post("/mail/whoami", b"", "ben")).status == 200


async def test_an_account_registered_anew_is_limited_as_any_other(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """It begins with what the removed one of its name left, and has a full bucket as soon as that would."""
    daemon = await limited(daemons, seconds, account_per_sec=1, account_burst=7)

    async def taken() -> int:
        return [(await daemon.post("/mail/whoami", b"", "eve")).status for _ in range(9)].count(200)

    assert await taken() == 7
    for path in ("/admin/participant/remove", "/admin/participant/purge"):
        assert (await daemon.post(path, {"id": "eve"})).status == 200
    await daemon.add("eve")
    assert await taken() == 0
    seconds.now += 3
    assert await taken() == 3
    seconds.now += 7
    assert await taken() == 7


@pytest.mark.promise("limits.requests-are-metered")
async def test_ten_thousand_requests_sent_ahead_are_each_answered(
    daemons: Daemons, seconds: HandSeconds
) -> None:
    """The bucket's worth is served and the rest refused, in order, on one connection."""
    daemon = await limited(daemons, seconds, connection_per_sec=1, connection_burst=500)
    wire = await daemon.connect()
    wire.writer.write(daemon.request("/mail/whoami", b"", "ada") * 10_000)
    statuses = [(await wire.answer()).status for _ in range(10_000)]
    assert statuses == [200] * 500 + [429] * 9_500
    assert json.loads((await daemon.get("/health")).body)["ok"] is True
