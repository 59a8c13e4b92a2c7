"""Shards: a division of a cube's cells by the leading bits of their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from asc.errors import CubeError
from asc.frozen import frozen
from asc.operators.cube.cell_places import Places

SHARDS_MOST = 64
"""The largest number of shards of a cube."""
BITS_MOST = 12
"""The largest number of leading bits of a place that determine a shard."""

WHOLE = 1
"""The number of the shard that contains all cells."""


@dataclass(frozen=True)
class Shards:
    """The shards of a cube, in the order of their places.

    The number of a shard is, in binary, a 1 followed by the leading bits of the places of its cells. So 1 is the shard
    of all cells, and the shard n has the halves 2 n and 2 n + 1.

    Invariant: each place belongs to exactly one shard. There are at most SHARDS_MOST shards, and each has at most
    BITS_MOST bits. Cost of finding the shards of cells: two passes over their places.
    """

    numbers: tuple[int, ...] = (WHOLE,)

    @staticmethod
    def of(numbers: Sequence[int]) -> Shards:
        """Return the shards with these numbers, given in any order. Raise CubeError if they do not divide all places.

        >>> Shards.of([5, 3, 4])
        Shards(numbers=(4, 5, 3))
        """
        if not 1 <= len(numbers) <= SHARDS_MOST or not all(0 < number < 2 << BITS_MOST for number in numbers):
            raise CubeError("shards", list(numbers), f"are not 1 to {SHARDS_MOST} of at most {BITS_MOST} bits each")
        ordered = sorted(numbers, key=_span)
        end = 0
        for first, stop in map(_span, ordered):
            if first != end:
                raise CubeError("shards", list(numbers), "must have each place exactly once")
            end = stop
        if end != 1 << BITS_MOST:
            raise CubeError("shards", list(numbers), "must have each place exactly once")
        return Shards(tuple(ordered))

    def __len__(self) -> int:
        return len(self.numbers)

    def can_split(self, number: int) -> bool:
        """Return whether a shard can be split: it is one of the shards, and the result is within the limits of shards
        and bits.
        """
        return number in self.numbers and len(self) < SHARDS_MOST and number < 1 << BITS_MOST

    def split(self, number: int) -> Shards:
        """Return the shards after a shard is replaced by its two halves. Raise CubeError if the shard
        cannot be split.
        """
        if not self.can_split(number):
            raise CubeError("shard", shard_name(number), "cannot be split: it is no shard, or a bound is reached")
        place = self.numbers.index(number)
        return Shards((*self.numbers[:place], 2 * number, 2 * number + 1, *self.numbers[place + 1 :]))

    def parents(self) -> Iterator[int]:
        """Yield the numbers of the shards into which two of the shards can be merged."""
        for left, right in zip(self.numbers, self.numbers[1:], strict=False):
            if left % 2 == 0 and right == left + 1:
                yield left // 2

    def merged(self, parent: int) -> Shards:
        """Return the shards after two halves are replaced by their parent. Raise CubeError if the halves are not both
        among the shards.
        """
        if parent not in self.parents():
            raise CubeError("shard", shard_name(parent), "cannot be merged: its two halves are not shards")
        place = self.numbers.index(2 * parent)
        return Shards((*self.numbers[:place], parent, *self.numbers[place + 2 :]))

    def divided(self, places: Places) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Yield each shard that has cells, with the ascending indices of its cells. ``places``: the place
        of each cell.
        """
        if len(self) == 1:
            if len(places):
                yield self.numbers[0], np.arange(len(places), dtype=np.int64)
            return
        chosen = self._table[(places >> np.uint64(64 - BITS_MOST)).astype(np.int64)]
        order = np.argsort(chosen, kind="stable")
        counts = np.bincount(chosen, minlength=len(self))
        stops = np.cumsum(counts).tolist()
        for number, count, stop in zip(self.numbers, counts.tolist(), stops, strict=True):
            if count:
                yield number, order[stop - count : stop]

    @cached_property
    def _table(self) -> npt.NDArray[np.uint8]:
        """Return the index of the shard for each value of the BITS_MOST leading bits."""
        widths = [stop - first for first, stop in map(_span, self.numbers)]
        return frozen(np.repeat(np.arange(len(self), dtype=np.uint8), widths))


def shard_name(number: int) -> str:
    """Return the leading bits of a shard as text, or ``all`` for the shard of all cells.

    >>> shard_name(1), shard_name(2), shard_name(6)
    ('all', '0', '10')
    """
    return "all" if number == WHOLE else f"{number:b}"[1:]


def expected(cells: int, held: int, number: int) -> int:
    """Return the expected number of cells in the shard ``number``, if the shard ``held`` has ``cells`` cells.

    >>> expected(100, 1, 4), expected(100, 4, 1), expected(100, 2, 3)
    (25, 100, 0)
    """
    bits = number.bit_length() - held.bit_length()
    if bits > 0:
        return cells >> bits if number >> bits == held else 0
    return cells if held >> -bits == number else 0


def _span(number: int) -> tuple[int, int]:
    """Return the first value of the BITS_MOST leading bits in a shard, and the value after the last one."""
    free = BITS_MOST + 1 - number.bit_length()
    first = (number << free) - (1 << BITS_MOST)
    return first, first + (1 << free)
