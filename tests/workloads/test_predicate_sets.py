"""Predicate sets: as asked for, reproducible, and what they realised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan
from workloads.errors import WorkloadError
from workloads.predicate_sets import PredicateShape, evenly, predicate_set, realised
from workloads.synthetic import Workload, synthetic_columns

SHAPE = PredicateShape(queries=200, predicates=(2, 4), widest=0.3)
NAMES = synthetic_columns(8, 100)[0]
EXACT = CompileOptions(always_exact=True)


def made(shape: PredicateShape, seed: int = 1) -> Workload:
    return predicate_set(shape, NAMES, evenly(8, 100), seed=seed)


def compiled(workload: Workload) -> Plan:
    return compile_plan(workload.standing_queries(), EXACT)


def test_shape() -> None:
    found = made(SHAPE)
    counts = np.bincount(found.owner)
    assert (found.queries, counts.min(), counts.max()) == (200, 2, 4)
    widths = found.high - found.low + 1
    assert (found.low.min() >= 0, found.high.max() <= 99, widths.min(), widths.max()) == (True, True, 1, 30)
    assert 13 < widths.mean() < 18
    for query in range(found.queries):
        own = found.attribute[found.owner == query]
        assert len(set(own.tolist())) == len(own)


def test_the_same_seed_gives_the_same() -> None:
    assert made(SHAPE, 7).texts() == made(SHAPE, 7).texts()
    assert made(SHAPE, 7).texts() != made(SHAPE, 8).texts()


def test_concentration_raises_the_deviation_and_leaves_attributes_and_widths() -> None:
    sets = [made(replace(SHAPE, concentration=share)) for share in (0.0, 0.5, 1.0)]
    for other in sets[1:]:
        assert (other.attribute == sets[0].attribute).all()
        assert (other.high - other.low == sets[0].high - sets[0].low).all()
    deviations = [realised(compiled(workload)).deviation for workload in sets]
    assert deviations[0] < deviations[1] < deviations[2]
    assert deviations[2] > 2 * deviations[0]


def test_what_was_realised_is_what_counting_by_hand_finds() -> None:
    workload = Workload(
        ("x", "y"), (9, 9), np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 5, 3]), np.array([4, 9, 9])
    )
    found = realised(compiled(workload))
    # x, constants 3 and 4: 0-2 none, 3 and 4 both, 5-9 the second. y, constant 5: below, the second query alone.
    assert (found.queries, found.conjuncts, found.p_attributes, found.predicates_a_query) == (2, 2, 2, 1.5)
    x, y = [0, 2, 2, 1], [1, 2, 2]
    assert found.regions == len(x) + len(y)
    assert found.ones == pytest.approx((np.mean(x) + np.mean(y)) / 2)
    assert found.deviation == pytest.approx((np.std(x) + np.std(y)) / 2)


def test_places_are_counted_in_distinct_values() -> None:
    values = [np.array([0, 7, 5_000], dtype=np.int64)] * 2
    found = predicate_set(PredicateShape(50, (1, 2), 1.0), ("x", "y"), values)
    assert set(found.low.tolist()) | set(found.high.tolist()) == {0, 7, 5_000}
    assert found.greatest == (5_000, 5_000)


@pytest.mark.parametrize(
    "change",
    [
        {"queries": 0},
        {"predicates": (0, 2)},
        {"predicates": (3, 2)},
        {"widest": 0.0},
        {"widest": 1.1},
        {"concentration": -0.1},
        {"concentration": 1.5},
    ],
)
def test_a_shape_that_cannot_be_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(WorkloadError):
        replace(SHAPE, **change)  # type: ignore[arg-type]


def test_more_predicates_than_attributes_are_refused() -> None:
    with pytest.raises(WorkloadError, match="at most 2"):
        predicate_set(SHAPE, NAMES[:2], evenly(2, 100))


def test_only_one_block_of_exact_regions_is_measured() -> None:
    with pytest.raises(WorkloadError, match="exact regions"):
        realised(compile_plan(made(SHAPE).standing_queries(), CompileOptions(exact_bytes=0, exact_regions=4)))
