"""Sets of characters, as denoted by a character class of a regular expression."""

from __future__ import annotations

from collections.abc import Iterable

_LAST = 0x10FFFF
_LOW_HALVES = (0xDC00, 0xDFFF)
_BEYOND = (0x10000, _LAST)


class CharacterSet:
    """An immutable set of code points. ``ranges`` are its maximal ranges in ascending order, with both ends included.

    >>> (CharacterSet.of("ab") | CharacterSet([(0x63, 0x7A)])).ranges
    ((97, 122),)
    """

    __slots__ = ("ranges",)

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        joined: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if joined and low <= joined[-1][1] + 1:
                joined[-1] = joined[-1][0], max(high, joined[-1][1])
            else:
                joined.append((low, high))
        self.ranges = tuple(joined)

    @classmethod
    def of(cls, characters: str) -> CharacterSet:
        return cls((ord(character), ord(character)) for character in characters)

    def __or__(self, other: CharacterSet) -> CharacterSet:
        return CharacterSet(self.ranges + other.ranges)

    def __and__(self, other: CharacterSet) -> CharacterSet:
        return ~(~self | ~other)

    def __invert__(self) -> CharacterSet:
        rest, start = [], 0
        for low, high in self.ranges:
            if low > start:
                rest.append((start, low - 1))
            start = high + 1
        if start <= _LAST:
            rest.append((start, _LAST))
        return CharacterSet(rest)

    def __le__(self, other: CharacterSet) -> bool:
        """Return whether this set is a subset of ``other``."""
        return all(any(low <= a and b <= high for low, high in other.ranges) for a, b in self.ranges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CharacterSet) and self.ranges == other.ranges

    def __hash__(self) -> int:
        return hash(self.ranges)

    @property
    def in_both_cases(self) -> CharacterSet:
        """The set with both cases of each of its ASCII letters, which is the effect of Java's flag ``i``.

        >>> CharacterSet.of("aZ-").in_both_cases == CharacterSet.of("aAzZ-")
        True
        """
        cased = ((0x41, 0x5A, 0x20), (0x61, 0x7A, -0x20))
        other = (
            (max(a, low) + shift, min(b, high) + shift)
            for a, b, shift in cased
            for low, high in self.ranges
            if low <= b and a <= high
        )
        return self | CharacterSet(other)

    @property
    def text(self) -> str:
        """The set as a character class in Java's syntax of regular expressions."""
        return "[" + "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in self.ranges) + "]"

    def meets(self, other: CharacterSet) -> bool:
        """Return whether the two sets have a character in common."""
        return any(a <= high and low <= b for a, b in self.ranges for low, high in other.ranges)

    @property
    def has_low_halves(self) -> bool:
        """True if the set contains a low surrogate.

        Java can start a match between the two surrogates of a character.
        """
        return self.meets(CharacterSet([_LOW_HALVES]))

    @property
    def has_beyond(self) -> bool:
        """True if the set contains a character beyond U+FFFF, which is two code units in Java."""
        return self.meets(CharacterSet([_BEYOND]))

    @property
    def takes_whole_characters(self) -> bool:
        """True if the set contains no low surrogate, or if it contains every character beyond U+FFFF.

        For such a set, no match is lost if no match may start between the two surrogates of a character.
        """
        return not self.has_low_halves or CharacterSet([_BEYOND]) <= self
