"""Where the kernel shows too little there is a reason, and never an exception."""

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from mail4agent_daemon.attest import Attestor, Reason, Unattested
from mail4agent_daemon.attest.diag import Diag, SocketEntry
from mail4agent_daemon.attest.ends import Endpoint
from mail4agent_daemon.attest.linux import LinuxKernel
from mail4agent_daemon.attest.proc import Proc

from .conftest import Caller, Door, as_root, run_elsewhere

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel"),
    pytest.mark.promise("identity.no-kernel-no-proof"),
]

#: Mounts that last as long as the program does.
MOUNT = ["unshare", "--mount", "sh", "-c"]


@as_root
@pytest.mark.parametrize(
    ("launcher", "who", "said"),
    [
        (["env"], ["root", "nobody"], "unreadable available"),
        ([*MOUNT, 'mount -t tmpfs none /proc && exec "$@"', "sh"], ["root"], "unreadable unreadable"),
        (
            [*MOUNT, 'mount -t proc -o hidepid=2 none /proc && exec "$@"', "sh"],
            ["root", "nobody"],
            "unreadable available",
        ),
        (["unshare", "--pid", "--fork"], ["root"], "unreadable unreadable"),
        (["env"], ["root"], "attested available"),
    ],
    ids=["another user's", "no /proc", "hidden", "another namespace's /proc", "root's own"],
)
def test_what_may_not_be_seen_is_unreadable(launcher: list[str], who: list[str], said: str):
    """Another user's process, no /proc, one that hides much; and whether anything can be seen at all."""
    assert run_elsewhere(launcher, "unseen", *who) == said


async def test_a_kernel_that_refuses_the_question_supports_nothing(
    stack: ExitStack, caller: Caller, door: Door
):
    """As under a filter of system calls: every question has an answer without a process."""

    class Refused(Diag):
        def connection(self, local: Endpoint, remote: Endpoint) -> SocketEntry | None:
            raise PermissionError

        def listeners(self, port: int) -> list[SocketEntry]:
            raise PermissionError

    attestor = Attestor(LinuxKernel(diag=Refused()))
    stack.callback(attestor.close)
    caller.do("connect", name="a", to=door.address)
    assert await attestor.attest(door.accept()) == Unattested(Reason.UNSUPPORTED)
    assert attestor.listener_uid(1) is None
    assert (attestor.available, attestor.reason) == (False, Reason.UNSUPPORTED)


def test_without_proc_there_is_no_kernel(tmp_path: Path):
    """An empty folder in its place is an error to whoever asks, and nothing else."""
    with pytest.raises(OSError, match="own"):
        LinuxKernel(Proc(str(tmp_path)))
