"""Samples of base cells: few cells are read, of few whole days, and each with the same probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.cube.cell_sample import CellSample, days_to_read, drawn
from asc.operators.cube.cells import Cells
from asc.operators.cube.keys import Key
from tests.asc.operators.cube.key_cells import cells_of

DAYS = 40


def many_cells(seed: int = 1, a_pane: int = 50) -> Cells:
    random = np.random.default_rng(seed)
    panes = np.repeat(np.arange(DAYS * 24), a_pane)
    return cells_of(panes, random.integers(0, 30, len(panes)), random.integers(0, 9, len(panes)))


@dataclass(frozen=True, slots=True, eq=False)
class CountedKey(Key):
    """A key that counts the codes that are taken, and refuses to be read otherwise."""

    taken: list[int] = field(default_factory=list)

    def take(self, rows: npt.NDArray[Any]) -> Key:
        self.taken.append(len(rows))
        return Key(self.dictionary, self.codes).take(rows)


def parts_of(cells: Cells, taken: list[int]) -> list[Cells]:
    """Return the cells in parts of a hundred panes, whose first keys count."""
    cuts = np.searchsorted(cells.panes, np.arange(0, DAYS * 24 + 100, 100)).tolist()
    parts = [cells.slice(start, stop) for start, stop in pairwise(cuts)]
    return [
        Cells(own.panes, (CountedKey(own.keys[0].dictionary, own.keys[0].codes, taken), own.keys[1]), ())
        for own in parts
    ]


def test_it_reads_no_more_cells_than_it_says() -> None:
    taken: list[int] = []
    sample = CellSample.of(parts_of(many_cells(), taken), 24, most=500)
    assert sum(taken) == sample.count == 500
    assert sample.touched == 500 + 8
    assert sample.days == 8
    # Ten times as many cells: as many are read.
    taken.clear()
    larger = CellSample.of(parts_of(many_cells(a_pane=500), taken), 24, most=500)
    assert sum(taken) == 500
    assert larger.touched == 508


def test_it_is_of_whole_days() -> None:
    cells = many_cells()
    sample = CellSample.of(parts_of(cells, []), 24, most=2_000)
    days = np.unique(sample.panes // 24)
    assert len(days) == sample.days == 8
    # The days are spread evenly.
    assert (np.abs(days - np.arange(2, DAYS, 5)) <= 1).all()
    assert sample.population == np.isin(cells.panes // 24, days).sum()
    assert sample.radixes == (31, 10)


def test_if_the_days_have_too_many_cells_there_are_fewer_days() -> None:
    cells = many_cells()
    per_day = cells.count // DAYS
    assert CellSample.of([cells], 24, most=per_day * 8 // 20 + per_day).days == 8
    assert CellSample.of([cells], 24, most=per_day * 5 // 20).days == 4
    assert CellSample.of([cells], 24, most=10).days == 2


def test_of_few_cells_all_are_in_it() -> None:
    cells = many_cells(a_pane=2)
    sample = CellSample.of(parts_of(cells, []), 24)
    assert (sample.count, sample.population, sample.days) == (cells.count, cells.count, None)
    assert sample.panes.tolist() == cells.panes.tolist()
    assert [own.tolist() for own in sample.codes] == [key.codes.tolist() for key in cells.keys]
    nothing = CellSample.of([], 24)
    assert (nothing.count, nothing.population, nothing.codes) == (0, 0, ())


def test_equal_seeds_draw_equal_cells_and_other_seeds_others() -> None:
    cells = many_cells()
    one, again, other = (CellSample.of([cells], 24, most=300, seed=seed) for seed in (1, 1, 2))
    assert one.panes.tolist() == again.panes.tolist()
    assert [own.tolist() for own in one.codes] == [own.tolist() for own in again.codes]
    assert [own.tolist() for own in one.codes] != [own.tolist() for own in other.codes]


def test_the_division_into_parts_with_their_own_dictionaries_changes_nothing() -> None:
    cells = many_cells()
    parts = [cells.slice(start, min(start + 7_001, cells.count)) for start in range(0, cells.count, 7_001)]
    compacted = [Cells(own.panes, tuple(key.compact() for key in own.keys), ()) for own in parts]
    whole, several = CellSample.of([cells], 24, most=400), CellSample.of(compacted, 24, most=400)
    assert whole.panes.tolist() == several.panes.tolist()
    for one, other in zip(whole.codes, several.codes, strict=True):
        # Codes are ranks of values that occur.
        assert np.unique(one, return_inverse=True)[1].tolist() == np.unique(other, return_inverse=True)[1].tolist()


def test_nulls_and_texts_are_values() -> None:
    cells = Cells(np.zeros(3, dtype=np.int64), (Key.of(pa.array([None, "a", "b"])),), ())
    sample = CellSample.of([cells], 24)
    assert len(set(sample.codes[0].tolist())) == 3 == sample.radixes[0]


@given(st.integers(0, 5_000), st.integers(1, 300), st.integers(0, 2**32))
def test_different_numbers_are_drawn(count: int, most: int, seed: int) -> None:
    found = drawn(count, most, seed).tolist()
    assert len(found) == len(set(found)) == min(count, most)
    assert all(0 <= own < count for own in found)


@pytest.mark.parametrize("count", [1_000, 1_024, 1_500])
def test_numbers_and_pairs_of_numbers_are_drawn_as_often_as_others(count: int) -> None:
    seeds, most = 400, 100
    draws = [drawn(count, most, seed) for seed in range(seeds)]
    share = most / count
    times = np.bincount(np.concatenate(draws), minlength=count)
    chi = float(((times - seeds * share) ** 2 / (seeds * share * (1 - share))).sum())
    # Chi-squared has this mean and this variance; six standard deviations.
    assert abs(chi - count) < 6 * (2 * count) ** 0.5
    # An estimate counts drawn cells of one group, and a group is often contiguous: no spread-out or clustered draw.
    for distance in (1, 2, 7, 32):
        pairs = sum(int(np.isin(own + distance, own).sum()) for own in draws)
        expected = seeds * most * (most - 1) / count * (1 - distance / count)
        assert abs(pairs - expected) < 6 * expected**0.5


@given(st.integers(-(10**6), 10**6), st.integers(1, 24 * 400))
def test_the_days_to_read_are_few_whole_days_between_the_bounds(first: int, count: int) -> None:
    end = first + count
    days = days_to_read(first, end, 24)
    assert 1 <= len(days) <= 8
    for start, stop in days:
        assert stop - start == 24
        assert start % 24 == 0
        assert start < end
        assert stop > first
    assert days == sorted(set(days))
    if count >= 24 * 12:
        assert days[0][0] >= first
        assert days[-1][1] <= end
        assert len(days) == 8
