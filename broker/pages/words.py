"""Texts on pages whose long words are not broken over lines and do not exceed the available width."""

from __future__ import annotations

import re

from markupsafe import Markup

from broker.pages.markup import element, joined

_SHORT = 12
"""The largest number of characters of a word that fits into every column of a page."""

_SPACES = re.compile(r"(\s+)")
_COMMAS = re.compile(r"(?<=,)(?=\S)")


def words(text: object) -> Markup:
    """Return a text in which a long word is truncated if it does not fit. Its title contains the whole word.

    >>> words("flights at late")
    Markup('flights at late')
    >>> words("flights-0-17 at late")
    Markup('<span class="cut" title="flights-0-17">flights-0-17</span> at late')
    """
    return joined(*(_cut(word) if _is_long(word) else word for word in _SPACES.split(str(text))))


def whole(text: object) -> Markup:
    """Return a text in which a long word can be scrolled if it does not fit.

    A page that is the only one to show the whole word uses this function.

    >>> whole("late-arrivals")
    Markup('<span class="scroll" tabindex="0" title="late-arrivals">late-arrivals</span>')
    """
    return joined(*(_scrolled(word) if _is_long(word) else word for word in _SPACES.split(str(text))))


def folded(text: object) -> Markup:
    """Return a text of several lines that a browser may break after each comma, such as JSON without spaces.

    >>> folded('{"a":1,"b":2}')
    Markup('{&#34;a&#34;:1,<wbr/>&#34;b&#34;:2}')
    """
    first, *more = _COMMAS.split(str(text))
    return joined(first, *(part for each in more for part in (element("wbr"), each)))


def _is_long(word: str) -> bool:
    # A browser breaks a line behind a hyphen or a slash as well.
    return len(word) > _SHORT or "-" in word or "/" in word


def _cut(word: str) -> Markup:
    return element("span", {"class": "cut", "title": word}, word)


def _scrolled(word: str) -> Markup:
    if len(word) <= _SHORT:
        return element("span", {"class": "unbroken"}, word)
    return element("span", {"class": "scroll", "tabindex": 0, "title": word}, word)
