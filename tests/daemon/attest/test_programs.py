"""What command lines say, and how strangers' text is made fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mail4agent_api.codec import encode
from mail4agent_daemon.attest.line import line_of
from mail4agent_daemon.attest.programs import CommandLine, corroborated, read

ID = "0f3fd457-850f-4c60-9a1e-2b6c7d8e9f00"


def said(*arguments: str) -> CommandLine:
    """What these arguments say."""
    return read("".join(f"{argument}\0" for argument in arguments).encode())


CLAUDE = "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"
GEMINI = "/usr/lib/node_modules/@google/gemini-cli/dist/index.js"


@pytest.mark.promise("identity.command-lines-are-read")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        # Claude Code
        (["claude"], ("claude", None, None)),
        (["claude", "--resume", ID, "--model", "opus"], ("claude", ID, "opus")),
        (["/opt/bin/claude", f"--resume={ID}", "--model=opus"], ("claude", ID, "opus")),
        (["claude", "-r", ID, "say something"], ("claude", ID, None)),
        (["claude", "--session-id", ID, "-p", "hi"], ("claude", ID, None)),
        (["node", CLAUDE, "--resume", ID], ("claude", ID, None)),
        (["node", "--no-warnings", CLAUDE, "--model", "sonnet"], ("claude", None, "sonnet")),
        (["bun", "/home/x/.local/bin/claude", "--resume", ID], ("claude", ID, None)),
        (["claude", "--resume", ID, "--fork-session"], ("claude", None, None)),
        (["claude", "--resume", "old", "--fork-session", "--session-id", ID], ("claude", ID, None)),
        (["claude", "-m", "x"], ("claude", None, None)),
        (["claude.exe", "--model", "opus"], ("claude", None, "opus")),
        # Codex
        (["codex"], ("codex", None, None)),
        (["codex", "resume", ID, "go on"], ("codex", ID, None)),
        (["codex", "-m", "gpt-6", "resume", ID], ("codex", ID, "gpt-6")),
        (["codex", "resume", "-m", "gpt-6", "-c", "a=b", ID], ("codex", ID, "gpt-6")),
        (["codex", "exec", "resume", ID, "go on"], ("codex", ID, None)),
        (["codex", "resume", "--last", "go on"], ("codex", None, None)),
        (["codex", "resume"], ("codex", None, None)),
        (["codex", "please", "resume", ID], ("codex", None, None)),
        (["node", "/usr/bin/codex.js", "--model=gpt-6"], ("codex", None, "gpt-6")),
        (["codex", "--resume", ID], ("codex", None, None)),
        # Gemini CLI
        (["node", GEMINI, "-m", "gemini-3"], ("gemini", None, "gemini-3")),
        (["gemini", "--resume", ID], ("gemini", ID, None)),
        (["gemini", "-r", "latest"], ("gemini", None, None)),
        (["gemini", "--resume", "3"], ("gemini", None, None)),
        (["gemini", "--resume"], ("gemini", None, None)),
        # OpenCode
        (["opencode", "-s", "ses_1", "-m", "a/b"], ("opencode", "ses_1", "a/b")),
        (["opencode", "run", "--session=ses_1", "hi"], ("opencode", "ses_1", None)),
        (["/x/node_modules/opencode-ai/bin/.opencode", "-s", "ses_1"], ("opencode", "ses_1", None)),
        (["opencode", "--session", "ses_1", "--fork"], ("opencode", None, None)),
        # Any other
        (["agent", "--resume", "abc", "--model", "m"], (None, "abc", "m")),
        (["agent", "--model=m", "--resume=abc"], (None, "abc", "m")),
        (["python", "agent.py", "--model", "m"], (None, None, "m")),
        (["node", "server.js", "--resume", "abc"], (None, "abc", None)),
        # Empty, dangling, and not an option
        (["agent", "--resume", "", "--model", ""], (None, None, None)),
        (["agent", "--resume=", "--model="], (None, None, None)),
        (["agent", "--model"], (None, None, None)),
        (["agent", "--resume", "--model", "m"], (None, None, "m")),
        (["agent", "--", "--resume", "abc"], (None, None, None)),
        (["agent", "--resumed", "abc", "--models=x"], (None, None, None)),
        (["agent", "--model", "a", "--model", "b"], (None, None, "b")),
        (["agent", "--model", "a", "--model"], (None, None, "a")),
        (["notclaude", "-r", "x"], (None, None, None)),
        ([], (None, None, None)),
        ([""], (None, None, None)),
        (["node"], (None, None, None)),
    ],
)
def test_a_command_line_says_program_session_and_model(
    arguments: list[str], expected: tuple[str | None, str | None, str | None]
):
    """By the flags that each program documents, in either form and any order."""
    found = said(*arguments)
    assert (found.program, found.provider_session_id, found.model) == expected


def test_odd_values_are_made_fit():
    """A model of a thousand letters and a session with an escape fit on a card."""
    found = said("agent", "--model", "é" * 1_000, "--resume", "a\x1b[2Jb")
    assert found.model == "é" * 256
    assert found.provider_session_id == "a\N{REPLACEMENT CHARACTER}[2Jb"


@pytest.mark.promise("identity.names-lock-nobody-out")
@given(st.lists(st.sampled_from([b"--resume", b"--model", b"=", b"\0", b"claude", b"codex", b"\n", b"\xff"])))
def test_any_command_line_fits_on_a_card(pieces: list[bytes]):
    """Whatever it is made of."""
    encode(corroborated(read(b"".join(pieces)), None))


@pytest.mark.promise("identity.names-lock-nobody-out")
@given(st.binary(max_size=1_500) | st.text(max_size=800).map(lambda text: text.encode("utf-8", "replace")))
def test_any_name_becomes_one_line(raw: bytes):
    """Of at most 512 bytes, which is what the contract takes; and plain text stays as it is."""
    line = line_of(raw)
    encode(corroborated(CommandLine(), line))
    assert len(line.encode()) <= 512
    if len(raw) <= 512 and raw.isascii() and raw.decode().isprintable():
        assert line == raw.decode()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_a_name_is_cut_between_characters(width: int):
    """As much as fits stays, whatever the characters' width."""
    character = {1: "a", 2: "é", 3: "€", 4: "📬"}[width]
    for before in range(4):
        text = "x" * before + character * 600
        line = line_of(text.encode())
        assert text.startswith(line)
        assert 512 - width < len(line.encode()) <= 512
