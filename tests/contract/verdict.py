"""What the contract says of one exchange over HTTP, judged by the oracle and the table of operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mail4agent_api.codec import decode
from mail4agent_api.errors import RefusalError, error_of
from mail4agent_api.mail import Refusal
from mail4agent_api.operations import OPERATIONS, Operation
from tests import oracle

ROWS = {row.path: row for row in OPERATIONS.values()}
#: What any request may be refused for. Kinds with a status of 5xx are in no such list: no input makes one.
ANYWHERE = frozenset(
    (
        "forbidden_host",
        "forbidden_origin",
        "malformed",
        "method_not_allowed",
        "request_too_large",
        "too_large",
        "unauthenticated",
        "unknown_path",
        "unsupported_media_type",
    )
)
#: Those of a record that a submission must not have: they are only said at home.
_OURS = {
    "extraction", "extraction_error", "triage_session", "outbox", "note", "note_by_person", "box_seq",
    "box_epoch", "box_digest",
}  # fmt: skip
#: Valid requests that the state of the registry makes impossible are malformed in these fields.
STATE = {
    "frontdoor.ingest": {
        *_OURS,
        "state",
        "time",
        "attachments",
        "files",
        "size",
        "sha256",
        "data",
        "values",
        "record",
        "seq",
    },
    "frontdoor.get": {"seq"},
    "frontdoor.extract": {"seq"},
    "frontdoor.triaged": {"seq"},
    "frontdoor.needs_info": {"seq"},
    "frontdoor.close": {"seq"},
    "frontdoor.reopen": {"seq"},
    "admin.participant.permit": {"both", "participant id"},
    "admin.participant.purge": {"participant id"},
    "admin.participant.remove": {"participant id"},
    "admin.participant.revoke": {"participant id"},
    # What a schema cannot say of a note: blanks, the rules of a criterion, two fields together, real dates.
    "note.deliver": {"text", "criterion", "persist"},
    "note.events": {"started_at"},
    # What only the settings say of a tool, and what a sink carries.
    "outbox.stage": {"tool", "args", "workspace"},
    "outbox.supersede": {"tool", "args", "workspace"},
    "outbox.edit": {"tool", "args", "id"},
    "outbox.release": {"tool", "args"},
    "outbox.withdraw": {"reason"},
    "outbox.settle": {"id"},
}


#: The paths without a credential; they answer GET and HEAD.
PAGES = frozenset(("/health", "/metrics"))
#: The names of a daemon on loopback.
NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as it was sent and what came back. Header names are in lower case."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    status: int
    answer_headers: tuple[tuple[str, str], ...]
    answer: bytes

    def header(self, name: str) -> list[str]:
        """The values of a header that was sent."""
        return [value for each, value in self.headers if each == name]

    def answered(self, name: str) -> list[str]:
        """The values of a header that came back."""
        return [value for each, value in self.answer_headers if each == name]


def named_refusal(status: int, answer: bytes) -> RefusalError:
    """The refusal that an answer is. Raises AssertionError for a status not its kind's, and for 5xx."""
    assert 400 <= status < 500, f"status {status}: {answer[:300]!r}"
    refusal = error_of(decode(Refusal, answer))
    assert refusal.status == status, f"{refusal.kind} came with status {status}"
    assert oracle.decodes("Refusal", answer), f"the oracle knows no such refusal: {answer!r}"
    return refusal


def judge(exchange: Exchange, secret: str, port: int) -> str | None:
    """Hold an exchange with a daemon on ``port``, where only ``secret`` opens, to the contract.

    Returns the refusal's kind. Raises AssertionError.
    """
    if exchange.method == "HEAD":
        assert not exchange.answer
        assert exchange.status in ({200, 403, 421} if exchange.path in PAGES else {403, 404, 405, 413, 421})
        return None
    assert exchange.answered("content-type") == ["application/json"] or exchange.path == "/metrics"
    assert len(exchange.answered("x-request-id")) == 1
    row = ROWS.get(exchange.path)
    kind = None
    if exchange.status >= 300:
        kind = _refused(exchange, row)
    expected = _expected(exchange, row, secret, port)
    if expected is None:
        assert kind is None or row is None or kind in row.refusals or _of_the_state(exchange, row), (
            f"a valid request was refused as {kind}: {exchange.answer!r}"
        )
        if kind is None and row is not None:
            _answered(exchange, row)
    else:
        assert kind in expected, (
            f"{kind or exchange.status} came where {sorted(expected)} was due: {exchange.answer[:300]!r}"
        )
    return kind


def _refused(exchange: Exchange, row: Operation | None) -> str:
    refusal = named_refusal(exchange.status, exchange.answer)
    allowed = ANYWHERE | frozenset(row.refusals if row else ())
    assert refusal.kind in allowed, f"{exchange.path} may not answer {refusal.kind}"
    if refusal.status == 401:
        assert exchange.answered("www-authenticate") == ["Bearer"]
    if refusal.status == 405:
        method = row.method if row else "GET"
        assert exchange.answered("allow") == ["GET, HEAD" if method == "GET" else method]
    return refusal.kind


def _answered(exchange: Exchange, row: Operation) -> None:
    assert exchange.status == 200
    decode(row.response, exchange.answer)
    assert oracle.decodes(row.response.__name__, exchange.answer), "the oracle does not know the answer"


def _expected(exchange: Exchange, row: Operation | None, secret: str, port: int) -> frozenset[str] | None:
    """The kinds of which one is due, in the order in which a request is looked at; None for a valid one."""
    if not _is_ours(exchange.header("host"), port):
        return frozenset(("forbidden_host",))
    if not all(
        origin.lower() in {f"http://{name}:{port}" for name in NAMES} for origin in exchange.header("origin")
    ):
        return frozenset(("forbidden_origin",))
    if row is None:
        return None if exchange.path == "/metrics" else frozenset(("unknown_path",))
    if exchange.method != row.method:
        return frozenset(("method_not_allowed",))
    if not row.authenticated:
        return None
    if not _authenticates(exchange.header("authorization"), secret):
        return frozenset(("unauthenticated",))
    if exchange.query:
        return frozenset(("malformed",))
    if not row.lenient_body and not _is_json(exchange.header("content-type")):
        return frozenset(("unsupported_media_type",))
    assert row.request is not None
    body = exchange.body or (b"{}" if row.lenient_body else b"")
    return None if oracle.decodes(row.request.__name__, body) else frozenset(("malformed", "too_large"))


def _is_ours(hosts: list[str], port: int) -> bool:
    return len(hosts) == 1 and hosts[0].lower() in {*NAMES, *(f"{name}:{port}" for name in NAMES)}


def _authenticates(values: Iterable[str], secret: str) -> bool:
    presented = list(values)
    if len(presented) != 1:
        return False
    scheme, _, rest = presented[0].partition(" ")
    return scheme.lower() == "bearer" and rest.strip(" ") == secret


def _is_json(values: list[str]) -> bool:
    kind, _, parameters = values[0].lower().partition(";") if len(values) == 1 else ("", "", "")
    return kind.strip() == "application/json" and parameters.strip().replace('"', "") in {"", "charset=utf-8"}


def _of_the_state(exchange: Exchange, row: Operation) -> bool:
    refusal = decode(Refusal, exchange.answer)
    return refusal.kind in {"malformed", "too_large"} and refusal.field in STATE.get(row.name, ())
