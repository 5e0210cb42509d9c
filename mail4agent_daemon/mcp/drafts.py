"""A caller's own drafts as a model is shown them.

What the daemon vouches for stands outside the enclosure. All words of a draft stand within, the caller's own
too: a run may have drafted them from what strangers wrote, and a person may have changed them since.
"""

from collections.abc import Iterator

from mail4agent_api.codec import decode_value, encode
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Boundary
from mail4agent_api.outbox import (
    DraftRow,
    OutboxDraft,
    OutboxEntry,
    OutboxGetRequest,
    OutboxId,
    OutboxList,
    OutboxListRequest,
    OutboxStaged,
    OutboxStageRequest,
    OutboxSupersedeRequest,
    OutboxWithdrawRequest,
    ToolDraft,
    ToolDraftRequest,
    ToolDraftResult,
    ToolDraftsRequest,
    ToolDraftsResult,
    ToolDraftStatus,
    ToolStageRequest,
    ToolStageResult,
    ToolSupersedeRequest,
    ToolWithdrawResult,
)

from .enclosure import TEXT_MAX_BYTES, Draw, boundary_for, fitting, json_bytes, part_of, wrapped

#: Of what a list says of one draft, in bytes.
SAID_MAX_BYTES = 160
_LONGEST = OutboxId("0" * 80)


def stage(request: ToolStageRequest) -> OutboxStageRequest:
    """The operation's request: without taint, so that both legs are set."""
    return OutboxStageRequest(
        tool=request.tool,
        args=request.args,
        workspace=request.workspace,
        idempotency_key=request.idempotency_key,
    )


def supersede(request: ToolSupersedeRequest) -> OutboxSupersedeRequest:
    """The operation's request: without taint, so that both legs are set."""
    return OutboxSupersedeRequest(
        id=request.id,
        args=request.args,
        workspace=request.workspace,
        idempotency_key=request.idempotency_key,
    )


def staged(
    request: ToolStageRequest | ToolSupersedeRequest,  # noqa: ARG001
    answer: OutboxStaged,
    draw: Draw,  # noqa: ARG001
) -> ToolStageResult:
    """The draft that waits. Its digest is what a decision names, and no tool decides."""
    return ToolStageResult(id=answer.id, status=answer.status, repeated=answer.repeated)


def withdrawn(request: OutboxWithdrawRequest, answer: OutboxEntry, draw: Draw) -> ToolWithdrawResult:  # noqa: ARG001
    """What became of it."""
    return ToolWithdrawResult(id=answer.id, status=_status(answer))


def ask_list(request: ToolDraftsRequest) -> OutboxListRequest:
    """The operation's request: one more than is shown, to know whether there is one."""
    return OutboxListRequest(
        status=request.status, all=request.all, after=request.after, limit=request.limit + 1
    )


def tell_list(request: ToolDraftsRequest, answer: OutboxList, draw: Draw) -> ToolDraftsResult:
    """A page of them, within the bound that was asked for."""
    said = [_line(entry) for entry in answer.drafts]
    boundary = boundary_for(said, draw)

    def made(drafts: list[ToolDraft], text: str, following: OutboxId | None) -> ToolDraftsResult:
        return ToolDraftsResult(
            boundary=boundary,
            drafts=drafts,
            text=wrapped(text, boundary),
            total=answer.total,
            next=following,
        )

    room = request.max_tokens - len(encode(made([], "", _LONGEST)))
    drafts: list[ToolDraft] = []
    lines: list[str] = []
    for entry, line in zip(answer.drafts[: request.limit], said, strict=False):
        draft = _draft(entry)
        room -= len(encode(draft)) + 1 + json_bytes(line)
        if room < 0:
            break
        drafts.append(draft)
        lines.append(line)
    following = drafts[-1].id if drafts and len(drafts) < len(answer.drafts) else None
    return made(drafts, "".join(lines).rstrip("\n"), following)


def ask_get(request: ToolDraftRequest) -> OutboxGetRequest:
    """The operation's request."""
    return OutboxGetRequest(id=request.id)


def tell_get(request: ToolDraftRequest, answer: OutboxDraft, draw: Draw) -> ToolDraftResult:
    """A part of it, within the bound that was asked for."""
    text = "\n".join(_texts(answer))
    boundary: Boundary = boundary_for([text], draw)
    size = len(text.encode())

    def made(part: str, end: int) -> ToolDraftResult:
        return ToolDraftResult(
            boundary=boundary,
            draft=_draft(answer.entry),
            text=wrapped(part, boundary),
            text_bytes=size,
            cut=bool(request.from_byte) or end < size,
            next_byte=end if end < size else None,
        )

    # With the longest place there can be.
    around = len(encode(made("", 0))) + len(str(TEXT_MAX_BYTES))
    return made(*part_of(text, request.from_byte, request.max_tokens - around))


def _draft(entry: OutboxEntry) -> ToolDraft:
    return ToolDraft(
        id=entry.id,
        status=_status(entry),
        edited=entry.edited,
        outcome_unknown=entry.outcome_unknown,
        created_at=entry.created_at,
        superseded_by=entry.superseded_by,
    )


def _status(entry: OutboxEntry) -> ToolDraftStatus:
    """A file may say anything for its status, and nothing of that stands outside the enclosure."""
    try:
        return decode_value(ToolDraftStatus, entry.status)
    except RefusalError:
        return "unknown"


def _line(entry: OutboxEntry) -> str:
    """What a list says of one draft: why it was decided or failed before what it is about."""
    why = entry.reason or entry.error
    said = "; ".join(filter(None, (why and f"because: {why}", entry.tool, entry.summary)))
    return f"{entry.id}: {fitting(said.replace(chr(10), ' ').replace(chr(9), ' '), SAID_MAX_BYTES)}\n"


def _texts(draft: OutboxDraft) -> Iterator[str]:
    entry, view = draft.entry, draft.view
    for name, text in (("Reason", entry.reason), ("Error", entry.error), ("Sent as", draft.sent_as)):
        if text:
            yield f"{name}: {text}"
    yield f"Tool: {entry.tool}"
    for file in draft.files:
        yield f"File: {file.path} {file.size} bytes sha256 {file.sha256}"
    yield from (_row(row) for row in (*view.headers, *view.other))
    if view.body is not None:
        yield _row(view.body)


def _row(row: DraftRow) -> str:
    return f"{row.name}: {''.join(row.text)}"
