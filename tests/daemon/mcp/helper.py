"""A short-lived program that asks, through the MCP door, whom it acts for: ``helper.py port secret``."""

import http.client
import json
import sys


def main() -> None:
    """Print the address."""
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=20)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "m4a_mail_whoami"}}
    headers = {
        "Authorization": f"Bearer {sys.argv[2]}",
        "Content-Type": "application/json",
        "M4A-Session": "parent",
    }
    connection.request("POST", "/mcp", json.dumps(call), headers)
    print(json.loads(connection.getresponse().read())["result"]["structuredContent"]["address"])  # noqa: T201
    connection.close()


if __name__ == "__main__":
    main()
