"""The front door's desk, with a hand-made outbox and extractor: what it checks and what it never says."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mail4agent_api import frontdoor as wire
from mail4agent_api.codec import decode_value, encode
from mail4agent_api.errors import (
    AlreadyExistsError,
    MalformedError,
    NotPendingError,
    RefusalError,
    StoreUnavailableError,
    UnknownItemError,
)
from mail4agent_api.mail import DirectAddress, ParticipantId, SessionAddress, SessionId
from mail4agent_core.files import Folder
from mail4agent_core.frontdoor.briefed import Briefed
from mail4agent_core.frontdoor.extracted import Extraction
from mail4agent_core.frontdoor.hand_over import ExtractionError
from mail4agent_core.frontdoor.quarantine import Quarantined, Reader
from mail4agent_core.mail.identity import Caller
from mail4agent_daemon.frontdoor_desk import FrontdoorDesk
from mail4agent_daemon.log import Level, Log
from tests.core.frontdoor.records import NAME, PROSE, Outbox, extraction, original, placed, types

SESSION = SessionId("s-0123abcd")
RUN = Caller(SessionAddress(participant=ParticipantId("run"), session=SESSION), frozenset())
BARE = Caller(DirectAddress(participant=ParticipantId("run")), frozenset())


class Scene:
    """A desk over a folder of requests."""

    def __init__(self, home: Path) -> None:
        self.root = home / "requests"
        self.outbox = Outbox()
        self.said = io.StringIO()
        self.briefed = Briefed(self.root)
        self.read: list[tuple[tuple[str, str], ...]] = []
        self.extractor: Callable[[Quarantined], Extraction] = lambda _: Extraction(topic="a talk")
        self.desk = FrontdoorDesk(
            self.root, Log(self.said, Level.DEBUG), types=types, drafts=self.outbox, briefed=self.briefed,
            extractor=self._extract,
        )  # fmt: skip

    def _extract(self, prose: Quarantined) -> Extraction:
        self.read.append(prose.open(Reader.EXTRACTOR))
        return self.extractor(prose)

    def place(self, **changes: Any) -> None:
        """Put a request into the folder."""
        placed(self.root, original(**changes))

    def extracted(self, **changes: Any) -> None:
        """Put an extracted one there."""
        self.place(**{"state": "extracted", "extraction": extraction(), **changes})

    def on_disk(self, seq: int = 1) -> dict[str, Any]:
        """What its file holds."""
        return json.loads((self.root / f"{seq:010}-meeting.json").read_text("utf-8"))

    def own(self, id_: str, status: str = "pending", **more: Any) -> str:
        """A draft that the run staged."""
        return self.outbox.draft(
            id_, status, **{"staged_by": f"run/{SESSION}", "session": str(SESSION), **more}
        )

    async def triaged(self, seq: int, *drafts: str, caller: Caller = RUN) -> wire.FrontdoorMoved:
        """Report drafts."""
        return await self.desk.triaged(
            caller, decode_value(wire.FrontdoorTriagedRequest, {"seq": seq, "drafts": list(drafts)})
        )

    async def extract(self, **asked: Any) -> wire.FrontdoorExtracted:
        """Extract."""
        return await self.desk.extract(RUN, decode_value(wire.FrontdoorExtractRequest, asked))

    async def next(self, caller: Caller = RUN) -> wire.FrontdoorBriefs:
        """Briefs."""
        return await self.desk.next(caller, wire.FrontdoorNextRequest())


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """An empty folder, an outbox and an extractor."""
    return Scene(tmp_path)


@pytest.mark.promise("frontdoor.a-triage-names-its-own-drafts")
async def test_a_triage_with_drafts_waits_for_a_person_and_names_its_session(scene: Scene) -> None:
    """Earlier drafts stay on the request."""
    scene.extracted(outbox=["d-0"])
    moved = await scene.triaged(1, scene.own("d-1"), scene.own("d-2", "releasing"))
    assert (moved.from_, moved.to) == ("extracted", "awaiting_me")
    held = scene.on_disk()
    assert (held["outbox"], held["triage_session"]) == (["d-0", "d-1", "d-2"], str(SESSION))
    again = await scene.triaged(1, "d-1", "d-2")
    assert (again.from_, again.to) == ("awaiting_me", "awaiting_me")


@pytest.mark.promise("frontdoor.a-triage-names-its-own-drafts")
async def test_a_triage_without_drafts_is_one_too(scene: Scene) -> None:
    """And said twice it counts once; another run's word comes late."""
    scene.extracted()
    assert (await scene.triaged(1)).to == "triaged"
    assert (await scene.triaged(1)).to == "triaged"
    with pytest.raises(NotPendingError):
        await scene.triaged(1, caller=BARE)


@pytest.mark.promise("frontdoor.a-triage-names-its-own-drafts")
@pytest.mark.parametrize(
    ("draft", "error"),
    [
        ({"staged_by": "run"}, UnknownItemError),
        ({"staged_by": "run/s-ffffffff"}, UnknownItemError),
        ({"staged_by": None}, UnknownItemError),
        ({"status": "sent"}, NotPendingError),
        ({"status": "withdrawn"}, NotPendingError),
        (None, UnknownItemError),
    ],
)
async def test_a_draft_of_somebody_else_or_that_was_decided_is_refused(
    scene: Scene, draft: dict[str, Any] | None, error: type[RefusalError]
) -> None:
    """Whose it is is not told."""
    scene.extracted()
    if draft is not None:
        scene.own("d-2", **draft)
    with pytest.raises(error):
        await scene.triaged(1, scene.own("d-1"), "d-2")
    assert scene.on_disk()["state"] == "extracted"
    assert "outbox" not in scene.on_disk()


@pytest.mark.promise("frontdoor.a-triage-names-its-own-drafts")
async def test_a_draft_of_another_request_is_refused(scene: Scene) -> None:
    """One reply answers one request."""
    scene.extracted()
    scene.extracted(seq=2)
    await scene.triaged(1, scene.own("d-1"))
    with pytest.raises(AlreadyExistsError):
        await scene.triaged(2, "d-1")


@pytest.mark.promise("frontdoor.a-late-write-undoes-no-decision")
async def test_a_request_that_was_closed_while_a_run_triaged_it_stays_closed(scene: Scene) -> None:
    """The run is told the state."""
    scene.extracted()
    await scene.desk.close(RUN, wire.FrontdoorCloseRequest(seq=1, reason="spam"))
    with pytest.raises(NotPendingError) as refused:
        await scene.triaged(1, scene.own("d-1"))
    assert refused.value.refusal.status == "closed"


@pytest.mark.promise("frontdoor.briefs-taint")
async def test_whoever_is_given_a_brief_is_marked_before_it_has_it(scene: Scene) -> None:
    """Without a brief nobody is marked; where the mark cannot be written none is given."""
    assert (await scene.next()).briefs == []
    assert not scene.briefed.has("run")
    scene.extracted()
    with Folder.opened(scene.root / "briefed") as folder, folder.locked():
        scene.desk._briefed = Briefed(scene.root, lock_secs=0.05)
        with pytest.raises(StoreUnavailableError):
            await scene.next()
    (brief,) = (await scene.next()).briefs
    assert brief.taint.untrusted
    assert scene.briefed.has(f"run/{SESSION}")
    assert not scene.briefed.has("run/s-ffffffff")


async def test_requests_of_which_no_run_may_be_told_are_counted(scene: Scene) -> None:
    """No local type, a bad extraction, a number of two files."""
    scene.extracted(seq=1)
    scene.extracted(seq=2, type_id="visit")
    scene.extracted(seq=3, extraction=extraction(topic=PROSE))
    scene.extracted(seq=4)
    scene.extracted(seq=4, type_id="visit")
    briefs = await scene.next()
    assert ([brief.seq for brief in briefs.briefs], briefs.withheld) == ([1], 4)


async def test_an_extraction_is_asked_only_for_the_prose_and_only_where_there_is_some(scene: Scene) -> None:
    """The typed values are not shown to it."""
    scene.place(seq=1)
    scene.place(seq=2, values={"purpose": "talk"}, free_text=[])
    done = await scene.extract(limit=16)
    assert [(each.seq, each.to) for each in done.moved] == [(1, "extracted"), (2, "extracted")]
    assert done.left == 0
    assert scene.read == [(("requester_name", NAME), ("purpose_detail", PROSE))]
    assert scene.on_disk(1)["extraction"]["topic"] == "a talk"


@pytest.mark.promise("frontdoor.extraction-is-bounded")
@pytest.mark.parametrize(
    ("made", "diagnosis"),
    [
        (Extraction(topic=PROSE), "quotes"),
        (Extraction(topic="x" * 121), "more than 120"),
        (ExtractionError("the model refused the submission"), "refused"),
        (ZeroDivisionError(PROSE), "the extractor failed"),
    ],
)
async def test_what_is_no_extraction_is_a_failure_and_never_the_prose(
    scene: Scene, made: Extraction | Exception, diagnosis: str
) -> None:
    """It waits for a person, is retried only when asked, and neither log nor record repeats what was said."""

    def fail(_: Quarantined) -> Extraction:
        if isinstance(made, Exception):
            raise made
        return made

    scene.place()
    scene.extractor = fail
    assert [each.to for each in (await scene.extract()).moved] == ["extraction_failed"]
    held = scene.on_disk()
    assert diagnosis in held["extraction_error"]
    assert "extraction" not in held
    assert PROSE not in held["extraction_error"]
    assert PROSE not in scene.said.getvalue()
    assert (await scene.extract()).moved == []
    with pytest.raises(NotPendingError):
        await scene.extract(seq=1)
    scene.extractor = lambda _: Extraction()
    assert [each.to for each in (await scene.extract(retry=True)).moved] == ["extracted"]


@pytest.mark.promise("frontdoor.a-late-write-undoes-no-decision")
async def test_a_request_that_is_closed_while_its_prose_is_read_stays_closed(scene: Scene) -> None:
    """And the next one is extracted all the same."""
    scene.place(seq=1)
    scene.place(seq=2)
    reading, go_on = threading.Event(), threading.Event()

    def slowly(_: Quarantined) -> Extraction:
        reading.set()
        go_on.wait(20)
        return Extraction()

    scene.extractor = slowly
    task = asyncio.create_task(scene.extract(limit=2))
    await asyncio.to_thread(reading.wait, 20)
    await scene.desk.close(RUN, wire.FrontdoorCloseRequest(seq=1, reason="spam"))
    go_on.set()
    assert [each.seq for each in (await task).moved] == [2]
    assert (scene.on_disk(1)["state"], scene.on_disk(1)["note"]) == ("closed", "spam")


async def test_an_extraction_goes_on_when_its_client_hangs_up_and_one_runs_at_a_time(scene: Scene) -> None:
    """What was paid for is kept."""
    scene.place(seq=1)
    scene.place(seq=2)
    reading, go_on = threading.Semaphore(0), threading.Event()
    running: list[int] = []

    def slowly(_: Quarantined) -> Extraction:
        running.append(len(running))
        reading.release()
        go_on.wait(20)
        running.pop()
        return Extraction(topic=f"{len(running)} others")

    scene.extractor = slowly
    first = asyncio.create_task(scene.extract(seq=1))
    await asyncio.to_thread(reading.acquire)
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    second = asyncio.create_task(scene.extract(seq=2))
    go_on.set()
    assert [each.seq for each in (await second).moved] == [2]
    assert [scene.on_disk(seq)["extraction"]["topic"] for seq in (1, 2)] == ["0 others"] * 2


async def test_without_a_model_prose_is_read_by_nobody_and_the_refusal_says_so(tmp_path: Path) -> None:
    """What has no prose needs none."""
    scene = Scene(tmp_path)
    scene.desk._extractor = None
    scene.place(seq=1)
    scene.place(seq=2, values={"purpose": "talk"}, free_text=[])
    with pytest.raises(UnknownItemError) as refused:
        await scene.extract()
    assert refused.value.refusal.id == "model"
    assert scene.on_disk(1)["state"] == "drained"
    assert [each.to for each in (await scene.extract(seq=2)).moved] == ["extracted"]


async def test_a_stop_gives_up_what_is_being_read_and_leaves_it_as_it_was(scene: Scene) -> None:
    """It does not wait for the model."""
    scene.place()
    reading, go_on = threading.Event(), threading.Event()

    def slowly(_: Quarantined) -> Extraction:
        reading.set()
        go_on.wait(20)
        return Extraction()

    scene.extractor = slowly
    task = asyncio.create_task(scene.extract())
    await asyncio.to_thread(reading.wait, 20)
    await scene.desk.shut()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert scene.on_disk()["state"] == "drained"


@pytest.mark.promise("frontdoor.re-triage-knows-why")
async def test_a_decided_draft_moves_its_request_by_itself_and_before_every_look(scene: Scene) -> None:
    """When the outbox tells of it, and else at the next list or brief."""
    scene.extracted(seq=1)
    scene.extracted(seq=2)
    await scene.triaged(1, scene.own("d-1"))
    await scene.triaged(2, scene.own("d-2"))
    scene.own("d-1", "sent")
    await scene.desk.decided("d-1")
    assert scene.on_disk(1)["state"] == "answered"
    scene.own("d-2", "rejected", reason="too formal", reason_by_person=True)
    (brief,) = (await scene.next()).briefs
    assert (brief.seq, brief.note) == (2, "too formal")


async def test_what_an_outbox_that_cannot_be_read_leaves_undecided_is_listed_all_the_same(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reconciliation that is asked for says so."""

    def unavailable(_: str) -> None:
        raise StoreUnavailableError(operation="outbox.get")

    scene.place(state="awaiting_me", outbox=["d-1"], extraction=extraction())
    monkeypatch.setattr(scene.outbox, "look", unavailable)
    assert (await scene.desk.list(RUN, wire.FrontdoorListRequest())).total == 1
    with pytest.raises(StoreUnavailableError):
        await scene.desk.reconcile(RUN, wire.FrontdoorReconcileRequest())


@pytest.mark.promise("frontdoor.ingest-is-files-record-acknowledgement")
@pytest.mark.parametrize("data", [["A"], ["AAAA", "A"], ["-_-_-"]])
async def test_a_file_that_is_no_base64url_is_refused(scene: Scene, data: list[str]) -> None:
    """In pieces or in one."""
    file = {"field": "cv", "data": data}
    request = decode_value(
        wire.FrontdoorIngestRequest, {"box_epoch": "e1", "record": original(), "files": [file]}
    )
    with pytest.raises(MalformedError) as refused:
        await scene.desk.ingest(RUN, request)
    assert refused.value.refusal.field == "data"


@pytest.mark.promise("frontdoor.files-of-the-original-load")
async def test_whatever_a_file_says_can_be_listed_and_read(scene: Scene) -> None:
    """What no value of the contract can say is null in the list."""
    odd = {"type_id": "No Type!", "state": "booked", "created_at": "once", "drained_at": "x\n"}
    placed(scene.root, original(**odd, extraction=extraction(topic="x" * 900)), name="odd.json")
    (row,) = encoded(await scene.desk.list(RUN, wire.FrontdoorListRequest()))["requests"]
    assert [row[key] for key in ("type_id", "state", "received", "drained_at", "topic")] == [None] * 5
    item = encoded(await scene.desk.get(RUN, wire.FrontdoorGetRequest(seq=1)))
    assert item["record"]["state"] == "booked"
    assert item["prose"]["purpose_detail"] == [PROSE]
    assert item["briefed"] is False


def encoded(answer: Any) -> Any:
    """An answer as it leaves."""
    return json.loads(encode(answer))


@pytest.fixture(autouse=True)
def quiet(scene: Scene) -> Iterator[None]:
    """No test's log has a word of the example's prose."""
    yield
    assert PROSE not in scene.said.getvalue()
    assert NAME not in scene.said.getvalue()


@pytest.mark.promise("frontdoor.whatever-lies-in-the-folder-is-harmless")
async def test_a_file_that_cannot_be_read_whole_stops_no_other(scene: Scene) -> None:
    """A number that JSON has not is seen only when a request is read: not in a list."""
    for seq, state in ((1, "extracted"), (3, "drained")):
        raw = json.dumps(original(seq=seq, state=state, extraction=extraction()))
        placed(scene.root, raw.replace("45", "1e999").encode(), name=f"{seq:010}-meeting.json")
    scene.extracted(seq=2)
    scene.place(seq=4)
    told = await scene.next()
    assert ([brief.seq for brief in told.briefs], told.withheld) == ([2], 1)
    assert [each.seq for each in (await scene.extract()).moved] == [4]
