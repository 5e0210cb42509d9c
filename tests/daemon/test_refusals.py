"""Every refusal that the HTTP door can give has one shape, and the status and headers of its kind."""

from collections.abc import Awaitable, Callable
from typing import Any, get_args

import pytest

from mail4agent_api.codec import decode
from mail4agent_api.errors import error_of
from mail4agent_api.mail import Refusal
from mail4agent_core.mail.engine import MailEngine

from .host.served import Answer
from .inside import Daemons, Inside

Provoke = Callable[[Inside], Awaitable[Answer]]
ID = "m4a_" + "0" * 24
SESSION = "s-" + "0" * 32
SEND = {"to": {"kind": "direct", "participant": "ben"}, "subject": "s", "body": "b"}


def posted(path: str, value: object, account: str | None = "ada") -> Provoke:
    """One call that is refused."""

    async def provoke(daemon: Inside) -> Answer:
        return await daemon.post(path, value, account)

    return provoke


def sent(head: str) -> Provoke:
    """One request whose head is refused."""

    async def provoke(daemon: Inside) -> Answer:
        return await (await daemon.connect()).ask(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")

    return provoke


async def foreign_message(daemon: Inside) -> Answer:
    """Get a message that was sent to somebody else."""
    message = await daemon.send("ada", "ben")
    return await daemon.post("/mail/get", {"message_id": message}, "eve")


async def retired(daemon: Inside) -> Answer:
    """Register a removed account's id again."""
    assert (await daemon.post("/admin/participant/remove", {"id": "eve"})).status == 200
    return await daemon.post("/admin/participant", {"id": "eve", "may_send": True, "may_read": True})


async def other_content(daemon: Inside) -> Answer:
    """Use an idempotency key twice."""
    await daemon.send("ada", "ben", idempotency_key="k")
    return await daemon.post("/mail/send", {**SEND, "body": "other", "idempotency_key": "k"}, "ada")


async def closed_store(daemon: Inside) -> Answer:
    """Call an operation when the store is gone: the credential cannot be looked up, which is no 401."""
    await daemon.made.store.close()
    return await daemon.post("/mail/whoami", {}, "ada")


async def one_too_many(daemon: Inside) -> Answer:
    """Wait where one waits already."""
    await daemon.park("/mail/wait", {"wait_secs": 60}, "ada")
    return await daemon.post("/mail/wait", {"wait_secs": 60}, "ada")


async def fault(daemon: Inside) -> Answer:
    """Call an operation whose engine fails."""
    return await daemon.post("/mail/sent", {}, "ada")


PROVOKED: dict[str, Provoke] = {
    "malformed": posted("/mail/send", b"{"),
    "too_large": posted("/mail/send", {**SEND, "subject": "s" * 513}),
    "unauthenticated": sent("POST /mail/send HTTP/1.1\nHost: localhost\nContent-Length: 0"),
    "permission_denied": posted("/admin/room", {"id": "r"}),
    "not_addressed_to_you": foreign_message,
    "unknown_participant": posted("/mail/send", {**SEND, "to": {"kind": "direct", "participant": "nobody"}}),
    "unknown_room": posted("/mail/send", {**SEND, "to": {"kind": "room", "room": "nowhere"}}),
    "unknown_session": posted(
        "/mail/send", {**SEND, "to": {"kind": "session", "participant": "ben", "session": SESSION}}
    ),
    "unknown_message": posted("/mail/get", {"message_id": ID}),
    "already_exists": posted(
        "/admin/participant", {"id": "ada", "may_send": True, "may_read": True}, "operator"
    ),
    "id_retired": retired,
    "idempotency_conflict": other_content,
    "store_unavailable": closed_store,
    "overloaded": one_too_many,
    "internal": fault,
    "unknown_path": sent("POST /mail/send/ HTTP/1.1\nHost: localhost\nContent-Length: 0"),
    "method_not_allowed": sent("GET /mail/send HTTP/1.1\nHost: localhost"),
    "request_too_large": sent("POST /mail/send HTTP/1.1\nHost: localhost\nContent-Length: 16777217"),
    "unsupported_media_type": posted("/mail/send", SEND),
    "forbidden_host": sent("GET /health HTTP/1.1\nHost: evil.example"),
    "forbidden_origin": sent("GET /health HTTP/1.1\nHost: localhost\nOrigin: http://evil.example"),
}
#: Kinds of operations and of identities that this daemon does not have.
UNREACHABLE = {
    "attestation_failed",
    "draft_changed",
    "epoch_changed",
    "lease_held",
    "lease_lost",
    "mailbox_full",
    "not_pending",
    "outcome_unknown",
    "rate_limited",
    "session_account_mismatch",
    "session_not_live",
    "unknown_item",
}


def kinds() -> set[str]:
    """Every kind of the contract's family."""
    union = get_args(Refusal.__value__)[0]
    return {model.model_fields["kind"].default for model in get_args(union)}


def test_every_kind_is_provoked_or_known_to_be_out_of_reach() -> None:
    """A new kind of refusal needs a row above."""
    assert PROVOKED.keys() | UNREACHABLE == kinds()
    assert not PROVOKED.keys() & UNREACHABLE


@pytest.mark.promise("daemon.every-refusal-has-one-shape")
@pytest.mark.parametrize("kind", PROVOKED)
async def test_a_refusal_has_the_shape_status_and_headers_of_its_kind(
    daemons: Daemons, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One JSON object of the contract, with what its status asks of the headers, and a request id."""

    async def fail(*_: object) -> Any:
        raise RuntimeError("secret words")

    monkeypatch.setattr(MailEngine, "sent", fail)
    daemon = await daemons.start(parked_per_account_max=1)
    if kind == "unsupported_media_type":
        wire = await daemon.connect()
        raw = daemon.request("/mail/send", SEND, "ada").replace(b"application/json", b"text/plain")
        answer = await wire.ask(raw)
    else:
        answer = await PROVOKED[kind](daemon)
    refusal = decode(Refusal, answer.body)
    assert answer.json["kind"] == refusal.kind == kind
    assert answer.status == error_of(refusal).status
    assert answer.header("cache-control") == "no-store"
    assert answer.header("x-request-id")
    assert answer.header("www-authenticate") == ("Bearer" if answer.status == 401 else None)
    assert answer.header("allow") == ("POST" if answer.status == 405 else None)
    assert (answer.header("retry-after") is not None) == (answer.status in (429, 503))


async def test_a_fault_says_its_request_id_and_nothing_else(
    daemons: Daemons, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller can name its request to the operator; the log has where it failed, and nothing its words."""

    async def fail(*_: object) -> Any:
        raise RuntimeError("secret words of a stranger")

    monkeypatch.setattr(MailEngine, "sent", fail)
    inside = await daemons.start()
    answer = await inside.post("/mail/sent", {}, "ada")
    assert (answer.status, answer.json) == (
        500,
        {"kind": "internal", "request_id": answer.header("x-request-id")},
    )
    record = next(each for each in inside.log if each["event"] == "request_failed")
    assert record["request_id"] == answer.json["request_id"]
    assert record["failure"][0]["type"] == "RuntimeError"
    assert "secret words" not in inside.lines.getvalue()


async def test_a_store_that_is_gone_is_not_a_wrong_secret(inside: Inside) -> None:
    """A credential that cannot be looked up is refused as our fault, with a time to come back."""
    await inside.made.store.close()
    answer = await inside.post("/mail/whoami", {}, "ada")
    assert (answer.status, answer.json["kind"]) == (503, "store_unavailable")
    assert answer.header("www-authenticate") is None


async def test_what_failed_beneath_a_refusal_is_in_the_log(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller learns that the store is unavailable, the operator why."""

    def full(*_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mail4agent_core.mail.sqlite.posting.post", full)
    message = {**SEND, "subject": "words of a person"}
    assert (await inside.post("/mail/send", message, "ada")).json["kind"] == "store_unavailable"
    assert "No space left on device" in inside.lines.getvalue()
    assert "words of a person" not in inside.lines.getvalue()
