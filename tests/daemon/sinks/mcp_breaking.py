"""An MCP server that breaks its protocol in its first call, as its argument says: flood, vanish or garble."""

import json
import os
import sys
from pathlib import Path

for line in sys.stdin:
    asked = json.loads(line)
    answer: dict[str, object] = {"jsonrpc": "2.0", "id": asked.get("id")}
    match asked["method"]:
        case "initialize":
            about = {"name": "breaking", "version": "0"}
            version = asked["params"]["protocolVersion"]
            answer["result"] = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "tools/call":
            Path(os.environ["TOLD"]).write_text(line)
            if sys.argv[1] == "flood":
                while True:
                    sys.stdout.write("x" * 65_536)
            if sys.argv[1] == "vanish":
                sys.exit(3)
            if sys.argv[1] == "chatter":
                sys.stdout.write("x\n" * 5_000)
            if sys.argv[1] in {"chatter", "unlisted"}:
                said = [{"type": "text", "text": "done"}]
                answer["result"] = {"content": said, "structuredContent": {"id": "msg_5"}}
            else:
                answer["result"] = {"content": "no list of anything"}
        case _ if "id" in asked:
            answer["error"] = {"code": -32601, "message": "not here"}
        case _:
            continue
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
