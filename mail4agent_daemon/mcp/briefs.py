"""Briefs as a model is shown them.

A brief holds no word of the stranger's prose, but a model read that prose to make it, and its values are
those that the stranger chose among what the form allows. So all of it stands within the enclosure, and
without only what the daemon vouches for.
"""

import json

from mail4agent_api.codec import encode
from mail4agent_api.frontdoor import (
    FrontdoorBrief,
    FrontdoorBriefs,
    FrontdoorNextRequest,
    ToolBrief,
    ToolBriefsRequest,
    ToolBriefsResult,
)
from mail4agent_core.outbox.shown import shown

from .enclosure import TEXT_MAX_BYTES, Draw, boundary_for, json_bytes, part_of, wrapped

#: The most that the operation gives; one of them that is named is looked for among as many.
BRIEFS_MAX = 16
_OUTSIDE = ("seq", "type", "received", "taint")


def ask(request: ToolBriefsRequest) -> FrontdoorNextRequest:
    """The operation's request."""
    return FrontdoorNextRequest(limit=request.limit if request.seq is None else BRIEFS_MAX)


def tell(request: ToolBriefsRequest, answer: FrontdoorBriefs, draw: Draw) -> ToolBriefsResult:
    """As many of them as have room; the first alone is cut, where it has none."""
    wanted = [brief for brief in answer.briefs if request.seq is None or brief.seq == request.seq]
    texts = [_text(brief) for brief in wanted]
    boundary = boundary_for(texts, draw)

    def made(briefs: list[ToolBrief], following: int | None) -> ToolBriefsResult:
        return ToolBriefsResult(
            boundary=boundary,
            briefs=briefs,
            left=len(wanted) - len(briefs),
            withheld=answer.withheld,
            next_byte=following,
        )

    room = request.max_tokens - len(encode(made([], TEXT_MAX_BYTES)))
    shown_: list[ToolBrief] = []
    for brief, text in zip(wanted, texts, strict=True):
        size = len(text.encode())

        def told(part: str, *, cut: bool, of: FrontdoorBrief = brief, whole: int = size) -> ToolBrief:
            return ToolBrief(
                seq=of.seq, type=of.type, received=of.received, taint=of.taint,
                text=wrapped(part, boundary), text_bytes=whole, cut=cut,
            )  # fmt: skip

        from_byte = 0 if shown_ else request.from_byte
        left = room - len(encode(told("", cut=False))) - 1
        part, end = part_of(text, from_byte, max(left, 0))
        if end < size and shown_:
            break
        shown_.append(told(part, cut=bool(from_byte) or end < size))
        if end < size:
            return made(shown_, end)
        room = left - json_bytes(part)
    return made(shown_, None)


def _text(brief: FrontdoorBrief) -> str:
    whole = json.loads(encode(brief))
    inside = {name: value for name, value in whole.items() if name not in _OUTSIDE and value is not None}
    return shown(json.dumps(inside, ensure_ascii=False))
