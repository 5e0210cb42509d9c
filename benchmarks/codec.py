"""What the contract costs: decoding and encoding a message of 1 KiB and a page of 50.

    python benchmarks/codec.py [--seconds 20]

The rivals are what a user would take instead. They take turns within each round, so that a busy machine
slows them alike; a ratio is the median of the rounds' own ratios. Plain pydantic, the one that ratios refer
to, has the same fields and no bound. jsonschema and jsonschema-rs judge parsed JSON by the published bundle,
without the custom keywords. msgspec checks types and lengths in code points, and nothing when it encodes.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mail4agent_api.codec import decode, encode
from mail4agent_api.mail import InboxPage, Message
from mail4agent_api.published import published_text

#: How many times the time of plain pydantic the codec may take.
WANTED = 2.0
RESULTS = Path(__file__).resolve().parent / "results" / "codec.json"
BASE = "pydantic without bounds"


class Direct(BaseModel):
    """An account's address without bounds."""

    model_config = ConfigDict(strict=True)
    kind: Literal["direct"]
    participant: str


class Session(BaseModel):
    """A session's address without bounds."""

    model_config = ConfigDict(strict=True)
    kind: Literal["session"]
    participant: str
    session: str


class Room(BaseModel):
    """A room's address without bounds."""

    model_config = ConfigDict(strict=True)
    kind: Literal["room"]
    room: str


class Ref(BaseModel):
    """A ref without bounds."""

    model_config = ConfigDict(strict=True)
    kind: str
    locator: str
    digest: str | None = None


class PlainMessage(BaseModel):
    """A message without bounds."""

    model_config = ConfigDict(strict=True)
    message_id: str
    from_: Annotated[Direct | Session, Field(discriminator="kind", alias="from")]
    to: Annotated[Direct | Session | Room, Field(discriminator="kind")]
    subject: str
    body: str
    reply_to: str | None = None
    correlation: str | None = None
    refs: list[Ref] = []
    created_at_unix_ms: int


class PlainPage(BaseModel):
    """A page without bounds."""

    model_config = ConfigDict(strict=True)
    messages: list[PlainMessage]
    unread: int


def message(number: int) -> dict[str, Any]:
    """A message with a body of 1 KiB: text with line feeds and a link, a session as recipient, one ref."""
    line = "The parser is at https://example.org/parser: please read it, and tell me what you think.\n"
    return {
        "message_id": f"m4a_{number:024x}",
        "from": {"kind": "direct", "participant": "alice"},
        "to": {"kind": "session", "participant": "bob", "session": "s-7f3a0000c1d2e3f4"},
        "subject": f"Parser review, part {number}",
        "body": (line * 12)[:1024],
        "reply_to": None,
        "correlation": "task-7",
        "refs": [{"kind": "file", "locator": "src/parser.py", "digest": "9f86d081884c7d65" * 4}],
        "created_at_unix_ms": 1_790_000_000_000 + number,
    }


Call = Callable[[], object]
#: For each figure, each rival's call.
Figures = dict[str, dict[str, Call]]


def with_jsonschema(figures: Figures, documents: dict[str, tuple[str, bytes]]) -> None:
    """Parse with json and judge with jsonschema; dump and judge."""
    from jsonschema import Draft202012Validator

    bundle = json.loads(published_text("bundle/mail.bundle.json"))
    for what, (name, raw) in documents.items():
        validator = Draft202012Validator({**bundle, "$ref": f"#/$defs/{name}"})
        value = json.loads(raw)
        figures[f"decode {what}"]["json and jsonschema"] = lambda v=validator, r=raw: v.validate(
            json.loads(r)
        )
        figures[f"encode {what}"]["json and jsonschema"] = lambda v=validator, x=value: (
            v.validate(x),
            json.dumps(x),
        )


def with_jsonschema_rs(figures: Figures, documents: dict[str, tuple[str, bytes]]) -> None:
    """Parse with json and judge with jsonschema-rs; dump and judge."""
    import jsonschema_rs

    bundle = json.loads(published_text("bundle/mail.bundle.json"))
    for what, (name, raw) in documents.items():
        validator = jsonschema_rs.Draft202012Validator({**bundle, "$ref": f"#/$defs/{name}"})
        value = json.loads(raw)
        figures[f"decode {what}"]["json and jsonschema-rs"] = lambda v=validator, r=raw: v.validate(
            json.loads(r)
        )
        figures[f"encode {what}"]["json and jsonschema-rs"] = lambda v=validator, x=value: (
            v.validate(x),
            json.dumps(x),
        )


def with_msgspec(figures: Figures, documents: dict[str, tuple[str, bytes]]) -> None:
    """Decode into structs whose texts have patterns and lengths; encode without a check."""
    import msgspec

    def text(pattern: str | None, most: int) -> Any:
        return Annotated[str, msgspec.Meta(pattern=pattern, max_length=most)]

    selector, line = text("^[A-Za-z0-9._@+-]+$", 128), text("^[^\\u0000-\\u001f\\u007f-\\u009f]*$", 512)
    identifier = text("^m4a_[0-9a-f]{24}$", 28)
    direct = msgspec.defstruct("Direct", [("participant", selector)], tag="direct", tag_field="kind")
    session = msgspec.defstruct(
        "Session",
        [("participant", selector), ("session", text("^s-[0-9a-f]{8,64}$", 66))],
        tag="session",
        tag_field="kind",
    )
    room = msgspec.defstruct("Room", [("room", selector)], tag="room", tag_field="kind")
    ref = msgspec.defstruct(
        "Ref", [("kind", selector), ("locator", line), ("digest", text("^[0-9a-f]+$", 128) | None, None)]
    )
    one = msgspec.defstruct(
        "Message",
        [
            ("message_id", identifier),
            ("from_", direct | session),
            ("to", direct | session | room),
            ("subject", line),
            ("body", text("^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$", 65536)),
            ("created_at_unix_ms", Annotated[int, msgspec.Meta(ge=1)]),
            ("reply_to", identifier | None, None),
            ("correlation", line | None, None),
            ("refs", Annotated[list[ref], msgspec.Meta(max_length=8)], []),
        ],
        rename={"from_": "from"},
        forbid_unknown_fields=True,
    )
    page = msgspec.defstruct("Page", [("messages", list[one]), ("unread", int)], forbid_unknown_fields=True)
    encoder = msgspec.json.Encoder()
    for what, (name, raw) in documents.items():
        decoder = msgspec.json.Decoder({"Message": one, "InboxPage": page}[name])
        value = decoder.decode(raw)
        figures[f"decode {what}"]["msgspec"] = lambda d=decoder, r=raw: d.decode(r)
        figures[f"encode {what}"]["msgspec"] = lambda x=value: encoder.encode(x)


def figures() -> Figures:
    """Every figure with every rival that is installed."""
    single = json.dumps(message(1)).encode()
    many = json.dumps({"messages": [message(number) for number in range(50)], "unread": 7}).encode()
    page, plain_page = decode(InboxPage, many), PlainPage.model_validate_json(many)
    one, plain_one = decode(Message, single), PlainMessage.model_validate_json(single)
    out: Figures = {
        "decode 1 KiB": {
            BASE: lambda: PlainMessage.model_validate_json(single),
            "mail4agent": lambda: decode(Message, single),
        },
        "encode 1 KiB": {
            BASE: lambda: plain_one.model_dump_json(by_alias=True),
            "mail4agent": lambda: encode(one),
        },
        "decode page of 50": {
            BASE: lambda: PlainPage.model_validate_json(many),
            "mail4agent": lambda: decode(InboxPage, many),
        },
        "encode page of 50": {
            BASE: lambda: plain_page.model_dump_json(by_alias=True),
            "mail4agent": lambda: encode(page),
        },
    }
    documents = {"1 KiB": ("Message", single), "page of 50": ("InboxPage", many)}
    for module, add in [
        ("jsonschema", with_jsonschema),
        ("jsonschema_rs", with_jsonschema_rs),
        ("msgspec", with_msgspec),
    ]:
        if importlib.util.find_spec(module):
            add(out, documents)
    return out


def measured(calls: dict[str, Call], seconds: float, least: int) -> dict[str, list[float]]:
    """Microseconds of each rival in each round, the rivals taking turns."""
    turns: dict[str, int] = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        # A turn is about 2 ms: the clock costs nothing, and a round is over before the machine changes.
        turns[name] = max(1, int(0.002 / max(time.perf_counter() - start, 1e-6)))
    rounds: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(rounds.values()))) < least:
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(turns[name]):
                call()
            rounds[name].append((time.perf_counter() - start) / turns[name] * 1e6)
    return rounds


def version(name: str) -> str | None:
    """A distribution's version, None when it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def main() -> None:
    """Measure, print, and write the figures as JSON."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--seconds", type=float, default=20.0, help="how long to measure in all")
    arguments.add_argument("--rounds", type=int, default=5, help="how many rounds at least")
    options = arguments.parse_args()
    versions = {
        name: version(name)
        for name in ("pydantic", "pydantic-core", "jiter", "jsonschema", "jsonschema-rs", "msgspec")
    }
    machine = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "versions": {name: found for name, found in versions.items() if found},
    }
    print(f"Python {machine['python']}, {machine['cores']} cores, {machine['platform']}")
    print(", ".join(f"{name} {found}" for name, found in machine["versions"].items()))
    every = figures()
    results: dict[str, Any] = {}
    for figure, calls in every.items():
        rounds = measured(calls, options.seconds / len(every), options.rounds)
        base = rounds[BASE]
        results[figure] = {
            name: {
                "median_us": round(statistics.median(times), 2),
                "ratio": round(statistics.median(t / b for t, b in zip(times, base, strict=True)), 2),
            }
            for name, times in rounds.items()
        }
        print(f"\n{figure} ({len(base)} rounds)")
        for name, row in results[figure].items():
            print(f"  {name:26} {row['median_us']:>10.1f} us {row['ratio']:>8.2f}x")
        ours = results[figure]["mail4agent"]["ratio"]
        print(f"  wanted: at most {WANTED:.2f}x{'' if ours <= WANTED else '  MISSED'}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"machine": machine, "figures": results}, indent=2) + "\n", "utf-8")
    print(
        f"\nwritten to {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}"
    )


if __name__ == "__main__":
    main()
