"""``frontdoor drain``: what strangers left in the box comes home, once or for as long as it runs.

It asks the daemon with a credential that need hold nothing but ``frontdoor:drain``. Standard output has what
became of the rows; what a person has to look at is on standard error.
"""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mail4agent_daemon.cli.boxes import box_for_drain, effective
from mail4agent_daemon.cli.boxes import told as told_by
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import Mail

if TYPE_CHECKING:
    from mail4agent_api.frontdoor import FrontdoorIngestRequest, FrontdoorReceipt
    from mail4agent_daemon.drain.draining import Drain, Tally
    from mail4agent_daemon.drain.rows import Row
    from mail4agent_daemon.settings import Effective


class _Stopped(BaseException):
    """Somebody asked the process to end; it gives the lease back first."""


@told_by
def drain(
    mail: Mail,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", help="Stay, and take in whatever comes, until it is stopped.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what waits in the box; take in and delete nothing.")
    ] = False,
) -> Exit:
    """Take in what waits in the box of the public front door; print what became of it."""
    if follow and dry_run:
        raise typer.BadParameter("is once through the box; leave --follow out", param_hint="--dry-run")
    from mail4agent_daemon.drain.draining import Drain
    from mail4agent_daemon.drain.state import DrainState

    settings = effective()
    box = box_for_drain(settings)
    with DrainState.held(settings.home) as state, _stoppable():
        draining = Drain(
            box,
            # A look needs no daemon, and no credential for one.
            _nobody if dry_run else mail.client.frontdoor_ingest,
            holder=state.holder,
            clock=time.monotonic,
            now=_now,
            tell=_tell,
        )
        try:
            if dry_run:
                _print(mail, _looked(settings, draining))
            else:
                _drained(mail, draining, state, follow=follow)
        except _Stopped:
            pass
        finally:
            _released(draining)
    return Exit.OK


def _nobody(_: FrontdoorIngestRequest) -> FrontdoorReceipt:
    raise AssertionError("unreachable: a look takes nothing in")


def _drained(mail: Mail, draining: Drain, state: Any, *, follow: bool) -> None:
    from mail4agent_daemon.drain import following
    from mail4agent_daemon.drain.draining import Tally
    from mail4agent_daemon.drain.state import LastDrain

    def kept(left: int) -> None:
        # That it cannot be remembered when one drained stops no drain.
        with suppress(OSError):
            state.keep(LastDrain(_now(), left))

    pauses = following.Pauses(time.sleep, random.random)
    if follow:
        following.follow(
            draining, pauses, kept, lambda tally: _print(mail, tally), clock=time.monotonic, tell=_tell
        )
        return
    total = Tally()
    try:
        following.once(draining, pauses, kept, total, progress=lambda so_far: _progress(mail, so_far))
    finally:
        # What came home before a failure is home.
        _print(mail, total)


def _looked(settings: Effective, draining: Drain) -> Tally:
    from mail4agent_core.frontdoor.manifest import TypeFolder
    from mail4agent_daemon.drain import following

    types = TypeFolder(settings.types)

    def judge(row: Row) -> bool:
        if row.read is None or row.fault is not None:
            return False
        form = types(row.read.type_id, row.read.type_version)
        measured = {each.field: each.model_dump(exclude={"field", "blob"}) for each in row.attachments}
        return form is not None and not form.checked({**row.raw["values"], **measured}).problems

    return following.looked(draining, judge)


def _released(draining: Drain) -> None:
    from mail4agent_daemon.drain.box import BoxError

    # It runs out by itself.
    with suppress(BoxError):
        draining.release()


@contextmanager
def _stoppable() -> Iterator[None]:
    """SIGTERM and SIGINT end the block through its own end."""

    def stop(*_: object) -> None:
        raise _Stopped

    before = {each: signal.signal(each, stop) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _print(mail: Mail, tally: Tally) -> None:
    counts = asdict(tally)
    if mail.as_json:
        mail.line(json_text(json.dumps(counts).encode()))
        return
    mail.line(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items()))


def _progress(mail: Mail, so_far: Tally) -> None:
    """Many pages take minutes, and a person waits; a script reads the end alone."""
    if not mail.as_json:
        _tell(f"rows looked at: {so_far.drained}, home and out of the box: {so_far.acknowledged}")


def _tell(text: str) -> None:
    typer.echo(f"mail4agent: {visible(text)}", err=True)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
