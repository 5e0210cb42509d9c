"""Who is signed in to the console: cookies that mean an account's secret, for twelve hours.

A cookie is a random token. What is kept is its HMAC under a key of this daemon's, with the digest of the
secret that was shown: whoever reads the file can make no cookie of it, and every request looks the secret up
anew, so that a rotated or revoked one ends the sign-in. The file outlives a restart.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from mail4agent_core.clock import Clock
from mail4agent_core.files import Folder

LASTS_MS: Final = 12 * 3_600_000
#: Sign-ins of one account; the oldest goes first.
OF_AN_ACCOUNT_MAX: Final = 16
SIGNED_IN_MAX: Final = 512
#: How long a one-time code is good, and how many there are at once.
CODE_MS: Final = 60_000
CODES_MAX: Final = 64
#: Of one account: who asks for more ends his own, not those that others were given.
CODES_OF_AN_ACCOUNT_MAX: Final = 4
_NAME: Final = "signed-in.json"
_FILE_MAX: Final = 1 << 20
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SignedIn:
    """One sign-in."""

    name: str
    """The HMAC of its cookie."""
    account: str
    digest: bytes
    """The SHA-256 of the secret that was shown."""
    ends_ms: int
    """In Unix milliseconds."""


class SignIns:
    """Every sign-in of one daemon, and the one-time codes that become one. ``folder`` is its own."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._signed: dict[str, SignedIn] | None = None
        self._codes: dict[bytes, tuple[str, bytes, int]] = {}
        self._one_by_one = asyncio.Lock()

    async def of(self, cookie: str | None) -> SignedIn | None:
        """The sign-in that a cookie means now."""
        signed = await self._all()
        found = signed.get(self._named(cookie)) if cookie else None
        return found if found is not None and found.ends_ms > self._clock.now_ms() else None

    def csrf(self, cookie: str) -> str:
        """What a form of the sign-in of a cookie carries."""
        return hmac.new(self._key, b"form\0" + cookie.encode(), hashlib.sha256).hexdigest()

    def is_csrf(self, cookie: str, given: str) -> bool:
        """Whether a form is of the sign-in of a cookie."""
        return hmac.compare_digest(self.csrf(cookie).encode(), given.encode())

    async def begin(self, account: str, digest: bytes) -> str:
        """Sign an account in; its cookie. Raises OSError, FolderError."""
        signed, now = await self._all(), self._clock.now_ms()
        for each in list(signed.values()):
            if each.ends_ms <= now:
                del signed[each.name]
        own = [each.name for each in signed.values() if each.account == account]
        stale = (
            own[: max(0, len(own) + 1 - OF_AN_ACCOUNT_MAX)]
            or list(signed)[: max(0, len(signed) + 1 - SIGNED_IN_MAX)]
        )
        for name in stale:
            signed.pop(name, None)
        cookie = secrets.token_urlsafe(32)
        name = self._named(cookie)
        signed[name] = SignedIn(name, account, digest, now + LASTS_MS)
        await self._keep()
        return cookie

    async def end(self, one: SignedIn, *, everywhere: bool = False) -> None:
        """Sign out, or sign the account out of every browser. Raises OSError, FolderError."""
        signed = await self._all()
        for each in list(signed.values()):
            if each.name == one.name or (everywhere and each.account == one.account):
                del signed[each.name]
        await self._keep()

    # Codes that a person's command line asks for

    def code(self, account: str, digest: bytes) -> str:
        """A code that signs an account in once, within a minute."""
        now = self._clock.now_ms()
        self._codes = {each: held for each, held in self._codes.items() if held[2] > now}
        own = [each for each, held in self._codes.items() if held[0] == account]
        if len(own) >= CODES_OF_AN_ACCOUNT_MAX:
            del self._codes[own[0]]
        elif len(self._codes) >= CODES_MAX:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(24)
        self._codes[_hashed(code)] = (account, digest, now + CODE_MS)
        return code

    def redeem(self, code: str) -> tuple[str, bytes] | None:
        """The account and the digest of a code, which ends with this."""
        held = self._codes.pop(_hashed(code), None)
        return None if held is None or held[2] <= self._clock.now_ms() else held[:2]

    def _named(self, cookie: str) -> str:
        return hmac.new(self._key, b"cookie\0" + cookie.encode(), hashlib.sha256).hexdigest()

    async def _all(self) -> dict[str, SignedIn]:
        if self._signed is None:
            async with self._one_by_one:
                if self._signed is None:
                    self._key, self._signed = await asyncio.to_thread(self._read)
        return self._signed

    def _read(self) -> tuple[bytes, dict[str, SignedIn]]:
        """What is on disk. What is none of ours signs nobody in."""
        if not self._folder.is_dir():
            return self._key, {}
        with Folder.opened(self._folder) as folder:
            try:
                raw = folder.read(_NAME, _FILE_MAX)
            except FileNotFoundError:
                raw = None
        try:
            held: Any = orjson.loads(raw or b"")
            key = base64.b64decode(held["key"], validate=True)
            signed = [_signed(each) for each in held["signed_in"]]
        except (ValueError, KeyError, TypeError, OverflowError, binascii.Error):
            return self._key, {}
        if len(key) != _KEY_BYTES:
            return self._key, {}
        return key, {each.name: each for each in signed[:SIGNED_IN_MAX]}

    async def _keep(self) -> None:
        async with self._one_by_one:
            signed = [
                {
                    "name": each.name,
                    "account": each.account,
                    "digest": each.digest.hex(),
                    "ends_ms": each.ends_ms,
                }
                for each in (self._signed or {}).values()
            ]
            key = base64.b64encode(self._key).decode()
            await asyncio.to_thread(self._write, orjson.dumps({"key": key, "signed_in": signed}))

    def _write(self, raw: bytes) -> None:
        with Folder.opened(self._folder) as folder:
            folder.write(_NAME, raw)


def _signed(held: Any) -> SignedIn:
    return SignedIn(
        str(held["name"]), str(held["account"]), bytes.fromhex(held["digest"]), int(held["ends_ms"])
    )


def _hashed(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
