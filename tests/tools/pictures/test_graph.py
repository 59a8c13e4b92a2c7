"""Graphs: paths, and the least edges that have them."""

from __future__ import annotations

from graphlib import CycleError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.pictures.graph import Edge, Graph

NAMES = "abcdefg"
# Of two names the earlier one comes first, so that no edges lead in a circle.
EDGES = st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda edge: edge[0] < edge[1]))


@given(EDGES)
def test_a_reduced_graph_has_the_same_paths_and_no_edge_too_many(edges: set[Edge]) -> None:
    graph = Graph.of(NAMES, edges)
    reduced = graph.reduced()
    assert reduced.reachable() == graph.reachable()
    for edge in reduced.edges:
        assert Graph.of(NAMES, reduced.edges - {edge}).reachable() != graph.reachable()


@given(EDGES)
def test_every_edge_leads_to_a_lower_level(edges: set[Edge]) -> None:
    levels = Graph.of(NAMES, edges).levels()
    assert all(levels[a] > levels[b] for a, b in edges)


@given(EDGES, st.sets(st.sampled_from(NAMES)))
def test_some_of_the_names_keep_the_paths_between_them(edges: set[Edge], names: set[str]) -> None:
    graph = Graph.of(NAMES, edges)
    found = graph.within(names).reachable()
    assert found == {name: graph.reachable()[name] & names for name in sorted(names)}


def test_a_circle_is_refused() -> None:
    with pytest.raises(CycleError):
        Graph.of("ab", [("a", "b"), ("b", "a")])
