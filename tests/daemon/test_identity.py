"""Whom a request acts as, with a kernel that says what a test wants and counts how often it is asked."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from mail4agent_api.addresses import text_of
from mail4agent_api.errors import (
    AttestationFailedError,
    MalformedError,
    PermissionDeniedError,
    RateLimitedError,
    SessionAccountMismatchError,
    UnauthenticatedError,
)
from mail4agent_api.mail import (
    ParticipantId,
    ParticipantPermitRequest,
    ParticipantPurgeRequest,
    ParticipantRegistration,
    ParticipantRemoveRequest,
    ParticipantRotateRequest,
    SessionCorroborated,
)
from mail4agent_api.operations import OPERATIONS
from mail4agent_core.clock import HandClock
from mail4agent_core.ids import SeededIds, digest_of
from mail4agent_core.mail.administration import Administration
from mail4agent_core.mail.identity import OPERATOR, Caller, account_caller
from mail4agent_core.mail.memory import MemoryStore
from mail4agent_core.mail.process import ProcessId
from mail4agent_core.mail.sessions import Sessions
from mail4agent_daemon.attest import Attested, Program, Reason, Unattested
from mail4agent_daemon.auth import Accounts
from mail4agent_daemon.dispatch import Call
from mail4agent_daemon.identity import Identifier, Policy, acts_for_parent
from mail4agent_daemon.link import LINK_IDENTITIES_MAX, Link
from mail4agent_daemon.peer import Peer

BOOT = "8a5b1c52-0000-4000-8000-000000000000"
OPERATOR_CALLER = account_caller(ParticipantId("operator"), (OPERATOR,))
PEER = Peer("tcp", ("127.0.0.1", 50_000), ("127.0.0.1", 18_301))


def process(pid: int, program: Program | None = None, uid: int = 1000) -> Attested:
    """A proved process."""
    return Attested(ProcessId(BOOT, pid, 10 * pid), uid, f"/bin/p{pid}", SessionCorroborated(), program)


async def _never() -> Any:
    raise AssertionError("nothing is read while a caller is identified")


@dataclass
class Kernel:
    """Says of each connection what it was told to say."""

    says: Attested | Unattested = field(default_factory=lambda: process(100))
    parents: list[Attested] = field(default_factory=list[Attested])
    asked: int = 0
    ended: set[ProcessId] = field(default_factory=set[ProcessId])

    async def attest(self, peer: Peer) -> Attested | Unattested:
        assert peer is PEER
        self.asked += 1
        return self.says

    def ancestors(self, process: ProcessId) -> list[Attested]:
        assert isinstance(self.says, Attested)
        assert process == self.says.process
        return [each for each in self.parents if each.process not in self.ended]

    def alive(self, process: ProcessId) -> bool:
        return process not in self.ended


@dataclass
class Purse:
    """Counts what each account pays; of an account that may pay no more, nothing is taken."""

    paid: dict[str, int] = field(default_factory=dict[str, int])
    most: int = 1_000_000

    def admit_account(self, account: str, cost: int) -> None:
        if cost and self.paid.get(account, 0) + cost > self.most:
            raise RateLimitedError(retry_after_secs=1)
        self.paid[account] = self.paid.get(account, 0) + cost


@dataclass
class Hall:
    """An identifier over a store in memory, with the accounts that a test registers."""

    kernel: Kernel
    clock: HandClock
    sessions: Sessions
    administration: Administration
    identifier: Identifier
    purse: Purse
    digests: dict[str, bytes] = field(default_factory=dict[str, bytes])

    async def add(self, account: str, **registration: Any) -> None:
        """Register an account."""
        told = {"may_send": True, "may_read": True, **registration}
        request = ParticipantRegistration(id=ParticipantId(account), **told)
        self.digests[account] = digest_of(
            (await self.administration.participant(OPERATOR_CALLER, request)).secret
        )

    def call(self, account: str, link: Link | None, operation: str = "mail.whoami", **more: Any) -> Call:
        """A call with the account's secret."""
        return Call(OPERATIONS[operation], self.digests[account], b"", _never, link, **more)

    async def who(self, account: str, link: Link, operation: str = "mail.whoami", **more: Any) -> str:
        """Whom a request on a connection acts as."""
        return text_of((await self.identifier.identify(self.call(account, link, operation, **more))).address)


Make = Callable[..., Awaitable[Hall]]


@pytest.fixture
def make() -> Make:
    """Makes a hall with the accounts ada and ben."""

    async def made(policy: Policy = "preferred") -> Hall:
        clock, ids = HandClock(), SeededIds()
        store = MemoryStore(clock)
        sessions = Sessions(store, clock, ids, alive=lambda _: True, parked=lambda _: False)
        await sessions.prepare(BOOT, 1_000_000)
        kernel, purse = Kernel(), Purse()
        identifier = Identifier(Accounts(store, sessions), sessions, kernel, policy, purse)
        hall = Hall(kernel, clock, sessions, Administration(store, clock, ids), identifier, purse)
        await hall.add("ada")
        await hall.add("ben")
        return hall

    return made


def is_session(address: str) -> bool:
    """Whether a text address is a session's."""
    return "/s-" in address


@pytest.mark.promise("identity.connection-alone")
async def test_a_connection_is_attested_once(make: Make) -> None:
    """Later requests of a connection ask the kernel nothing, whatever account they present."""
    hall = await make()
    link = Link(PEER)
    first = await hall.who("ada", link)
    assert is_session(first)
    assert [await hall.who("ada", link) for _ in range(3)] == [first] * 3
    assert await hall.who("ben", link) == "ben"
    assert hall.kernel.asked == 1


@pytest.mark.promise("identity.connection-alone")
async def test_another_connection_from_the_same_address_is_attested_anew(make: Make) -> None:
    """What was proved belongs to the connection: the same ports say nothing."""
    hall = await make()
    first = await hall.who("ada", Link(PEER))
    hall.kernel.says = process(200)
    second = await hall.who("ada", Link(PEER))
    assert first != second
    assert hall.kernel.asked == 2


@pytest.mark.parametrize("reason", Reason)
async def test_what_cannot_be_proved_acts_as_the_account(make: Make, reason: Reason) -> None:
    """Preferred: whatever the reason, the bare account, and the kernel is not asked again."""
    hall = await make()
    hall.kernel.says = Unattested(reason)
    link = Link(PEER)
    assert await hall.who("ada", link) == "ada"
    hall.kernel.says = process(100)
    assert await hall.who("ada", link) == "ada"
    assert hall.kernel.asked == 1


@pytest.mark.promise("identity.required")
@pytest.mark.parametrize("reason", Reason)
@pytest.mark.parametrize("for_parent", [False, True])
async def test_what_cannot_be_proved_is_refused_where_that_is_required(
    make: Make, reason: Reason, for_parent: bool
) -> None:
    """Required: each reason is a sentence of its own."""
    hall = await make("required")
    hall.kernel.says = Unattested(reason)
    link = Link(PEER)
    with pytest.raises(AttestationFailedError) as refused:
        await hall.who("ada", link, for_parent=for_parent)
    assert len(refused.value.refusal.reason) > 20
    with pytest.raises(AttestationFailedError):
        await hall.who("ada", link, for_parent=for_parent)
    assert hall.kernel.asked == 1


@pytest.mark.promise("identity.required")
async def test_a_call_without_a_connection_proves_nobody(make: Make) -> None:
    """Required: a door that hands in no connection gets nobody past it; preferred: the account."""
    hall = await make("required")
    call = hall.call("ada", None)
    with pytest.raises(AttestationFailedError):
        await hall.identifier.identify(call)
    await hall.add("lax", attestation="preferred")
    assert text_of((await hall.identifier.identify(hall.call("lax", None))).address) == "lax"


@pytest.mark.promise("identity.policy")
@pytest.mark.parametrize(
    ("own", "daemon", "is_refused"),
    [
        ("inherit", "required", True),
        ("preferred", "required", False),
        ("off", "required", False),
        ("required", "off", True),
        ("inherit", "preferred", False),
        ("inherit", "off", False),
    ],
)
async def test_an_accounts_own_policy_goes_before_the_daemons(
    make: Make, own: str, daemon: Policy, is_refused: bool
) -> None:
    """Inherit takes the daemon's."""
    hall = await make(daemon)
    await hall.add("own", attestation=own)
    hall.kernel.says = Unattested(Reason.SHARED)
    call = hall.call("own", Link(PEER))
    if is_refused:
        with pytest.raises(AttestationFailedError):
            await hall.identifier.identify(call)
    else:
        assert text_of((await hall.identifier.identify(call)).address) == "own"


@pytest.mark.promise("identity.policy")
async def test_the_kernel_is_not_asked_where_the_policy_is_off(make: Make) -> None:
    """Off asks nothing, for the account itself and for a helper."""
    hall = await make("off")
    assert await hall.who("ada", Link(PEER)) == "ada"
    assert await hall.who("ada", Link(PEER), for_parent=True) == "ada"
    assert hall.kernel.asked == 0


async def test_who_may_not_call_costs_no_question_to_the_kernel(make: Make) -> None:
    """What the account may not do is refused before its process is looked for."""
    hall = await make()
    call = hall.call("ada", Link(PEER), "admin.participant.list")
    with pytest.raises(PermissionDeniedError):
        await hall.identifier.identify(call)
    with pytest.raises(PermissionDeniedError):
        await hall.identifier.identify(call)
    assert hall.kernel.asked == 0


@pytest.mark.promise("identity.two-accounts")
async def test_a_session_of_one_account_acts_for_another_as_the_account(make: Make) -> None:
    """Preferred: the process stays the session it was, and is none of the other's."""
    hall = await make()
    assert is_session(await hall.who("ada", Link(PEER)))
    assert await hall.who("ben", Link(PEER)) == "ben"
    assert is_session(await hall.who("ada", Link(PEER)))


@pytest.mark.promise("identity.two-accounts", "identity.required")
async def test_a_session_of_one_account_is_refused_to_another_where_required(make: Make) -> None:
    """Required: the mismatch is named."""
    hall = await make("required")
    await hall.who("ada", Link(PEER))
    link = Link(PEER)
    with pytest.raises(SessionAccountMismatchError):
        await hall.who("ben", link)


@pytest.mark.promise("identity.helper")
async def test_a_helper_acts_for_its_nearest_ancestor_that_is_a_session_of_the_account(make: Make) -> None:
    """A session goes before a nearer agent program, and one of another account does not count."""
    hall = await make()
    near, of_ben, known, far = process(90, "claude"), process(80), process(70), process(60)
    for account, parent in (("ben", of_ben), ("ada", known), ("ada", far)):
        hall.kernel.says = parent
        await hall.who(account, Link(PEER))
    hall.kernel.says = known
    expected = await hall.who("ada", Link(PEER))
    hall.kernel.says = process(100)
    hall.kernel.parents = [near, of_ben, known, far]
    call = hall.call("ada", Link(PEER), for_parent=True)
    assert text_of((await hall.identifier.identify(call)).address) == expected


@pytest.mark.promise("identity.helper")
async def test_a_helper_registers_its_nearest_ancestor_that_is_an_agent_program(make: Make) -> None:
    """Where no ancestor is a session yet; the agent's own call is that session then."""
    hall = await make()
    hall.kernel.parents = [process(90), process(80, "codex"), process(70, "claude")]
    helper = await hall.who("ada", Link(PEER), for_parent=True)
    assert is_session(helper)
    hall.kernel.says = process(80)
    assert await hall.who("ada", Link(PEER)) == helper


@pytest.mark.parametrize("for_parent", [False, True])
async def test_an_administrative_operation_makes_nobody_a_session(make: Make, for_parent: bool) -> None:
    """An agent that sets accounts up stays free to be a session of its own; one that is one acts as it."""
    hall = await make()
    await hall.add("boss", operator=True)
    agent = process(90, "claude")
    hall.kernel.says, hall.kernel.parents = (process(100), [agent]) if for_parent else (agent, [])
    link = Link(PEER)
    assert await hall.who("boss", link, "admin.participant.list", for_parent=for_parent) == "boss"
    session = await hall.who("ada", Link(PEER), for_parent=for_parent)
    assert is_session(session)
    await hall.add("chief", operator=True)
    hall.kernel.says, hall.kernel.parents = process(80), []
    own = await hall.who("chief", Link(PEER))
    assert await hall.who("chief", Link(PEER), "admin.participant.list") == own


@pytest.mark.promise("identity.helper")
async def test_a_helper_without_such_an_ancestor_acts_as_the_account(make: Make) -> None:
    """The helper itself is made no session: nobody could answer it."""
    hall = await make("required")
    hall.kernel.parents = [process(90), process(80)]
    assert await hall.who("ada", Link(PEER), for_parent=True) == "ada"


@pytest.mark.promise("identity.helper", "identity.two-accounts")
async def test_a_helper_of_an_agent_that_is_another_accounts_session_acts_as_the_account(make: Make) -> None:
    """The agent program above it is taken; its helper with another secret is not that session."""
    hall = await make()
    agent = process(90, "claude")
    hall.kernel.says = agent
    await hall.who("ben", Link(PEER))
    hall.kernel.says, hall.kernel.parents = process(100), [agent]
    assert await hall.who("ada", Link(PEER), for_parent=True) == "ada"


@pytest.mark.promise("identity.helper", "identity.two-accounts", "identity.required")
async def test_asking_for_a_parent_does_not_get_around_the_session_that_a_process_is(make: Make) -> None:
    """Required: a session of another account is refused with the header as it is without it."""
    hall = await make("required")
    await hall.who("ben", Link(PEER))
    hall.kernel.parents = [process(90)]
    link = Link(PEER)
    with pytest.raises(SessionAccountMismatchError):
        await hall.who("ada", link, for_parent=True)


@pytest.mark.promise("identity.helper")
async def test_a_helper_that_outlives_its_ancestor_acts_for_it_no_longer(make: Make) -> None:
    """On an open connection, too: the next ancestor that is a session, or the account."""
    hall = await make()
    near, far = process(90, "codex"), process(80, "claude")
    hall.kernel.parents = [near, far]
    link = Link(PEER)
    first = await hall.who("ada", link, for_parent=True)
    hall.kernel.ended.add(near.process)
    second = await hall.who("ada", link, for_parent=True)
    hall.kernel.ended.add(far.process)
    assert await hall.who("ada", link, for_parent=True) == "ada"
    assert is_session(first)
    assert is_session(second)
    assert first != second


@pytest.mark.promise("identity.helper")
async def test_the_two_ways_of_one_connection_are_kept_apart(make: Make) -> None:
    """With and without the header, a connection acts as two, and is attested once."""
    hall = await make()
    hall.kernel.parents = [process(90, "gemini")]
    link = Link(PEER)
    own, parents = await hall.who("ada", link), await hall.who("ada", link, for_parent=True)
    assert own != parents
    assert (await hall.who("ada", link), await hall.who("ada", link, for_parent=True)) == (own, parents)
    assert hall.kernel.asked == 1


async def test_the_user_of_the_session_is_known_where_a_kernel_vouched(make: Make) -> None:
    """The user is that of the session's process: of the ancestor, where it acts for one."""
    hall = await make()
    hall.kernel.parents = [process(90, "claude", uid=7)]
    own = hall.call("ada", Link(PEER))
    await hall.identifier.identify(own)
    helper = hall.call("ada", Link(PEER), for_parent=True)
    await hall.identifier.identify(helper)
    hall.kernel.says = Unattested(Reason.GONE)
    unproved = hall.call("ada", Link(PEER))
    await hall.identifier.identify(unproved)
    assert (own.uid, helper.uid, unproved.uid) == (1000, 7, None)


@pytest.mark.promise("identity.issued")
async def test_an_issued_credential_ends_a_day_after_its_last_use(make: Make) -> None:
    """Each use counts anew; a day without one ends it for good."""
    hall = await make()
    caller = Caller((await hall.identifier.identify(hall.call("ada", None))).address, frozenset())
    issued = await hall.sessions.issue(caller)
    hall.digests["issued"] = digest_of(issued.secret)
    address = text_of(issued.address)
    for _ in range(3):
        hall.clock.step(86_399_999)
        assert await hall.who("issued", Link(PEER)) == address
    hall.clock.step(86_400_000)
    with pytest.raises(UnauthenticatedError):
        await hall.who("issued", Link(PEER))
    assert hall.kernel.asked == 0


async def test_rights_are_those_of_the_account_at_each_request(make: Make) -> None:
    """What a connection is remembered for is an address, never what it may do."""
    hall = await make()
    link = Link(PEER)
    before = await hall.identifier.identify(hall.call("ada", link))
    request = ParticipantPermitRequest(id=ParticipantId("ada"), revoke=["mail:send"])
    await hall.administration.participant_permit(OPERATOR_CALLER, request)
    after = await hall.identifier.identify(hall.call("ada", link))
    assert before.capabilities - after.capabilities == {"mail:send"}
    assert before.address == after.address


async def test_a_secret_that_ended_while_its_call_waited_is_refused(make: Make) -> None:
    """A call that waited is identified anew before it goes on."""
    hall = await make()
    call = hall.call("ada", Link(PEER))
    await hall.identifier.identify(call)
    request = ParticipantRotateRequest(id=ParticipantId("ada"))
    await hall.administration.participant_rotate(OPERATOR_CALLER, request)
    with pytest.raises(UnauthenticatedError):
        await hall.identifier.again(call)


async def test_an_account_that_was_registered_anew_inherits_no_standing(make: Make) -> None:
    """The connection of an earlier account of the same id is looked at again."""
    hall = await make()
    link = Link(PEER)
    assert is_session(await hall.who("ada", link))
    ada = ParticipantId("ada")
    await hall.administration.participant_remove(OPERATOR_CALLER, ParticipantRemoveRequest(id=ada))
    await hall.administration.participant_purge(OPERATOR_CALLER, ParticipantPurgeRequest(id=ada))
    hall.clock.step(1)
    await hall.add("ada")
    assert is_session(await hall.who("ada", link))
    assert len(link.standings) == 2


async def test_a_connection_is_remembered_for_a_bounded_number_of_accounts(make: Make) -> None:
    """A proxy in front that presents many accounts fills no memory."""
    hall = await make()
    link = Link(PEER)
    for number in range(LINK_IDENTITIES_MAX + 3):
        await hall.add(f"a{number}")
        await hall.who(f"a{number}", link)
    assert len(link.standings) <= LINK_IDENTITIES_MAX
    assert hall.kernel.asked == 1


async def test_an_account_pays_once_for_a_call_and_before_the_kernel_is_asked(make: Make) -> None:
    """A call that waits is paid for when it comes; one that cannot be paid for looks for no process."""
    hall = await make()
    call = hall.call("ada", Link(PEER), cost=3)
    await hall.identifier.identify(call)
    await hall.identifier.again(call)
    assert hall.purse.paid["ada"] == 3
    hall.purse.most = 3
    dear = hall.call("ada", Link(PEER), cost=1)
    with pytest.raises(RateLimitedError):
        await hall.identifier.identify(dear)
    assert hall.kernel.asked == 1


@pytest.mark.promise("identity.forged-header")
def test_the_header_is_one_word_given_once() -> None:
    """Anything else is refused, so that nobody believes that a session can be named."""
    assert not acts_for_parent([(b"host", b"localhost")])
    assert acts_for_parent([(b"m4a-session", b" parent ")])
    with pytest.raises(MalformedError):
        acts_for_parent([(b"m4a-session", b"parent"), (b"m4a-session", b"parent")])


@pytest.mark.promise("identity.odd-process")
async def test_a_process_without_a_path_or_with_one_at_the_bound_is_a_session(make: Make) -> None:
    """Texts are cut before they come here; none of them is a reason to refuse."""
    hall = await make()
    for pid, exe in ((100, None), (101, "x" * 512)):
        hall.kernel.says = replace(process(pid), exe=exe)
        assert is_session(await hall.who("ada", Link(PEER)))
