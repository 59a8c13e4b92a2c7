"""Layouts: every edge leads down, and nothing lies over something else."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from tools.pictures.graph import Edge, Graph
from tools.pictures.layers import BOX_HEIGHT, BOX_WIDTH, layout_of

NAMES = "abcdefgh"
EDGES = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda edge: edge[0] < edge[1]))


@given(EDGES)
def test_edges_lead_down_between_the_boxes(edges: set[Edge]) -> None:
    layout = layout_of(Graph.of(NAMES, edges))
    assert layout.bends.keys() == edges
    for (a, b), bends in layout.bends.items():
        heights = [y for _, y in (layout.boxes[a], *bends, layout.boxes[b])]
        assert all(upper + BOX_HEIGHT < lower for upper, lower in pairwise(heights))
        for x, y in bends:
            assert all(abs(x - middle) > BOX_WIDTH / 2 for middle, height in layout.boxes.values() if height == y)


@given(EDGES)
def test_boxes_do_not_overlap_and_are_within_the_size(edges: set[Edge]) -> None:
    layout = layout_of(Graph.of(NAMES, edges))
    for (x1, y1), (x2, y2) in combinations(layout.boxes.values(), 2):
        assert abs(x1 - x2) > BOX_WIDTH or abs(y1 - y2) > BOX_HEIGHT
    for x, y in layout.boxes.values():
        assert BOX_WIDTH / 2 - 1e-9 <= x <= layout.width - BOX_WIDTH / 2 + 1e-9
        assert BOX_HEIGHT / 2 <= y <= layout.height - BOX_HEIGHT / 2


def test_nothing_has_no_size_but_a_layer() -> None:
    layout = layout_of(Graph.of((), ()))
    assert not layout.boxes
    assert not layout.bends
