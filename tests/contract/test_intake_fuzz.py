"""Fuzzing a running intake from its OpenAPI document, over a real socket, with the key that each path needs.

M4A_FUZZ_EXAMPLES sets how many examples are drawn for each operation and phase.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.engine import events, from_schema
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER

from mail4agent_api.errors import STATUS
from mail4agent_api.intake_operations import INTAKE_OPERATIONS, IntakeOperation
from tests.daemon.intake.house import House, house
from tests.daemon.intake.manifests import TALK, VISIT

EXAMPLES = int(os.environ.get("M4A_FUZZ_EXAMPLES", "16")) // 4
OPENAPI = Path(__file__).resolve().parent.parent.parent / "schemas" / "intake.openapi.json"
SEED = 20_240_229


def row_of(method: str, path: str) -> IntakeOperation | None:
    """The row that answers a request."""
    for row in INTAKE_OPERATIONS.values():
        pattern = re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(row.path))
        if row.method == method and re.fullmatch(pattern, path):
            return row
    return None


def _document() -> dict[str, Any]:
    document = json.loads(OPENAPI.read_text("utf-8"))
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                if path.startswith("/f/"):
                    parameter["schema"] = {"enum": ["visit", "talk", "nothing"]}
    document["components"]["schemas"]["BoxHolder"] = {"enum": ["home"]}
    document["components"]["schemas"]["BoxWaitSecs"] = {"enum": [0]}
    return document


@contextmanager
def _hooked(made: House, ledger: Counter[str], wrong: list[str]) -> Iterator[None]:
    @schemathesis.hook
    def before_call(context: Any, case: Any, kwargs: Any) -> None:
        if case.path.startswith("/box/"):
            key = made.types if case.path.startswith("/box/types") else made.drain
            case.headers["Authorization"] = f"Bearer {key}"

    @schemathesis.check
    def answer_is_of_its_row(ctx: Any, response: Any, case: Any) -> None:
        request, status = response.request, response.status_code
        row = row_of(request.method, urlsplit(request.url).path)
        name = row.name if row is not None else "(none)"
        kind = "answered" if status < 400 else json.loads(response.content)["kind"]
        ledger[f"{name} {kind}"] += 1
        if status >= 400 and STATUS.get(kind) != status:
            wrong.append(f"{request.method} {request.url}: {status} with {kind}")
        allowed = {"unknown_path", "method_not_allowed", "malformed"} if row is None else set(row.refusals)
        if (kind != "answered" and kind not in allowed) or status >= 500:
            wrong.append(f"{request.method} {request.url}: {kind}: {request.body!r}")

    try:
        yield
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(before_call)
        CHECKS.unregister("answer_is_of_its_row")


@pytest.mark.promise("intake.every-answer-is-in-its-contract")
@pytest.mark.timeout(max(600, 10 * EXAMPLES))
def test_whatever_is_sent_is_answered_by_the_contract_and_never_with_a_fault(tmp_path: Path) -> None:
    """Each row answers at times, each refusal is one of its row under its own status, and none is a fault."""
    ledger: Counter[str] = Counter()
    wrong: list[str] = []
    found: list[str] = []
    with house(tmp_path / "box", VISIT, TALK, mails_per_recipient_per_day=0) as made:
        config = schemathesis.Config.from_dict(
            {
                "seed": SEED,
                "base-url": made.url,
                "request-timeout": 20.0,
                "generation": {"max-examples": EXAMPLES, "database": "none"},
                "phases": {"stateful": {"enabled": False}},
            }
        )
        assert made.box("lease", {"holder": "home", "secs": 600}).status == 200
        with _hooked(made, ledger, wrong):
            schema = schemathesis.openapi.from_dict(_document(), config=config)
            for event in from_schema(schema).execute():
                if isinstance(event, events.NonFatalError):
                    found.append(f"{event.label}: {event.info.title}: {event.info.message}")
                elif isinstance(event, events.FatalError):
                    raise event.exception
        assert (wrong[:10], found[:10]) == ([], [])
        assert sum(ledger.values()) > 100, ledger
        assert {name.partition(" ")[0] for name in ledger} >= INTAKE_OPERATIONS.keys(), ledger
        assert made.get("/f/visit").status == 200
        assert '"level":"error"' not in made.log_file.read_text()
