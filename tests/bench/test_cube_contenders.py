"""The contenders that need no process of their own: the engine and DuckDB roll the same batches up to the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.cube_contenders import PANE, DuckDb, Engine
from bench.cube_tables import check_equal, rolled_up
from workloads.sales import NARROW, sales, sales_cubes


def test_batches_add_up_to_the_same_groups_and_are_forgotten(tmp_path: Path) -> None:
    records, cubes = sales(4_000, NARROW), list(sales_cubes(3))
    paths = [tmp_path / f"{number}.parquet" for number in range(2)]
    for number, path in enumerate(paths):
        pq.write_table(records.slice(number * 2_000, 2_000), path)
    contenders = Engine(paths, cubes), DuckDb(paths, cubes)
    for contender in contenders:
        contender.add(1)
        contender.clear()
        for number in range(2):
            contender.add(number)
    for cube in cubes:
        keys = [PANE, *cube.dimensions]
        own, other = (rolled_up(contender.parts(cube), keys) for contender in contenders)
        check_equal(cube.id, own, other, keys)
    assert sum_of(contenders[0].parts(cubes[0])) == 4_000


def sum_of(parts: pa.Table) -> int:
    return sum(parts["records"].to_pylist())
