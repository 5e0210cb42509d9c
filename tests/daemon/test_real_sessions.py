"""Sessions as real processes see them: a real daemon, real connections, one secret in several hands."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .agent import Agent, agent
from .running import Daemon, running

DIRECT = {"kind": "direct", "participant": "ada"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with the policy that it has by itself, and the accounts ada and ben."""
    with running(tmp_path_factory.mktemp("identity") / "home") as daemon:
        daemon.add("ada")
        daemon.add("ben")
        yield daemon


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    """Ends each process that a test started."""
    with ExitStack() as stack:
        yield stack


def started(processes: ExitStack, daemon: Daemon, account: str = "ada", **more: object) -> Agent:
    """An agent's process that has connected."""
    made = processes.enter_context(agent(daemon.keys[account], **more))  # pyright: ignore[reportArgumentType]
    made.connect(daemon.port)
    return made


def required(daemon: Daemon, account: str) -> None:
    """Register an account that must be attested."""
    daemon.add(account, attestation="required")


def sends(sender: Agent, to: object, body: str = "b") -> tuple[int, dict[str, object]]:
    """Send a message."""
    return sender.ask("/mail/send", {"to": to, "subject": "s", "body": body})


@pytest.mark.promise("identity.two-sessions")
def test_two_processes_with_one_secret_see_each_other_as_two_sessions(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Each is told its own session, and finds both alive in the directory."""
    one, two = started(processes, daemon), started(processes, daemon)
    mine, yours = one.address(), two.address()
    assert {mine["kind"], yours["kind"]} == {"session"}
    assert mine["session"] != yours["session"]
    status, directory = two.ask("/mail/directory")
    assert status == 200
    (ada,) = (entry for entry in directory["participants"] if entry["id"] == "ada")
    live = {entry["id"]: entry["card"]["attested"]["pid"] for entry in ada["sessions"] if entry["live"]}
    assert (live[mine["session"]], live[yours["session"]]) == (one.pid, two.pid)


@pytest.mark.promise("identity.two-sessions")
def test_mail_to_one_session_is_not_readable_by_its_sibling(daemon: Daemon, processes: ExitStack) -> None:
    """The sibling finds it neither in its inbox nor by its id, and cannot acknowledge it."""
    one, two, ben = started(processes, daemon), started(processes, daemon), started(processes, daemon, "ben")
    status, answer = sends(ben, one.address(), "for one alone")
    assert status == 200
    message = answer["message_id"]
    bodies = [letter["body"] for letter in one.ask("/mail/inbox")[1]["messages"]]
    assert bodies == ["for one alone"]
    assert message not in [letter["message_id"] for letter in two.ask("/mail/inbox")[1]["messages"]]
    for path in ("/mail/get", "/mail/ack", "/mail/thread"):
        status, refusal = two.ask(path, {"message_id": message})
        assert (path, status, refusal["kind"]) == (path, 403, "not_addressed_to_you")


@pytest.mark.promise("identity.two-sessions")
def test_a_session_keeps_its_address_on_every_connection_and_transport(
    daemon: Daemon, processes: ExitStack
) -> None:
    """A process is the same session over TCP, over TCP again and over the UNIX socket."""
    one = started(processes, daemon)
    first = one.address()
    one.connect(daemon.port)
    second = one.address()
    one.connect(daemon.home / "daemon.sock")
    assert first == second == one.address()


@pytest.mark.promise("identity.two-sessions")
def test_a_message_names_the_session_that_sent_it(daemon: Daemon, processes: ExitStack) -> None:
    """The sender is the session, in the answer and in the message."""
    one = started(processes, daemon)
    status, answer = sends(one, {"kind": "direct", "participant": "ben"})
    assert (status, answer["from"]) == (200, one.address())
    status, message = one.ask("/mail/get", {"message_id": answer["message_id"]})
    assert message["from"] == one.address()


@pytest.mark.promise("identity.shared-connection")
def test_a_connection_that_a_child_held_before_it_was_proved_is_nobodys_session(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Preferred: it acts as the bare account, also after the child has ended; a new connection is proved."""
    one = started(processes, daemon)
    one.tell("fork")
    assert one.address() == DIRECT
    one.tell("reap")
    assert one.address() == DIRECT
    one.connect(daemon.port)
    assert one.address()["kind"] == "session"


@pytest.mark.promise("identity.shared-connection", "identity.required")
def test_a_shared_connection_is_refused_where_attestation_is_required(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Required: the refusal says what helps, and a connection of its own is taken."""
    required(daemon, "strict")
    one = started(processes, daemon, "strict")
    one.tell("fork")
    status, refusal = one.ask("/mail/whoami")
    assert (status, refusal["kind"]) == (401, "attestation_failed")
    assert "several processes" in refusal["reason"]
    one.tell("reap")
    one.connect(daemon.port)
    assert one.address()["kind"] == "session"


@pytest.mark.promise("identity.connection-alone")
def test_a_port_taken_over_by_another_process_gives_it_nothing(daemon: Daemon, processes: ExitStack) -> None:
    """A reset frees the port at once; the next process on it is its own session."""
    one = started(processes, daemon)
    first = one.address()
    two = processes.enter_context(agent(daemon.keys["ada"]))
    taken = 0
    for _ in range(40):
        port = one.connect(daemon.port)
        assert one.address() == first
        one.tell("close", reset=True)
        # Any program of the machine may be quicker.
        if two.tell("connect", where=daemon.port, source_port=port).get("port") == port:
            taken += 1
            assert two.address()["session"] != first["session"]
            two.tell("close", reset=True)
    assert taken


@pytest.mark.promise("identity.two-accounts")
def test_a_process_that_is_another_accounts_session_acts_as_the_account(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Preferred: the second account is served, without a session; the first one's session stays."""
    one = started(processes, daemon)
    mine = one.address()
    status, answer = one.ask("/mail/whoami", secret=daemon.keys["ben"])
    assert (status, answer["address"]) == (200, {"kind": "direct", "participant": "ben"})
    assert one.address() == mine


@pytest.mark.promise("identity.two-accounts", "identity.required")
def test_a_process_that_is_another_accounts_session_is_refused_where_required(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Required: a named refusal with the session and both accounts."""
    required(daemon, "exact")
    one = started(processes, daemon)
    mine = one.address()
    status, refusal = one.ask("/mail/whoami", secret=daemon.keys["exact"])
    assert (status, refusal["kind"]) == (409, "session_account_mismatch")
    assert (refusal["session"], refusal["expected"], refusal["presented"]) == (
        mine["session"],
        "ada",
        "exact",
    )


@pytest.mark.promise("identity.policy")
def test_an_account_whose_policy_is_off_is_never_a_session(daemon: Daemon, processes: ExitStack) -> None:
    """Off: the kernel is not asked."""
    daemon.add("plain", attestation="off")
    one = started(processes, daemon, "plain")
    assert one.address() == {"kind": "direct", "participant": "plain"}


@pytest.mark.promise("identity.policy")
def test_a_changed_policy_counts_from_the_next_request_of_an_open_connection(
    daemon: Daemon, processes: ExitStack
) -> None:
    """What a connection is remembered for belongs to the policy that it was found under."""
    daemon.add("turned")
    one = started(processes, daemon, "turned")
    one.tell("fork")
    assert one.address()["kind"] == "direct"
    answer = daemon.post("/admin/participant/permit", {"id": "turned", "attestation": "required"})
    assert answer.status == 200, answer.body
    assert one.ask("/mail/whoami")[1]["kind"] == "attestation_failed"


@pytest.mark.promise("identity.odd-process")
def test_an_executable_with_a_long_and_odd_path_is_no_reason_to_lock_it_out(
    daemon: Daemon, processes: ExitStack, tmp_path: Path
) -> None:
    """Nearly 4 KiB of path with line ends in it: attested, its card cut and cleaned."""
    folder = tmp_path
    while len(str(folder)) < 3_600:
        folder /= "odd\nname\x1b[31m" + "x" * 200
    folder.mkdir(parents=True)
    program = folder / "agent\nprogram"
    shutil.copy(os.path.realpath(sys.executable), program)
    environment = {"PYTHONHOME": sys.base_prefix, "LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"}
    one = started(processes, daemon, executable=str(program), cwd=folder, environment=environment)
    status, me = one.ask("/mail/whoami")
    assert (status, me["address"]["kind"]) == (200, "session")
    attested, corroborated = me["card"]["attested"], me["card"]["corroborated"]
    for text in (attested["exe"], corroborated["cwd"]):
        assert 0 < len(text.encode()) <= 512
        assert text.isprintable()


@pytest.mark.promise("identity.forged-header")
@pytest.mark.parametrize("said", ["s-" + "0" * 32, "", "Parent", "parent, parent", "own"])
def test_a_header_that_names_a_session_is_malformed(daemon: Daemon, processes: ExitStack, said: str) -> None:
    """A session is proved, never named: nothing but the one word is taken."""
    one = started(processes, daemon)
    status, refusal = one.ask("/mail/whoami", m4a_session=said)
    assert (status, refusal["kind"], refusal["field"]) == (400, "malformed", "m4a-session")


@pytest.mark.promise("identity.helper")
def test_a_helper_acts_for_the_session_that_started_it(daemon: Daemon, processes: ExitStack) -> None:
    """The command line, run by a process that is a session, is that session."""
    one = started(processes, daemon)
    mine = one.address()
    told = one.tell("run", argv=_cli("whoami", "--json"), environment=_environment(daemon))
    assert told["status"] == 0, told
    assert mine["session"] in told["out"]


@pytest.mark.promise("identity.helper")
def test_a_helper_of_an_agent_program_that_never_called_makes_it_a_session(
    daemon: Daemon, processes: ExitStack
) -> None:
    """The nearest ancestor that is a known agent program is registered by its helper's call."""
    made = processes.enter_context(agent(daemon.keys["ada"], argv=("claude", "--resume", "7f3c-1")))
    told = made.tell("run", argv=_cli("whoami", "--json"), environment=_environment(daemon))
    assert told["status"] == 0, told
    made.connect(daemon.port)
    me = made.ask("/mail/whoami")[1]
    assert me["address"]["session"] in told["out"]
    assert me["card"]["corroborated"]["provider_session_id"] == "7f3c-1"


@pytest.mark.promise("identity.helper")
def test_a_helper_is_not_its_parents_session_of_another_account(daemon: Daemon, processes: ExitStack) -> None:
    """The parent is a session of ada; its helper with ben's secret is not that session."""
    one = started(processes, daemon)
    mine = one.address()
    environment = {**_environment(daemon), "M4A_TOKEN": daemon.keys["ben"]}
    told = one.tell("run", argv=_cli("whoami", "--json"), environment=environment)
    assert told["status"] == 0, told
    assert '"ben"' in told["out"]
    assert mine["session"] not in told["out"]


@pytest.mark.promise("identity.issued")
def test_an_issued_credential_is_one_session_from_any_process(daemon: Daemon, processes: ExitStack) -> None:
    """It means account and session, whoever presents it, and asks no kernel."""
    one, two = started(processes, daemon), started(processes, daemon)
    status, issued = one.ask("/mail/session")
    assert status == 200, issued
    one.secret = two.secret = issued["secret"]
    assert one.address() == two.address() == issued["address"]
    assert one.ask("/mail/whoami", m4a_session="parent")[1]["address"] == issued["address"]
    card = one.ask("/mail/whoami")[1]["card"]
    assert card["attested"]["pid"] == 0


@pytest.mark.promise("identity.issued")
def test_an_issued_credential_issues_none(daemon: Daemon, processes: ExitStack) -> None:
    """Only the account's own secret does."""
    one = started(processes, daemon)
    issued = one.ask("/mail/session")[1]
    one.secret = issued["secret"]
    status, refusal = one.ask("/mail/session")
    assert (status, refusal["kind"]) == (403, "permission_denied")


@pytest.mark.promise("identity.issued", "identity.required")
def test_an_issued_credential_is_refused_where_attestation_is_required(
    daemon: Daemon, processes: ExitStack
) -> None:
    """A policy that is tightened ends what no kernel vouched for, and no credential is issued under it."""
    daemon.add("later")
    one = started(processes, daemon, "later")
    issued = one.ask("/mail/session")[1]
    daemon.post("/admin/participant/permit", {"id": "later", "attestation": "required"})
    assert one.ask("/mail/session")[1]["kind"] == "attestation_failed"
    assert one.ask("/mail/whoami", secret=issued["secret"])[1]["kind"] == "attestation_failed"


@pytest.mark.promise("identity.issued")
@pytest.mark.parametrize("end", ["rotate", "revoke", "remove"])
def test_an_issued_credential_ends_with_the_accounts_secret(
    daemon: Daemon, processes: ExitStack, end: str
) -> None:
    """Rotation, revocation and removal end it at once, on an open connection too."""
    name = f"ends-{end}"
    daemon.add(name)
    one = started(processes, daemon, name)
    one.secret = one.ask("/mail/session")[1]["secret"]
    assert one.address()["participant"] == name
    assert daemon.post(f"/admin/participant/{end}", {"id": name}).status == 200
    status, refusal = one.ask("/mail/whoami")
    assert (status, refusal["kind"]) == (401, "unauthenticated")


@pytest.mark.promise("identity.dead-session")
def test_a_send_to_a_session_that_has_ended_is_refused_unless_it_is_allowed(
    daemon: Daemon, processes: ExitStack
) -> None:
    """The refusal says when it was last seen; what is sent all the same is undeliverable."""
    with agent(daemon.keys["ada"]) as ended:
        ended.connect(daemon.port)
        target = ended.address()
    ended.process.wait()
    ben = started(processes, daemon, "ben")
    status, refusal = sends(ben, target)
    assert (status, refusal["kind"], refusal["session"]) == (409, "session_not_live", target["session"])
    assert refusal["last_seen_unix_ms"] > 0
    status, sent = ben.ask("/mail/send", {"to": target, "subject": "s", "body": "b", "allow_dead": True})
    assert status == 200
    (row,) = (
        row for row in ben.ask("/mail/sent")[1]["sent"] if row["message"]["message_id"] == sent["message_id"]
    )
    assert row["undeliverable"] is True


@pytest.mark.promise("identity.two-sessions")
def test_what_a_session_says_of_itself_stands_on_its_card(daemon: Daemon, processes: ExitStack) -> None:
    """A status replaces the one before as a whole, and others read it in the directory."""
    one, two = started(processes, daemon), started(processes, daemon)
    status, answer = one.ask("/mail/status", {"working_on": "the parser", "role": "reviewer"})
    assert (status, answer["card"]["declared"]["working_on"]) == (200, "the parser")
    status, answer = one.ask("/mail/status", {"role": "author"})
    assert answer["card"]["declared"] == {"working_on": None, "role": "author", "parent": None}
    (ada,) = (e for e in two.ask("/mail/directory")[1]["participants"] if e["id"] == "ada")
    (entry,) = (e for e in ada["sessions"] if e["id"] == one.address()["session"])
    assert entry["card"]["declared"]["role"] == "author"


def _cli(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mail4agent_daemon", *arguments]


def _environment(daemon: Daemon) -> dict[str, str]:
    return {"M4A_URL": daemon.url, "M4A_TOKEN": daemon.keys["ada"]}


PROXY = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def pipe(source, target):
    while part := source.recv(65536):
        target.sendall(part)
    target.shutdown(socket.SHUT_WR)
while True:
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    threading.Thread(target=pipe, args=(client, server), daemon=True).start()
    threading.Thread(target=pipe, args=(server, client), daemon=True).start()
"""


@pytest.mark.promise("identity.connection-alone")
def test_a_proxy_is_itself_and_lends_nobody_the_session_of_a_process_behind_it(
    daemon: Daemon, processes: ExitStack
) -> None:
    """Two processes through one proxy are the proxy's session; neither is its own, nor the other's."""
    one = started(processes, daemon)
    own = one.address()
    proxy = processes.enter_context(
        subprocess.Popen([sys.executable, "-c", PROXY, str(daemon.port)], stdout=subprocess.PIPE, text=True)
    )
    processes.callback(proxy.kill)
    assert proxy.stdout is not None
    port = int(proxy.stdout.readline())
    two = processes.enter_context(agent(daemon.keys["ada"]))
    seen: list[str] = []
    for each in (one, two):
        each.connect(port)
        me = each.ask("/mail/whoami")[1]
        assert me["card"]["attested"]["pid"] == proxy.pid
        seen.append(me["address"]["session"])
    assert seen[0] == seen[1] != own["session"]
    ben = processes.enter_context(agent(daemon.keys["ben"]))
    ben.connect(port)
    assert ben.address() == {"kind": "direct", "participant": "ben"}
