"""What every store has to do: a class that inherits the suite gives it the fixture ``store``."""

import pytest

from mail4agent_core.clock import HandClock
from mail4agent_core.mail.store import MailStore

from .contract_audit import AuditContract
from .contract_dead_listeners import DeadListenerContract
from .contract_doorbells import DoorbellContract
from .contract_flow import FlowContract
from .contract_posting import PostingContract
from .contract_reading import ReadingContract
from .contract_registry import RegistryContract
from .contract_roll import RollContract
from .contract_rooms import RoomContract
from .contract_sessions import SessionContract
from .contract_settling import SettlingContract
from .contract_telling import TellingContract
from .contract_upkeep import UpkeepContract
from .office import Office


@pytest.mark.promise("store.all-stores-keep-one-contract")
class StoreContract(
    PostingContract,
    ReadingContract,
    TellingContract,
    SettlingContract,
    RoomContract,
    SessionContract,
    RollContract,
    RegistryContract,
    UpkeepContract,
    AuditContract,
    DoorbellContract,
    DeadListenerContract,
    FlowContract,
):
    """The whole suite. The clock of the store is the one that the tests turn."""

    @pytest.fixture
    def office(self, store: MailStore, clock: HandClock) -> Office:
        """Engine and administration over the store."""
        return Office(store, clock)
