"""A body that comes long after its head: what its sender may do is what it may do by then."""

import asyncio
import json

import pytest

from .host.served import BOUND_SECS
from .inside import Daemons

#: Longer than any test here takes: the body is late, and not too late.
BODY_SECS = 3.0 * BOUND_SECS
NOTHING = {"revoke": ["mail:send", "mail:read", "mail:operator"]}
LATE: dict[str, dict[str, object]] = {
    "/mail/inbox": {},
    "/mail/session": {},
    "/mail/send": {"to": {"kind": "direct", "participant": "ben"}, "subject": "s", "body": "b"},
    "/admin/participant": {"id": "kept", "operator": True, "may_send": True, "may_read": True},
}


@pytest.mark.promise("account.dead-secret-is-refused", "identity.issued")
@pytest.mark.parametrize("path", LATE)
@pytest.mark.parametrize(
    ("end", "more", "status"),
    [("rotate", {}, 401), ("revoke", {}, 401), ("remove", {}, 401), ("permit", NOTHING, 403)],
    ids=["rotate", "revoke", "remove", "permit"],
)
async def test_a_call_whose_body_comes_after_its_rights_ended_is_refused(
    daemons: Daemons, path: str, end: str, more: dict[str, object], status: int
) -> None:
    """Nothing is read, sent, issued or registered by a head that was sent in time."""
    daemon = await daemons.start(body_read_timeout_secs=BODY_SECS)
    await daemon.add("late", operator=True)
    body = json.dumps(LATE[path]).encode()
    head = daemon.request(path, body, "late").removesuffix(body).removesuffix(b"\r\n")
    wire = await daemon.connect()
    await wire.send(head + b"Expect: 100-continue\r\n\r\n")
    async with asyncio.timeout(BOUND_SECS):
        # The body is asked for once the credential was believed.
        assert (await wire.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
    assert (await daemon.post(f"/admin/participant/{end}", {"id": "late", **more})).status == 200
    answer = await wire.ask(body)
    if path == "/mail/session" and end == "permit":
        status = 200  # it needs no capability
    assert answer.status == status, answer.body
