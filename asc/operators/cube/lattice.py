"""The lattice of a cube: all views that the cube may store, and the order among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
import numpy.typing as npt

from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.definition import DAY_HOURS, HOUR_S
from asc.operators.cube.view import View

Bits = npt.NDArray[np.int64]

_DAY_S = DAY_HOURS * HOUR_S


@dataclass(frozen=True)
class Lattice:
    """All pairs of a cuboid and an allowed length of panes.

    ``grain_s``: the length of the cube's own panes in seconds. The length of a view's panes is a multiple of
    ``grain_s`` that divides an hour, or is whole hours that divide a day. So every length divides a day, and the
    greatest common divisor of two lengths is a length too.

    A view can also be represented by bits, so that many views are compared at once. A view is finer than another if and
    only if it has all bits of the other. Each dimension has one bit for each level, and time has one bit for each prime
    factor of the number of panes in a day. These are at most 16 + 12 bits.
    """

    dimensions: Dimensions
    grain_s: int

    @property
    def panes_a_day(self) -> int:
        """Return the number of the cube's own panes in a day."""
        return _DAY_S // self.grain_s

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Return the allowed lengths of a view's panes, ascending, in panes of the cube.

        >>> Lattice(Dimensions(()), 3_600).lengths
        (1, 2, 3, 4, 6, 8, 12, 24)
        >>> Lattice(Dimensions(()), 1_200).lengths
        (1, 3, 6, 9, 12, 18, 24, 36, 72)
        """
        divisors = {own for own in range(1, HOUR_S + 1) if HOUR_S % own == 0}
        hours = {own * HOUR_S for own in range(1, DAY_HOURS + 1) if DAY_HOURS % own == 0}
        return tuple(own // self.grain_s for own in sorted(divisors | hours) if own % self.grain_s == 0)

    @property
    def base(self) -> View:
        """Return the finest view, which is always stored."""
        return View.base(self.dimensions)

    @property
    def count(self) -> int:
        """Return the number of views."""
        return self.dimensions.count * len(self.lengths)

    def views(self) -> Iterator[View]:
        """Yield every view, finer cuboids first, and shorter panes first."""
        for cuboid in self.dimensions.cuboids():
            for panes in self.lengths:
                yield View(cuboid, panes)

    def has(self, view: View) -> bool:
        """Return whether a view is in the lattice."""
        levels = self.dimensions.base
        if len(view.cuboid) != len(levels) or view.panes not in self.lengths:
            return False
        return all(0 <= own <= most for own, most in zip(view.cuboid, levels, strict=True))

    def longest(self, *bounds: int | None) -> int:
        """Return the greatest allowed length that divides all given numbers of panes. A number that is None does not
        count.

        >>> Lattice(Dimensions(()), 3_600).longest(48, 36, None)
        12
        """
        common = gcd(*(own for own in bounds if own is not None))
        return max(own for own in self.lengths if common % own == 0)

    @cached_property
    def _factors(self) -> tuple[tuple[int, int], ...]:
        """Return the prime factors of the number of panes in a day, each with its exponent. Only 2, 3 and 5 occur."""
        return tuple((prime, _exponent(self.panes_a_day, prime)) for prime in (2, 3, 5))

    def name(self, view: View) -> str:
        """Return the name of a view as text."""
        return view.name(self.dimensions, self.grain_s)

    def bits(self, views: Iterable[View]) -> Bits:
        """Return the bits of each view, int64."""
        base, factors = self.dimensions.base, self._factors
        bits_of_views = []
        for view in views:
            bits = 0
            for level, most in zip(view.cuboid, base, strict=True):
                bits = bits << most | ((1 << level) - 1)
            for prime, most in factors:
                bits = bits << most | ((1 << most - _exponent(view.panes, prime)) - 1)
            bits_of_views.append(bits)
        return np.array(bits_of_views, dtype=np.int64)

    def view(self, bits: int) -> View:
        """Return the view that the bits represent."""
        panes, levels = 1, []
        for prime, most in reversed(self._factors):
            panes *= prime ** (most - (bits & ((1 << most) - 1)).bit_count())
            bits >>= most
        for most in reversed(self.dimensions.base):
            levels.append((bits & ((1 << most) - 1)).bit_count())
            bits >>= most
        return View(tuple(reversed(levels)), panes)

    def nearest(self, view: View, stored: Mapping[View, float]) -> View:
        """Return the stored view from which ``view`` is computed: of the finer stored views, the view with the fewest
        cells; of several, the first by name. Raise ValueError if no stored view is finer; the base view is finer than
        all views.

        ``stored``: the number of cells of each stored view. Source: Shaikh and Kitagawa, StreamingCube, Algorithm 1, in
        whose line 7 Vm is meant.
        """
        finer = [own for own in stored if own.is_finer(view)]
        if not finer:
            raise ValueError(f"{self.name(view)}: no stored view is finer: store the base view")
        return min(finer, key=lambda own: (stored[own], self.name(own)))


def is_finer(finer: Bits, coarser: Bits) -> npt.NDArray[np.bool_]:
    """Return bool[finer, coarser]: whether each view in ``finer`` is finer than each view in ``coarser``."""
    has_all: npt.NDArray[np.bool_] = (coarser[None, :] & ~finer[:, None]) == 0
    return has_all


def _exponent(number: int, prime: int) -> int:
    exponent = 0
    while number % prime == 0:
        number //= prime
        exponent += 1
    return exponent
