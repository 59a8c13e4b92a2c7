"""Directed acyclic graphs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """A directed acyclic graph: names in order, and edges from one name to another."""

    names: tuple[str, ...]
    edges: frozenset[Edge]

    @staticmethod
    def of(names: Iterable[str], edges: Iterable[Edge]) -> Graph:
        """Return the graph of some names, with those of the edges that connect two different names among them.

        Raises graphlib.CycleError if the edges form a cycle.
        """
        own = tuple(sorted(set(names)))
        graph = Graph(own, frozenset((a, b) for a, b in edges if a != b and a in own and b in own))
        graph.from_the_end()
        return graph

    def from_the_end(self) -> list[str]:
        """Return the names, each after all names that its edges lead to."""
        return list(TopologicalSorter(self.following()).static_order())

    def following(self) -> Mapping[str, Collection[str]]:
        """Return by name the names that its edges lead to, in order."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for a, b in sorted(self.edges):
            found[a].append(b)
        return found

    def reachable(self) -> Mapping[str, frozenset[str]]:
        """Return for each name all names that a path leads to."""
        found: dict[str, frozenset[str]] = {}
        following = self.following()
        for name in self.from_the_end():
            found[name] = frozenset(following[name]).union(*(found[other] for other in following[name]))
        return found

    def within(self, names: Collection[str]) -> Graph:
        """Return the graph of some of its names, with an edge if there is a path between two of them.

        >>> sorted(Graph.of("abc", [("a", "b"), ("b", "c")]).within("ac").edges)
        [('a', 'c')]
        """
        reachable = self.reachable()
        return Graph.of(names, ((a, b) for a in names for b in reachable[a]))

    def reduced(self) -> Graph:
        """Return the graph without the edges that other edges imply: the smallest graph with the same paths.

        >>> sorted(Graph.of("abc", [("a", "b"), ("b", "c"), ("a", "c")]).reduced().edges)
        [('a', 'b'), ('b', 'c')]
        """
        following, reachable = self.following(), self.reachable()
        implied = {(a, c) for a in self.names for b in following[a] for c in reachable[b]}
        return Graph(self.names, self.edges - implied)

    def levels(self) -> Mapping[str, int]:
        """Return for each name the length of the longest path from it; 0 for a name without edges."""
        found: dict[str, int] = {}
        following = self.following()
        for name in self.from_the_end():
            found[name] = 1 + max((found[other] for other in following[name]), default=-1)
        return found
