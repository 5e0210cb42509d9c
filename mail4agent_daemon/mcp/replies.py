"""A refusal as a model reads it: one sentence with kind, field and reason, and beside it the wire object."""

from dataclasses import dataclass
from functools import cache

from mail4agent_api.codec import encode
from mail4agent_api.errors import RefusalError
from mail4agent_api.mail import Malformed, Refusal, TooLarge
from mail4agent_api.published import definitions


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal in both forms."""

    text: str
    raw: bytes


def refused(error: RefusalError) -> Refused:
    """The reply to a call that was refused."""
    return Refused(_text(error.refusal), encode(error.refusal))


def _text(refusal: Refusal) -> str:
    match refusal:
        case Malformed():
            said = f"{refusal.field} {refusal.reason}"
        case TooLarge():
            said = f"{refusal.field} may have {refusal.limit} at most and has {refusal.actual}"
        case _:
            members = [f"{name.replace('_', ' ')} {value}" for name, value in refusal if name != "kind"]
            said = "; ".join([_meanings()[refusal.kind], *members])
    return f"Refused ({refusal.kind}): {said}."


@cache
def _meanings() -> dict[str, str]:
    every = definitions()
    mapping = every["Refusal"]["discriminator"]["mapping"]
    return {kind: every[where.rpartition("/")[2]]["description"] for kind, where in mapping.items()}
