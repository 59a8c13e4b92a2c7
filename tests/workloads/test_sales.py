"""Made-up sales: the same for one seed, and accepted in the shares that the cubes' predicates say."""

from __future__ import annotations

import duckdb
import pytest

from asc.matcher import Matcher
from workloads.errors import WorkloadError
from workloads.sales import DIMENSIONS, HOUR_US, NARROW, SALES_DDL, WIDE, sales, sales_cubes


def test_a_seed_gives_the_same_sales_of_one_hour() -> None:
    table = sales(5_000, WIDE)
    assert table.equals(sales(5_000, WIDE))
    assert not table.equals(sales(5_000, WIDE, seed=2))
    at_us = table["sold_at"].cast("int64").to_numpy()
    assert (at_us[1:] >= at_us[:-1]).all()
    assert at_us[-1] - at_us[0] < HOUR_US
    assert 0 < table["status"].null_count < 150
    assert 0 < table["amount"].null_count < 150


def test_narrow_sales_are_in_few_groups() -> None:
    assert sales(50_000, NARROW).group_by(list(DIMENSIONS[:4])).aggregate([]).num_rows == 4 * 5 * 6 * 3


def test_predicates_accept_the_same_wherever_they_are_judged() -> None:
    cubes, records = list(sales_cubes(20)), sales(10_000, NARROW)
    found = Matcher(SALES_DDL, {cube.id: cube.where for cube in cubes}).count(records)
    counts = dict(zip(found["query"].to_pylist(), found["count"].to_pylist(), strict=True))
    for cube in cubes:
        sql = f"SELECT count(*) FROM records WHERE {cube.where}"
        assert counts[cube.id] == duckdb.query(sql).fetchall()[0][0]
        assert 3 <= len(cube.dimensions) <= 5
    assert counts[cubes[0].id] == 10_000
    assert 200 < min(counts.values()) < 4_000


def test_no_cube_is_none() -> None:
    with pytest.raises(WorkloadError, match="cubes"):
        next(sales_cubes(0))
