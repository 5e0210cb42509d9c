"""What processes called their programs, folders and arguments never keeps them out."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from mail4agent_api.codec import encode
from mail4agent_api.mail import SessionAttested
from mail4agent_daemon.attest import Attested, Attestor

from .conftest import Callers, Door

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")

#: A newline, an escape, a C1 control, a byte that is no UTF-8, and letters of two, three and four bytes.
ODD = b"\n\x1b[31m\xc2\x85\xff-\xc3\xa9\xe2\x82\xac\xf0\x9f\x93\xac"
#: The longest path that the kernel gives is a page with its end.
PATH_MAX_BYTES = 4_000


@pytest.fixture
def odd_python(tmp_path: Path) -> Path:
    """This Python's own program, in folders in folders with odd names, as deep as a path can be named."""
    folder, name = tmp_path, os.fsdecode(ODD)
    while len(os.fsencode(folder)) < PATH_MAX_BYTES - 300:
        folder /= name + "x" * 200
        folder.mkdir()
    shutil.copyfile(os.path.realpath(sys.executable), folder / name)
    (folder / name).chmod(0o755)
    return folder / name


HOME = {"PYTHONHOME": sys.base_prefix}


@pytest.mark.promise("identity.names-lock-nobody-out")
@pytest.mark.parametrize("transport", ["tcp", "unix"])
async def test_a_program_with_a_long_and_odd_path_is_attested(
    attestor: Attestor, callers: Callers, ways: dict[str, Door], odd_python: Path, transport: str
):
    """Its path is cut and cleaned, and fits on a card."""
    way = ways[transport]
    caller = callers(str(odd_python), environment=HOME, cwd=odd_python.parent)
    caller.do("connect", name="a", to=way.address)
    answer = await attestor.attest(way.accept())
    assert isinstance(answer, Attested)
    assert answer.process.pid == caller.pid
    assert answer.exe is not None
    assert answer.corroborated.cwd is not None
    for line in (answer.exe, answer.corroborated.cwd.inner_ref()):
        assert 509 <= len(line.encode()) <= 512
        assert "\N{REPLACEMENT CHARACTER}[31m\N{REPLACEMENT CHARACTER}" in line
        assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in line)
    encode(SessionAttested(pid=1, started_at_unix_ms=1, exe=answer.exe))
    encode(answer.corroborated)


@pytest.mark.promise("identity.names-lock-nobody-out")
async def test_a_program_that_was_deleted_keeps_its_name(
    attestor: Attestor, callers: Callers, door: Door, tmp_path: Path
):
    """As after an upgrade of what runs; its folder, too."""
    folder = tmp_path / "gone"
    folder.mkdir()
    program = folder / "program"
    shutil.copyfile(os.path.realpath(sys.executable), program)
    program.chmod(0o755)
    caller = callers(str(program), environment=HOME, cwd=folder)
    caller.do("connect", name="a", to=door.address)
    shutil.rmtree(folder)
    answer = await attestor.attest(door.accept())
    assert isinstance(answer, Attested)
    assert answer.exe == str(program)
    assert answer.corroborated.cwd is not None
    assert answer.corroborated.cwd.inner_ref() == str(folder)


@pytest.mark.promise("identity.names-lock-nobody-out")
async def test_a_folder_that_is_too_deep_to_name_is_left_out(
    attestor: Attestor, callers: Callers, door: Door, tmp_path: Path
):
    """The kernel names no path longer than a page; the process is attested without."""
    caller = callers()
    caller.do("descend", start=str(tmp_path), depth=25)
    caller.do("connect", name="a", to=door.address)
    answer = await attestor.attest(door.accept())
    assert isinstance(answer, Attested)
    assert answer.corroborated.cwd is None


async def test_arguments_without_end_are_read_to_a_bound(attestor: Attestor, callers: Callers, door: Door):
    """A model after 64 KiB of arguments is not found, and one before is."""
    for arguments, model in ((["x" * 100_000, "--model", "m"], None), (["--model", "m", "x" * 100_000], "m")):
        caller = callers(sys.executable, *arguments)
        caller.do("connect", name="a", to=door.address)
        answer = await attestor.attest(door.accept())
        assert isinstance(answer, Attested)
        found = answer.corroborated.model
        assert (found.inner_ref() if found else None) == model


async def test_a_process_may_have_any_name(attestor: Attestor, callers: Callers, door: Door):
    """What looks like the end of its name in the kernel's line does not move the numbers after it."""
    caller = callers()
    caller.do("rename", name=") R 1 (")
    caller.do("connect", name="a", to=door.address)
    answer = await attestor.attest(door.accept())
    assert isinstance(answer, Attested)
    assert answer.process.pid == caller.pid
    assert attestor.ancestors(answer.process)[0].process.pid == os.getpid()
