"""Settings: defaults, ``config.toml``, ``M4A_<SECTION>__<KEY>`` in the environment, flags; the later wins.

A key that is not known is refused by name, wherever it stands: a misspelt setting never passes silently.
"""

from .effective import TYPES_NAME, Effective, home_of, load
from .listing import settings_of, toml_of
from .sections import Settings, parse_bind
from .sources import SettingsError

__all__ = [
    "TYPES_NAME",
    "Effective",
    "Settings",
    "SettingsError",
    "home_of",
    "load",
    "parse_bind",
    "settings_of",
    "toml_of",
]
