"""The manifests of one machine, a file each: ``<id>.toml``, and ``<id>@<version>.toml`` for older versions.

A submission is held against the version that it names, so that one which waited while its form changed is
not invalid for that. JSON is read where the name ends with ``.json``. A manifest that cannot be used is as
good as none: nothing is briefed for want of a type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from mail4agent_api.errors import MalformedError, RefusalError, TooLargeError
from mail4agent_core.files import Folder, FolderError

from .form import Form, ManifestError
from .reading import MANIFEST_MAX_BYTES, Language, misshapen, read_manifest

#: Files that are looked at in one folder.
MANIFESTS_MAX: Final = 1_000
_ID = re.compile(r"[a-z0-9_-]{1,64}\Z")
_NAME = re.compile(r"(?P<id>[a-z0-9_-]{1,64})(?:@(?P<version>[1-9][0-9]{0,6}))?\.(?P<language>toml|json)\Z")


class TypeFolderError(Exception):
    """A manifest cannot be put into the folder; the message tells its author why."""


@dataclass(frozen=True, slots=True)
class UnreadableType:
    """A file among the manifests that is none, with the reasons, for its author."""

    name: str
    reasons: tuple[str, ...]


class TypeFolder:
    """Read anew whenever a file has changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: dict[str, tuple[tuple[int, int, int, int], Form | UnreadableType]] = {}

    def __call__(self, type_id: str, version: int | None) -> Form | None:
        """The usable type of that id: of that version, or without one the current. None where there is none.

        Raises nothing: a folder that cannot be used holds no types.
        """
        # An id comes from a stranger's box: it is no path.
        if _ID.match(type_id) is None:
            return None
        try:
            with Folder.opened(self.path, make=False) as folder:
                current = self._one(folder, type_id)
                if version is None or (isinstance(current, Form) and current.version == version):
                    found = current
                else:
                    found = self._one(folder, f"{type_id}@{version}")
        except (OSError, FolderError):
            return None
        return found if isinstance(found, Form) else None

    def every(self) -> list[Form | UnreadableType]:
        """All manifests, by name: current and older ones, and the files that are none.

        Raises FolderError for a folder that cannot be used; there are none where there is no folder.
        """
        try:
            with Folder.opened(self.path, make=False) as folder:
                names = sorted(name for name in folder.names() if not name.startswith("."))
                stems = sorted({name.removesuffix(".toml").removesuffix(".json") for name in names})
                found = [self._one(folder, stem) for stem in stems[:MANIFESTS_MAX]]
        except FileNotFoundError:
            return []
        except OSError as failure:
            raise FolderError(f"{self.path} cannot be read: {failure.strerror}") from failure
        return [each for each in found if each is not None]

    def source(self, form: Form) -> tuple[bytes, Language] | None:
        """The bytes that a form of this folder was read from; None where they went meanwhile."""
        try:
            with Folder.opened(self.path, make=False) as folder:
                names = folder.names()
                for stem in (form.id, f"{form.id}@{form.version}"):
                    found = self._one(folder, stem)
                    if isinstance(found, Form) and found.version == form.version:
                        name = next(each for each in _named(stem) if each in names)
                        raw = folder.read(name, MANIFEST_MAX_BYTES)
                        return None if raw is None else (raw, cast(Language, name.rpartition(".")[2]))
        except (OSError, FolderError, StopIteration):
            pass
        return None

    def check(self, form: Form) -> None:
        """Raise TypeFolderError where ``add`` would: before it is given to anybody else."""
        try:
            with Folder.opened(self.path, make=False) as folder:
                _refuse(self._one(folder, form.id), form)
        except FileNotFoundError:
            return
        except OSError as failure:
            raise FolderError(f"{self.path} cannot be read: {failure.strerror}") from failure

    def add(self, raw: bytes, language: Language) -> Form:
        """Make a manifest the current one of its type; the one that was stays under its version.

        Raises RefusalError and ManifestError for what is no manifest, TypeFolderError where the version is
        not above what is there, FolderError where nothing can be written.
        """
        form = Form(read_manifest(raw, language))
        try:
            with Folder.opened(self.path) as folder, folder.locked():
                self._replace(folder, form, raw, language)
        except OSError as failure:
            raise FolderError(f"{self.path} cannot be written: {failure.strerror}") from failure
        return form

    def _replace(self, folder: Folder, form: Form, raw: bytes, language: Language) -> None:
        current = _refuse(self._one(folder, form.id), form)
        if current is not None:
            if current.manifest == form.manifest:
                return
            other = next(name for name in _named(form.id) if name in folder.names())
            older = folder.read(other, MANIFEST_MAX_BYTES)
            assert older is not None
            ending = other.rpartition(".")[2]
            folder.write(f"{form.id}@{current.version}.{ending}", older)
            folder.write(f"{form.id}.{language}", raw)
            if ending != language:
                folder.remove(other)
                folder.settle()
            return
        folder.write(f"{form.id}.{language}", raw)

    def _one(self, folder: Folder, stem: str) -> Form | UnreadableType | None:
        present: list[tuple[str, tuple[int, int, int, int]]] = []
        for name in _named(stem):
            try:
                present.append((name, folder.state(name)))
            except FileNotFoundError:
                continue
            except OSError:
                return None
        if not present:
            return UnreadableType(stem, ("is no name of a manifest",)) if stem in folder.names() else None
        if len(present) > 1:
            return UnreadableType(stem, ("is there twice, as TOML and as JSON",))
        name, state = present[0]
        known = self._read.get(name)
        if known is None or known[0] != state:
            self._read[name] = known = (state, _read(folder, name))
        return known[1]


def _refuse(current: Form | UnreadableType | None, form: Form) -> Form | None:
    """What stands where a form is to stand. Raises TypeFolderError where the form may not take its place."""
    if isinstance(current, UnreadableType):
        raise TypeFolderError(f"{current.name} cannot be read; mend or remove it first")
    if current is not None and current.manifest != form.manifest and current.version >= form.version:
        raise TypeFolderError(f"{form.id} has version {current.version}; give what changed a greater one")
    return current


def _named(stem: str) -> list[str]:
    return [name for name in (f"{stem}.toml", f"{stem}.json") if len(name) <= 255 and "/" not in name]


def _read(folder: Folder, name: str) -> Form | UnreadableType:
    matched = _NAME.match(name)
    if matched is None:
        return UnreadableType(name, ("is no name of a manifest, such as visit.toml or visit@3.toml",))
    try:
        raw = folder.read(name, MANIFEST_MAX_BYTES)
    except OSError as failure:
        return UnreadableType(name, (f"cannot be read: {failure.strerror}",))
    if raw is None:
        return UnreadableType(name, ("is no file, or a link",))
    language = cast(Language, matched["language"])
    try:
        form = Form(read_manifest(raw, language))
    except ManifestError as failure:
        return UnreadableType(name, tuple(map(str, failure.faults)))
    except RefusalError:
        return UnreadableType(name, tuple(map(_words, misshapen(raw, language))))
    if form.id != matched["id"]:
        return UnreadableType(name, (f"holds the type {form.id}",))
    if matched["version"] is not None and form.version != int(matched["version"]):
        return UnreadableType(name, (f"holds version {form.version}",))
    return form


def _words(refusal: RefusalError) -> str:
    match refusal:
        case MalformedError():
            return f"{refusal.refusal.field} {refusal.refusal.reason}"
        case TooLargeError():
            return f"{refusal.refusal.field} is over its limit of {refusal.refusal.limit}"
        case _:
            return "is no manifest"
