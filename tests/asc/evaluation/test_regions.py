"""The regions of a batch: those that constructs find one by one, and what is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.evaluation.regions import columns_of, region_ids, write_regions
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, s STRING")
TEXTS = ("n > 5 AND s = 'oslo'", "n BETWEEN -3 AND 900000", "s < 'b' OR n IS NULL")
COLUMNS = [
    pa.array([None, -4, -3, 5, 6, 900_000, 900_001], pa.int32()),
    pa.array(["", "a", None, "b", "oslo", "p", "o"]),
]
BOUNDED = CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=2, bounded_rows=0)


def plan_of(options: CompileOptions) -> Plan:
    return compile_plan([Query(f"q{i}", normalise(text, SCHEMA)) for i, text in enumerate(TEXTS)], options)


@pytest.mark.parametrize("options", [CompileOptions(), BOUNDED], ids=["exact", "bounded"])
def test_regions_are_those_of_the_constructs(options: CompileOptions) -> None:
    plan = plan_of(options)
    found = region_ids(plan, COLUMNS, 7)
    for slot, construct in enumerate(plan.constructs(0)):
        keys = [construct.attribute.key_of(value) for value in COLUMNS[slot]]
        assert found[slot].tolist() == [construct.region_of(key) for key in keys]


def test_a_part_of_the_rows() -> None:
    plan = plan_of(CompileOptions())
    keys, regions = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.uint16)
    write_regions(plan.grids[0], columns_of(plan, COLUMNS, 7)[0], 2, keys, regions)
    assert keys.tolist() == [-3, 5, 6]
    assert regions.tolist() == region_ids(plan, COLUMNS, 7)[0, 2:5].tolist()


def test_where_nothing_is_known_of_the_values() -> None:
    found = region_ids(plan_of(CompileOptions()), [None, COLUMNS[1]], 7)
    assert not found[0].any()
    assert found[1].any()


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        (COLUMNS[:1], 7, "number of columns 1: the plan has 2 p-attributes"),
        (COLUMNS, 6, "length of column n 7: the batch has 6 rows"),
        ([None, COLUMNS[1]], 7, "column 'n': is missing"),
    ],
)
def test_columns_that_do_not_fit(columns: list[pa.Array | None], rows: int, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        columns_of(plan_of(CompileOptions()), columns, rows)
