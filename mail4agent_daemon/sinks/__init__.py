"""Where released drafts go: mail, SMTP, HTTP, MCP, a command. Each keeps the port of ``core.outbox.sink``.

A sink says one of three things of an attempt. It returns: the far side took it. It raises ``NotSentError``:
certainly nothing left. It raises anything else: nobody knows, and a person settles it. What a far side writes
is a stranger's text: it is cut and cleaned before it is kept.
"""
