"""The drawing of a cube's lattice as SVG. It has a row for each cuboid, a column for each length of panes, and a line
from each stored view to the view that it is computed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from asc.operators.cube.view import View
from broker.http.console.operators.cube_lattice import LatticeNode, ShownLattice, rows_of
from broker.http.console.pages import counted_text
from broker.http.console.pane_chart import short_number
from broker.operators.cube.lattice_views import ROLES
from broker.pages.markup import text

_LEFT, _TOP, _ROW, _BOTTOM = 50, 8, 50, 26
_WIDTH, _COLUMN = 600, 56
"""The least width of a drawing, and the least distance between two columns, in units of the SVG."""
_NAME_CHARS = 50
"""The most characters of a cuboid's name that the drawing shows. The tooltip of the name has all of it."""
_ROLE_TEXTS: Mapping[str, str] = {
    "base": "base: always stored",
    "band": "band: older panes, instead of finer ones",
    "pinned": "pinned by the definition",
    "chosen": "chosen by the optimiser",
    "asked": "asked for, not stored",
    "": "not stored",
}

Places = Mapping[View, tuple[float, float]]


def lattice_drawing(lattice: ShownLattice, name: str) -> Markup:
    """Return the drawing of a lattice, with a title and a description. ``name``: the name of the cube."""
    rows = list(rows_of(lattice.nodes))
    panes = sorted({node.view.panes for node in lattice.nodes})
    width = max(_WIDTH, 2 * _LEFT + _COLUMN * (len(panes) - 1))
    height = _TOP + _ROW * len(rows) + _BOTTOM
    step = (width - 2 * _LEFT) / max(1, len(panes) - 1)
    columns = {own: _LEFT + step * place for place, own in enumerate(panes)}
    places = {
        node.view: (columns[node.view.panes], _TOP + _ROW * row + 26.0)
        for row, (_, nodes) in enumerate(rows)
        for node in nodes
    }
    grains = {node.view.panes: node.grain for node in lattice.nodes}
    parts = [
        *_lines(lattice.nodes, places),
        *(_row_name(nodes[0].cuboid, _TOP + _ROW * row + 11) for row, (_, nodes) in enumerate(rows)),
        *(_node(node, *places[node.view]) for node in lattice.nodes),
        *(_centred(columns[own], height - 6, grains[own]) for own in panes),
    ]
    return Markup(
        '<figure class="chart wide lattice">'
        '<svg viewBox="0 0 {} {}" role="img" aria-labelledby="lattice-title lattice-told">'
        '<title id="lattice-title">{}</title><desc id="lattice-told">{}</desc>{}</svg>'
        "<figcaption>{}</figcaption></figure>"
    ).format(
        width,
        height,
        text(f"The lattice of {name}"),
        text(_description(lattice)),
        Markup("").join(parts),
        _legend(lattice),
    )


def _description(lattice: ShownLattice) -> str:
    """Return the content of the drawing in words, for users who cannot see it. The table below the drawing lists each
    view.
    """
    filled = sum(bool(node.roles) for node in lattice.nodes)
    return (
        f"{len(lattice.nodes):,} views are drawn, of which {filled:,} are stored. Cuboids go from () at the top to the "
        "base, panes from short at the left to long. The table has the same content."
    )


def _legend(lattice: ShownLattice) -> Markup:
    """Return the legend of the drawing: each mark that occurs, with its meaning."""
    present = set(map(_mark_of, lattice.nodes))
    swatches = [
        Markup(
            '<span class="legend"><svg class="swatch" viewBox="-8 -8 16 16" aria-hidden="true">{}</svg> {}</span> '
        ).format(_mark(role, 0, 0), text(_ROLE_TEXTS[role]))
        for role in (*ROLES, "asked", "")
        if role in present
    ]
    filling = any(node.roles and not node.is_filled for node in lattice.nodes)
    said = "A hollow mark is not complete yet. " if filling else ""
    end = text(f"{said}A line goes to a stored view from the one that it is computed from. Numbers are cells.")
    return Markup("").join([*swatches, end])


def _lines(nodes: Sequence[LatticeNode], places: Places) -> Iterator[Markup]:
    """Yield a line from each drawn stored view to its source. The line is a curve, so that it does not hide the views
    between its ends.
    """
    for node in nodes:
        if not node.roles or node.source is None or node.source not in places:
            continue
        (x, y), (from_x, from_y) = places[node.view], places[node.source]
        bend_x, bend_y = (x + from_x) / 2 + (14 if x == from_x else 0), (y + from_y) / 2 - (14 if y == from_y else 0)
        yield Markup(
            '<path class="descent" d="M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}"><title>{}</title></path>'
        ).format(from_x, from_y, bend_x, bend_y, x, y, text(f"{node.name} from {node.source_name}"))


def _row_name(name: str, y: float) -> Markup:
    shown = name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 3]}..."
    return Markup('<text class="axis" x="4" y="{}">{}<title>{}</title></text>').format(
        y, text(shown), text(name[:2_000])
    )


def _node(node: LatticeNode, x: float, y: float) -> Markup:
    role = _mark_of(node)
    filling = " filling" if node.roles and not node.is_filled else ""
    said = f"{node.name}: {', '.join(node.roles) or 'not stored'}"
    cells = _centred(x, y + 20, short_number(node.cells)) if node.roles else Markup("")
    told = f"{said}, {counted_text(node.cells, 'cell')}" if node.roles else said
    if node.asked:
        told += f", asked {counted_text(node.asked, 'time')} an hour"
    return Markup('<g class="node{}">{}<title>{}</title></g>{}').format(filling, _mark(role, x, y), text(told), cells)


def _mark_of(node: LatticeNode) -> str:
    return node.roles[0] if node.roles else "asked" if node.asked else ""


def _mark(role: str, x: float, y: float) -> Markup:
    """Return the mark of a view at a position. ``role``: the reason why the view is stored, ``asked``, or empty. Marks
    differ in shape, because some users cannot distinguish colours.
    """
    if role == "base":
        return Markup('<rect class="stored base" x="{:.1f}" y="{:.1f}" width="13" height="13"/>').format(
            x - 6.5, y - 6.5
        )
    if role == "band":
        return _polygon("band", [(x, y - 8), (x + 8, y), (x, y + 8), (x - 8, y)])
    if role == "chosen":
        return _polygon("chosen", [(x, y - 8), (x + 8, y + 6), (x - 8, y + 6)])
    if role == "pinned":
        return Markup('<circle class="stored pinned" cx="{:.1f}" cy="{:.1f}" r="7"/>').format(x, y)
    if role == "asked":
        return Markup('<circle class="wanted" cx="{:.1f}" cy="{:.1f}" r="6"/>').format(x, y)
    return Markup('<circle class="unknown" cx="{:.1f}" cy="{:.1f}" r="4"/>').format(x, y)


def _polygon(role: str, corners: Sequence[tuple[float, float]]) -> Markup:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return Markup('<polygon class="stored {}" points="{}"/>').format(role, points)


def _centred(x: float, y: float, said: str) -> Markup:
    return Markup('<text class="axis" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>').format(x, y, text(said))
