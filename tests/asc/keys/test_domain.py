"""Constraints cut down to the keys that there are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.keys.constraint import Constraint, merged
from asc.keys.domain import Domain, clipped

BOOLEAN = Domain(0, 1, discrete=True)
SMALL = Domain(-3, 4, discrete=True)
cuts = st.none() | st.tuples(st.integers(-6, 8), st.integers(0, 1))
intervals = st.tuples(cuts, cuts).filter(lambda own: own[0] is None or own[1] is None or own[0] < own[1])
constraints = st.builds(lambda own, null: Constraint(merged(own), null), st.lists(intervals, max_size=5), st.booleans())


@pytest.mark.parametrize("domain", [BOOLEAN, SMALL])
@given(constraint=constraints)
def test_the_values_of_the_domain_are_kept_in_the_fewest_intervals(domain: Domain, constraint: Constraint) -> None:
    made = clipped(constraint, domain)
    keys = [*range(domain.low, domain.high + 1), None]
    admitted = [made.admits(key) for key in keys]
    assert admitted == [constraint.admits(key) for key in keys]
    assert made.is_empty == (not any(admitted))
    assert made.is_full == all(admitted)
    inside = [False, *admitted[:-1], False]
    assert len(made.intervals) == sum(after and not before for before, after in pairwise(inside))


@given(constraints)
def test_without_bounds_nothing_changes(constraint: Constraint) -> None:
    assert clipped(constraint, Domain(None, None, discrete=False)) == constraint


def test_between_neighbours_lies_something_where_keys_are_dense() -> None:
    between = Constraint((((b"a", 1), (b"b", 0)),))
    assert clipped(between, Domain(b"", None, discrete=False)) is between
    below = Constraint(((None, (b"", 0)),))
    assert clipped(below, Domain(b"", None, discrete=False)).is_empty
