"""What the command line of an agent program says of its session and its model.

A process writes its own command line, so nothing here proves anything. The flags are those that the programs
document: Claude Code ``--resume``/``-r``, ``--session-id``, ``--model``; Codex ``resume ID``, ``exec resume
ID``, ``--model``/``-m``; Gemini CLI ``--resume``/``-r``, ``--session-id``, ``--model``/``-m``; OpenCode
``--session``/``-s``, ``--model``/``-m``. Any other program is read for ``--resume`` and ``--model``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mail4agent_api._wire import Declared
from mail4agent_api.mail import SessionCorroborated

from .attested import Program
from .line import line_of


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What one command line says; None for what it does not."""

    program: Program | None = None
    provider_session_id: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class _Flags:
    session: frozenset[bytes] = frozenset({b"--resume"})
    model: frozenset[bytes] = frozenset({b"--model"})
    #: With one of these the program goes on in a session of another id.
    forking: frozenset[bytes] = frozenset()


_GENERIC = _Flags()
_FLAGS: dict[Program, _Flags] = {
    "claude": _Flags(
        session=frozenset({b"--resume", b"-r", b"--session-id"}), forking=frozenset({b"--fork-session"})
    ),
    "codex": _Flags(session=frozenset(), model=frozenset({b"--model", b"-m"})),
    "gemini": _Flags(
        session=frozenset({b"--resume", b"-r", b"--session-id"}), model=frozenset({b"--model", b"-m"})
    ),
    "opencode": _Flags(
        session=frozenset({b"--session", b"-s"}),
        model=frozenset({b"--model", b"-m"}),
        forking=frozenset({b"--fork"}),
    ),
}
_NAMES: dict[bytes, Program] = {
    b"claude": "claude",
    b"codex": "codex",
    b"gemini": "gemini",
    b"opencode": "opencode",
}
_PACKAGES: dict[bytes, Program] = {
    b"/@anthropic-ai/claude-code/": "claude",
    b"/@openai/codex/": "codex",
    b"/@google/gemini-cli/": "gemini",
    b"/opencode-ai/": "opencode",
}
_RUNTIMES = frozenset({b"node", b"nodejs", b"bun", b"deno"})
_ENDINGS = (b".exe", b".js", b".mjs", b".cjs")
#: Codex's options that take a value: what follows one of them is no session id.
_CODEX_VALUED = frozenset(
    b"-a --add-dir --ask-for-approval -c --config -C --cd --disable --enable -i --image --local-provider -m"
    b" --model -o --output-last-message --output-schema -p --profile -s --sandbox".split()
)
_ARGUMENTS_MAX = 4096


def read(raw: bytes) -> CommandLine:
    """What ``raw``, the arguments with a NUL after each, says. Never raises."""
    arguments = raw.split(b"\0", _ARGUMENTS_MAX)[:_ARGUMENTS_MAX]
    program, rest = _program(arguments)
    flags = _FLAGS[program] if program else _GENERIC
    session = model = None
    for name, value in _options(rest):
        if name in flags.model:
            model = value or model
        elif name in flags.session:
            session = value or session
    if program == "codex":
        session = _codex_session(rest)
    elif program == "gemini" and session is not None and (session == b"latest" or session.isdigit()):
        session = None  # which session that is, Gemini alone knows
    if not flags.forking.isdisjoint(rest):
        session = _last(rest, b"--session-id") if program == "claude" else None
    return CommandLine(program, line_of(session) if session else None, line_of(model) if model else None)


def corroborated(said: CommandLine, cwd: str | None) -> SessionCorroborated:
    """What a card says of a process that is no proof."""
    return SessionCorroborated(
        provider_session_id=_declared(said.provider_session_id),
        model=_declared(said.model),
        cwd=_declared(cwd),
    )


def _declared(line: str | None) -> Declared[str] | None:
    return None if line is None else Declared(line)


def _program(arguments: Sequence[bytes]) -> tuple[Program | None, Sequence[bytes]]:
    """The known program, and the arguments that are its own."""
    first = _stem(arguments[0]) if arguments else b""
    if first in _NAMES:
        return _NAMES[first], arguments[1:]
    if first in _RUNTIMES:
        for index, argument in enumerate(arguments[1:], start=1):
            if argument.startswith(b"-"):
                continue
            return _script(argument), arguments[index + 1 :]
    return None, arguments[1:]


def _script(path: bytes) -> Program | None:
    slashes = path.replace(b"\\", b"/")
    for package, program in _PACKAGES.items():
        if package in slashes:
            return program
    return _NAMES.get(_stem(path))


def _stem(path: bytes) -> bytes:
    name = path.replace(b"\\", b"/").rpartition(b"/")[2].lower()
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name.lstrip(b".")


def _options(arguments: Sequence[bytes]) -> Iterator[tuple[bytes, bytes | None]]:
    """Each option with the value that follows it, ``--x v`` or ``--x=v``; None where none does."""
    for index, argument in enumerate(arguments):
        if argument == b"--":
            return
        if not argument.startswith(b"-"):
            continue
        name, equals, value = argument.partition(b"=")
        if not equals:
            value = arguments[index + 1] if index + 1 < len(arguments) else b""
            if value.startswith(b"-"):
                value = b""
        yield name, value or None


def _last(arguments: Sequence[bytes], wanted: bytes) -> bytes | None:
    found = None
    for name, value in _options(arguments):
        if name == wanted:
            found = value or found
    return found


def _codex_session(arguments: Sequence[bytes]) -> bytes | None:
    """The id after ``resume`` or ``exec resume``; with ``--last`` what follows is a prompt."""
    words: list[bytes] = []
    valued = False
    for argument in arguments:
        if argument == b"--":
            break
        if argument == b"--last":
            return None
        if valued or argument.startswith(b"-"):
            valued = not valued and argument in _CODEX_VALUED
            continue
        words.append(argument)
    if words[:1] in ([b"exec"], [b"e"]):
        words = words[1:]
    return words[1] or None if len(words) > 1 and words[0] == b"resume" else None
