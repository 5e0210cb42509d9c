"""What the daemon tells of itself: what ``doctor`` finds, and the settings in force."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mail4agent_api.mail import Checkup, CheckupRequest, Finding, Setting, SettingList, SettingsRequest
from mail4agent_core.mail.identity import OPERATOR, Caller
from mail4agent_core.outbox.shown import shown_line

from .dispatch import Call, Handler
from .settings import Effective, settings_of

if TYPE_CHECKING:
    from .checkup import Finding as Found

#: What the contract takes of one line and of a report.
_LINE_MAX_BYTES = 512
_WORD_MAX_BYTES = 64
_FINDINGS_MAX = 256
_SETTINGS_MAX = 1_024


class House:
    """Answers ``admin.checkup`` and ``admin.settings``."""

    def __init__(self, effective: Effective) -> None:
        self._effective = effective
        # A look over everything reads files; one at a time is enough for whoever asks.
        self._one_by_one = asyncio.Lock()

    def handlers(self) -> Mapping[str, Handler]:
        """The operations by their names."""
        return {"admin.checkup": self._checkup, "admin.settings": self._settings}

    async def _checkup(self, call: Call, caller: Caller, request: CheckupRequest) -> Checkup:  # noqa: ARG002
        caller.needs((OPERATOR,))
        async with self._one_by_one:
            found = await asyncio.to_thread(_examined, self._effective, whole=request.database)
        findings = [
            Finding(check=_cut(each.check, _WORD_MAX_BYTES), state=each.state, text=_cut(each.text))
            for each in found[:_FINDINGS_MAX]
        ]
        return Checkup(findings=findings)

    async def _settings(self, call: Call, caller: Caller, request: SettingsRequest) -> SettingList:  # noqa: ARG002
        caller.needs((OPERATOR,))
        told = [
            Setting(name=_cut(name), value=None if value is None else _cut(value), origin=_cut(origin))
            for name, value, origin in settings_of(self._effective)
        ]
        return SettingList(settings=told[:_SETTINGS_MAX])


def _examined(effective: Effective, *, whole: bool) -> "list[Found]":
    # It looks at what every part of the product left behind, and takes a twentieth of a start to import.
    from .checkup import examine

    return examine(effective, whole=whole)


def _cut(text: str, most: int = _LINE_MAX_BYTES) -> str:
    """One line of at most so many bytes of UTF-8."""
    line = shown_line(text)
    raw = line.encode()
    return line if len(raw) <= most else f"{raw[: most - 3].decode(errors='ignore')}\u2026"
