"""What every verb of the mail and admin groups has: the daemon to ask, ``--json``, and one way to end."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import encode
from mail4agent_api.errors import AttestationFailedError, PermissionDeniedError, RefusalError
from mail4agent_client import ClientError, RetryPolicy, SyncMailClient
from mail4agent_client.settings import Settings, settings_of
from mail4agent_daemon.cli.exits import (
    CredentialMissingError,
    Exit,
    Failure,
    SecretStrandedError,
    json_of,
    sentence_of,
    status_of,
)
from mail4agent_daemon.cli.home import operator_key
from mail4agent_daemon.cli.output import OutputLostError, abandon_output, check_output, put
from mail4agent_daemon.cli.terminal import console, json_text
from mail4agent_daemon.connect.faults import ConnectError

_PANEL = "Daemon and output"
#: What is missing to who is no session, and what helps.
_SESSION = "session"
_NO_SESSION = (
    "This command acts for the agent that runs it. Here none is above it that is a session of the account;"
    " docs/sessions.md says how one becomes it."
)
Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Where the daemon is: http://…, https://… or unix:/PATH [M4A_URL].",
        rich_help_panel=_PANEL,
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="PATH",
        help="The file that holds the credential [M4A_TOKEN_FILE, or M4A_TOKEN].",
        rich_help_panel=_PANEL,
    ),
]
AllowPlainHttp = Annotated[
    bool,
    typer.Option(
        "--allow-plain-http",
        help="Send the credential unencrypted to another machine.",
        rich_help_panel=_PANEL,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.", rich_help_panel=_PANEL)]
_COMMON: dict[str, tuple[Any, Any]] = {
    "url": (Url, None),
    "token_file": (TokenFile, None),
    "allow_plain_http": (AllowPlainHttp, False),
    "as_json": (AsJson, False),
}


class Mail:
    """One run of one verb."""

    def __init__(
        self,
        url: str | None,
        token_file: Path | None,
        allow_plain_http: bool,
        as_json: bool,
        *,
        as_operator: bool = False,
    ) -> None:
        self._url = url
        self._token_file = token_file
        self._allow_plain_http = allow_plain_http
        self._as_operator = as_operator
        self.as_json = as_json

    @cached_property
    def settings(self) -> Settings:
        """Flags, environment, and for operator verbs the key that the daemon wrote. Raises
        SettingInvalidError, CredentialMissingError.
        """
        given = {"token_file": self._token_file, "allow_plain_http": self._allow_plain_http}
        settings = settings_of(self._url, **given)
        if settings.credential is not None:
            return settings
        if not self._as_operator:
            raise CredentialMissingError("give --token-file, or set M4A_TOKEN_FILE or M4A_TOKEN")
        key = operator_key()
        if not key.exists():
            raise CredentialMissingError(
                f"no operator key at {key}; start the daemon once, set M4A_HOME, or give --token-file"
            )
        settings = settings_of(self._url, token_file=key, allow_plain_http=self._allow_plain_http)
        settings.credential_from = str(key)
        return settings

    @property
    def url(self) -> str:
        """Where the daemon is, whoever asks it. Raises SettingInvalidError."""
        nobody = {"M4A_URL": os.environ.get("M4A_URL", "")}
        return settings_of(self._url, allow_plain_http=self._allow_plain_http, environment=nobody).url

    @property
    def is_operators(self) -> bool:
        """Whether the verb takes the operator's key where no credential is given."""
        return self._as_operator

    def connect(self, **options: Any) -> SyncMailClient:
        """A new client; ``options`` are those of ``SyncMailClient``."""
        settings = self.settings
        # This process ends with its answer: what it does, it does for the agent that started it.
        usual: dict[str, Any] = {
            "token": settings.credential,
            "keep_alive": False,
            "retries": RetryPolicy(attempts=3, all_pauses=3.0),
            "session": "parent",
        }
        return SyncMailClient(
            settings.url,
            allow_plain_http=self._allow_plain_http,
            **{**usual, **options},
        )

    @cached_property
    def client(self) -> SyncMailClient:
        """The client of this run; most runs ask one thing and go."""
        return self.connect()

    @cached_property
    def console(self) -> Console:
        """Standard output for a person."""
        return console()

    @property
    def for_person(self) -> bool:
        """Whether a person reads: no JSON was asked for, and standard output is a terminal."""
        return not self.as_json and self.console.is_terminal

    def line(self, text: str) -> None:
        """Print one line of text that is known to be safe."""
        put(text)

    def rows(self, rows: Iterable[Iterable[str]]) -> None:
        """Print fields that are known to be safe, separated by tabs, for other programs."""
        for row in rows:
            put("\t".join(row))

    def json(self, value: WireModel) -> None:
        """Print one contract object on a line of its own."""
        put(json_text(encode(value)))

    def json_of(self, **lists: Iterable[WireModel | str]) -> None:
        """Print one object of lists of contract objects or ids, as when all pages are put together."""
        members = (
            f'"{name}":[{",".join(_json(value) for value in values)}]' for name, values in lists.items()
        )
        put("{" + ",".join(members) + "}")

    def note(self, text: str) -> None:
        """Tell a person something besides the answer."""
        if not self.as_json:
            typer.echo(text, err=True)

    def failed(self, failure: Failure) -> Exit:
        """Say why the verb ends, and return its status."""
        if self.as_json:
            typer.echo(json_of(failure), err=True)
        else:
            typer.echo(f"mail4agent: {sentence_of(failure)}", err=True)
        return status_of(failure)

    def close(self) -> None:
        """Close the connection, when one was made."""
        client = self.__dict__.get("client")
        if client is not None:
            client.close()


def verb(
    group: typer.Typer,
    name: str | None = None,
    *,
    as_operator: bool = False,
    hint: Callable[[Mail, RefusalError], str | None] | None = None,
    make: Callable[..., Mail] | None = None,
    common: Mapping[str, tuple[Any, Any]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a verb. It is given a ``Mail`` before its own parameters, and may return an exit
    status.

    ``hint`` may add a sentence for a person to a refusal. ``make`` and ``common`` give a group another run
    than ``Mail``, made of other options.
    """
    options = _COMMON if common is None else common
    run_of = partial(Mail, as_operator=as_operator) if make is None else make

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        def run(**given: Any) -> None:
            mail = run_of(*(given.pop(each) for each in options))
            raise typer.Exit(ended(mail, lambda: function(mail, **given), hint))

        shared = [
            inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
            for each, (annotation, default) in options.items()
        ]
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + shared
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.__doc__ = function.__doc__
        group.command(name or function.__name__)(run)
        return function

    return register


def ended(mail: Mail, act: Callable[[], Any], hint: Callable[[Mail, RefusalError], str | None] | None) -> int:
    """Carry a verb out and return the exit status."""
    try:
        # Before anything is asked for: what nobody can be shown must not be acknowledged, issued or posted.
        check_output()
        return int(act() or Exit.OK)
    except RefusalError as refusal:
        status = mail.failed(refusal)
        if hint is not None and not mail.as_json:
            advice = hint(mail, refusal)
            if advice is not None:
                mail.note(advice)
        if isinstance(refusal, PermissionDeniedError):
            mail.note(f"The credential came from {mail.settings.credential_from}.")
            if mail.is_operators and mail.settings.credential_from != str(operator_key()):
                mail.note(
                    "Without M4A_TOKEN_FILE, M4A_TOKEN and --token-file the operator's own key is taken."
                )
            elif refusal.refusal.need == _SESSION:
                mail.note(_NO_SESSION)
        elif isinstance(refusal, AttestationFailedError):
            mail.note(_NO_SESSION)
        return status
    except (ClientError, ConnectError, CredentialMissingError, SecretStrandedError) as failure:
        return mail.failed(failure)
    except OutputLostError as failure:
        abandon_output()
        return mail.failed(failure)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        abandon_output()
        return Exit.PIPE_CLOSED
    finally:
        mail.close()


def _json(value: WireModel | str) -> str:
    return json_text(json.dumps(value).encode() if isinstance(value, str) else encode(value))


def confirmed(mail: Mail, question: str, yes: bool) -> None:
    """Return when the person says yes, or has said it already; where nobody can be asked, ``--yes`` is
    needed.
    """
    if yes:
        return
    if mail.as_json or sys.stdin is None or not sys.stdin.isatty():
        raise typer.BadParameter("this cannot be undone; give --yes", param_hint="--yes")
    typer.confirm(question, abort=True, err=True)
