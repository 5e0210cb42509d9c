"""What a stranger or an agent wrote, as Markdown on a page: CommonMark without HTML, then an allow-list.

A page shows what is there: a hidden character is its number (``shown``), a picture is a link that is never
fetched, and a link tells where it goes.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from mail4agent_core.outbox.shown import shown, unhidden

#: Longer texts are not parsed, nor those with more lines or more characters that rules pair up: some rules
#: look back over all that came before.
MARKDOWN_MAX_BYTES: Final = 65_536
LINES_MAX: Final = 2_048
MARKS_MAX: Final = 2_048
_MARKS = re.compile(r"[\[\]*_`<>!&|\\]")
_LEADERS = re.compile(r"^[ \t]*(?:(?:[>*+-]|[0-9]{1,9}[.)])[ \t]*){16,}", re.MULTILINE)
_SCHEMES: Final = frozenset(("http", "https", "mailto"))
_LINK = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
_TAGS: Final = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li"),
    *("pre", "code", "em", "strong", "a", "span"),
}
_ATTRIBUTES: Final = {"a": {"href"}, "ol": {"start"}}
_CLASSES: Final = {"span": {"goes-to"}}
#: A heading of a body stands below those of the page: h1 and h2 are the page's own.
_HEADINGS: Final = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False, "typographer": False})
    # A picture would be fetched, and its fetching tells who reads. Without the rule it is a "!" and a link.
    markdown.disable("image")
    markdown.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
    return markdown


_MARKDOWN: Final = _markdown()


def is_plain(text: str) -> bool:
    """Whether a text is too large or too deep to be parsed in a moment; it is shown as its source then."""
    return (
        len(text.encode("utf-8", "surrogatepass")) > MARKDOWN_MAX_BYTES
        or text.count("\n") > LINES_MAX
        or sum(1 for _ in _MARKS.finditer(text)) > MARKS_MAX
        or _LEADERS.search(text) is not None
    )


def rendered(text: str) -> str:
    """The text as HTML that may stand in a page as it is: inert, self-contained, without hidden characters.

    What ``is_plain`` is one block of source.
    """
    # The name of a host stays what it is until the parser has spelt it.
    text = unhidden(text)
    if is_plain(text):
        return f"<pre>{escape(shown(text), quote=False)}</pre>"
    tokens = _MARKDOWN.parse(text)
    _tell_targets(tokens)
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=set(_SCHEMES),
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    # An entity of the source, &#x202e;, is a character only by now.
    return shown(clean)


def _tell_targets(tokens: Sequence[Token]) -> None:
    """Lower the headings, and put behind each link where it goes, unless that is what it says."""
    for piece in tokens:
        piece.tag = _HEADINGS.get(piece.tag, piece.tag)
        if piece.children:
            piece.children = _with_targets(piece.children)


def _with_targets(tokens: Sequence[Token]) -> list[Token]:
    told: list[Token] = []
    target, said = "", ""
    for piece in tokens:
        told.append(piece)
        if piece.type == "link_open":
            target, said = str(piece.attrs.get("href", "")), ""
            piece.attrs = {"href": target}
        elif piece.type == "link_close":
            if target not in (said, f"mailto:{said}"):
                told += _goes_to(target)
        else:
            said += piece.content
    return told


def _goes_to(target: str) -> list[Token]:
    opened = Token("target_open", "span", 1, attrs={"class": "goes-to"})
    return [opened, Token("text", "", 0, content=f" ({target})"), Token("target_close", "span", -1)]
