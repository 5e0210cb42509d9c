"""What a person is told before a draft, at every door in the same words."""

from collections.abc import Iterator
from typing import Final

from mail4agent_api.outbox import OutboxDraft

#: By the contract's word: what is wrong, and what that means.
_WARNINGS: Final = {
    "private": ("Private", "the conversation that drafted it had read what its owner keeps private"),
    "untrusted": ("Untrusted", "the conversation that drafted it had read what a stranger may have written"),
    "hidden_characters": (
        "Hidden",
        "{hidden} characters unseen or like others are shown by number, \\u{{...}}",
    ),
    "edited": ("Edited", "it is not what was drafted; the difference is below"),
    "no_sink": ("No sink", "the daemon's settings give its tool no sink, so that it cannot be released"),
    "outcome_unknown": ("Unknown", "a release was begun, and nobody knows whether it left"),
    "failed_before": ("Failed", "the last attempt to release it did not send it"),
    "files_changed": ("Files", "the copies are not what was staged; it cannot be released"),
}


def warnings_of(draft: OutboxDraft) -> Iterator[tuple[str, str]]:
    """What is wrong with a draft, and what that means, without a full stop."""
    for word in draft.warnings:
        name, meaning = _WARNINGS[word]
        yield name, meaning.format(hidden=draft.view.hidden)
