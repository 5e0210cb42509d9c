"""The MCP door: the operations that have a tool, for agents that speak the Model Context Protocol.

The official SDK carries the protocol (``carrier``), imported with the first request. Around it stand the
checks of every door and of JSON-RPC (``door``, ``rpc``), and what turns a tool call into the call of an
operation and its answer into a reply that a model can take (``tools``, ``conversions``, ``enclosure``,
``replies``).
"""
