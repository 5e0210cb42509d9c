"""Random ids and secrets, and the clocks."""

import time

import pytest

from mail4agent_api.mail import MessageId
from mail4agent_core.clock import HandClock, SystemClock
from mail4agent_core.ids import RandomIds, SeededIds, digest_of


def test_ids_and_secrets_are_never_the_same_twice():
    """A thousand of each are distinct, and of the form that the contract says."""
    ids = RandomIds()
    assert len({ids.message_id() for _ in range(1_000)}) == 1_000
    assert all(isinstance(ids.message_id(), MessageId) for _ in range(10))
    secrets = {ids.secret() for _ in range(1_000)}
    assert len(secrets) == 1_000
    assert all(len(bytes.fromhex(secret)) == 32 for secret in secrets)


def test_seeded_ids_are_the_same_for_the_same_seed():
    """And others for another seed."""
    first, again, other = SeededIds(1), SeededIds(1), SeededIds(2)
    assert [first.message_id(), first.secret()] == [again.message_id(), again.secret()]
    assert SeededIds(1).message_id() != other.message_id()


def test_a_digest_is_sha_256_of_the_secrets_text():
    """32 bytes; the digest of the empty text is the published one."""
    assert digest_of("").hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_clocks_tell_milliseconds(monkeypatch: pytest.MonkeyPatch):
    """The machine's clock cuts its nanoseconds; a hand clock stands until it is stepped."""
    monkeypatch.setattr(time, "time_ns", lambda: 1_234_999_999)
    assert SystemClock().now_ms() == 1_234
    clock = HandClock(5)
    clock.step(-2)
    assert clock.now_ms() == 3
