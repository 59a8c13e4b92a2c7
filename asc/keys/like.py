"""LIKE patterns that the engine matches without Spark: literal segments, encoded as one byte string per pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asc.keys.byte_strings import quoted

if TYPE_CHECKING:
    from asc.keys.attribute import PAttribute

ANY = b"\xff"
"""The byte for ``%`` in the key of a LIKE pattern; UTF-8 text never has this byte."""

SEPARATOR = b"\xfe\xfd"
"""The bytes between the elements of an array that is matched as a text; UTF-8 text never has these bytes."""

NULL_ELEMENT = b"\xfc"
"""The byte for an array element that is NULL."""

_DECODED_AS = "\N{REPLACEMENT CHARACTER}"
_BEYOND_16_BITS = "\uffff"
_BEFORE, _AFTER = ANY + SEPARATOR, SEPARATOR + ANY


@dataclass(frozen=True, slots=True)
class Elements:
    """An array whose elements are matched as one text.

    ``array``: the array as SQL. ``is_text``: whether the elements are strings.
    """

    array: str
    is_text: bool

    def asks(self, key: bytes) -> str:
        """Return the SQL condition that a pattern represents: the array contains an element. ``key``: the key of the
        pattern.
        """
        element = key[len(_BEFORE) : -len(_AFTER)]
        if element == NULL_ELEMENT:
            return f"exists({self.array}, e -> e IS NULL)"
        return f"array_contains({self.array}, {quoted(element.decode()) if self.is_text else element.decode()})"

    def text(self, value: bytes) -> str:
        """Return a readable text of an array, such as ``[1, NULL]``. ``value``: the elements of the array, encoded as
        one text.
        """
        elements = value.split(SEPARATOR)[1:-1]
        return f"[{', '.join(self._text(element) for element in elements)}]"

    def _text(self, element: bytes) -> str:
        if element == NULL_ELEMENT:
            return "NULL"
        plain = element.decode(errors="backslashreplace")
        return quoted(plain) if self.is_text else plain


@dataclass(frozen=True, slots=True)
class Like:
    """A match of the values of a p-attribute, the ``subject``, with a LIKE pattern. The engine computes the result as a
    boolean p-attribute.

    ``key``: the literal segments of the pattern in UTF-8, with ``ANY`` between two segments. ``ANY`` is also before the
    first segment, or after the last one, if any text may be there. Invariant: there is at least one segment, no segment
    is empty, and ``ANY`` is never repeated. A pattern without ``ANY``, or with ``ANY`` only at its end, is represented
    as an interval of the subject instead.
    """

    subject: PAttribute
    key: bytes


def like_key(parts: Sequence[str | None]) -> bytes | None:
    r"""Return the key of a LIKE pattern. ``parts``: its literal texts, with None for each ``%``
    (``asc.predicate.regex.like_pattern``). Return None if the engine cannot match the pattern.

    The engine cannot match patterns with ``_`` and patterns without a literal. Spark decodes a text before it matches
    the text with a pattern. So the engine also refuses patterns that may match differently in Spark if the text is not
    UTF-8 or has a character of more than 16 bits.

    >>> like_key([None, "port ", None, " down"])
    b'\xffport \xff down'
    """
    literals = [part for part in parts if part is not None]
    if not literals or "" in literals:
        return None
    if any(character > _BEYOND_16_BITS or character == _DECODED_AS for part in literals for character in part):
        return None
    return b"".join(ANY if part is None else part.encode() for part in parts)


def element_key(element: str | None) -> bytes:
    """Return the key of the pattern that matches the arrays that contain an element. The arrays are matched as texts
    (:class:`Elements`). ``element``: its text; None for the element NULL.
    """
    return _BEFORE + (NULL_ELEMENT if element is None else element.encode()) + _AFTER


def like_text(key: bytes) -> str:
    r"""Return the LIKE pattern in SQL that has a key.

    >>> like_text(ANY + b"100%" + ANY)
    '%100\\%%'
    """
    special = {"%": r"\%", "_": r"\_", "\\": r"\\"}
    segments = ("".join(special.get(c, c) for c in segment.decode()) for segment in key.split(ANY))
    return "%".join(segments)


def like_accepts(key: bytes, value: bytes) -> bool:
    """Return True if a value matches the pattern of a key. This is the reference for :mod:`asc.keys.pattern_kernels`.

    The search takes the leftmost position of each segment. If the value matches the pattern at all, it does so with
    these positions.

    >>> [like_accepts(b"a" + ANY + b"b", value) for value in (b"ab", b"a-b", b"ba", b"abc")]
    [True, True, False, False]
    """
    first, *others = key.split(ANY)
    if not others:
        return value == first
    if not value.startswith(first):
        return False
    position = len(first)
    *middle, last = others
    for segment in middle:
        place = value.find(segment, position)
        if place < 0:
            return False
        position = place + len(segment)
    return len(value) - len(last) >= position and value.endswith(last)
