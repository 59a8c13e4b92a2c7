"""Edges of bins: where they lie, what they do for the errors, and which lists are edges."""

from __future__ import annotations

import csv
import gzip
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.errors import CubeError
from asc.operators.cube.computed.bin_edges import BINS_MAX, BinEdges, levels_of, shortest_between
from asc.operators.cube.computed.bin_keys import bin_numbers
from asc.operators.cube.computed.bin_sample import BinSample
from workloads.real_data import VARIABLE

COUNTS = st.sampled_from([2, 4, 8, 16, 32, 64, 128, 256])
SAMPLES = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float), min_size=1)


@given(SAMPLES, COUNTS)
def test_edges_ascend_and_lie_between_values_of_the_sample(values: list[float], count: int) -> None:
    sample = BinSample.of(np.array(values))
    edges = BinEdges.of(sample, count)
    assert edges.count == count
    assert list(edges.edges) == sorted(edges.edges)
    distinct = sample.different.tolist()
    if len(distinct) > 1:
        assert all(distinct[0] < edge <= distinct[-1] for edge in edges.edges)
    if len(distinct) <= count:
        assert len(set(bin_numbers(edges, sample.different).tolist())) == len(distinct)
        assert edges.errors(sample).rmse == 0.0
    elif count < len(distinct):
        # No bin of the sample is empty.
        assert len(set(bin_numbers(edges, sample.different).tolist())) == count


@given(SAMPLES, COUNTS, st.randoms(use_true_random=False))
def test_equal_samples_have_equal_edges_in_any_order(values: list[float], count: int, random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert BinEdges.of(BinSample.of(np.array(values)), count) == BinEdges.of(BinSample.of(np.array(shuffled)), count)


def test_the_edges_of_a_sample_are_these_on_every_machine() -> None:
    # A linear congruential generator, because those of libraries may change.
    state, values = 7, []
    for _ in range(2_000):
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        values.append((state >> 11) / 2**53)
    squared = BinSample.of(np.array(values) ** 2)
    assert BinEdges.of(squared, 8).edges == (0.081, 0.185, 0.3, 0.427, 0.57, 0.704, 0.85)


@given(SAMPLES, COUNTS)
def test_a_coarse_bin_is_the_union_of_two_fine_ones(values: list[float], count: int) -> None:
    edges = BinEdges.of(BinSample.of(np.array(values)), count)
    probes = np.array([*values, -math.inf, math.inf, math.nan])
    fine = bin_numbers(edges, probes)
    for coarse in levels_of(count):
        own = np.searchsorted(edges.edges_of(coarse), probes, side="right")
        own[np.isnan(probes)] = coarse - 1
        assert own.tolist() == (fine // (count // coarse)).tolist()


def test_errors_are_those_of_numpy() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=5_000)
    sample = BinSample.of(values)
    edges = BinEdges.of(sample, 16)
    bins = bin_numbers(edges, values)
    means = np.array([values[bins == own].mean() for own in range(16)])
    rmse = math.sqrt(((values - means[bins]) ** 2).mean())
    found = edges.errors(sample)
    assert found.rmse == pytest.approx(rmse, rel=1e-12)
    assert found.nrmse == pytest.approx(rmse / (values.max() - values.min()), rel=1e-12)
    assert found.rmse_sd == pytest.approx(rmse / values.std(), rel=1e-12)


def test_the_fewest_bins_reach_the_goals_and_half_of_them_do_not() -> None:
    sample = BinSample.of(np.random.default_rng(4).normal(size=10_000))
    edges = BinEdges.fewest(sample)
    assert edges.errors(sample).reaches_goals
    assert not BinEdges.of(sample, edges.count // 2).errors(sample).reaches_goals


def test_edges_of_equal_mass_fail_where_these_do_not() -> None:
    values = np.random.default_rng(5).standard_t(2.2, size=10_000)
    sample = BinSample.of(values)
    equal_mass = BinEdges(tuple(np.quantile(sample.values, np.arange(1, 64) / 64).tolist()))
    assert not equal_mass.errors(sample).reaches_goals
    assert BinEdges.of(sample, 64).errors(sample).reaches_goals


def test_an_outlier_takes_one_edge_and_not_the_others() -> None:
    values = np.append(np.random.default_rng(6).normal(size=1_000), 1e300)
    edges = BinEdges.of(BinSample.of(values), 16)
    assert np.count_nonzero(np.abs(edges.edges) < 5) == 14
    assert bin_numbers(edges, np.array([1e300, 2e300])).tolist() == [15, 15]


@pytest.mark.parametrize("value", [0.0, 7.0, -1.7e308])
def test_a_constant_is_in_one_bin(value: float) -> None:
    sample = BinSample.of(np.full(10, value))
    edges = BinEdges.fewest(sample)
    assert (edges.count, edges.edges, edges.errors(sample).rmse) == (2, (value,), 0.0)


def test_minus_zero_is_zero_and_beyond_the_sample_are_the_outer_bins() -> None:
    edges = BinEdges((-1.0, 0.0, 1.0))
    assert bin_numbers(edges, np.array([-0.0, 0.0, -1e308, -math.inf, 1e308, math.inf])).tolist() == [2, 2, 0, 0, 3, 3]


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (1.0, 2.0, 2.0),
        (12.4837, 12.5102, 12.5),
        (0.1, math.nextafter(0.1, 1), math.nextafter(0.1, 1)),
        (-3.0, 3.0, 0.0),
    ],
)
def test_an_edge_has_as_few_digits_as_it_can(low: float, high: float, found: float) -> None:
    assert shortest_between(low, high) == found


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_an_edge_separates_the_two_values(one: float, other: float) -> None:
    low, high = sorted((one, other))
    if low < high:
        assert low < shortest_between(low, high) <= high


@pytest.mark.parametrize(
    ("plain", "error"),
    [
        ("1", r"edges '1': is no list"),
        ([1, 2], r"edges 3: is no number of bins: give a power of two from 2 to 256"),
        ([], r"edges 1: is no number of bins"),
        (list(range(511)), r"edges 512: is no number of bins"),
        (["1"], r"edges '1': is no finite number"),
        ([True], r"edges True: is no finite number"),
        ([math.nan], r"edges nan: is no finite number"),
        ([3, 2, 1], r"edges 2.0: is less than the edge before it, 3.0"),
    ],
)
def test_other_lists_are_no_edges(plain: object, error: str) -> None:
    with pytest.raises(CubeError, match=error):
        BinEdges.parse(plain)


FEATURES = ("temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib")
DELAYS = ("dep_delay", "arr_delay", "distance")


def column(path: Path, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    with gzip.open(path, "rt") as lines:
        return np.array([float(row[name]) for row in csv.DictReader(lines) if row[name] not in ("", "NA")])


@pytest.mark.parametrize("feature", [*FEATURES, *DELAYS])
def test_eleven_features_of_real_data_need_at_most_64_bins(feature: str) -> None:
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no folder with the recorded weather and flights")
    name = "weather.csv.gz" if feature in FEATURES else "flights.csv.gz"
    values = column(Path(os.environ[VARIABLE]) / "flights" / name, feature)
    sample = BinSample.of(values[:: max(1, len(values) // 10_000)])
    edges = BinEdges.fewest(sample)
    assert edges.errors(sample).reaches_goals
    assert edges.count <= 64 < BINS_MAX
    whole = edges.errors(BinSample.of(values))
    # An outlier that the sample lacks, as the gust of 1,048 miles an hour, is far from the mean of its bin.
    assert whole.nrmse <= 0.03
