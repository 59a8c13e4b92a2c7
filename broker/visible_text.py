"""Safe display of untrusted text. Anybody who may publish records or register queries could have written such text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable

_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""The Unicode categories of the characters to hide, for example control characters, direction marks and line
separators.
"""

_JOINERS = "\u200c\u200d"
"""The joining characters. They are not hidden, because Persian, Hindi and emoji use them."""

_JOINS_NOTHING = re.compile(f"(?<![\u0600-\u1fff\u2190-\U0010ffff])[{_JOINERS}]")
"""The pattern of a joiner after a character that is never joined. Such a joiner only makes one name look like another,
so it is hidden.
"""

_FEW = 32
"""The largest number of distinct characters to hide at which one search per character is faster than one pass over all
characters of a text.
"""


def visible(text: str, kept: str = "") -> str:
    r"""Return a text in which a dot replaces each character that a terminal or browser would obey or hide. The
    characters of ``kept`` are not replaced.

    >>> visible("Zürich 🚀 \x1b[31mred\n")
    'Zürich 🚀 ·[31mred·'
    >>> visible("a\u202eb\x00\n", kept="\n\t")
    'a·b·\n'
    """
    return _shown(text, kept, lambda char: "·")


def spelled(text: str, kept: str = "") -> str:
    r"""Return a text for a page. In place of each character that :func:`visible` would replace, the text has the number
    of the character.

    >>> print(spelled("a\u202eb\x00\n", kept="\n\t").rstrip())
    a\u202eb\x00
    """
    return _shown(text, kept, _number)


def spelled_json(text: str) -> str:
    r"""Return a JSON text of the same value. JSON escapes replace the characters that a terminal would obey or hide.

    >>> print(spelled_json('"a\u202eb"'))
    "a\u202eb"
    """
    return _shown(text, "\n", lambda char: json.dumps(char)[1:-1] if char > "\xff" else f"\\u{ord(char):04x}")


def _number(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _shown(text: str, kept: str, shown: Callable[[str], str]) -> str:
    if text.isprintable():
        return text
    stays = _JOINERS + kept
    # Each distinct character is looked up once, because texts from outside may be long.
    hidden = [char for char in set(text) if char not in stays and unicodedata.category(char) in _HIDDEN]
    if len(hidden) > _FEW:
        text = text.translate({ord(char): shown(char) for char in hidden})
    else:
        for char in hidden:
            text = text.replace(char, shown(char))
    return _JOINS_NOTHING.sub(lambda found: shown(found.group()), text)
