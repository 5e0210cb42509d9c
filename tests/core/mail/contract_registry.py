"""What every store does with accounts: digests, rights, removal, purge."""

import pytest

from mail4agent_api.errors import UnknownMessageError
from mail4agent_api.mail import ParticipantId, ParticipantListRequest, RoomId, SessionAddress
from mail4agent_core.mail.store import Registry

from .office import SESSION, Office

ANN = ParticipantId("ann")
RIGHTS = frozenset({"mail:read"})


class RegistryContract:
    """Accounts, by the registry and by what operators do."""

    async def test_digest_finds_the_right_account_of_several(self, office: Office):
        """Each digest is its account's; an unknown one is nobody's."""
        store = office.store

        def register(registry: Registry) -> None:
            for n in range(5):
                registry.add_account(ParticipantId(f"a{n}"), None, bytes([n]) * 32, RIGHTS, 7)

        await store.change(register)
        for n in range(5):
            found = await store.authenticate(bytes([n]) * 32)
            assert found is not None
            assert (found.id, found.capabilities, found.secret_issued_at) == (f"a{n}", RIGHTS, 7)
        assert await store.authenticate(b"x" * 32) is None

    @pytest.mark.promise("account.dead-secret-is-refused")
    async def test_digest_rotation_moves_the_lookup(self, office: Office):
        """The old digest is dead with the commit; so is one that was revoked."""
        store = office.store
        await store.change(lambda registry: registry.add_account(ANN, None, b"1" * 32, RIGHTS, 1))
        await store.change(lambda registry: registry.set_secret(ANN, b"2" * 32, 2))
        assert await store.authenticate(b"1" * 32) is None
        assert (await store.authenticate(b"2" * 32)) is not None
        await store.change(lambda registry: registry.set_secret(ANN, None, 3))
        assert await store.authenticate(b"2" * 32) is None

    async def test_a_command_that_raises_undoes_all_it_did(self, office: Office):
        """Nothing is left, nobody is told, and other commands are not touched."""
        told = office.told()
        await office.account("bob")

        def command(registry: Registry) -> None:
            registry.add_account(ANN, None, b"1" * 32, RIGHTS, 1)
            registry.add_room(RoomId("hall"), "open", 1)
            registry.join(RoomId("hall"), ParticipantId("bob"))
            raise UnknownMessageError(message_id="m4a_" + "0" * 24)  # pyright: ignore[reportArgumentType]

        with pytest.raises(UnknownMessageError):
            await office.store.change(command)
        assert await office.store.look(lambda registry: (registry.account(ANN), registry.room_ids())) == (
            None,
            [],
        )
        assert told == []

    async def test_what_changes_an_accounts_rights_is_told_to_it(self, office: Office):
        """A new secret, other rights and removal each tell the account's address."""
        await office.accounts("ann", "bob")
        told = office.told()
        await office.store.change(lambda registry: registry.set_secret(ANN, b"2" * 32, 2))
        await office.store.change(lambda registry: registry.set_capabilities(ANN, RIGHTS))
        await office.remove("ann")
        assert told == [{"ann"}, {"ann"}, {"ann"}]

    async def test_accounts_are_listed_in_pages_with_the_removed_ones(self, office: Office):
        """By id, each page going on after the last id."""
        await office.accounts("c", "A", "b", "d")
        await office.remove("b")
        admin = office.administration
        first = await admin.participant_list(office.operator, ParticipantListRequest(limit=3))
        last = first.participants[-1].id
        rest = await admin.participant_list(office.operator, ParticipantListRequest(after=last))
        both = [*first.participants, *rest.participants]
        assert [(account.id, account.removed_at_unix_ms is None) for account in both] == [
            ("A", True),
            ("b", False),
            ("c", True),
            ("d", True),
        ]

    async def test_a_removed_account_reads_nothing(self, office: Office):
        """Whoever was authenticated before the removal finds empty boxes, and its mail stays stored."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        session = await office.session(bob)
        await office.send(bob, "ann", "sent")
        for to in ("bob", "#hall", f"bob/{SESSION}"):
            await office.send(ann, to)
        await office.remove("bob")
        for reader in (bob, session):
            page = await office.inbox(reader)
            assert (page.messages, page.unread) == ([], 0)
            assert await office.search(reader, "text") == []
            assert await office.sent(reader) == []
            assert await office.engine.boxes(reader) == frozenset()
            assert await office.engine.newest(reader) is None
            assert not await office.engine.stands_after(reader, None)
        assert await office.purge("bob") == 2

    @pytest.mark.promise("account.removed-id-is-retired")
    async def test_a_purged_id_starts_afresh(self, office: Office):
        """The new account has nothing of the old one; what others got and gave is theirs."""
        ann, bob = await office.accounts("ann", "bob")
        await office.room("hall", ann, bob)
        old = await office.send(bob, "ann", "from the old bob", key="k")
        posted = await office.send(ann, "#hall", "post")
        await office.ack(bob, posted)
        await office.session(bob)
        letters = [await office.send(ann, to) for to in ("bob", f"bob/{SESSION}")]
        await office.remove("bob")
        assert await office.purge("bob") == 2
        bob = await office.account("bob")
        assert await office.subjects(bob) == []
        assert await office.engine.boxes(bob) == {"bob"}
        assert await office.sent(bob) == []
        assert not await office.store.look(
            lambda registry: registry.knows(SessionAddress(participant=bob.account, session=SESSION))
        )
        with pytest.raises(Exception, match="not_addressed_to_you"):
            await office.get(bob, old)
        for letter in letters:
            with pytest.raises(UnknownMessageError):
                await office.get(ann, letter)
        assert await office.subjects(ann, sent_by="bob") == []
        assert await office.subjects(ann) == ["from the old bob", "post"]
        assert [row.acks for row in await office.sent(ann)] == [[]]
        assert await office.send(bob, "ann", "from the new bob", key="k") != old
        assert await office.subjects(ann, sent_by="bob") == ["from the new bob"]

    async def test_names_that_begin_alike_are_told_apart(self, office: Office):
        """Purging an account takes its own boxes and no other's."""
        names = ("bob", "bob0", "bob.", "bobby", "BOB")
        ann, *others = await office.accounts("ann", *names)
        for name in names:
            await office.send(ann, name, name)
        await office.remove("bob")
        assert await office.purge("bob") == 1
        for caller in others[1:]:
            assert await office.subjects(caller) == [str(caller.account)]

    async def test_numbers_are_kept_by_name(self, office: Office):
        """What was remembered last is what is read; nothing before that."""
        assert await office.store.remember("beat", None) is None
        assert await office.store.remember("beat", 7) == 7
        assert await office.store.remember("beat", 9) == 9
        assert await office.store.remember("beat", None) == 9

    async def test_a_closed_store_is_unavailable(self, office: Office):
        """Reads and writes are refused as store_unavailable, and closing again is no error."""
        ann, _ = await office.accounts("ann", "bob")
        await office.store.close()
        await office.store.close()
        with pytest.raises(Exception, match="store_unavailable"):
            await office.send(ann, "bob")
        with pytest.raises(Exception, match="store_unavailable"):
            await office.inbox(ann)
        with pytest.raises(Exception, match="store_unavailable"):
            await office.search(ann, "x")
        with pytest.raises(Exception, match="store_unavailable"):
            await office.sent(ann)
