"""Text that others wrote, as it may be shown: anybody who may publish or register wrote it."""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""Control characters, marks of direction, ends of lines."""

_JOINERS = "\u200c\u200d"
"""That Persian, Hindi and emoji are written with."""

_FEW = 32
"""Characters that are sought one after the other in less time than each of a text is looked at."""


def visible(text: str, kept: str = "") -> str:
    r"""A text without what a terminal or a browser would obey or hide, a dot in place of each character that is not
    ``kept``.

    >>> visible("Zürich 🚀 \x1b[31mred\n")
    'Zürich 🚀 ·[31mred·'
    >>> visible("a\u202eb\x00\n", kept="\n\t")
    'a·b·\n'
    """
    if text.isprintable():
        return text
    stays = _JOINERS + kept
    # Each character is looked up once, however often it stands there: what others wrote may be long.
    hidden = [char for char in set(text) if char not in stays and unicodedata.category(char) in _HIDDEN]
    if len(hidden) > _FEW:
        return text.translate(dict.fromkeys(map(ord, hidden), "·"))
    for char in hidden:
        text = text.replace(char, "·")
    return text
