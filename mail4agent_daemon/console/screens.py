"""The screens in the order of the rail."""

from typing import Final

from . import needs
from .visit import Screen

SCREENS: Final[tuple[Screen, ...]] = (needs.SCREEN,)
