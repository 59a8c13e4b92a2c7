"""Cuboids: combinations of one level of each dimension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from asc.errors import CubeError
from asc.spark_types import folded

CUBOIDS_MAX = 4_096
"""The largest number of cuboids of a cube."""

Levels = tuple[int, ...]
"""A cuboid: for each dimension the number of levels by which the cuboid groups, from the coarsest level on. 0 means
that the dimension is rolled up.
"""


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The dimensions of a cube. Each dimension is a hierarchy of expressions from coarse to fine.

    Invariant: no expression occurs twice. The columns of a cell are the expressions of all levels, in this order.

    >>> Dimensions((("origin", "dest"), ("carrier",))).count
    6
    """

    hierarchies: tuple[tuple[str, ...], ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the expressions of all levels, in order."""
        return tuple(name for hierarchy in self.hierarchies for name in hierarchy)

    @property
    def base(self) -> Levels:
        """Return the base cuboid, which groups by the finest level of each dimension."""
        return tuple(map(len, self.hierarchies))

    @property
    def count(self) -> int:
        """Return the number of cuboids."""
        return prod(len(hierarchy) + 1 for hierarchy in self.hierarchies)

    def cuboids(self) -> Iterator[Levels]:
        """Yield every cuboid, from the base cuboid to (), which groups by nothing."""
        yield from product(*(range(len(hierarchy), -1, -1) for hierarchy in self.hierarchies))

    def columns(self, cuboid: Levels) -> tuple[int, ...]:
        """Return the indices, in ``names``, of the expressions by which a cuboid groups.

        >>> Dimensions((("origin", "dest"), ("carrier",))).columns((1, 1))
        (0, 2)
        """
        found: list[int] = []
        start = 0
        for hierarchy, level in zip(self.hierarchies, cuboid, strict=True):
            found += range(start, start + level)
            start += len(hierarchy)
        return tuple(found)

    def cuboid_with(self, columns: Sequence[int]) -> Levels:
        """Return the coarsest cuboid that groups by the expressions at the indices ``columns``.

        >>> Dimensions((("origin", "dest"), ("carrier",))).cuboid_with((1,))
        (2, 0)
        """
        levels: list[int] = []
        start = 0
        for hierarchy in self.hierarchies:
            end = start + len(hierarchy)
            levels.append(max((place - start + 1 for place in columns if start <= place < end), default=0))
            start = end
        return tuple(levels)

    def cuboid_of(self, names: Sequence[str]) -> Levels:
        """Return the cuboid that groups by the named levels. A level includes the coarser levels of its dimension.
        Raise CubeError for an unknown name.

        >>> Dimensions((("origin", "dest"), ("carrier",))).cuboid_of(["DEST"])
        (2, 0)
        """
        return self.cuboids_of([names])[0][0]

    def order_of(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the indices of the hierarchies that contain the named levels, in the order of the names. Each
        hierarchy occurs once.
        """
        return self.cuboids_of([names])[0][1]

    def cuboids_of(self, several: Sequence[Sequence[object]]) -> list[tuple[Levels, tuple[int, ...]]]:
        """Return for each list of names the cuboid, and the indices of the named hierarchies in the order of the names.

        Raise CubeError for an unknown name. Cost: one look-up for each name, because a question may have many long
        names.
        """
        known = self._places()
        cuboids: list[tuple[Levels, tuple[int, ...]]] = []
        for names in several:
            levels = [0] * len(self.hierarchies)
            order: dict[int, None] = {}
            for name in names:
                own = known.get(folded(name.strip())) if isinstance(name, str) else None
                if own is None:
                    raise CubeError("by", name, f"is no dimension: name some of {', '.join(self.names)}")
                place, level = own
                levels[place] = max(levels[place], level)
                order[place] = None
            cuboids.append((tuple(levels), tuple(order)))
        return cuboids

    def levels_of(self, cuboid: Levels, order: Sequence[int]) -> list[str]:
        """Return the expressions that a cuboid groups by. ``order``: the indices of the hierarchies, in the order of
        the result.
        """
        return [name for place in order for name in self.hierarchies[place][: cuboid[place]]]

    def _places(self) -> dict[str, tuple[int, int]]:
        """Return for each expression, by its case-folded name, the index of its hierarchy and its level in
        it, from 1.
        """
        return {
            folded(name): (place, level)
            for place, hierarchy in enumerate(self.hierarchies)
            for level, name in enumerate(hierarchy, 1)
        }
