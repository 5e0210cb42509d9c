"""The screens in the order of the rail."""

from typing import Final

from . import frontdoor, needs, outbox
from .visit import Screen

SCREENS: Final[tuple[Screen, ...]] = (needs.SCREEN, outbox.SCREEN, frontdoor.SCREEN)
