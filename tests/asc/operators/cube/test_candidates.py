"""Candidates: demanded views and their coarsest common ancestors, within a bound."""

from __future__ import annotations

from functools import reduce
from itertools import combinations

import numpy as np
import pytest

from asc.operators.cube import candidates as module
from asc.operators.cube.candidates import CANDIDATES_MOST, candidates
from asc.operators.cube.view import View
from tests.asc.operators.cube.lattices import drawn, lattice_of


def test_they_are_the_demanded_views_and_the_common_ancestors_of_all_subsets() -> None:
    case = drawn(5, 2, 1, 1, demanded=7)
    bits = case.lattice.bits(case.asked).tolist()
    subsets = [several for size in range(1, 8) for several in combinations(bits, size)]
    expected = {case.lattice.view(reduce(int.__or__, several)) for several in subsets} | {case.lattice.base}
    found = candidates(case.lattice, case.asked)
    assert found[0] == case.lattice.base
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_stored_views_are_candidates_in_any_case() -> None:
    lattice = lattice_of(1, 1)
    kept = View((1, 0), 6)
    assert candidates(lattice, {}, [kept, lattice.base]) == (lattice.base, kept)


@pytest.mark.parametrize(("demanded", "grain_s"), [(40, 3_600), (4_096, 3_600), (4_096, 1)])
def test_they_are_bounded_and_have_the_most_demanded_views(demanded: int, grain_s: int) -> None:
    lattice = lattice_of(*[1] * 12, grain_s=grain_s)
    views = list(lattice.views())
    chosen = np.random.default_rng(1).permutation(len(views))[:demanded].tolist()
    asked = {views[place]: float(rank) for rank, place in enumerate(chosen)}
    found = candidates(lattice, asked)
    assert len(found) <= CANDIDATES_MOST + 1
    heaviest = sorted(asked, key=lambda view: -asked[view])
    assert {*heaviest[:2_048]} <= {*found}
    bits = lattice.bits(heaviest[:4]).tolist()
    ancestors = {lattice.view(reduce(int.__or__, several)) for several in combinations(bits, 3)}
    assert ancestors <= {*found}


def test_a_smaller_bound_keeps_half_for_demanded_views(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CANDIDATES_MOST", 20)
    case = drawn(5, 1, 1, 1, 1, demanded=60)
    found = candidates(case.lattice, case.asked)
    assert 10 < len(found) <= 21
    assert {*sorted(case.asked, key=lambda view: (-case.asked[view], view))[:10]} <= {*found}
