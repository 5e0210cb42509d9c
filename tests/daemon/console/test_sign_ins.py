"""Who is signed in, by a clock that is turned by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.ids import digest_of
from mail4agent_daemon.console.signed_in import (
    CODE_MS,
    CODES_MAX,
    CODES_OF_AN_ACCOUNT_MAX,
    LASTS_MS,
    OF_AN_ACCOUNT_MAX,
    SIGNED_IN_MAX,
    SignIns,
)

ROSA = digest_of("rosa's secret")
ADA = digest_of("ada's secret")


@pytest.mark.promise("console.sign-in-ends")
def test_a_sign_in_ends_after_twelve_hours(tmp_path: Path) -> None:
    """It holds until the last millisecond, and not after it."""

    async def live() -> None:
        clock = HandClock(1_000)
        signins = SignIns(tmp_path / "console", clock)
        cookie = await signins.begin("rosa", ROSA)
        clock.step(LASTS_MS - 1)
        assert await signins.of(cookie) is not None
        clock.step(1)
        assert await signins.of(cookie) is None

    asyncio.run(live())


@pytest.mark.promise("console.sign-in-ends")
def test_signing_out_everywhere_ends_those_of_the_account_alone(tmp_path: Path) -> None:
    """One is ended, then every one of rosa's; ben stays."""

    async def live() -> None:
        signins = SignIns(tmp_path / "console", HandClock(1_000))
        first, second, third = [await signins.begin("rosa", ROSA) for _ in range(3)]
        ben = await signins.begin("ben", digest_of("ben's"))
        one = await signins.of(first)
        assert one is not None
        await signins.end(one)
        assert [await signins.of(each) is None for each in (first, second, third, ben)] == [
            True, False, False, False,
        ]  # fmt: skip
        two = await signins.of(second)
        assert two is not None
        await signins.end(two, everywhere=True)
        assert [await signins.of(each) is None for each in (second, third, ben)] == [True, True, False]

    asyncio.run(live())


@pytest.mark.promise("console.sign-in-is-kept-hashed")
def test_the_file_makes_no_cookie_and_outlives_a_restart(tmp_path: Path) -> None:
    """Neither the cookie nor the secret is in it; another reader of it finds the sign-in and its forms."""

    async def live() -> None:
        folder, clock = tmp_path / "console", HandClock(1_000)
        before = SignIns(folder, clock)
        cookie = await before.begin("rosa", ROSA)
        [file] = folder.iterdir()
        assert cookie not in file.read_text()
        assert file.stat().st_mode & 0o077 == 0
        after = SignIns(folder, clock)
        found = await after.of(cookie)
        assert found is not None
        assert (found.account, found.digest) == ("rosa", ROSA)
        assert after.is_csrf(cookie, before.csrf(cookie))

    asyncio.run(live())


@pytest.mark.promise("console.sign-in-is-bounded")
def test_sign_ins_are_bounded_for_one_account_and_for_all(tmp_path: Path) -> None:
    """The oldest of an account goes for its next, and nobody's goes before there are too many of all."""

    async def live() -> None:
        signins = SignIns(tmp_path / "console", HandClock(1_000))
        own = [await signins.begin("rosa", ROSA) for _ in range(OF_AN_ACCOUNT_MAX + 1)]
        assert [await signins.of(each) is None for each in own[:2]] == [True, False]
        for each in range(SIGNED_IN_MAX - OF_AN_ACCOUNT_MAX):
            await signins.begin(f"a{each}", ROSA)
        assert await signins.of(own[1]) is not None
        await signins.begin("last", ROSA)
        assert await signins.of(own[1]) is None
        assert await signins.of(own[2]) is not None

    asyncio.run(live())


@pytest.mark.promise("console.code-signs-in-once")
def test_a_code_is_good_once_within_a_minute(tmp_path: Path) -> None:
    """Not a second time, not late, and not once there are too many after it."""
    clock = HandClock(1_000)
    signins = SignIns(tmp_path / "console", clock)
    code = signins.code("rosa", ROSA)
    assert signins.redeem(code) == ("rosa", ROSA)
    assert signins.redeem(code) is None
    late = signins.code("rosa", ROSA)
    clock.step(CODE_MS)
    assert signins.redeem(late) is None
    first, *others = [signins.code(f"rosa-{each}", ROSA) for each in range(CODES_MAX + 1)]
    assert signins.redeem(first) is None
    assert signins.redeem(others[0]) == ("rosa-1", ROSA)


@pytest.mark.promise("console.code-signs-in-once")
def test_who_asks_for_many_codes_ends_his_own_alone(tmp_path: Path) -> None:
    """An agent with a secret cannot keep a person from signing in by asking again and again."""
    signins = SignIns(tmp_path / "console", HandClock(1_000))
    code = signins.code("rosa", ROSA)
    first, *others = [signins.code("ada", ADA) for _ in range(CODES_MAX * 2)]
    assert signins.redeem(code) == ("rosa", ROSA)
    assert signins.redeem(first) is None
    assert [signins.redeem(each) for each in others[-CODES_OF_AN_ACCOUNT_MAX:]] == (
        [("ada", ADA)] * CODES_OF_AN_ACCOUNT_MAX
    )
