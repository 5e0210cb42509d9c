"""Join the schema files of one seam into one document with local references.

The bundle is what a consumer in another language takes as a single file: everything that the seam defines,
everything that those definitions refer to, and the family of refusals. The rules that it asserts (a
definition's title is its name, names are unique over all seams, a reference leads to the seam itself or to
one before it) are those of ``schemas/README.md``.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
HOST = "https://mail4agent.invalid/schemas/"

Json = Any


class Seam(NamedTuple):
    """What is known of a seam besides its definitions."""

    #: Its folders under ``schemas/``; its vectors are in the folder of the last one's name.
    folders: tuple[str, ...]
    #: Types that reach a reader without being the answer of an operation.
    pushed: tuple[str, ...] = ()
    #: Types that programs write into files for each other: read and written without an operation.
    filed: tuple[str, ...] = ()


#: Each seam, those that others refer to first. A new one is a row here and its folder.
SEAMS: dict[str, Seam] = {
    "mail": Seam(("common", "mail4agent"), pushed=("DeliveryNotification", "Refusal", "MailError")),
    "mailbox": Seam(("mailbox",), filed=("MailboxMessage", "AgentMarker")),
    "frontdoor": Seam(("frontdoor",), filed=("FrontdoorRecord", "RequestTypeManifest")),
    "note": Seam(
        ("note",),
        filed=(
            "CarryRecord",
            "NoteDelivered",
            "NoteOffer",
            "NoteShown",
            "OfferAnswer",
            "ReplyEnvelope",
        ),
    ),
    "outbox": Seam(("outbox",), filed=("OutboxItem",)),
    # The intake has a table of its own, schemas/intake.operations.json; these are the types of its rows.
    "intake": Seam(
        ("intake",),
        filed=(
            "BoxAckRequest",
            "BoxAcked",
            "BoxLease",
            "BoxLeaseRequest",
            "BoxListRequest",
            "BoxPushRequest",
            "BoxPushed",
            "BoxQueue",
            "BoxQueueRequest",
            "BoxReleaseRequest",
            "BoxReleased",
            "BoxTypes",
            "IntakeToken",
            "SubmissionState",
        ),
    ),
}
#: What every bundle has besides its own definitions: whatever is asked may be refused.
EVERYWHERE = ("Refusal",)


def map_references(node: Json, change: Callable[[str], str]) -> Json:
    """Rewrite every ``$ref`` and every discriminator mapping of a schema node."""
    if isinstance(node, list):
        return [map_references(item, change) for item in node]
    if not isinstance(node, dict):
        return node
    out: dict[str, Json] = {}
    for key, value in node.items():
        if key == "$ref" and isinstance(value, str):
            out[key] = change(value)
        elif key == "discriminator" and isinstance(value, dict):
            out[key] = {**value, "mapping": {tag: change(ref) for tag, ref in value["mapping"].items()}}
        else:
            out[key] = map_references(value, change)
    return out


def references(node: Json) -> Iterator[str]:
    """The names of the definitions that a schema node refers to."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value.rpartition("/")[2]
            elif key != "discriminator":
                yield from references(value)
    elif isinstance(node, list):
        for item in node:
            yield from references(item)


def reached(roots: Iterable[str], definitions: dict[str, Json]) -> set[str]:
    """The definitions that the named ones consist of, themselves included."""
    out: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in out and name in definitions:
            out.add(name)
            waiting += references(definitions[name])
    return out


def _localise(reference: str) -> str:
    name = PurePosixPath(reference.partition("#")[2]).name
    return f"#/$defs/{name}"


def every_of(schemas: Path) -> dict[str, tuple[str, Json]]:
    """The seam and the definition of every name under a folder, seam by seam.

    Raises ValueError where a rule is broken.
    """
    out: dict[str, tuple[str, Json]] = {}
    for seam, row in SEAMS.items():
        own: dict[str, Json] = {}
        for folder in row.folders:
            paths = sorted((schemas / folder).glob("*.schema.json"))
            if not paths:
                raise ValueError(f"the seam {seam} has no schemas in {folder}")
            for path in paths:
                own |= _read(path, path.relative_to(schemas).as_posix(), {*out, *own})
        known = {*out, *own}
        for name, definition in own.items():
            for reference in references(definition):
                if reference not in known:
                    raise ValueError(
                        f"{name}: {reference} leads to no seam before {seam} and to none of its own"
                    )
        out |= {name: (seam, definition) for name, definition in own.items()}
    return out


def _read(path: Path, where: str, taken: set[str]) -> dict[str, Json]:
    document = json.loads(path.read_text("utf-8"))
    if document["$id"] != HOST + where:
        raise ValueError(f"{where}: $id must be {HOST}{where}")
    for name, definition in document["$defs"].items():
        if definition.get("title") != name:
            raise ValueError(f"{where}: the title of {name} must be its name")
        if name in taken:
            raise ValueError(f"{where}: {name} is defined twice")
    return map_references(document["$defs"], _localise)


@cache
def _every() -> dict[str, tuple[str, Json]]:
    return every_of(SCHEMAS)


def contract() -> dict[str, Json]:
    """Every definition of every seam, by name."""
    return {name: definition for name, (_, definition) in _every().items()}


def seam_of(name: str) -> str:
    """The seam that defines a name: the one whose Python module has its type."""
    return _every()[name][0]


def vectors_of(name: str) -> Path:
    """Where the vectors of a definition are, once it has some."""
    return SCHEMAS / "vectors" / SEAMS[seam_of(name)].folders[-1] / f"{name}.json"


def imports(names: Iterable[str]) -> list[str]:
    """The lines of Python that import the types of some definitions."""
    by_seam: dict[str, list[str]] = {seam: [] for seam in SEAMS}
    for name in sorted(set(names)):
        by_seam[seam_of(name)].append(name)
    return [
        f"from mail4agent_api.{seam} import {', '.join(found)}" for seam, found in by_seam.items() if found
    ]


def bundle(seam: str) -> dict[str, Json]:
    """Return the seam's definitions, and what they need, as one JSON Schema 2020-12 document."""
    definitions = contract()
    own = [name for name in definitions if seam_of(name) == seam]
    wanted = reached([*own, *EVERYWHERE], definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{HOST}bundle/{seam}.bundle.json",
        "$comment": "Generated from schemas/ by tools/generate.py; do not edit.",
        "$defs": {name: definition for name, definition in definitions.items() if name in wanted},
    }
