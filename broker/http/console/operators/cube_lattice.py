"""The lattice of a cube as a page shows it: the stored views, and of the others as many as a picture has space for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import product
from typing import Literal

from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View, grain_text
from broker.operators.cube.cube_state import CubeState

NODES_MOST = 60
"""The most views that a page shows."""
_GRAINS_MOST = 8
"""The most lengths of panes of which a page shows views that are not stored."""
_HOUR_S, _DAY_S = 3_600, 86_400

Role = Literal["base", "band", "pinned", "chosen"]
ROLES: tuple[Role, ...] = ("base", "band", "pinned", "chosen")
"""The reasons why a view is stored, the most important one first."""


@dataclass(frozen=True, slots=True)
class LatticeNode:
    """A view as a page shows it.

    ``cuboid``: its levels as text. ``grain``: the length of its panes as text. ``roles``: the reasons why it is stored;
    empty if it is not. ``cells``, ``panes``: what is stored of it. ``is_filled``: whether it is complete, so that
    questions use it. ``source``: the nearest stored view from which it is computed; None for the base view.
    """

    view: View
    cuboid: str
    grain: str
    roles: tuple[Role, ...]
    cells: int
    panes: int
    is_filled: bool
    source: View | None
    source_name: str
    asked: float

    @property
    def name(self) -> str:
        """Return the view as text, as ``origin, carrier at 1d``."""
        return f"{self.cuboid} at {self.grain}"


@dataclass(frozen=True, slots=True)
class ShownLattice:
    """A lattice as a page shows it.

    ``nodes``: the shown views, finer cuboids first. ``stored``: the number of stored views. ``stored_more``,
    ``cells_more``: the number of stored views that are not shown, and their cells. ``others_more``: the number of views
    that are neither stored nor shown. ``cuboids``, ``grains``: the size of the lattice.
    """

    nodes: tuple[LatticeNode, ...]
    stored: int
    stored_more: int
    cells_more: int
    others_more: int
    cuboids: int
    grains: int


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored pieces of one view. ``source``: the view from which it is always computed; None if cells decide."""

    roles: tuple[Role, ...]
    cells: int
    panes: int
    is_filled: bool
    source: View | None = None

    def plus(self, other: _Stored) -> _Stored:
        """Return what is stored for both reasons."""
        roles = tuple(role for role in ROLES if role in (*self.roles, *other.roles))
        cells, panes = self.cells + other.cells, self.panes + other.panes
        return _Stored(roles, cells, panes, self.is_filled and other.is_filled, self.source or other.source)


def shown_lattice(state: CubeState, asked: Mapping[View, float]) -> ShownLattice:
    """Return the lattice of a cube. ``asked``: the questions for each view in an hour.

    Cost: it depends on the stored, asked and shown views, not on the size of the lattice.
    """
    dimensions, grain_s = state.definition.dimensions, state.grain_us // 1_000_000
    lattice, base = Lattice(dimensions, grain_s), View.base(dimensions)
    stored = _stored(state, base)
    views = _chosen(lattice, stored, asked)
    # Beside the base pieces, bands have the older panes, so that only both together answer for all panes.
    complete = {own.view: float(own.panes.cells) for own in state.views if own.end is not None}
    sources = {**complete, base: float(state.cells)}
    named = base, lattice.name(base) + (" and bands" if state.bands else "")
    nodes = tuple(_node(lattice, view, stored.get(view), sources, named, asked=asked.get(view, 0.0)) for view in views)
    shown = set(views)
    more = [own for view, own in stored.items() if view not in shown]
    # Bands may have panes of several days, which are not in the lattice.
    others = lattice.count - sum(lattice.has(view) for view in shown | stored.keys())
    return ShownLattice(
        nodes,
        stored=len(stored),
        stored_more=len(more),
        cells_more=sum(own.cells for own in more),
        others_more=others,
        cuboids=dimensions.count,
        grains=len(lattice.lengths),
    )


def cuboid_text(dimensions: Dimensions, cuboid: Levels) -> str:
    """Return a cuboid as text: the finest level of each dimension.

    >>> cuboid_text(Dimensions((("origin", "dest"), ("carrier",))), (2, 1)), cuboid_text(Dimensions(()), ())
    ('dest, carrier', '()')
    """
    levels = [own[level - 1] for own, level in zip(dimensions.hierarchies, cuboid, strict=True) if level]
    return ", ".join(levels) or "()"


def _stored(state: CubeState, base: View) -> dict[View, _Stored]:
    """Return what is stored of each view. The base view comes first."""
    panes = state.panes.count + state.apart.count
    by_view = {base: _Stored(("base",), state.panes.cells + state.apart.cells, panes, is_filled=True)}
    source = base
    for band in state.bands:
        own = _Stored(("band",), band.panes.cells, band.panes.count, band.end is not None, source)
        source = band.view
        _add(by_view, band.view, own)
    for view in state.views:
        _add(by_view, view.view, _Stored((view.role,), view.panes.cells, view.panes.count, view.end is not None))
    return by_view


def _add(by_view: dict[View, _Stored], view: View, added: _Stored) -> None:
    by_view[view] = by_view[view].plus(added) if view in by_view else added


def _chosen(lattice: Lattice, stored: Mapping[View, _Stored], asked: Mapping[View, float]) -> list[View]:
    """Return the views to show, finer cuboids first: the stored ones, those asked for most, then all others of the
    shown lengths of panes, if there is space for all.
    """
    important = sorted(stored, key=lambda view: (ROLES.index(stored[view].roles[0]), -stored[view].cells, view))
    top = View((0,) * len(lattice.base.cuboid))
    wanted = nsmallest(NODES_MOST, asked, key=lambda view: (-asked[view], view))
    views = dict.fromkeys((*important[:NODES_MOST], top, *wanted))
    several = list(views)[:NODES_MOST]
    grains = _grains(lattice, several)
    if lattice.dimensions.count * len(grains) <= NODES_MOST:
        whole = {*several, *(View(*own) for own in product(lattice.dimensions.cuboids(), grains))}
        if len(whole) <= NODES_MOST:
            several = list(whole)
    return sorted(several, key=lambda view: (-sum(view.cuboid), [-level for level in view.cuboid], view.panes))


def _grains(lattice: Lattice, views: Iterable[View]) -> list[int]:
    """Return the lengths of panes of which all cuboids are shown if there is space: all, or if they are many, those of
    the views, an hour and a day.
    """
    if len(lattice.lengths) <= _GRAINS_MOST:
        return list(lattice.lengths)
    usual = {_HOUR_S // lattice.grain_s, _DAY_S // lattice.grain_s}
    used = {view.panes for view in views}
    return [own for own in lattice.lengths if own in usual | used]


def _node(
    lattice: Lattice,
    view: View,
    stored: _Stored | None,
    sources: Mapping[View, float],
    named: tuple[View, str],
    *,
    asked: float,
) -> LatticeNode:
    """Return a view with its source. ``sources``: the cells of each view that may be one. ``named``: the base view, and
    its name as a source.
    """
    node = stored or _Stored((), 0, 0, is_filled=False)
    base, base_name = named
    source, source_name = node.source, ""
    if source is not None:
        source_name = lattice.name(source)
    elif view != base:
        source = lattice.nearest(view, {each: sources[each] for each in sources if each != view})
        source_name = base_name if source == base else lattice.name(source)
    return LatticeNode(
        view,
        cuboid_text(lattice.dimensions, view.cuboid),
        grain_text(view.panes * lattice.grain_s),
        node.roles,
        node.cells,
        node.panes,
        node.is_filled,
        source,
        source_name,
        asked,
    )


def rows_of(nodes: Sequence[LatticeNode]) -> Iterator[tuple[Levels, list[LatticeNode]]]:
    """Yield the cuboids of a picture with their views, coarser cuboids first: from () at the top to the base."""
    by_cuboid: dict[Levels, list[LatticeNode]] = {}
    for node in nodes:
        by_cuboid.setdefault(node.view.cuboid, []).append(node)
    yield from reversed(by_cuboid.items())
