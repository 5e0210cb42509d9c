"""The screens in the order of the rail."""

from typing import Final

from . import flow, frontdoor, health, mail, mailboxes, needs, outbox, runs
from .visit import Screen

SCREENS: Final[tuple[Screen, ...]] = (
    needs.SCREEN,
    outbox.SCREEN,
    frontdoor.SCREEN,
    mail.SCREEN,
    flow.SCREEN,
    mailboxes.SCREEN,
    runs.SCREEN,
    health.SCREEN,
)
