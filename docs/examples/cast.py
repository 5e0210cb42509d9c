"""Play one of the conversations: an account and a process for each role.

    python docs/examples/cast.py review

As the operator, whose key the daemon keeps in its data folder; M4A_TOKEN and M4A_TOKEN_FILE give another.
"""

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

from mail4agent_client import SyncMailClient
from mail4agent_daemon.cli.home import operator_key

ROLES = {
    "review": ["author", "reviewer"],
    "room": ["lead", "parser", "store", "docs"],
    "overnight": ["owl", "lark"],
}


def main(play: str) -> int:
    """Register the roles, start them, and wait until each has ended. 0 when all ended well."""
    # A play may be played again; an account's name is taken once.
    names = {role: f"{role}-{secrets.token_hex(3)}" for role in ROLES[play]}
    room = f"release-{secrets.token_hex(3)}"
    script = Path(__file__).with_name(f"{play}.py")
    running: list[subprocess.Popen[bytes]] = []
    given = {"M4A_TOKEN", "M4A_TOKEN_FILE"} & os.environ.keys()
    with SyncMailClient(token_file=None if given else operator_key(), session="parent") as operator:
        tokens = {
            role: operator.admin_participant(
                id=name, label=role, may_send=True, may_read=True, operator=False
            ).secret
            for role, name in names.items()
        }
        if play == "room":
            operator.admin_room(id=room)
            for name in names.values():
                operator.admin_room_member_add(room=room, participant=name)
    for role, name in names.items():
        others = [room, *(other for other in names.values() if other != name)]
        environment = {**os.environ, "M4A_TOKEN": tokens[role]}
        environment.pop("M4A_TOKEN_FILE", None)
        running.append(subprocess.Popen([sys.executable, script, role, *others], env=environment))
    while (ended := [process.poll() for process in running]) and None in ended and not any(ended):
        time.sleep(0.1)
    # Nobody waits for one who failed.
    for process in running:
        process.terminate()
    return max(abs(process.wait()) for process in running)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
