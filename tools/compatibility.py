"""Say how far a change of the contract goes, and whether its version has moved as far.

    python tools/compatibility.py [--release]

Compares the bundle and the table of operations with ``schemas/released/``. A request may come to allow more,
an answer may come to hold less; anything else breaks somebody who reads or writes by the released contract.
Exit status 1 when the version has not moved far enough. ``--release`` takes the contract as it stands for
released.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bundle import SCHEMAS, SEAMS, reached

Json = Any
RELEASED = SCHEMAS / "released"
#: What a release keeps: the name in ``released/`` and the file it is a copy of.
FILES = {
    **{f"{seam}.bundle.json": SCHEMAS / "bundle" / f"{seam}.bundle.json" for seam in SEAMS},
    "operations.json": SCHEMAS / "operations.json",
}
UPPER = ("maxLength", "x-maxUtf8Bytes", "maximum", "maxItems")
LOWER = ("minLength", "minimum", "minItems")
#: Keywords that say nothing about what is valid.
ANNOTATIONS = {
    "title",
    "description",
    "x-label",
    "x-distinct",
    "x-declared",
    "x-byType",
    "default",
    "discriminator",
}
#: Types that reach a reader without being the answer of an operation, and those that are in files.
PUSHED = {name for seam in SEAMS.values() for name in seam.pushed}
FILED = {name for seam in SEAMS.values() for name in seam.filed}


class Level(IntEnum):
    """How far a change goes, as Semantic Versioning counts."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


class Change(NamedTuple):
    """One difference: where, what, and how far it goes."""

    where: str
    what: str
    level: Level


class Contract(NamedTuple):
    """The definitions of every seam and a table of operations."""

    definitions: dict[str, Json]
    table: dict[str, Json]

    @classmethod
    def read(cls, files: dict[str, Path]) -> "Contract":
        """Read a contract from its files. A seam without a file is one that there was not yet.

        Raises ValueError where two bundles say different things of one name.
        """
        documents = {n: json.loads(path.read_text("utf-8")) for n, path in files.items() if path.exists()}
        table, definitions = documents.pop("operations.json"), {}
        for document in documents.values():
            for name, definition in document["$defs"].items():
                if definitions.setdefault(name, definition) != definition:
                    raise ValueError(f"{name} is not the same in every bundle")
        return cls(definitions, table)

    def written(self) -> set[str]:
        """What callers write."""
        requests = {row["request"] for row in self.table["operations"] if row["request"]}
        requests |= {row["tool"]["request"] for row in self.table["operations"] if "tool" in row}
        return reached(requests | FILED, self.definitions)

    def read_back(self) -> set[str]:
        """What callers read.

        Only a new kind of refusal is no break: a reader shows one that it does not know as an unexpected
        status.
        """
        answers = {row["response"] for row in self.table["operations"]}
        answers |= {row["tool"]["result"] for row in self.table["operations"] if "tool" in row}
        return reached(answers | PUSHED | FILED, self.definitions)


class _Comparison:
    """The changes of one definition. What allows more breaks readers, what allows less breaks writers."""

    def __init__(self, name: str, *, written: bool, read: bool) -> None:
        self.name = name
        self.more = Level.MAJOR if read else Level.MINOR
        self.less = Level.MAJOR if written else Level.MINOR
        self.changes: list[Change] = []

    def note(self, place: str, what: str, level: Level) -> None:
        self.changes.append(Change(f"{self.name}{place}", what, level))

    def nodes(self, old: Json, new: Json, place: str = "") -> None:
        """Compare two schema nodes at a place."""
        for keyword in sorted({*old, *new}):
            before, after = old.get(keyword), new.get(keyword)
            if before == after and (keyword in old) == (keyword in new):
                continue
            self._keyword(keyword, place, old, new)

    def _keyword(self, keyword: str, place: str, old: Json, new: Json) -> None:
        before, after = old.get(keyword), new.get(keyword)
        where = f"{place} {keyword}"
        if keyword in UPPER or keyword in LOWER:
            wider = after is None or (before is not None and (after > before) == (keyword in UPPER))
            self.note(where, f"{before} -> {after}", self.more if wider else self.less)
        elif keyword == "enum" and before is not None and after is not None:
            self._members(where, set(before), set(after))
        elif keyword == "oneOf" and before is not None and after is not None:
            kinds = [set(node["discriminator"]["mapping"]) for node in (old, new)]
            self._members(where, *kinds)
        elif keyword == "required":
            for key in sorted(set(after or []) - set(before or [])):
                self.note(f"{place}/{key}", "required now", self.less)
            for key in sorted(set(before or []) - set(after or [])):
                self.note(f"{place}/{key}", "optional now", self.more)
        elif keyword == "properties":
            self._properties(before or {}, after or {}, place)
        elif keyword == "items" and before is not None and after is not None:
            self.nodes(before, after, f"{place}/items")
        elif keyword == "default":
            self.note(where, f"{before} -> {after}", max(self.more, self.less))
        elif keyword in ANNOTATIONS:
            self.note(where, "reworded", Level.PATCH)
        else:
            # A pattern, a reference, a status, a cross-field rule: what it allows cannot be compared, so it
            # breaks.
            self.note(where, "changed", Level.MAJOR)

    def _members(self, where: str, before: set[str], after: set[str]) -> None:
        for member in sorted(after - before):
            self.note(where, f"{member} added", Level.MINOR if self.name == "Refusal" else self.more)
        for member in sorted(before - after):
            self.note(where, f"{member} removed", Level.MAJOR if self.name == "Refusal" else self.less)

    def _properties(self, before: dict[str, Json], after: dict[str, Json], place: str) -> None:
        for key in sorted(after.keys() - before.keys()):
            self.note(f"{place}/{key}", "added", self.more)
        for key in sorted(before.keys() - after.keys()):
            self.note(f"{place}/{key}", "removed", max(self.more, self.less, Level.MAJOR))
        for key in sorted(before.keys() & after.keys()):
            if before[key] != after[key]:
                self.nodes(before[key], after[key], f"{place}/{key}")


def _rows(old: Contract, new: Contract) -> Iterator[Change]:
    before, after = ({row["name"]: row for row in contract.table["operations"]} for contract in (old, new))
    for name in sorted(before.keys() - after.keys()):
        yield Change(name, "removed", Level.MAJOR)
    for name in sorted(after.keys() - before.keys()):
        yield Change(name, "added", Level.MINOR)
    for name in sorted(before.keys() & after.keys()):
        for key in sorted(before[name].keys() | after[name].keys()):
            was, now = before[name].get(key), after[name].get(key)
            if was == now:
                continue
            if key in {"summary", "links", "doors"}:
                level = Level.PATCH if key == "summary" else Level.MINOR
            elif key == "tool":
                level = _tool(was, now)
            elif (
                key == "refusals"
                or (key == "capability" and was and (not now or set(now) > set(was)))
                or (key == "lenient_body" and now)
            ):
                level = Level.MINOR
            else:
                level = Level.MAJOR
            yield Change(f"{name} {key}", f"{was} -> {now}", level)
    if old.table["every"] != new.table["every"]:
        yield Change("every", "refusals of every operation changed", Level.MINOR)


def _tool(was: Json, now: Json) -> Level:
    """A model reads the tools anew each time: a name, a type, a right or the tool would be missed."""
    if was is None or now is None:
        return Level.MINOR if was is None else Level.MAJOR
    kept = all(was[key] == now[key] for key in ("name", "request", "result"))
    if not kept:
        return Level.MAJOR
    return Level.PATCH if was.get("capability") == now.get("capability") else Level.MINOR


def changes(old: Contract, new: Contract) -> list[Change]:
    """Every difference between two contracts.

    A type that is both written and read may change in no way that anybody notices.
    """
    out = list(_rows(old, new))
    written, read = old.written() | new.written(), old.read_back() | new.read_back()
    gone, come = (
        old.definitions.keys() - new.definitions.keys(),
        new.definitions.keys() - old.definitions.keys(),
    )
    out += [Change(name, "removed", Level.MAJOR) for name in sorted(gone)]
    out += [Change(name, "added", Level.MINOR) for name in sorted(come)]
    for name in sorted(old.definitions.keys() & new.definitions.keys()):
        comparison = _Comparison(name, written=name in written, read=name in read)
        comparison.nodes(old.definitions[name], new.definitions[name])
        out += comparison.changes
    return out


def moved(old: str, new: str) -> Level:
    """How far a version has moved. Raises ValueError when it has gone back."""
    before, after = ([int(part) for part in version.split(".")] for version in (old, new))
    if after < before:
        raise ValueError(f"version {new} is before the released {old}")
    for level, was, now in zip((Level.MAJOR, Level.MINOR, Level.PATCH), before, after, strict=True):
        if was != now:
            return level
    return Level.NONE


def main() -> int:
    """Compare, or take the present contract for released; return the exit status."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--release", action="store_true", help="take the contract as it stands for released"
    )
    if arguments.parse_args().release:
        RELEASED.mkdir(exist_ok=True)
        for name, source in FILES.items():
            shutil.copyfile(source, RELEASED / name)
        return 0
    old, new = Contract.read({name: RELEASED / name for name in FILES}), Contract.read(FILES)
    found = changes(old, new)
    need = max((change.level for change in found), default=Level.NONE)
    have = moved(old.table["version"], new.table["version"])
    for change in found:
        print(f"{change.level.name.lower()}: {change.where}: {change.what}")
    if need > have:
        print(
            f"the version is {new.table['version']} and must move by a {need.name.lower()} step "
            f"from {old.table['version']}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
