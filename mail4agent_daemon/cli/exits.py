"""How a verb ends: the exit status, and the one line or JSON object that says why."""

from __future__ import annotations

import json
from enum import IntEnum
from typing import Any

from mail4agent_api.codec import encode
from mail4agent_api.errors import (
    AttestationFailedError,
    MalformedError,
    RefusalError,
    TooLargeError,
    UnauthenticatedError,
)
from mail4agent_client import ClientError, SettingInvalidError
from mail4agent_daemon.cli.output import OutputLostError
from mail4agent_daemon.cli.terminal import json_text, visible
from mail4agent_daemon.connect.faults import ConnectError


class Exit(IntEnum):
    """Exit statuses; documented in docs/cli.md and in the help text."""

    OK = 0
    #: The daemon, or the contract before it, refused what was asked.
    REFUSED = 1
    #: The command line cannot be carried out as it is written.
    USAGE = 2
    #: No answer of the contract came from the daemon.
    UNREACHABLE = 3
    #: There is no credential, or it is not a valid one.
    UNAUTHENTICATED = 4
    #: ``wait``: nothing arrived in time.
    NOTHING = 5
    #: The answer could not be put where it was to go; what was asked for may have been done.
    OUTPUT_LOST = 6
    #: Interrupted from the keyboard.
    INTERRUPTED = 130
    #: Whoever read the output went away.
    PIPE_CLOSED = 141


STATUSES = (
    "Exit status: 0 done, 1 refused, 2 wrong usage, 3 no daemon, "
    "4 no valid credential, 5 nothing arrived (wait, note watch), 6 no room for the output."
)


class CredentialMissingError(Exception):
    """No setting gives a credential, and there is no operator key to fall back on."""

    kind = "credential_missing"

    def __init__(self, looked_for: str) -> None:
        super().__init__(f"no credential: {looked_for}")
        self.looked_for = looked_for


class SecretStrandedError(Exception):
    """A secret was issued, and the old one is dead, but the file that was asked for does not hold it."""

    kind = "secret_stranded"

    def __init__(self, path: str, lies_in: str | None, reason: str) -> None:
        where = f"it lies in {lies_in}" if lies_in is not None else "rotate it again"
        super().__init__(f"the new secret is issued, but {path} cannot be written ({reason}): {where}")
        self.path = path
        self.lies_in = lies_in
        self.reason = reason


Failure = (
    RefusalError | ClientError | ConnectError | CredentialMissingError | OutputLostError | SecretStrandedError
)

_CREDENTIAL_SETTINGS = frozenset({"token", "token_file", "M4A_TOKEN", "M4A_TOKEN_FILE"})


def status_of(failure: Failure) -> Exit:
    """The exit status of a failure."""
    match failure:
        case UnauthenticatedError() | AttestationFailedError() | CredentialMissingError():
            return Exit.UNAUTHENTICATED
        case RefusalError() | ConnectError():
            return Exit.REFUSED
        case SettingInvalidError():
            return Exit.UNAUTHENTICATED if failure.setting in _CREDENTIAL_SETTINGS else Exit.USAGE
        case ClientError():
            return Exit.UNREACHABLE
        case OutputLostError() | SecretStrandedError():
            return Exit.OUTPUT_LOST


def json_of(failure: Failure) -> str:
    """One JSON object: the refusal as it is on the wire, or another failure's kind and facts."""
    if isinstance(failure, RefusalError):
        return json_text(encode(failure.refusal))  # pyright: ignore[reportArgumentType]
    return json_text(json.dumps({"kind": failure.kind, **vars(failure)}).encode())


def sentence_of(failure: Failure) -> str:
    """What a person is told; texts that the daemon sent are made safe for a terminal."""
    if not isinstance(failure, RefusalError):
        return visible(str(failure))
    match failure:
        case MalformedError():
            return visible(f"{failure.refusal.field} {failure.refusal.reason}")
        case TooLargeError():
            refused = failure.refusal
            return visible(f"{refused.field} is {refused.actual} where at most {refused.limit} is allowed")
        case _:
            pass
    refusal: Any = failure.refusal
    what = (type(failure).__doc__ or failure.kind).strip().split("\n\n")[0].rstrip(".")
    facts = {name: value for name, value in refusal.model_dump().items() if name != "kind"}
    details = ", ".join(f"{name} {value}" for name, value in facts.items())
    return visible(f"{what[:1].lower()}{what[1:]}{f' ({details})' if details else ''}")
