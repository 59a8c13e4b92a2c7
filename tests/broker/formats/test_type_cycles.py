"""Ways through types that are in each other, beside all ways of small graphs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker.formats.type_cycles import cycles_of, longest_path

EDGES = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


def longest_from(edges: set[tuple[int, int]], path: tuple[int, ...]) -> int:
    following = [target for source, target in edges if source == path[-1] and target not in path]
    return max((longest_from(edges, (*path, target)) for target in following), default=len(path))


def reached(edges: set[tuple[int, int]], node: int) -> set[int]:
    found, pending = {node}, [node]
    for source in pending:
        more = {target for own, target in edges if own == source} - found
        found |= more
        pending += more
    return found


@given(EDGES)
def test_nodes_of_a_circle_lead_to_each_other(edges: set[tuple[int, int]]) -> None:
    circles, found = cycles_of(6, edges), [reached(edges, node) for node in range(6)]
    for one in range(6):
        for other in range(6):
            assert (circles[one] == circles[other]) == (other in found[one] and one in found[other])


@given(EDGES)
def test_no_way_is_longer_and_without_circles_one_is_as_long(edges: set[tuple[int, int]]) -> None:
    longest = max(longest_from(edges, (node,)) for node in range(6))
    assert longest <= longest_path(6, edges) <= 6
    straight = {(source, target) for source, target in edges if source < target}
    assert longest_path(6, straight) == max(longest_from(straight, (node,)) for node in range(6))


def test_a_long_row_takes_no_recursion() -> None:
    assert longest_path(20_001, [(place, place + 1) for place in range(20_000)]) == 20_001
