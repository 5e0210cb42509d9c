"""Plain HTTP to the MCP door, in both eras of the protocol: no client of anybody's stands between."""

import json
from dataclasses import dataclass
from typing import Any

from tests.daemon.running import Answer, Daemon

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022


def message(method: str, params: Any = None, named: Any = 1) -> dict[str, Any]:
    """A request, a notification where ``named`` is None."""
    out: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if named is not None:
        out["id"] = named
    if params is not None:
        out["params"] = params
    return out


def modern(method: str, params: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """A request of the stateless era, and the headers that repeat it."""
    given = params or {}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if "name" in given:
        headers["Mcp-Name"] = given["name"]
    return message(method, {**given, "_meta": META}), headers


@dataclass
class Talk:
    """Talks to one daemon's door."""

    daemon: Daemon

    def post(self, value: object, account: str = "ada", **headers: str) -> Answer:
        """Post a message, or bytes as they are."""
        return self.daemon.post("/mcp", value, account, **headers)

    def ask(self, method: str, params: Any = None, account: str = "ada", **headers: str) -> Any:
        """The result of a request of the handshake era."""
        answer = self.post(message(method, params), account, **headers)
        assert answer.status == 200, answer.body
        return answer.json["result"]

    def ask_modern(self, method: str, params: Any = None, account: str = "ada") -> Any:
        """The result of a request of the stateless era."""
        value, headers = modern(method, params)
        answer = self.post(value, account, **headers)
        assert answer.status == 200, answer.body
        return answer.json["result"]

    def call(self, tool: str, account: str = "ada", /, **arguments: Any) -> Any:
        """What a tool gives, its text being the same JSON."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments}, account)
        assert result["isError"] is False, result
        (content,) = result["content"]
        assert json.loads(content["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def refused(self, tool: str, account: str = "ada", /, **arguments: Any) -> tuple[str, Any]:
        """How a tool refuses: the plain text, and the wire object beside it."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments}, account)
        assert result["isError"] is True, result
        assert "structuredContent" not in result
        (content,) = result["content"]
        return content["text"], result["_meta"]["mail4agent/refusal"]

    def tools(self, account: str = "ada") -> list[dict[str, Any]]:
        """The tools that an account is shown."""
        return self.ask("tools/list", account=account)["tools"]
