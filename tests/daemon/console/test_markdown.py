"""Markdown of strangers on a page: readable, inert, bounded."""

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from types import FrameType

import pytest

from mail4agent_core.outbox.shown import hidden
from mail4agent_daemon.console.markdown import LINES_MAX, MARKDOWN_MAX_BYTES, MARKS_MAX, is_plain, rendered

#: Calls of Python functions that any text may take; an ordinary letter of 64 KiB takes about a tenth.
CALLS_MAX = 1_500_000
TAGS = {
    "p",
    "br",
    "hr",
    "h3",
    "h4",
    "h5",
    "h6",
    "blockquote",
    "ul",
    "ol",
    "li",
    "pre",
    "code",
    "em",
    "strong",
    "a",
    "span",
}

HOSTILE = [
    "<script>alert(1)</script>",
    "<svg onload=alert(1)><circle/></svg>",
    "<img src=x onerror=alert(1)>",
    "<iframe src=http://evil.example></iframe>",
    "<a href='javascript:alert(1)' style='position:fixed'>x</a>",
    "<!-- --!><script>alert(1)</script> -->",
    "<math><mi><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java&Tab;script:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](%6aavascript:alert(1))",
    "[x](\\javascript:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](/console/outbox/release)",
    "[x](//evil.example)",
    "[x](https:evil)",
    "[x][r]\n\n[r]: javascript:alert(1)",
    "<javascript:alert(1)>",
    '[x](http://e.example/"onmouseover="alert(1))',
    '[x](http://e.example "\\" onmouseover=alert(1)")',
    "![x](http://e.example/p.png)",
    "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
    '``` "onclick=alert(1)\ncode\n```',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
]


class Seen(HTMLParser):
    """What a browser would find."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.promise("console.strange-text-is-inert")
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_keeps_nothing_that_acts(text: str):
    """Only tags of text are left, and only links to the web or to a mailbox, never to the console."""
    for tag, attrs in Seen(rendered(text)).tags:
        assert tag in TAGS
        assert attrs.keys() <= {"a": {"href", "rel"}, "span": {"class"}, "ol": {"start"}}.get(tag, set())
        if "href" in attrs:
            assert re.match(r"https?://e\.example", attrs["href"] or "")
            assert attrs["rel"] == "noopener noreferrer nofollow"


def test_a_letter_is_rendered_as_commonmark():
    """Headings below the page's own, lists, quotes, code and emphasis."""
    html = rendered("# Plan\n\n1. *one*\n2. `two`\n\n> said\n\n```\nx < y\n```\n**end**")
    for part in ("<h3>Plan</h3>", "<em>one</em>", "<code>two</code>", "<blockquote>", "x &lt; y"):
        assert part in html


def test_a_link_tells_where_it_goes():
    """A text that names another address than its target hides nothing; a name in other letters is spelt."""
    html = rendered("[https://good.example](https://evil.example) <https://plain.example>")
    assert "(https://evil.example)" in html
    assert html.count("goes-to") == 1
    assert "xn--80ak6aa92e" in rendered("[x](http://аррӏе.example)")  # noqa: RUF001  the letters are the attack


def test_a_picture_is_a_link_that_nobody_fetches():
    """No img tag comes of any Markdown."""
    assert "<img" not in rendered("![a](http://e.example/p.png) ![b][r]\n\n[r]: http://e.example/q.png")


@pytest.mark.promise("console.what-is-shown-is-there")
@pytest.mark.parametrize(
    "text", ["a\u202eb", "a&#x202e;b", "a&#8203;b", "a\u0000b", "a\u2066b", "`a\u200bb`"]
)
def test_hidden_characters_are_numbers(text: str):
    """Characters that turn or hide text, written plainly or as entities, are shown as numbers."""
    html = rendered(text)
    assert hidden(html) == 0
    assert "\\u{" in html


SHAPES: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "links": lambda n: "[](" * (n // 3),
    "opened links": lambda n: "[a](<b" * (n // 6),
    "stars": lambda n: "*a_" * (n // 3),
    "strong": lambda n: "**a *b" * (n // 6),
    "rising backticks": lambda n: "".join("`" * i + "a" for i in range(1, int((2 * n) ** 0.5))),
    "quotes": lambda n: ">" * n,
    "nested lists": lambda n: "".join("  " * i + "- a\n" for i in range(int(n**0.5))),
    "lists in a line": lambda n: "- " * (n // 2),
    "lines": lambda n: "x\n\n" * (n // 3),
    "entities": lambda n: "&amp;" * (n // 5),
    "comments": lambda n: "<!--" * (n // 4),
    "references": lambda n: "[a]: http://e.example\n\n" + "[a] " * (n // 4),
    "hidden": lambda n: "\u202e" * (n // 3),
    "one line": lambda n: "a" * n,
    "spaces": lambda n: " " * n + "a",
}


@pytest.mark.promise("console.strange-text-is-inert")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", ["whole", "fitting"])
def test_no_text_costs_more_than_a_bound(shape: str, size: str):
    """Deep nesting and what other renderers take quadratic time for end within a count of calls."""
    text = SHAPES[shape](MARKDOWN_MAX_BYTES)
    if size == "fitting":
        low, high = 0, MARKDOWN_MAX_BYTES
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_plain(SHAPES[shape](middle)) else (middle, high)
        text = SHAPES[shape](low)
    calls = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        html = rendered(text)
    finally:
        sys.setprofile(None)
    assert calls < CALLS_MAX
    assert html


def test_what_is_past_the_bounds_is_shown_as_its_source():
    """A text with too many lines, marks or bytes is one block of text, whole."""
    for text in ("x\n" * (LINES_MAX + 1), "*" * (MARKS_MAX + 1), "b" * (MARKDOWN_MAX_BYTES + 1)):
        assert rendered(text) == f"<pre>{text}</pre>"
    assert rendered("<b>" * MARKS_MAX).startswith("<pre>&lt;b&gt;")
