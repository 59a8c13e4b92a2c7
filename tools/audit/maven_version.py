"""The ordering of Maven versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import total_ordering
from itertools import zip_longest

# The qualifiers in Maven's order; the empty qualifier is the release. Unknown qualifiers follow in alphabetical order.
_QUALIFIERS = ("alpha", "beta", "milestone", "rc", "snapshot", "", "sp")
_ALIASES = {"cr": "rc", "ga": "", "final": "", "release": ""}
_SHORT = {"a": "alpha", "b": "beta", "m": "milestone"}
_TOKEN = re.compile(r"(?P<separator>^|[-.]|(?<=\d)(?=[^\d.-])|(?<=[^\d.-])(?=\d))(?P<value>\d+|[^\d.-]*)")


@total_ordering
class MavenVersion:
    """A version that compares as Maven's versions do: numbers by value, words as qualifiers, upper and lower case as
    equal.

    Invariant: ``_items`` contains numbers and words. Its last item may be a tuple with the items after a hyphen, after
    a change between digits and letters, or after a word. In a comparison, such a tuple is less than a number and
    greater than a word. Items without effect (``0``, ``final``) are excluded before a tuple and at the end.

    >>> MavenVersion("1.0-rc1") < MavenVersion("1.0") < MavenVersion("1.0-sp") < MavenVersion("1.0.1")
    True
    >>> MavenVersion("4.1.118.Final") == MavenVersion("4.1.118")
    True
    """

    __slots__ = ("_items",)

    def __init__(self, text: str) -> None:
        lists: list[list[object]] = [[]]
        tokens = list(_TOKEN.finditer(text.lower()))
        for token, following in zip_longest(tokens, tokens[1:]):
            value = token["value"]
            is_word = bool(value) and not value.isdigit()
            if lists[-1] and (token["separator"] in ("-", "") or is_word):
                lists.append([])
            if is_word:
                short = following is not None and not following["separator"] and _SHORT.get(value)
                lists[-1].append(short or _ALIASES.get(value, value))
            else:
                lists[-1].append(int(value or 0))
        items: tuple[object, ...] = ()
        for level in reversed(lists):
            while level and level[-1] in (0, ""):
                level.pop()
            items = (*level, items) if items else tuple(level)
        self._items = items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MavenVersion) and _compare(self._items, other._items) == 0

    def __lt__(self, other: MavenVersion) -> bool:
        return _compare(self._items, other._items) < 0

    __hash__ = None  # type: ignore[assignment]


def _compare(item: object, other: object) -> int:
    """Compare two items. Return a negative number if ``item`` is less than ``other``, 0 if they are equal, and
    otherwise a positive number. None is an absent item.
    """
    if isinstance(item, tuple) or isinstance(other, tuple):
        return _compare_tuples(item, other)
    if item is None and other is None:
        return 0
    if isinstance(item, int) or isinstance(other, int):
        left, right = _number(item), _number(other)
        return (left > right) - (left < right)
    left_rank, right_rank = _rank(item), _rank(other)
    return (left_rank > right_rank) - (left_rank < right_rank)


def _compare_tuples(item: object, other: object) -> int:
    if not isinstance(item, tuple):
        return -_compare_tuples(other, item)
    if isinstance(other, int):
        return -1
    if isinstance(other, str):
        return 1
    rest: Sequence[object] = other if isinstance(other, tuple) else ()
    return next((result for pair in zip_longest(item, rest) if (result := _compare(*pair))), 0)


def _number(item: object) -> int:
    """Return the value of an item that is compared with a number. An absent item has the value 0. A word has a value
    less than any number.
    """
    return item if isinstance(item, int) else 0 if item is None else -1


def _rank(item: object) -> tuple[int, str]:
    word = "" if item is None else str(item)
    return (_QUALIFIERS.index(word), "") if word in _QUALIFIERS else (len(_QUALIFIERS), word)
