"""Views: the elements of the lattice of a cube. A view is a cuboid with a length of panes."""

from __future__ import annotations

from dataclasses import dataclass

from asc.operators.cube.cuboid import Dimensions, Levels

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True, order=True)
class View:
    """An element of the lattice: a cuboid, and a length of panes.

    ``cuboid``: the number of levels of each dimension. ``panes``: the number of the cube's own panes in one pane of the
    view, at least 1. Pane k of the view covers the panes of the cube from ``k * panes`` to before ``(k + 1) * panes``.

    The order of the lattice: a view is finer than another if it is finer or equal in each dimension and in the panes.
    The cells of a finer view, rolled up, are the cells of the coarser view. Source: Shaikh and Kitagawa, StreamingCube;
    here time is one more dimension.
    """

    cuboid: Levels
    panes: int = 1

    @staticmethod
    def base(dimensions: Dimensions) -> View:
        """Return the finest view of a cube: the base cuboid in the cube's own panes."""
        return View(dimensions.base, 1)

    @property
    def fineness(self) -> tuple[int, int]:
        """Return a sort key by which each view comes before all coarser views: panes, then levels."""
        return self.panes, -sum(self.cuboid)

    def is_finer(self, other: View) -> bool:
        """Return whether the cells of ``other`` can be computed from the cells of this view. A view is finer than
        itself.

        >>> View((2, 1), 1).is_finer(View((1, 1), 24)), View((2, 1), 7).is_finer(View((1, 1), 24))
        (True, False)
        """
        has_levels = all(mine >= their for mine, their in zip(self.cuboid, other.cuboid, strict=True))
        return has_levels and other.panes % self.panes == 0

    def name(self, dimensions: Dimensions, grain_s: int) -> str:
        """Return the name of the view as text: the expressions that it groups by, and the length of its panes.

        >>> View((2, 1), 24).name(Dimensions((("origin", "dest"), ("carrier",))), 3_600)
        'origin, dest, carrier at 1d'
        """
        levels = [dimensions.names[place] for place in dimensions.columns(self.cuboid)]
        return f"{', '.join(levels) or '()'} at {grain_text(self.panes * grain_s)}"


def grain_text(grain_s: int) -> str:
    """Return the length of a pane as a number and a unit.

    >>> grain_text(86_400), grain_text(5_400), grain_text(900)
    ('1d', '90min', '15min')
    """
    size_s, unit = next(own for own in _UNITS if grain_s % own[0] == 0)
    return f"{grain_s // size_s}{unit}"
