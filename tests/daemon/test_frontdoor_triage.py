"""A draft answers one request, whoever reports it when."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mail4agent_api.errors import AlreadyExistsError

from .test_frontdoor_desk import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """An empty folder, an outbox and an extractor."""
    return Scene(tmp_path)


@pytest.mark.promise("frontdoor.a-triage-names-its-own-drafts")
async def test_a_draft_that_is_reported_for_two_requests_at_once_is_one_request_s(scene: Scene) -> None:
    """The other is refused."""
    scene.extracted(seq=1)
    scene.extracted(seq=2)
    draft = scene.own("d-1")
    said = await asyncio.gather(scene.triaged(1, draft), scene.triaged(2, draft), return_exceptions=True)
    assert sorted(isinstance(each, AlreadyExistsError) for each in said) == [False, True]
    assert sorted(scene.on_disk(seq)["state"] for seq in (1, 2)) == ["awaiting_me", "extracted"]


@pytest.mark.promise("frontdoor.a-triage-names-its-own-drafts")
async def test_what_stands_in_a_draft_s_place_is_its_request_s_too(scene: Scene) -> None:
    """It would answer both."""
    scene.extracted(seq=1)
    scene.extracted(seq=2)
    await scene.triaged(1, scene.own("d-1"))
    scene.own("d-1", "superseded", superseded_by="d-2")
    scene.own("d-2", "superseded", superseded_by="d-3")
    scene.own("d-3")
    with pytest.raises(AlreadyExistsError):
        await scene.triaged(2, "d-3")
