"""The rules that the schemas keep, so that every consumer reads the same from them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import operations as operations_tool
import pytest
from bundle import HOST, SCHEMAS, SEAMS, bundle, contract
from jsonschema import Draft202012Validator

from mail4agent_api import bounds
from mail4agent_api.published import definitions, published_text, seams

Json = Any
SOURCES = sorted(
    path
    for seam in SEAMS.values()
    for folder in seam.folders
    for path in (SCHEMAS / folder).glob("*.schema.json")
)
DEFINITIONS: dict[str, Json] = contract()
KEYWORDS = {
    "title", "description", "type", "additionalProperties", "required", "properties", "const", "enum",
    "oneOf", "anyOf", "allOf", "not", "discriminator", "$ref", "items", "minItems", "maxItems", "minLength",
    "maxLength", "minimum", "maximum", "pattern", "default", "x-maxUtf8Bytes", "x-notEqual", "x-label",
    "x-distinct", "x-declared", "x-byType", "x-exclusive", "x-httpStatus",
}  # fmt: skip
#: The original's directory is unpaged, so its lists have no bound of the contract's.
UNBOUNDED = {
    ("DirectoryEntry", "sessions"),
    ("Directory", "participants"),
    ("Directory", "rooms"),
    ("WhoAmI", "rooms"),
}
#: What others write into a journal or a record, and what a tool is called with, read as it is.
OPEN = {
    "BriefFields",
    "DraftArguments",
    "FrontdoorRecord",
    "JournalObject",
    "ProseTexts",
    "RequestAttachment",
    "RequestExtraction",
    "RequestFile",
    "RequestValues",
}
#: Explicit classes and counted repeats between ^ and $, and nothing that two regular expression engines read
#: differently.
PATTERN = re.compile(
    r"\^(?:[A-Za-z0-9_-]*)\[\^?(?:[A-Za-z0-9._@+-]|\\u[0-9a-f]{4})+\](?:\*|\{[0-9]+(?:,[0-9]+)?\})\$\Z"
)
#: Where a text has parts: letters, signs that mean nothing, classes without ranges of signs, groups that keep
#: nothing, alternatives, and counted or optional repeats. All engines read these alike too.
PARTS = re.compile(
    r"\^(?:[A-Za-z0-9_:/=#-]|\[[A-Za-z0-9._~!$&'()*+,;=:@%/?-]+\]|\(\?:|\)|\||\?|\{[0-9]+(?:,[0-9]+)?\})+\$\Z"
)
#: The definitions that have parts.
PARTED = {
    "AddressText",
    "DraftDigest",
    "ListenerKey",
    "ListenerUrl",
    "ReplyAddress",
    "RequestFileDigest",
    "UploadPath",
}


def nodes(node: Json, place: str = "") -> Iterator[tuple[str, Json]]:
    """Every schema object inside a definition, with its place."""
    yield place, node
    for keyword in ("properties",):
        for key, inner in node.get(keyword, {}).items():
            yield from nodes(inner, f"{place}/{key}")
    for keyword in ("oneOf", "anyOf", "allOf"):
        for index, inner in enumerate(node.get(keyword, [])):
            yield from nodes(inner, f"{place}/{keyword}/{index}")
    if "items" in node:
        yield from nodes(node["items"], f"{place}/items")


EVERY = [
    (name + place, node) for name, definition in DEFINITIONS.items() for place, node in nodes(definition)
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_is_a_schema_and_holds_only_definitions(path: Path) -> None:
    """Plain 2020-12 with an identifier that follows from its place, so that any validator loads it."""
    document = json.loads(path.read_text("utf-8"))
    Draft202012Validator.check_schema(document)
    assert set(document) == {"$schema", "$id", "description", "$defs"}
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == HOST + path.relative_to(SCHEMAS).as_posix()
    assert path.read_bytes().isascii()


def test_keywords_are_those_that_every_consumer_reads() -> None:
    """No keyword outside the list that the README explains."""
    assert {(where, key) for where, node in EVERY for key in node if key not in KEYWORDS} == set()


def test_a_definition_is_named_once_and_described_in_plain_words() -> None:
    """The title is the name; the description is short ASCII that can follow "must be"."""
    for name, definition in DEFINITIONS.items():
        assert definition["title"] == name
        text = definition["description"]
        assert text.isascii(), name
        assert 4 <= len(text) <= 160, name
        assert not text.endswith("."), name
        assert text[0].islower() or text[0].isdigit(), name


def test_patterns_are_read_alike_by_every_engine() -> None:
    """Explicit classes and counted repeats from ^ to $, and a guard against Python's reading of $."""
    for where, node in EVERY:
        if "pattern" in node:
            assert (PARTS if where in PARTED else PATTERN).match(node["pattern"]), where
            assert re.compile(node["pattern"]), where
            line_feed_may_end_it = re.fullmatch(node["pattern"].removesuffix("$"), "\n") is not None
            assert line_feed_may_end_it or node.get("not") == {"pattern": "\\n"}, where


def test_every_text_is_bounded() -> None:
    """By an enumeration, a greatest length, or a pattern that counts; bytes have their twin in characters."""
    for where, node in EVERY:
        if node.get("type") == "string":
            counted = re.search(r"\}\$$", node.get("pattern", ""))
            assert "enum" in node or "maxLength" in node or counted, where
        if "x-maxUtf8Bytes" in node:
            assert node["maxLength"] == node["x-maxUtf8Bytes"], where
            assert node["pattern"].startswith("^[^"), where


def test_every_integer_is_a_named_definition_with_both_bounds() -> None:
    """So that a generator can mark it, and a reader knows what it may hold."""
    for where, node in EVERY:
        if node.get("type") == "integer":
            assert where in DEFINITIONS, where
            assert -(2**53) < node["minimum"] < node["maximum"] <= 2**64 - 1, where


def test_every_array_is_bounded_save_those_of_the_directory() -> None:
    """An array without a greatest length is one of the original's."""
    arrays = {
        (where.split("/")[0], where.split("/")[-1]): node
        for where, node in EVERY
        if node.get("type") == "array"
    }
    assert {where for where, node in arrays.items() if "maxItems" not in node} == UNBOUNDED


def test_objects_are_closed() -> None:
    """A key that is not listed is no part of any object."""
    for where, node in EVERY:
        if node.get("type") == "object":
            assert node["additionalProperties"] is (where in OPEN), where
            assert set(node.get("required", [])) <= set(node["properties"]), where


def test_optional_members_have_a_default_and_required_ones_have_none() -> None:
    """What may be absent says what that means: null, or another value of its type."""
    for name, definition in DEFINITIONS.items():
        for key, node in definition.get("properties", {}).items():
            if key in definition.get("required", []):
                assert "default" not in node, (name, key)
            elif "anyOf" in node:
                assert node["anyOf"][1:] == [{"type": "null"}], (name, key)
                assert node["default"] is None, (name, key)
            else:
                assert node["default"] is not None, (name, key)


def test_defaults_are_valid() -> None:
    """A default is of its own type."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": DEFINITIONS}
    for where, node in EVERY:
        if "default" in node:
            assert Draft202012Validator({**document, **node}).is_valid(node["default"]), where


def test_unions_are_told_apart_by_a_constant_kind() -> None:
    """Each branch has the constant tag of the mapping, and a tagged object stands only in unions."""
    tags: set[str] = set()
    for name, definition in DEFINITIONS.items():
        if "oneOf" in definition:
            mapping = definition["discriminator"]["mapping"]
            tag = definition["discriminator"]["propertyName"]
            tags.add(tag)
            assert [branch["$ref"] for branch in definition["oneOf"]] == list(mapping.values()), name
            for kind, reference in mapping.items():
                branch = DEFINITIONS[reference.rpartition("/")[2]]
                assert branch["properties"][tag] == {"const": kind}, name
                assert tag in branch["required"], name
    assert tags == {"kind", "reached", "op"}
    tagged = {
        name for name, d in DEFINITIONS.items() if any("const" in p for p in d.get("properties", {}).values())
    }
    for where, node in EVERY:
        target = node.get("$ref", "").rpartition("/")[2]
        assert target not in tagged or "/oneOf/" in where, where


def test_cross_field_rules_name_members_of_their_object() -> None:
    """A pair is of two members; exclusion is said a second time in words that every validator knows."""
    for name, definition in DEFINITIONS.items():
        for keyword in ("x-notEqual", "x-exclusive"):
            for pair in definition.get(keyword, []):
                assert len(set(pair)) == 2, name
                assert set(pair) <= set(definition["properties"]), name
        if "x-exclusive" in definition:
            assert definition["not"]["required"] in definition["x-exclusive"], name


def test_labels_are_those_that_the_original_gives() -> None:
    """The fields by which clients of the original know what was refused."""
    labels = {name: d["x-label"] for name, d in DEFINITIONS.items() if "x-label" in d}
    expected = {
        "MessageId": "message id", "SessionId": "session id", "ParticipantId": "participant id",
        "RoomId": "room id",
        "RefKind": "ref kind", "RefLocator": "ref locator", "RefDigest": "ref digest", "Label": "label",
        "PageLimit": "limit",
    }  # fmt: skip
    assert {name: labels[name] for name in expected} == expected
    properties = {
        f"{name}.{key}": node["x-label"]
        for name, d in DEFINITIONS.items()
        for key, node in d.get("properties", {}).items()
        if "x-label" in node
    }
    assert properties == {
        "SessionAttested.exe": "attested exe",
        "SessionCorroborated.provider_session_id": "corroborated provider_session_id",
        "SessionCorroborated.model": "corroborated model",
        "SessionCorroborated.cwd": "corroborated cwd",
        "SessionDeclared.working_on": "declared working_on",
        "SessionDeclared.role": "declared role",
        "StatusRequest.working_on": "declared working_on",
        "StatusRequest.role": "declared role",
    }


def test_fields_and_words_of_refusals_fit_their_bounds() -> None:
    """Labels are at most 64 bytes, and any description with the longest place is a reason of at most 512."""
    for name, definition in DEFINITIONS.items():
        names = [*definition.get("properties", {}), definition.get("x-label", "")]
        assert all(len(text.encode()) <= 64 for text in names), name
        assert len(f"must be {definition['description']}") + 300 <= 512, name


def test_the_table_of_operations_matches_its_schema_and_names_what_exists() -> None:
    """Types, refusals and links of every row are there; names, paths and methods are not given twice."""
    table = operations_tool.table()
    schema = json.loads((SCHEMAS / "operations.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(table)] == []
    kinds = set(DEFINITIONS["Refusal"]["discriminator"]["mapping"])
    capabilities = set(DEFINITIONS["Capability"]["enum"])
    rows = {row["name"]: row for row in table["operations"]}
    assert len(rows) == len(table["operations"])
    assert len({(row["method"], row["path"]) for row in rows.values()}) == len(rows)
    for name, row in rows.items():
        assert {row["request"], row["response"]} - {None} <= set(DEFINITIONS), name
        assert set(row["refusals"]) | set(table["every"]) <= kinds, name
        assert set(row["capability"]) <= capabilities, name
        assert row["path"] == "/" + name.replace(".", "/"), name
        assert ("mcp" in row["doors"]) is ("tool" in row), name
        if "tool" in row:
            assert {row["tool"]["request"], row["tool"]["result"]} <= set(DEFINITIONS), name
        for target, members in row.get("links", {}).items():
            assert set(members) <= set(DEFINITIONS[rows[target]["request"]]["properties"]), name
            for pointer in members.values():
                assert pointer.removeprefix("/") in DEFINITIONS[row["response"]]["properties"], name


def test_every_definition_is_used() -> None:
    """Nothing is left in the contract that no operation, no refusal and no notification needs."""
    used = {node["$ref"].rpartition("/")[2] for _, node in EVERY if "$ref" in node}
    rows = operations_tool.table()["operations"]
    roots = {row[key] for row in rows for key in ("request", "response")}
    roots |= {row["tool"][key] for row in rows if "tool" in row for key in ("request", "result")}
    roots |= {name for seam in SEAMS.values() for name in (*seam.pushed, *seam.filed)} | {"Participant"}
    assert set(DEFINITIONS) - used - roots == set()


def test_constants_of_the_original_have_its_values() -> None:
    """Those of the mail seam are exported under the original's names, derived from the schemas."""
    others = tuple(f"{seam.upper()}_" for seam in SEAMS if seam != "mail")
    found = {name: value for name, value in vars(bounds).items() if name.isupper()}
    assert {name: value for name, value in found.items() if not name.startswith(others)} == {
        "MESSAGE_ID_PREFIX": "m4a_", "MESSAGE_ID_HEX_LEN": 24, "SELECTOR_MAX_BYTES": 128,
        "SUBJECT_MAX_BYTES": 512,
        "BODY_MAX_BYTES": 65_536, "REFS_MAX": 8, "REF_LOCATOR_MAX_BYTES": 512, "REF_DIGEST_MAX_CHARS": 128,
        "INBOX_LIMIT_MAX": 256, "INBOX_LIMIT_DEFAULT": 50, "INBOX_WAIT_SECS_MAX": 60,
        "SESSION_ID_PREFIX": "s-",
        "SESSION_ID_HEX_MIN_CHARS": 8, "SESSION_ID_HEX_MAX_CHARS": 64, "PAGE_BYTES_MAX": 16_777_216,
        "PAGE_BYTES_DEFAULT": 1_048_576, "SEND_MANY_MAX": 100, "ACK_MANY_MAX": 256,
    }  # fmt: skip


def test_published_files_are_found_by_name() -> None:
    """The package finds the bundles and the table, and says so when a name is not published."""
    assert definitions() == DEFINITIONS
    assert {seam: definitions(seam) for seam in seams()} == {seam: bundle(seam)["$defs"] for seam in SEAMS}
    assert json.loads(published_text("operations.json"))["version"].count(".") == 2
    assert json.loads(published_text("openapi.json"))["openapi"] == "3.1.0"
    with pytest.raises(FileNotFoundError):
        published_text("bundle/none.bundle.json")
