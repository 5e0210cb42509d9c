"""The wire, byte by byte: what each kind of request to the door gets, in both eras of the protocol."""

import json
from typing import Any

import pytest

from .talk import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY,
    META,
    METHOD_NOT_FOUND,
    MODERN,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Talk,
    message,
    modern,
)

LIST = message("tools/list")
CALL = {"name": "m4a_mail_whoami"}


def judged(answer: Any) -> tuple[int, int | str | None]:
    """The status, and the code of a JSON-RPC error, the kind of a refusal, or nothing."""
    if not answer.body:
        return answer.status, None
    value = answer.json
    return answer.status, value["error"]["code"] if "error" in value else value.get("kind")


def case(what: str, *given: Any) -> Any:
    """One row of the matrix, named."""
    return pytest.param(*given, id=what)


@pytest.mark.promise("mcp.requests-are-judged-in-one-order")
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        case("no secret", {"Authorization": ""}, (401, "unauthenticated")),
        case("a wrong secret", {"Authorization": "Bearer " + "0" * 64}, (401, "unauthenticated")),
        case("another scheme", {"Authorization": "Basic YTpi"}, (401, "unauthenticated")),
        case("an origin that is not ours", {"Origin": "http://evil.example"}, (403, "forbidden_origin")),
        case("the origin null", {"Origin": "null"}, (403, "forbidden_origin")),
        case("another host", {"Host": "evil.example"}, (421, "forbidden_host")),
        case("our host without a port", {"Host": "localhost"}, (200, None)),
        case("a text", {"Content-Type": "text/plain"}, (415, "unsupported_media_type")),
        case("JSON of another charset", {"Content-Type": "application/json; charset=latin-1"},
             (415, "unsupported_media_type")),
        case("JSON in capitals", {"Content-Type": "Application/JSON; charset=UTF-8"}, (200, None)),
        case("a packed body", {"Content-Encoding": "gzip"}, (415, "unsupported_media_type")),
        case("any accept", {"Accept": "*/*"}, (200, None)),
        case("only a stream accepted", {"Accept": "text/event-stream"}, (200, None)),
        case("a session id", {"Mcp-Session-Id": "abc"}, (200, None)),
        case("a stranger's session", {"M4A-Session": "s-0123456789abcdef"}, (400, "malformed")),
        *(case(f"version {version}", {"MCP-Protocol-Version": version}, (200, None)) for version in LEGACY),
        case("an unknown version", {"MCP-Protocol-Version": "2031-01-01"}, (400, INVALID_PARAMS)),
        case("an empty version", {"MCP-Protocol-Version": ""}, (400, INVALID_PARAMS)),
    ],
)  # fmt: skip
def test_headers_are_judged(talk: Talk, headers: dict[str, str], expected: tuple[int, Any]) -> None:
    """A handshake-era request with one header changed."""
    assert judged(talk.post(LIST, **headers)) == expected


@pytest.mark.promise("mcp.requests-are-judged-in-one-order")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        case("nothing", b"", (400, PARSE_ERROR)),
        case("no JSON", b"{", (400, PARSE_ERROR)),
        case("no UTF-8", b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', (400, PARSE_ERROR)),
        case("a key twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', (400, PARSE_ERROR)),
        case("a number that is none", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', (400, PARSE_ERROR)),
        case("half a surrogate", b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', (400, PARSE_ERROR)),
        case("a mark before it", b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', (400, PARSE_ERROR)),
        case("too deep", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"[" * 300 + b"]" * 300
             + b"}}", (400, PARSE_ERROR)),
        case("a text", b'"ping"', (400, INVALID_REQUEST)),
        case("null", b"null", (400, INVALID_REQUEST)),
        case("a batch", json.dumps([LIST, LIST]).encode(), (400, INVALID_REQUEST)),
        case("an empty batch", b"[]", (400, INVALID_REQUEST)),
        case("no version of JSON-RPC", {"id": 1, "method": "ping"}, (400, INVALID_REQUEST)),
        case("another version of JSON-RPC", {**LIST, "jsonrpc": "1.0"}, (400, INVALID_REQUEST)),
        case("no method", {"jsonrpc": "2.0", "id": 1}, (400, INVALID_REQUEST)),
        case("an answer", {"jsonrpc": "2.0", "id": 1, "result": {}}, (400, INVALID_REQUEST)),
        case("a method that is a number", {**LIST, "method": 7}, (400, INVALID_REQUEST)),
        case("a method of 129 bytes", {**LIST, "method": "m" * 129}, (400, INVALID_REQUEST)),
        case("the id null", {**LIST, "id": None}, (400, INVALID_REQUEST)),
        case("the id true", {**LIST, "id": True}, (400, INVALID_REQUEST)),
        case("the id 1.5", {**LIST, "id": 1.5}, (400, INVALID_REQUEST)),
        case("the id 1.0", {**LIST, "id": 1.0}, (400, INVALID_REQUEST)),
        case("an id that is a list", {**LIST, "id": [1]}, (400, INVALID_REQUEST)),
        case("an id past 64 bits", {**LIST, "id": 2**64}, (400, INVALID_REQUEST)),
        case("an id of 257 bytes", {**LIST, "id": "i" * 257}, (400, INVALID_REQUEST)),
        case("params that are a list", {**LIST, "params": [1]}, (400, INVALID_PARAMS)),
        case("params that are a text", {**LIST, "params": "x"}, (400, INVALID_PARAMS)),
        case("an unknown method", message("tools/burn"), (200, METHOD_NOT_FOUND)),
        case("resources", message("resources/list"), (200, METHOD_NOT_FOUND)),
        case("prompts", message("prompts/list"), (200, METHOD_NOT_FOUND)),
        case("an unknown tool", message("tools/call", {"name": "m4a_mail_burn"}), (200, INVALID_PARAMS)),
        case("a tool without a name", message("tools/call", {}), (400, INVALID_PARAMS)),
        case("a name that is a number", message("tools/call", {"name": 7}), (400, INVALID_PARAMS)),
        case("a name with a line feed", message("tools/call", {"name": "m4a_mail_send\n"}),
             (200, INVALID_PARAMS)),
        case("arguments that are a list", message("tools/call", {**CALL, "arguments": []}),
             (400, INVALID_PARAMS)),
        case("arguments that are a text", message("tools/call", {**CALL, "arguments": "{}"}),
             (400, INVALID_PARAMS)),
        case("arguments null", message("tools/call", {**CALL, "arguments": None}), (200, None)),
        case("no arguments", message("tools/call", CALL), (200, None)),
        case("a ping", message("ping"), (200, None)),
        case("a notification", message("notifications/initialized", named=None), (202, None)),
        case("a cancellation", message("notifications/cancelled", {"requestId": 1}, None), (202, None)),
        case("an unknown notification", message("notifications/burn", named=None), (202, None)),
    ],
)  # fmt: skip
def test_messages_are_judged(talk: Talk, body: object, expected: tuple[int, Any]) -> None:
    """A handshake-era message of each kind, well formed and not."""
    answer = talk.post(body)
    assert judged(answer) == expected
    if expected[1] == PARSE_ERROR:
        assert answer.json["id"] is None


@pytest.mark.promise("mcp.requests-are-judged-in-one-order")
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        case("as it is", {}, (200, None)),
        case("another version in the header", {"MCP-Protocol-Version": "2026-07-29"}, (400, HEADER_MISMATCH)),
        case("another method in the header", {"Mcp-Method": "tools/list"}, (400, HEADER_MISMATCH)),
        case("no method in the header", {"Mcp-Method": None}, (400, HEADER_MISMATCH)),
        case("another name in the header", {"Mcp-Name": "m4a_mail_send"}, (400, HEADER_MISMATCH)),
        case("no name in the header", {"Mcp-Name": None}, (400, HEADER_MISMATCH)),
        case("the name in base64", {"Mcp-Name": "=?base64?bTRhX21haWxfd2hvYW1p?="}, (200, None)),
        case("broken base64", {"Mcp-Name": "=?base64?m4a!?="}, (400, HEADER_MISMATCH)),
    ],
)
def test_headers_must_repeat_the_body(
    talk: Talk, change: dict[str, str | None], expected: tuple[int, Any]
) -> None:
    """A request of the stateless era says its version, method and name twice, and alike."""
    value, headers = modern("tools/call", CALL)
    given = {name: text for name, text in {**headers, **change}.items() if text is not None}
    assert judged(talk.post(value, **given)) == expected


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        case("an unknown method", "tools/burn", {}, (404, METHOD_NOT_FOUND)),
        case("a ping", "ping", {}, (404, METHOD_NOT_FOUND)),
        case("initialize", "initialize", {}, (404, METHOD_NOT_FOUND)),
        case("a stream of changes", "subscriptions/listen", {"notifications": {}}, (404, METHOD_NOT_FOUND)),
        case("an unknown tool", "tools/call", {"name": "m4a_mail_burn"}, (400, INVALID_PARAMS)),
        case("a list", "tools/list", {}, (200, None)),
    ],
)
def test_the_stateless_era_answers_with_a_status(
    talk: Talk, method: str, params: dict[str, Any], expected: tuple[int, Any]
) -> None:
    """Errors of the protocol ride on 404 and 400, and what the era does not have is not there."""
    value, headers = modern(method, params)
    assert judged(talk.post(value, **headers)) == expected


@pytest.mark.promise("mcp.requests-are-judged-in-one-order")
@pytest.mark.parametrize(
    "meta",
    [
        case("nothing", None),
        case("a list", [META]),
        case("no version", {"io.modelcontextprotocol/clientCapabilities": {}}),
        case("no capabilities", {"io.modelcontextprotocol/protocolVersion": MODERN}),
        case("capabilities that are a list", {**META, "io.modelcontextprotocol/clientCapabilities": []}),
    ],
)
def test_a_request_of_the_stateless_era_says_its_version_and_capabilities(talk: Talk, meta: Any) -> None:
    """One whose _meta lacks them is refused, and no call is made."""
    value, headers = modern("tools/list")
    value["params"] = {} if meta is None else {"_meta": meta}
    assert judged(talk.post(value, **headers)) == (400, INVALID_PARAMS)


@pytest.mark.parametrize(
    ("method", "params"),
    [("server/discover", {}), ("tools/list", {}), ("tools/call", CALL)],
    ids=["discover", "list", "call"],
)
def test_a_result_of_the_stateless_era_is_complete_and_says_how_long_it_lasts(
    talk: Talk, method: str, params: dict[str, Any]
) -> None:
    """Every result names its type and the server; all but a call's says who may keep it, and how long."""
    found = talk.ask_modern(method, params)
    assert found["resultType"] == "complete"
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mail4agent"
    kept = {name: found[name] for name in ("ttlMs", "cacheScope") if name in found}
    assert kept == ({} if method == "tools/call" else {"ttlMs": 60_000, "cacheScope": "private"})


def test_a_version_that_is_not_served_is_told_which_are(talk: Talk) -> None:
    """-32022 with the list that discover gives, in which no version of the handshake is."""
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    headers = {"MCP-Protocol-Version": "2031-01-01", "Mcp-Method": "tools/list"}
    answer = talk.post(message("tools/list", {"_meta": meta}), **headers)
    assert judged(answer) == (400, UNSUPPORTED_VERSION)
    supported = answer.json["error"]["data"]["supported"]
    assert supported == talk.ask_modern("server/discover")["supportedVersions"] == [MODERN]


def test_a_body_of_the_stateless_era_without_its_header_is_one_of_the_handshake(talk: Talk) -> None:
    """The era is the header's to say."""
    value, _ = modern("ping")
    assert judged(talk.post(value)) == (200, None)


@pytest.mark.parametrize("version", LEGACY)
def test_a_known_version_is_agreed_to(talk: Talk, version: str) -> None:
    """The handshake answers with the version that was asked for, our name and how to read mail."""
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    found = talk.ask("initialize", hello)
    assert found["protocolVersion"] == version
    assert found["serverInfo"]["name"] == "mail4agent"
    assert found["instructions"].count(". ") <= 1
    assert found["capabilities"] == {"tools": {"listChanged": False}}


def test_an_unknown_version_gets_the_newest_of_the_handshake(talk: Talk) -> None:
    """A client that asks for what there is not may go on with what there is."""
    hello = {"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert talk.ask("initialize", hello)["protocolVersion"] == LEGACY[-1]


def test_no_session_is_opened(talk: Talk) -> None:
    """No answer carries a session id, so none can be taken over."""
    hello = {"protocolVersion": LEGACY[-1], "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert "mcp-session-id" not in talk.post(message("initialize", hello)).headers


@pytest.mark.parametrize("named", [0, -1, 2**63 - 1, "", "a\nb", "i" * 256, "\U0001f600"])
def test_an_id_comes_back_as_it_was(talk: Talk, named: int | str) -> None:
    """Integers exactly, texts with whatever they hold."""
    assert talk.post(message("ping", named=named)).json["id"] == named


def test_a_call_without_an_id_is_not_carried_out(talk: Talk) -> None:
    """A notification named tools/call sends nothing."""
    arguments = {"to": "ben", "subject": "unasked", "body": "b"}
    answer = talk.post(message("tools/call", {"name": "m4a_mail_send", "arguments": arguments}, None))
    assert judged(answer) == (202, None)
    assert "unasked" not in json.dumps(talk.daemon.inbox("ben"))


@pytest.mark.promise("mcp.one-path-one-method")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_only_post_is_served(talk: Talk, method: str) -> None:
    """Any other method is refused, to whoever shows a secret; nobody else learns that much."""
    known = talk.daemon.ask(method, "/mcp", headers={"Authorization": f"Bearer {talk.daemon.keys['ada']}"})
    assert (known.status, known.headers["allow"]) == (405, "POST")
    assert talk.daemon.ask(method, "/mcp").status == 401


@pytest.mark.promise("mcp.one-path-one-method")
@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/mcp/",
        "/mcp/sse",
    ],
)
def test_a_client_that_looks_for_oauth_finds_nothing(talk: Talk, path: str) -> None:
    """Plain 404 without a credential, whatever the method: no page and no 401 that would lead it on."""
    assert [talk.daemon.ask(method, path, b"{}").kind for method in ("GET", "POST")] == ["unknown_path"] * 2


@pytest.mark.promise("mcp.one-path-one-method")
def test_a_wrong_secret_is_told_so_in_words_that_start_no_oauth(talk: Talk) -> None:
    """A short JSON object, and a challenge that names no metadata."""
    answer = talk.daemon.ask("POST", "/mcp", b"{}", {"Authorization": "Bearer x"})
    assert answer.json == {"kind": "unauthenticated"}
    assert answer.headers["www-authenticate"] == 'Bearer realm="mail4agent", error="invalid_token"'


def test_a_body_past_the_bound_is_refused_by_its_size(talk: Talk) -> None:
    """2 MiB and one byte, which is not read."""
    answer = talk.post(b" " * 2_097_153)
    assert answer.json == {"kind": "request_too_large", "limit": 2_097_152}


def test_a_query_is_refused(talk: Talk) -> None:
    """A path is taken to the letter."""
    headers = {"Authorization": f"Bearer {talk.daemon.keys['ada']}", "Content-Type": "application/json"}
    assert talk.daemon.ask("POST", "/mcp?secret=1", json.dumps(LIST).encode(), headers).kind == "malformed"


def test_no_answer_is_kept_by_a_cache(talk: Talk) -> None:
    """Neither a result nor a refusal of the protocol."""
    answers = [talk.post(LIST), talk.post(b"{"), talk.post(message("tools/burn"))]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


@pytest.mark.promise("mcp.requests-are-judged-in-one-order")
def test_what_is_wrong_first_is_said_first(talk: Talk) -> None:
    """A request with everything wrong is mended one thing at a time, in the order of the checks."""
    wrong = {
        "Host": "evil.example",
        "Origin": "null",
        "Authorization": "Bearer x",
        "Content-Type": "text/plain",
    }
    body = json.dumps({**LIST, "id": None}).encode()
    found: list[Any] = []
    right = {"Authorization": f"Bearer {talk.daemon.keys['ada']}", "Content-Type": "application/json"}
    method = "PUT"
    for mended in (*wrong, None):
        given = dict(wrong)
        found.append(judged(talk.daemon.ask(method, "/mcp", body, given))[1])
        if mended == "Authorization":
            wrong[mended] = right[mended]
            found.append(judged(talk.daemon.ask(method, "/mcp", body, wrong))[1])
            method = "POST"
        elif mended == "Content-Type":
            wrong[mended] = right[mended]
        elif mended is not None:
            del wrong[mended]
    expected = ["forbidden_host", "forbidden_origin", "unauthenticated", "method_not_allowed"]
    assert found == [*expected, "unsupported_media_type", INVALID_REQUEST]
