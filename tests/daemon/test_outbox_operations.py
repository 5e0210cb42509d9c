"""The operations of the outbox through the door: each needs its capability."""

from __future__ import annotations

from pathlib import Path

import pytest

from .inside import inside

ID, DIGEST = "20260808T194158-1a2b3c4d", "sha256:" + "0" * 64
STAGING = {"/outbox/stage": {"tool": "t", "args": {}}, "/outbox/supersede": {"id": ID, "args": {}}}
LOOKING = {"/outbox/list": {}, "/outbox/get": {"id": ID}, "/outbox/withdraw": {"id": ID}}
DECIDING = {
    "/outbox/edit": {"id": ID, "digest": DIGEST, "args": {}},
    "/outbox/release": {"id": ID, "digest": DIGEST},
    "/outbox/reject": {"drafts": [{"id": ID, "digest": DIGEST}], "reason": "No."},
    "/outbox/settle": {"id": ID, "sent": False},
    "/outbox/tally": {},
}


@pytest.mark.promise("outbox.operations-need-their-capability")
async def test_staging_looking_and_deciding_need_a_capability_each(tmp_path: Path) -> None:
    """Nobody has any by being a member; a stager decides nothing, a reviewer stages nothing."""
    async with inside(tmp_path / "home") as daemon:
        await daemon.add("ada", "ben")
        for path, body in {**STAGING, **LOOKING, **DECIDING}.items():
            answer = await daemon.post(path, body, "ada")
            assert (path, answer.status, answer.json["kind"]) == (path, 403, "permission_denied")
        for account, capability in (("ada", "outbox:stage"), ("ben", "outbox:review")):
            granted = {"id": account, "grant": [capability], "revoke": []}
            assert (await daemon.post("/admin/participant/permit", granted)).status == 200
        refused = {path: (await daemon.post(path, body, "ada")).status for path, body in DECIDING.items()}
        assert refused == dict.fromkeys(DECIDING, 403)
        refused = {path: (await daemon.post(path, body, "ben")).status for path, body in STAGING.items()}
        assert refused == dict.fromkeys(STAGING, 403)
        for account in ("ada", "ben"):
            answer = await daemon.post("/outbox/list", {}, account)
            assert answer.json == {"drafts": [], "total": 0, "unreadable": 0}
            assert (await daemon.post("/outbox/get", {"id": ID}, account)).json["kind"] == "unknown_item"
        answer = await daemon.post("/outbox/stage", {"tool": "t", "args": {}}, "ada")
        assert (answer.status, answer.json["field"]) == (400, "tool")
        assert (await daemon.post("/outbox/release", DECIDING["/outbox/release"], "ben")).status == 404
        assert not (tmp_path / "home" / "outbox").exists() or not list(
            (tmp_path / "home" / "outbox").glob("*.json")
        )
