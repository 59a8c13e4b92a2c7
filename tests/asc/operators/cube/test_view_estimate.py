"""Estimated cells of views: within bounds, exact for few cells, and near the cells of skewed and of uniform records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.frozen import frozen
from asc.operators.cube.cell_sample import CellSample
from asc.operators.cube.cells import Cells
from asc.operators.cube.cuboid import Dimensions
from asc.operators.cube.lattice import Lattice
from asc.operators.cube.view import View
from asc.operators.cube.view_estimate import ViewEstimate, estimated_cells
from tests.asc.operators.cube.key_cells import cells_in, cells_of

LATTICE = Lattice(Dimensions((("a",), ("b",), ("c",))), 3_600)
VIEWS = tuple(LATTICE.views())
DAYS = 10
PAIRS = Lattice(Dimensions((("a",), ("b",))), 14_400)


def codes(random: np.random.Generator, count: int, radix: int, skew: float) -> npt.NDArray[np.int64]:
    """Draw codes whose frequencies decrease as their ranks to the power of ``skew`` increase."""
    shares = 1 / np.arange(1, radix + 1) ** skew
    return random.choice(radix, count, p=shares / shares.sum())


def cells_like(skew: float, *, a_pane: int = 200, radixes: tuple[int, ...] = (40, 200, 30)) -> Cells:
    random = np.random.default_rng(7)
    panes = np.repeat(np.arange(DAYS * 24), a_pane)
    return cells_of(panes, *(codes(random, len(panes), radix, skew) for radix in radixes))


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), st.integers(0, 5)), max_size=80),
    st.integers(1, 150),
    st.integers(0, 99),
)
def test_an_estimate_is_within_its_bounds_and_no_view_has_more_cells_than_a_finer_one(
    rows: list[tuple[int, int, int]], most: int, seed: int
) -> None:
    cells = cells_of(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)
    sample = CellSample.of([cells], PAIRS.panes_a_day, most=most, seed=seed)
    estimate = ViewEstimate(PAIRS, sample)
    views = list(PAIRS.views())
    shares = dict(zip(views, estimate.shares(views).tolist(), strict=True))
    if not cells.count:
        return
    assert estimate.cells(PAIRS.base) == sample.population
    assert shares[PAIRS.base] == 1
    for view in views:
        columns = PAIRS.dimensions.columns(view.cuboid)
        keys = [sample.panes // view.panes, *(sample.codes[place] for place in columns)]
        groups = len({*zip(*(own.tolist() for own in keys), strict=True)})
        counted = estimate.cells(view)
        assert groups <= counted + 1e-9
        assert counted <= groups + sample.population - sample.count + 1e-9
        if sample.days is None:
            assert counted == cells_in(cells, PAIRS, view)
        else:
            values = np.prod([sample.radixes[place] for place in columns])
            assert counted <= sample.days * PAIRS.panes_a_day / view.panes * values + 1e-9
        assert all(shares[view] <= shares[finer] for finer in views if finer.is_finer(view))


@pytest.mark.parametrize(
    ("skew", "mean", "worst"), [(0.0, 1.1, 1.4), (0.6, 1.1, 1.4), (1.0, 1.15, 1.5), (1.3, 1.25, 1.6)]
)
def test_estimates_are_near_the_cells(skew: float, mean: float, worst: float) -> None:
    cells = cells_like(skew)
    actual = np.array([cells_in(cells, LATTICE, view) for view in VIEWS])
    for seed in range(3):
        sample = CellSample.of([cells], 24, most=2_000, seed=seed)
        assert sample.count == 2_000
        factors = ViewEstimate(LATTICE, sample).shares(VIEWS) * cells.count / actual
        errors = np.maximum(factors, 1 / factors)
        assert errors.mean() < mean
        assert errors.max() < worst


def test_a_view_has_no_more_cells_than_a_finer_one_though_its_own_estimate_is_larger() -> None:
    # By a and b, ten groups are drawn once and five twice. By a, the five are one, and no group is drawn twice.
    a, b = [*range(10), *[10] * 10], [0] * 10 + [1, 2, 3, 4, 5] * 2
    codes = tuple(frozen(np.array(own, dtype=np.int32)) for own in (a, b))
    sample = CellSample(np.zeros(20, dtype=np.int64), codes, (10_000, 10_000), 2_000, 8, 28)
    by_both, by_a = View((1, 1), 6), View((1, 0), 6)
    estimate = ViewEstimate(PAIRS, sample)
    assert estimate.cells(by_a) > estimate.cells(by_both)
    shares = estimate.shares([by_a, by_both])
    assert shares[0] == shares[1] == estimate.cells(by_both) / 2_000


def test_few_and_many_cells_of_few_days_are_known() -> None:
    cells = cells_like(0.0, a_pane=20, radixes=(3, 4, 5))
    estimate = ViewEstimate(LATTICE, CellSample.of([cells], 24))
    assert estimate.sample.days is None
    assert [estimate.cells(view) for view in VIEWS] == [cells_in(cells, LATTICE, view) for view in VIEWS]


def test_of_no_cell_nothing_is_known() -> None:
    estimate = ViewEstimate(LATTICE, CellSample.of([], 24))
    assert [estimate.cells(view) for view in VIEWS[:3]] == [0, 0, 0]
    assert estimate.shares(VIEWS[:3]).tolist() == [1, 1, 1]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 10_000))
def test_an_estimate_is_between_the_drawn_groups_and_all_that_may_be(frequencies: list[int], missed: int) -> None:
    sampled = sum(times * groups for times, groups in enumerate(frequencies, 1))
    found = estimated_cells(np.array(frequencies), sampled, sampled + missed)
    assert sum(frequencies) - 1e-9 <= found <= sum(frequencies) + missed + 1e-9
    if not missed:
        assert found == sum(frequencies)


def test_the_work_is_cut_into_short_steps() -> None:
    pauses: list[None] = []
    estimate = ViewEstimate(LATTICE, CellSample.of([cells_like(0.0, a_pane=20)], 24, most=100))
    estimate.shares(VIEWS, lambda: pauses.append(None))
    assert len(pauses) >= len(VIEWS)


@pytest.mark.parametrize("first", [0, 7])
@pytest.mark.parametrize("hours", [1, 5, 30])
def test_a_pane_that_is_cut_off_has_the_share_of_a_whole_one(first: int, hours: int) -> None:
    cells = cells_like(0.0, radixes=(40, 2_000, 30))
    begin, end = 96 + first, 96 + first + hours
    sample = CellSample.of([cells.between(begin, end)], 24)
    estimate = ViewEstimate(LATTICE, sample, [(begin, end)])
    for view in (View((0, 0, 0), 24), View((1, 0, 0), 24), View((0, 1, 0), 24), View((1, 0, 0), 1)):
        share = estimate.cells(view) / sample.population
        actual = cells_in(cells, LATTICE, view) / cells.count
        assert 1 / 1.5 < share / actual < 1.5, view


def test_extents_that_cut_nothing_off_change_nothing() -> None:
    cells = cells_like(1.0)
    sample = CellSample.of([cells], 24, most=2_000)
    whole = [(24 * day, 24 * day + 24) for day in range(DAYS)]
    plain, bounded = ViewEstimate(LATTICE, sample), ViewEstimate(LATTICE, sample, whole)
    assert bounded.shares(VIEWS).tolist() == plain.shares(VIEWS).tolist()
