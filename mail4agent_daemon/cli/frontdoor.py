"""``frontdoor``: what strangers asked, what became of it, and what a person decides about it.

Lists and briefs hold no word that a stranger wrote. ``show`` does: it is for a person's eyes and shows
nothing below an agent. Decisions need a terminal besides; see ``reviewer``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mail4agent_api.frontdoor import FrontdoorItem, FrontdoorMoved, RequestSummary, UnreadableFile
from mail4agent_core.files import FolderError
from mail4agent_daemon.cli import drain, intake, request_types, submissions
from mail4agent_daemon.cli.exits import Exit
from mail4agent_daemon.cli.layout import listing
from mail4agent_daemon.cli.request_text import names, row, whole
from mail4agent_daemon.cli.reviewer import NotAPersonError, refuse_agents, require_person
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.cli.verbs import Mail, verb

if TYPE_CHECKING:
    from mail4agent_core.frontdoor.manifest import TypeFolder

#: Seconds that a call waits for models: two rounds of the longest answer, for as many requests as one call
#: takes.
_EXTRACT_SECS = 16 * 2 * 3_600.0
_PAGE = 256

State = Literal[
    "drained", "extracted", "extraction_failed", "triaged", "awaiting_me", "needs_info", "answered", "closed"
]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="PATH",
        help="Read this folder of requests, without a daemon.",
        file_okay=False,
        exists=True,
    ),
]
Seq = Annotated[int, typer.Argument(metavar="SEQ", min=1, help="The request's number.")]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    group = typer.Typer(
        no_args_is_help=True, help="Requests of strangers: read, extract, answer, park or close them."
    )
    for name, function in (
        ("list", list_),
        ("show", show),
        ("next", next_),
        ("extract", extract),
        ("triaged", triaged),
        ("needs-info", needs_info),
        ("close", close),
        ("reopen", reopen),
        ("reconcile", reconcile),
        ("ingest", submissions.ingest),
        ("drain", drain.drain),
    ):
        # A run answers requests, and an operator is none: these two never fall back on his key.
        verb(group, name, as_operator=name not in {"next", "triaged"})(_told(function))
    request_types.register(group)
    intake.register(group)
    app.add_typer(group, name="frontdoor")


def _told(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is nobody's refusal ends a verb with words for the person."""

    @wraps(function)
    def run(mail: Mail, **given: Any) -> Any:
        try:
            return function(mail, **given)
        except NotAPersonError as failure:
            _say(mail, failure.kind, failure.reason)
        except FolderError as failure:
            _say(mail, "frontdoor_unusable", str(failure))
        return Exit.REFUSED

    return run


def _say(mail: Mail, kind: str, reason: str) -> None:
    if mail.as_json:
        typer.echo(json_text(json.dumps({"kind": kind, "reason": reason}).encode()), err=True)
    else:
        typer.echo(f"mail4agent: {visible(reason)}", err=True)


def list_(
    mail: Mail,
    *,
    state: Annotated[State | None, typer.Option("--state", help="Those of one state.")] = None,
    root: Root = None,
) -> None:
    """List requests, lowest number first: number, state, type, topic, and what is to be known of it."""
    requests, unreadable = _read_in(root, state) if root is not None else _asked(mail, state)
    if mail.as_json:
        mail.json_of(requests=requests, unreadable=unreadable)
        return
    rows = [row(each) for each in requests]
    if not mail.for_person:
        mail.rows(rows)
    elif rows:
        mail.console.print(listing(names(), rows))
    else:
        mail.note(f"No request is {state}." if state else "No request is there.")
    for each in unreadable:
        mail.note(f"mail4agent: {visible(str(each.name))} {each.reason}")


def _asked(mail: Mail, state: State | None) -> tuple[list[RequestSummary], list[UnreadableFile]]:
    requests: list[RequestSummary] = []
    after = 0
    while True:
        page = mail.client.frontdoor_list(state=state, after=after, limit=_PAGE)
        requests += page.requests
        if len(page.requests) < _PAGE:
            return requests, page.unreadable
        after = page.requests[-1].seq


def _read_in(root: Path, state: State | None) -> tuple[list[RequestSummary], list[UnreadableFile]]:
    """The same from a folder. Raises FolderError, StoreUnavailableError."""
    from mail4agent_api.frontdoor import FrontdoorListRequest
    from mail4agent_core.frontdoor import wire
    from mail4agent_core.frontdoor.store import Frontdoor

    with Frontdoor.open(root, make=False) as store:
        found = store.listing()
    types = _local_types()
    requests: list[RequestSummary] = []
    while True:
        after = requests[-1].seq if requests else 0
        request = FrontdoorListRequest(state=state, after=after, limit=_PAGE)
        page = wire.list_of(found, request, types)
        requests += page.requests
        if len(page.requests) < _PAGE:
            return requests, page.unreadable


def show(mail: Mail, seq: Seq, *, root: Root = None) -> None:
    """Print one request whole, what its sender wrote included: for a person, and nothing below an agent."""
    refuse_agents(mail, ask=root is None)
    item = mail.client.frontdoor_get(seq=seq) if root is None else _item_in(root, seq)
    if mail.as_json:
        mail.json(item)
    else:
        for line in whole(item):
            mail.line(line)


def _item_in(root: Path, seq: int) -> FrontdoorItem:
    """A request of a folder. Raises FolderError, UnknownItemError, MalformedError."""
    from mail4agent_core.frontdoor import wire
    from mail4agent_core.frontdoor.store import Frontdoor

    with Frontdoor.open(root, make=False) as store:
        record = store.record(seq)
    return wire.item_of(record, _local_types()(record.type_id, record.type_version))


def _local_types() -> TypeFolder:
    """The types of this machine's data folder."""
    import os

    from mail4agent_core.frontdoor.manifest import TypeFolder
    from mail4agent_daemon.settings import TYPES_NAME, home_of

    return TypeFolder(home_of(os.environ) / TYPES_NAME)


def next_(
    mail: Mail,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=16, help="Requests at most.")] = 5,
) -> None:
    """Print briefs of extracted requests as JSON, for a run that answers them; none holds a stranger's
    prose."""
    found = mail.client.frontdoor_next(limit=limit)
    mail.json(found)
    if found.withheld:
        mail.note(f"mail4agent: {found.withheld} requests are withheld: no usable local type, or not valid")


def extract(
    mail: Mail,
    seq: Annotated[
        int | None, typer.Argument(metavar="SEQ", min=1, help="The request; without it the oldest.")
    ] = None,
    *,
    retry: Annotated[bool, typer.Option("--retry", help="Those that failed before, too.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=16, help="Requests at most.")] = 16,
) -> Exit:
    """Have the configured model read what strangers wrote. It may take minutes."""
    with mail.connect(answer_secs=_EXTRACT_SECS) as client:
        done = client.frontdoor_extract(seq=seq, retry=retry, limit=limit)
    if mail.as_json:
        mail.json(done)
    else:
        mail.rows(_moved(each) for each in done.moved)
        if done.left:
            mail.note(f"mail4agent: {done.left} more wait")
    failed = any(each.to == "extraction_failed" for each in done.moved)
    return Exit.REFUSED if failed else Exit.OK


def triaged(
    mail: Mail,
    seq: Seq,
    drafts: Annotated[
        list[str] | None, typer.Argument(metavar="DRAFT...", help="What was staged in answer to it.")
    ] = None,
) -> None:
    """Say, as the run that saw its brief, which drafts answer a request; none ends it as triaged."""
    _print(mail, mail.client.frontdoor_triaged(seq=seq, drafts=drafts or []))


def needs_info(
    mail: Mail,
    seq: Seq,
    *,
    note: Annotated[str | None, typer.Option("--note", help="What is missing.")] = None,
) -> None:
    """Park a request until its sender has said more."""
    require_person(mail)
    _print(mail, mail.client.frontdoor_needs_info(seq=seq, note=note))


def close(mail: Mail, seq: Seq, *, reason: Annotated[str, typer.Option("--reason", help="Why.")]) -> None:
    """Close a request for good, with a reason."""
    require_person(mail)
    _print(mail, mail.client.frontdoor_close(seq=seq, reason=reason))


def reopen(mail: Mail, seq: Seq) -> None:
    """Take a request up again that was closed, parked or triaged."""
    require_person(mail)
    _print(mail, mail.client.frontdoor_reopen(seq=seq))


def reconcile(mail: Mail) -> None:
    """Move every request whose drafts were decided. ``list`` and ``next`` do so by themselves."""
    done = mail.client.frontdoor_reconcile()
    if mail.as_json:
        mail.json(done)
    else:
        mail.rows(_moved(each) for each in done.moved)


def _print(mail: Mail, moved: FrontdoorMoved) -> None:
    if mail.as_json:
        mail.json(moved)
    else:
        mail.rows([_moved(moved)])


def _moved(moved: FrontdoorMoved) -> Iterator[str]:
    yield str(moved.seq)
    yield moved.from_
    yield moved.to
