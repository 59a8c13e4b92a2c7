"""The lattice of a cube for a page: all stored views, and as many other views as the page has space for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from asc.operators.cube.cuboid import Dimensions, Levels
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View, grain_text
from broker.operators.cube.cube_state import CubeState
from broker.operators.cube.lattice_views import ROLES, ListedRole, ListedView, answering_cells, most_asked, stored_views

NODES_MOST = 60
"""The largest number of views that a page shows."""
_GRAINS_MOST = 8
"""The largest number of pane lengths for which a page shows all cuboids, including views that are not stored."""
_HOUR_S, _DAY_S = 3_600, 86_400


@dataclass(frozen=True, slots=True)
class LatticeNode:
    """A view of a cube's lattice, with the facts that a page shows.

    ``cuboid``: the levels of the cuboid as text. ``grain``: the length of the panes as text. ``roles``: the reasons why
    the view is stored; empty if it is not stored. ``cells``, ``panes``: the numbers of stored cells and panes.
    ``is_filled``: whether the view is complete, so that questions use it. ``source``: the stored view from which this
    view is computed; None for the base view. ``source_name``: the source as text. ``asked``: the number of questions
    for the view in an hour.
    """

    view: View
    cuboid: str
    grain: str
    roles: tuple[ListedRole, ...]
    cells: int
    panes: int
    is_filled: bool
    source: View | None
    source_name: str
    asked: float

    @property
    def name(self) -> str:
        """Return the view as text, such as ``origin, carrier at 1d``."""
        return f"{self.cuboid} at {self.grain}"


@dataclass(frozen=True, slots=True)
class ShownLattice:
    """The part of a cube's lattice that a page shows.

    ``nodes``: the shown views, finer cuboids first. ``stored``: the number of stored views. ``stored_more``,
    ``cells_more``: the number of stored views that are not shown, and of their cells. ``others_more``: the number of
    views that are neither stored nor shown. ``cuboids``, ``grains``: the numbers of cuboids and of pane lengths in the
    lattice.
    """

    nodes: tuple[LatticeNode, ...]
    stored: int
    stored_more: int
    cells_more: int
    others_more: int
    cuboids: int
    grains: int


def shown_lattice(state: CubeState, asked: Mapping[View, float]) -> ShownLattice:
    """Return the part of a cube's lattice that a page shows. ``asked``: the number of questions for each view in an
    hour.

    Cost: proportional to the numbers of stored, asked and shown views, and independent of the size of the lattice.
    """
    dimensions, grain_s = state.definition.dimensions, state.grain_us // 1_000_000
    lattice, base = Lattice(dimensions, grain_s), View.base(dimensions)
    stored = _stored(state)
    views = _chosen(lattice, stored, asked)
    sources = answering_cells(state)
    named = base, lattice.name(base) + (" and bands" if state.bands else "")
    nodes = tuple(
        _node(lattice, view, stored.get(view, ()), sources, named, asked=asked.get(view, 0.0)) for view in views
    )
    shown = set(views)
    more = [several for view, several in stored.items() if view not in shown]
    # Bands of older panes may have pane lengths of several days, which are not in the lattice.
    others = lattice.count - sum(lattice.has(view) for view in shown | stored.keys())
    return ShownLattice(
        nodes,
        stored=len(stored),
        stored_more=len(more),
        cells_more=sum(own.cells for several in more for own in several),
        others_more=others,
        cuboids=dimensions.count,
        grains=len(lattice.lengths),
    )


def cuboid_text(dimensions: Dimensions, cuboid: Levels) -> str:
    """Return a cuboid as text: the names of its levels, each after the coarser levels of the same dimension.

    >>> cuboid_text(Dimensions((("origin", "dest"), ("carrier",))), (2, 1)), cuboid_text(Dimensions(()), ())
    ('origin, dest, carrier', '()')
    """
    return ", ".join(dimensions.names[place] for place in dimensions.columns(cuboid)) or "()"


def _stored(state: CubeState) -> dict[View, list[ListedView]]:
    """Return the stored parts of each view, each with its role (the reason why it is stored), the most important role
    first. The base view comes first.
    """
    by_view: dict[View, list[ListedView]] = {}
    for own in stored_views(state, None):
        by_view.setdefault(own.view, []).append(own)
    return by_view


def _chosen(lattice: Lattice, stored: Mapping[View, Sequence[ListedView]], asked: Mapping[View, float]) -> list[View]:
    """Return the views to show, finer cuboids first. Stored views are selected first, then the views with the most
    questions. All other views of the shown pane lengths are added if the page has space for all.
    """

    def importance(view: View) -> tuple[int, int, View]:
        return ROLES.index(stored[view][0].role), -sum(own.cells for own in stored[view]), view

    important = sorted(stored, key=importance)
    top = View((0,) * len(lattice.base.cuboid))
    wanted = most_asked(asked, NODES_MOST)
    views = dict.fromkeys((*important[:NODES_MOST], top, *wanted))
    several = list(views)[:NODES_MOST]
    grains = _grains(lattice, several)
    if lattice.dimensions.count * len(grains) <= NODES_MOST:
        whole = {*several, *(View(*own) for own in product(lattice.dimensions.cuboids(), grains))}
        if len(whole) <= NODES_MOST:
            several = list(whole)
    return sorted(several, key=lambda view: (-sum(view.cuboid), [-level for level in view.cuboid], view.panes))


def _grains(lattice: Lattice, views: Iterable[View]) -> list[int]:
    """Return the pane lengths of which all cuboids are shown if the page has space. These are all lengths, if they are
    few; otherwise an hour, a day, and the lengths of ``views``.
    """
    if len(lattice.lengths) <= _GRAINS_MOST:
        return list(lattice.lengths)
    usual = {_HOUR_S // lattice.grain_s, _DAY_S // lattice.grain_s}
    used = {view.panes for view in views}
    return [own for own in lattice.lengths if own in usual | used]


def _node(
    lattice: Lattice,
    view: View,
    stored: Sequence[ListedView],
    sources: Mapping[View, float],
    named: tuple[View, str],
    *,
    asked: float,
) -> LatticeNode:
    """Return a view with its source, the stored view from which it is computed. ``stored``: the stored parts of the
    view. ``sources``: the number of cells of each view that can be a source. ``named``: the base view, and its name as
    a source. ``asked``: the number of questions for the view in an hour.
    """
    base, base_name = named
    source, source_name = next((own.source for own in stored if own.source is not None), None), ""
    if source is not None:
        source_name = lattice.name(source)
    elif view != base:
        source = lattice.nearest(view, {each: sources[each] for each in sources if each != view})
        source_name = base_name if source == base else lattice.name(source)
    return LatticeNode(
        view,
        cuboid_text(lattice.dimensions, view.cuboid),
        grain_text(view.panes * lattice.grain_s),
        tuple(own.role for own in stored),
        sum(own.cells for own in stored),
        sum(own.panes for own in stored),
        bool(stored) and all(own.role == "base" or own.end is not None for own in stored),
        source,
        source_name,
        asked,
    )


def rows_of(nodes: Sequence[LatticeNode]) -> Iterator[tuple[Levels, list[LatticeNode]]]:
    """Yield the cuboids of a picture, each with its views. Coarser cuboids come first: from () without any level to the
    base cuboid.
    """
    by_cuboid: dict[Levels, list[LatticeNode]] = {}
    for node in nodes:
        by_cuboid.setdefault(node.view.cuboid, []).append(node)
    yield from reversed(by_cuboid.items())
