"""What a page says of a refusal. No text of a stranger's is in it."""

from typing import Final

from mail4agent_api.errors import MalformedError, PermissionDeniedError, RefusalError, TooLargeError

SIGNED_OUT: Final = "You are not signed in here, or no longer. Nothing was done."
EMPTY: Final = "Give a secret."
WRONG: Final = "That secret is no account's, or no longer. Nothing was done."
FORM: Final = (
    "This page belongs to another sign-in, or its form came from elsewhere. Nothing was done. Open the page"
    " again, and decide there."
)
AGENT: Final = (
    "This browser runs below an agent, which decides nothing here. Nothing was done. Decide in a browser that"
    " you started yourself."
)
_SENTENCES: Final = {
    "draft_changed": "The draft changed after it was shown to you. Nothing was done; read it as it is now.",
    "not_pending": "It was decided already. Nothing was done.",
    "unknown_item": "There is no such thing here.",
    "unknown_message": "There is no such message here.",
    "not_addressed_to_you": "That message is not for this account.",
    "outcome_unknown": "A release was begun, and nobody knows whether it left. Find out, then settle it.",
    "unknown_path": "There is no such page.",
    "method_not_allowed": "That page takes no such request.",
    "forbidden_origin": "The request comes from a page that is not this daemon's. Nothing was done.",
    "forbidden_host": "The daemon is not reached under that name. Nothing was done.",
    "rate_limited": "Too many requests. Wait a little and try again.",
    "overloaded": "The daemon is busy. Try again in a moment.",
    "store_unavailable": "The store cannot be read or written. mail4agent doctor says more.",
    "attestation_failed": "The account requires attestation, and this browser's process was not proved.",
    "request_too_large": "That is more than may be sent.",
}


def of(refusal: RefusalError) -> tuple[str, str]:
    """A sentence, and what it is about."""
    match refusal:
        case PermissionDeniedError():
            return "This account may not do that. Nothing was done.", f"It lacks {refusal.refusal.need}."
        case MalformedError():
            return (
                "That was not understood. Nothing was done.",
                f"{refusal.refusal.field}: {refusal.refusal.reason}",
            )
        case TooLargeError():
            said = refusal.refusal
            return "That is too large. Nothing was done.", f"{said.field}: at most {said.limit}"
        case _:
            return _SENTENCES.get(refusal.kind, "The daemon refused that. Nothing was done."), refusal.kind
