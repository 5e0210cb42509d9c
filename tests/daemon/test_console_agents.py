"""An agent in the console: a browser below an agent program or a live session decides nothing there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.process import BOUND_SECS, DaemonProcess, served

#: A browser below nobody: whoever runs the tests may be an agent. It may be called as an agent program is.
_ALONE = """
import os, sys
above = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == above:
    pass
os.execve(sys.argv[1], [sys.argv[1], *sys.argv[2:]], os.environ)
"""
#: What both programs ask with.
_ASK = """
import concurrent.futures, http.client, json, re, sys, urllib.parse
port, secret, other = int(sys.argv[1]), sys.argv[2], sys.argv[3]

def ask(method, path, form=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    if isinstance(form, dict):
        headers |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{port}"}
        form = urllib.parse.urlencode(form)
    connection.request(method, path, form, headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, dict(answer.getheaders()), body
"""
#: Signs in, looks at a page for the token of its forms, and posts what it is told to.
_BROWSER = (
    _ASK
    + """
bearer = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
if other:
    ask("POST", "/mail/whoami", "{}", **bearer | {"Authorization": f"Bearer {other}"})
cookie = ask("POST", "/console/signin", {"secret": secret})[1]["set-cookie"].partition(";")[0]
page = ask("GET", "/console", Cookie=cookie)[2]
csrf = re.search('name="csrf" value="([0-9a-f]{64})"', page)[1]
said = []
for path, form in json.loads(sys.argv[4]):
    status, _, body = ask("POST", path, {**form, "csrf": csrf}, Cookie=cookie)
    said.append([status, "below an agent" in body])
said.append([ask("POST", "/console/code", "{}", **bearer, **{"M4A-Session": "parent"})[0], False])
print(json.dumps(said))
"""
)

#: Asks for a code as a person does, guesses at others, and gives the right one from many connections
#: at once; then mixes up what belongs to two sign-ins.
_RACE = (
    _ASK
    + """
def signed_in(given):
    return ask("POST", "/console/signin", {"secret": given})

def token(cookie):
    return re.search('name="csrf" value="([0-9a-f]{64})"', ask("GET", "/console", Cookie=cookie)[2])[1]

bearer = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json", "M4A-Session": "parent"}
code = json.loads(ask("POST", "/console/code", "{}", **bearer)[2])["code"]
last = "B" if code.endswith("A") else "A"
guesses = [code[:-1], code[:-1] + last, code.swapcase(), code + "=", code + " x"]
with concurrent.futures.ThreadPoolExecutor(20) as pool:
    guessed = [each[0] for each in pool.map(signed_in, guesses)]
    raced = sorted(each[0] for each in pool.map(signed_in, [code] * 20))
mine, theirs = (signed_in(each)[1]["set-cookie"].partition(";")[0] for each in (secret, other))
mixed = [
    ask("POST", "/console/signout", {"csrf": token(one)}, Cookie=another)[0]
    for one, another in ((mine, theirs), (theirs, mine))
]
both = ask("GET", "/console/events", Cookie=f"{mine}x; x{theirs}")[0]
print(json.dumps([guessed, raced, mixed, both]))
"""
)


@dataclass
class Room:
    """A daemon, who drafts and who reviews, and a folder for programs."""

    daemon: DaemonProcess
    folder: Path
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    def register(self, name: str, *grant: str) -> None:
        """Register an account with rights."""
        self.secrets[name] = self.daemon.register(name)
        self.daemon.do("admin.participant.permit", {"id": name, "grant": list(grant), "revoke": []})

    def draft(self) -> dict[str, Any]:
        """A draft that waits, whole."""
        asked = {"tool": "write", "args": {"to": "rosa", "subject": "s", "body": "b"}}
        staged = self.daemon.do("outbox.stage", asked, secret=self.secrets["ada"])
        return self.daemon.do("outbox.get", {"id": staged["id"]}, secret=self.secrets["rosa"])

    def browse(
        self, program: str, *forms: tuple[str, dict[str, str]], become: str = ""
    ) -> list[tuple[int, bool]]:
        """What a browser of that name is answered: statuses, and whether it is told of the agent."""
        given = [self.secrets["rosa"], become, json.dumps(forms)]
        return [(status, told) for status, told in self.run(program, _BROWSER, *given)]

    def run(self, program: str, script: str, *given: str) -> list[Any]:
        """What a program of that name, below nobody, prints of what the daemon answered."""
        named = self.folder / program
        if not named.exists():
            named.symlink_to(sys.executable)
        ran = subprocess.run(
            [sys.executable, "-c", _ALONE, str(named), "-c", script, str(self.daemon.port), *given],
            capture_output=True,
            check=True,
            text=True,
            timeout=BOUND_SECS,
        )
        assert ran.stderr == ""
        found: list[Any] = json.loads(ran.stdout)
        return found


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """One for a module."""
    folder = tmp_path_factory.mktemp("agents")
    home = folder / "home"
    home.mkdir(0o700)
    (home / "config.toml").write_text('[outbox.tools]\nwrite = "own"\n[sinks.own]\nkind = "mail"\n')
    with served(home) as daemon:
        made = Room(daemon, folder)
        made.register("ada", "outbox:stage")
        made.register("rosa", "outbox:review")
        yield made


def decisions(draft: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Each decision on a draft, as a page of the console posts it."""
    path, digest = f"/console/outbox/{draft['entry']['id']}", draft["digest"]
    return [
        (f"{path}/release", {"digest": digest}),
        (f"{path}/reject", {"digest": digest, "reason": "No."}),
        (f"{path}/edit", {"digest": digest, "body": "changed"}),
        (f"{path}/settle", {"sent": "yes"}),
    ]


@pytest.mark.promise("threats.no-agent-decides-in-the-console")
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux vouches for processes")
@pytest.mark.parametrize(("program", "live"), [("claude", False), ("codex", False), ("browser", True)])
def test_a_browser_below_an_agent_decides_nothing(room: Room, program: str, live: bool) -> None:
    """Called as an agent program is, or a live session itself: nothing is decided, and no code is given."""
    draft = room.draft()
    said = room.browse(program, *decisions(draft), become=room.secrets["ada"] if live else "")
    assert said == [(403, True)] * 4 + [(400, False)]
    assert room.daemon.do("outbox.get", {"id": draft["entry"]["id"]}, secret=room.secrets["rosa"]) == draft


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux vouches for processes")
def test_a_browser_below_nobody_decides(room: Room) -> None:
    """The same requests of a person's browser reject the draft, and a code is given."""
    draft = room.draft()
    said = room.browse("browser", decisions(draft)[1])
    assert said == [(303, False), (200, False)]
    after = room.daemon.do("outbox.get", {"id": draft["entry"]["id"]}, secret=room.secrets["rosa"])
    assert (after["entry"]["status"], after["entry"]["decided_by"]) == ("rejected", "rosa")


@pytest.mark.promise("console.code-signs-in-once")
def test_of_many_who_give_a_code_at_once_one_is_signed_in(room: Room) -> None:
    """Guesses near it sign nobody in, and nothing of one sign-in serves another."""
    guessed, raced, mixed, both = room.run("firefox", _RACE, room.secrets["rosa"], room.secrets["ada"])
    assert guessed == [401] * 5
    assert raced == [303] + [401] * 19
    assert mixed == [403, 403]
    assert both == 401
