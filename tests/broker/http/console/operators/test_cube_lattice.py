"""The lattice of a cube on its page: every stored view, its marks and its source, and a bounded number of others."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from asc.operators.cube.cuboid import CUBOIDS_MAX
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.view import View
from broker.http.console.operators.cube_lattice import NODES_MOST, LatticeNode, rows_of, shown_lattice
from broker.http.console.operators.cube_lattice_drawing import lattice_drawing
from broker.operators.cube.coverage import Coverage
from broker.operators.cube.cube_state import CubeId, CubeState
from broker.operators.cube.panes import Panes
from broker.operators.cube.stored_view import Role, StoredView
from tests.broker.operators.cube.test_ageing import aged
from tests.broker.operators.cube.view_rig import filled, state_of

HOSTILE = "`<script>alert(1)</script> \"'&\u202e`"


def empty(definition: CubeDefinition, *views: tuple[Role, View]) -> CubeState:
    """Return a cube without records. Each view is complete."""
    stored = [StoredView.of(number, view, role, (), 0) for number, (role, view) in enumerate(views, 1)]
    own = CubeState(CubeId("q", "g"), 1, definition, None, Panes.none(), Coverage({}), Coverage({}), (), {})
    bands = tuple(view for view in stored if view.role == "band")
    return replace(own, bands=bands, views=tuple(view for view in stored if view.role != "band"))


def defined(*hierarchies: list[str], grain_s: int = 3_600) -> CubeDefinition:
    plain = {"dimensions": list(hierarchies), "measures": ["count(*)"], "time": "t", "grain_s": grain_s}
    return CubeDefinition.parse(plain)


def by_view(state: CubeState) -> dict[View, LatticeNode]:
    return {node.view: node for node in shown_lattice(state, {}).nodes}


def test_stored_views_have_their_cells_and_the_nearest_source(tmp_path: Path) -> None:
    keeper, _ = filled(tmp_path, View((1, 0), 1), View((1, 0), 60), View((0, 0), 60))
    keeper.views.fill(10)
    state = state_of(keeper)
    nodes = by_view(state)
    base, minutes, hours, top = (nodes[View(*own)] for own in (((1, 1), 1), ((1, 0), 1), ((1, 0), 60), ((0, 0), 60)))
    assert [own.roles for own in (base, minutes, hours, top)] == [("base",), *[("pinned",)] * 3]
    assert [own.cells for own in (base, minutes, hours, top)] == [242, 240, 4, 2]
    assert (base.source, minutes.source) == (None, View((1, 1), 1))
    # The nearest ancestor is the one with the fewest cells, not the base.
    assert (hours.source, top.source) == (View((1, 0), 1), View((1, 0), 60))
    assert top.source_name == "carrier at 1h"
    day = nodes[View((0, 0), 1_440)]
    assert (day.roles, day.source) == ((), View((0, 0), 60))
    svg = str(lattice_drawing(shown_lattice(state, {}), "q"))
    assert svg.count('class="descent"') == 3
    assert len(re.findall('<g class="node"><circle class="stored pinned"', svg)) == 3
    assert len(re.findall('<g class="node"><rect class="stored base"', svg)) == 1
    assert "chosen by the optimiser" not in svg


def test_bands_come_from_the_finer_band_before_them(tmp_path: Path) -> None:
    keeper, _ = aged(tmp_path, "1min:10min", "5min:40min", "20min:80min carrier:0")
    nodes = by_view(state_of(keeper))
    assert nodes[View((1, 1), 5)].source == View((1, 1), 1)
    assert nodes[View((0, 1), 20)].source == View((1, 1), 5)
    assert nodes[View((0, 1), 20)].roles == ("band",)
    assert nodes[View((0, 1), 20)].source_name == "carrier, dest at 5min"
    assert nodes[View((0, 0), 1_440)].source_name == "carrier, dest at 1min and bands"
    assert nodes[View((0, 1), 20)].cells == state_of(keeper).bands[1].panes.cells > 0


def test_a_band_may_also_be_pinned_and_have_panes_of_several_days() -> None:
    state = empty(defined(["a"]), ("band", View((1,), 24)), ("pinned", View((1,), 24)), ("band", View((0,), 720)))
    nodes = by_view(state)
    assert nodes[View((1,), 24)].roles == ("band", "pinned")
    assert (nodes[View((0,), 720)].grain, nodes[View((0,), 720)].source) == ("30d", View((1,), 24))
    found = shown_lattice(state, {})
    assert (found.stored, len(found.nodes), found.others_more) == (3, 17, 0)


def test_a_view_that_is_not_complete_answers_nothing() -> None:
    state = empty(defined(["a"]), ("chosen", View((0,), 1)))
    filling = replace(state, views=(replace(state.views[0], filled_to=None),))
    assert by_view(state)[View((0,), 24)].source == View((0,), 1)
    assert by_view(filling)[View((0,), 24)].source == View((1,), 1)
    svg = str(lattice_drawing(shown_lattice(filling, {}), "q"))
    assert 'class="node filling"><polygon class="stored chosen"' in svg
    assert "not complete yet" in svg


def test_rows_go_from_the_top_to_the_base() -> None:
    rows = [cuboid for cuboid, _ in rows_of(shown_lattice(empty(defined(["a", "b"], ["c"])), {}).nodes)]
    assert (len(rows), rows[0], rows[-1]) == (6, (0, 0), (2, 1))
    assert sorted(map(sum, rows)) == list(map(sum, rows))


@pytest.mark.parametrize("pins", [0, 64])
def test_of_the_largest_lattice_few_views_are_touched(pins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = defined(*([f"d{each}"] for each in range(12)))
    cuboids = islice(definition.dimensions.cuboids(), 1, pins + 1)
    state = empty(definition, *(("pinned", View(own, 1)) for own in cuboids))
    made, compared = 0, 0
    own_init, own_finer = View.__init__, View.is_finer

    def counted(self: View, *values: object) -> None:
        nonlocal made
        made += 1
        own_init(self, *values)  # type: ignore[arg-type]

    def compares(self: View, other: View) -> bool:
        nonlocal compared
        compared += 1
        return own_finer(self, other)

    monkeypatch.setattr(View, "__init__", counted)
    monkeypatch.setattr(View, "is_finer", compares)
    found = shown_lattice(state, {})
    assert (found.cuboids, found.grains) == (CUBOIDS_MAX, 8)
    assert len(found.nodes) <= NODES_MOST
    assert found.stored == pins + 1
    assert found.stored_more == max(0, pins + 1 - NODES_MOST)
    is_top_shown = pins + 1 < NODES_MOST
    assert found.others_more == CUBOIDS_MAX * 8 - (pins + 1) - is_top_shown
    assert made < 10
    assert compared <= NODES_MOST * (pins + 1)
    assert len(str(lattice_drawing(found, "q"))) < 100_000


def test_many_lengths_of_panes_are_not_all_drawn() -> None:
    found = shown_lattice(empty(defined(grain_s=1), ("pinned", View((), 7_200))), {})
    assert [node.grain for node in found.nodes] == ["1s", "1h", "2h", "1d"]
    assert found.others_more == found.grains - 4


def test_what_is_asked_for_most_is_shown() -> None:
    definition = defined(*([f"d{each}"] for each in range(12)))
    asked = {View(own, 24): float(place) for place, own in enumerate(islice(definition.dimensions.cuboids(), 1, 200))}
    found = shown_lattice(empty(definition), asked)
    assert len(found.nodes) == NODES_MOST
    assert sorted(node.asked for node in found.nodes) == [0, 0, *range(141, 199)]
    svg = str(lattice_drawing(found, "q"))
    assert svg.count('<g class="node"><circle class="wanted"') == 58
    assert ", asked 198 times an hour" in svg
    once = found.nodes[next(place for place, node in enumerate(found.nodes) if node.asked)]
    svg = str(lattice_drawing(replace(found, nodes=(replace(once, asked=1.0),)), "q"))
    assert ", asked 1 time an hour" in svg
    assert "asked for, not stored" in svg


def test_names_are_text() -> None:
    state = empty(defined([HOSTILE], ["x" * 300]), ("pinned", View((1, 0), 24)))
    svg = str(lattice_drawing(shown_lattice(state, {}), HOSTILE))
    assert "<script>" not in svg
    assert "\u202e" not in svg
    assert "&lt;script&gt;" in svg
    assert set(re.findall(r"<(\w+)", svg)) <= {
        *("figure", "svg", "title", "desc", "path", "text", "g", "rect", "circle", "figcaption", "span"),
    }
    (shown,) = set(re.findall(r">(x+\.\.\.)<", svg))
    assert len(shown) == 50
