"""The algebra of constraints against plain sets of values."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from asc.keys.constraint import Constraint, Cut, Interval, merged
from asc.predicate.formula import union_of

KEYS = range(-1, 12)
cuts = st.one_of(st.none(), st.tuples(st.integers(0, 10), st.integers(0, 1)))


@st.composite
def constraints(draw: st.DrawFn) -> Constraint:
    found: list[Interval] = []
    for low, high in draw(st.lists(st.tuples(cuts, cuts), max_size=5)):
        if low is None or high is None or low < high:
            found.append((low, high))
    return Constraint(merged(found), draw(st.booleans()))


def half(cut: Cut | None, otherwise: float) -> float:
    """A cut as a number between the keys: (c, 0) is c - 1/4, (c, 1) is c + 1/4."""
    return otherwise if cut is None else cut[0] - 0.25 + cut[1] * 0.5


def members(constraint: Constraint) -> set[float | None]:
    """The keys and the points between keys that are in the set, and None for NULL."""
    points = [key + part for key in KEYS for part in (0.0, 0.5)]
    inside = {
        point
        for point in points
        for low, high in constraint.intervals
        if half(low, float("-inf")) < point < half(high, float("inf"))
    }
    return inside | ({None} if constraint.null else set())


UNIVERSE = members(Constraint(((None, None),), True))


def valid(constraint: Constraint) -> bool:
    ends = [(half(low, float("-inf")), half(high, float("inf"))) for low, high in constraint.intervals]
    return all(low < high for low, high in ends) and all(a[1] < b[0] for a, b in pairwise(ends))


@given(constraints(), constraints())
def test_operations_are_those_of_sets(a: Constraint, b: Constraint) -> None:
    for made, expected in (
        (a.union(b), members(a) | members(b)),
        (union_of([a, b, a]), members(a) | members(b)),
        (a.intersect(b), members(a) & members(b)),
        (a.complement(), UNIVERSE - members(a)),
    ):
        assert members(made) == expected
        assert valid(made)
    assert a.includes(b) == (members(b) <= members(a))
    assert a.union(b).includes(b)


@given(constraints())
def test_admits_empty_full_and_twice_complement(a: Constraint) -> None:
    assert {key for key in KEYS if a.admits(key)} == {p for p in members(a) if p is not None and p == int(p)}
    assert a.admits(None) == (None in members(a))
    assert a.complement().complement() == a
    assert a.is_empty == (not members(a))
    assert a.is_full == (members(a) == UNIVERSE)
