"""The codec and an independent validator give the same verdict on documents that nobody thought of.

Valid vectors are mutated by a seeded generator. ``M4A_DIFFERENTIAL`` sets how many documents are tried;
``M4A_SEED`` another seed.
"""

import copy
import json
import os
import random
from typing import Any

import pytest

from mail4agent_api._wire import WireModel
from mail4agent_api.codec import decode, encode
from mail4agent_api.errors import RefusalError
from tests import oracle
from tests.vectors import contract_type, vectors

DOCUMENTS = int(os.environ.get("M4A_DIFFERENTIAL", "5000"))
SEED = int(os.environ.get("M4A_SEED", "20260922"))

TEXTS = [
    "", "a", "abc\n", "\n", "\t", "\r", "\u0000", "\u001f", "\u007f", "\u0080", "\u009f", "\u00a0", "é",
    "\U0001f600", "a b", "a/b", "#a", "A" * 24, "m4a_" + "0" * 24, "m4a_" + "0" * 25, "s-" + "0" * 8,
    "s-" + "0" * 7, "s-" + "f" * 65, "direct", "session", "room", "oldest", "newest", "mail:send", "a" * 64,
    "a" * 65, "a" * 128, "a" * 129, "a" * 512, "a" * 513, "é" * 64, "é" * 65, "é" * 256, "é" * 257,
    "\U0001f600" * 128, "\U0001f600" * 129, "٣", "a\u0301",
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 50, 60, 61, 256, 257, 65535, 65536, 2**32 - 1, 2**32, 2**53, 2**63, 2**64 - 1, 2**64, 10**30,
    16777216,
    16777217, 1.0, 50.0, 1.5, -0.0, 1e20, 86400, 86401,
]  # fmt: skip
OTHERS: list[Any] = [
    None,
    True,
    False,
    [],
    {},
    [None],
    {"kind": "direct", "participant": "a"},
    {"kind": "room", "room": "r"},
]
KEYS = [
    "extra",
    "kind",
    "from",
    "from_",
    "to",
    "subject",
    "limit",
    "a b",
    "",
    "__proto__",
    "refs",
    "after",
    "before",
]


def any_value(choose: random.Random) -> Any:
    """Some value that is likely to matter to a bound."""
    return copy.deepcopy(choose.choice(choose.choice([TEXTS, NUMBERS, OTHERS])))


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a value."""
    out = [here]
    if isinstance(value, dict):
        for key, member in value.items():
            out += paths(member, (*here, key))
    elif isinstance(value, list):
        for index, item in enumerate(value[:10]):
            out += paths(item, (*here, index))
    return out


def changed_text(text: str, choose: random.Random) -> str:
    """A text with one thing changed, or stretched to near a bound."""
    at = choose.randint(0, len(text))
    match choose.randrange(4):
        case 0:
            return text[:at] + choose.choice(TEXTS)[:3] + text[at:]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return (text or "a") * choose.choice([2, 8, 40])
        case _:
            return text.upper()


def mutate(document: Any, choose: random.Random) -> Any:
    """A document with one to three random changes."""
    for _ in range(choose.randint(1, 3)):
        places = [place for place in paths(document) if place]
        if not places:
            return any_value(choose)
        *way, last = choose.choice(places)
        parent = document
        for step in way:
            parent = parent[step]
        old = parent[last]
        match choose.randrange(6):
            case 0:
                parent[last] = any_value(choose)
            case 1:
                del parent[last]
            case 2 if isinstance(parent, dict):
                parent[choose.choice(KEYS)] = any_value(choose)
            case 3 if isinstance(old, str):
                parent[last] = changed_text(old, choose)
            case 4 if isinstance(old, list) and old:
                parent[last] = old * choose.choice([2, 5, 9])
            case 5 if isinstance(old, int) and not isinstance(old, bool):
                parent[last] = old + choose.choice([-1, 1, -old, 2**64 - old])
            case _ if isinstance(parent, list):
                parent.append(copy.deepcopy(old))
            case _:
                continue
    return document


def disagreement(name: str, raw: bytes) -> str | None:
    """What codec and oracle do not agree on about some bytes; None when they agree."""
    expected = oracle.decodes(name, raw)
    try:
        value = decode(contract_type(name), raw)
    except RefusalError as refused:
        if expected:
            return f"{name}: refused by the codec alone: {refused.refusal}: {raw[:300]!r}"
        reason = getattr(refused.refusal, "reason", "")
        if "(at " in reason:
            # A pointer leads to where the oracle finds fault, or to a part of it: the oracle blames an
            # unknown key on its object.
            pointer = reason.rpartition("(at ")[2].removesuffix(")")
            places = oracle.places(name, oracle.parse(raw))
            if not any(pointer == place or pointer.rpartition("/")[0] == place for place in places):
                return f"{name}: {refused.refusal} against {sorted(places)[:5]}: {raw[:300]!r}"
        return None
    if not expected:
        return f"{name}: refused by the oracle alone: {raw[:300]!r}"
    if isinstance(value, WireModel):
        again = encode(value)
        if not oracle.decodes(name, again) or decode(type(value), again) != value:
            return f"{name}: does not survive a round trip: {raw[:300]!r}"
    return None


@pytest.mark.promise("api.codec-agrees-with-oracle")
@pytest.mark.timeout(3600)
def test_codec_and_oracle_agree_on_mutated_documents() -> None:
    """Same verdict at a place that both fault, and what is accepted survives a round trip."""
    choose = random.Random(SEED)
    # The longest documents differ from the others only in being slow.
    seeds = [(v.type, v.raw) for v in vectors() if v.valid and len(v.raw) < 4000]
    found: list[str] = []
    verdicts = {True: 0, False: 0}
    for _ in range(DOCUMENTS):
        name, raw = choose.choice(seeds)
        document = mutate(oracle.parse(raw), choose)
        text = json.dumps(document, ensure_ascii=choose.random() < 0.5)
        if choose.random() < 0.02:
            cut = choose.randrange(len(text))
            text = (
                text[:cut]
                + choose.choice(["", '"', "}", ",", "NaN", "\\ud800", "\\u0000", " "])
                + text[cut + choose.randrange(3) :]
            )
        mutated = text.encode("utf-8", "surrogatepass")
        verdicts[oracle.decodes(name, mutated)] += 1
        problem = disagreement(name, mutated)
        if problem:
            found.append(problem)
    assert found == []
    assert min(verdicts.values()) > DOCUMENTS // 20, verdicts
