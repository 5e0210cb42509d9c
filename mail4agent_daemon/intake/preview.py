"""A form as strangers will see it, in one file that needs no server and sends nothing anywhere."""

from __future__ import annotations

import base64
import hashlib

from mail4agent_core.frontdoor.manifest import Form

from .pages import Pages

_STYLE = '<link rel="stylesheet" href="/intake.css">'
_SCRIPT = '<script src="/intake.js" defer></script>'


def previewed(form: Form, language: str = "en") -> bytes:
    """The page of the intake, with its style and its script within. Its button does nothing."""
    pages = Pages("https://preview.invalid", language)
    text = bytes(pages.form(form).body).decode()
    style = pages.assets["/intake.css"].decode()
    script = pages.assets["/intake.js"].decode()
    # Whatever the page asks for, a browser that opens it fetches, runs and sends nothing else.
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:;"
        " form-action 'none'; base-uri 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>'
    for part in (_STYLE, _SCRIPT, "</body>"):
        if text.count(part) != 1:
            raise AssertionError("unreachable: the templates have each of them once")
    # The script looks at the form, which stands above it then.
    text = text.replace(_SCRIPT, "").replace("</body>", f"<script>{script}</script>\n</body>")
    return text.replace(_STYLE, head).encode("utf-8", "replace")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
