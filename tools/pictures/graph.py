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
        """Return the graph of some names, with each of the edges that connects two different names of the graph.

        Raises graphlib.CycleError if the edges form a cycle.
        """
        own = tuple(sorted(set(names)))
        graph = Graph(own, frozenset((a, b) for a, b in edges if a != b and a in own and b in own))
        graph.from_the_end()
        return graph

    def from_the_end(self) -> list[str]:
        """Return the names in a topological order: each name comes after all names to which its edges lead."""
        return list(TopologicalSorter(self.following()).static_order())

    def following(self) -> Mapping[str, Collection[str]]:
        """Return for each name the names to which its edges lead, in order."""
        found: dict[str, list[str]] = {name: [] for name in self.names}
        for a, b in sorted(self.edges):
            found[a].append(b)
        return found

    def reachable(self) -> Mapping[str, frozenset[str]]:
        """Return for each name all names to which a path from it leads."""
        found: dict[str, frozenset[str]] = {}
        following = self.following()
        for name in self.from_the_end():
            found[name] = frozenset(following[name]).union(*(found[other] for other in following[name]))
        return found

    def within(self, names: Collection[str]) -> Graph:
        """Return the graph of ``names``, which are names of this graph. It has an edge from one name to another if this
        graph has a path between them.

        >>> sorted(Graph.of("abc", [("a", "b"), ("b", "c")]).within("ac").edges)
        [('a', 'c')]
        """
        reachable = self.reachable()
        return Graph.of(names, ((a, b) for a in names for b in reachable[a]))

    def reduced(self) -> Graph:
        """Return the graph without each edge whose two names are also connected by a longer path: the smallest graph
        with the same paths.

        >>> sorted(Graph.of("abc", [("a", "b"), ("b", "c"), ("a", "c")]).reduced().edges)
        [('a', 'b'), ('b', 'c')]
        """
        following, reachable = self.following(), self.reachable()
        implied = {(a, c) for a in self.names for b in following[a] for c in reachable[b]}
        return Graph(self.names, self.edges - implied)

    def levels(self) -> Mapping[str, int]:
        """Return for each name the length of the longest path from it. The length is 0 for a name from which no edge
        leads.
        """
        found: dict[str, int] = {}
        following = self.following()
        for name in self.from_the_end():
            found[name] = 1 + max((found[other] for other in following[name]), default=-1)
        return found
