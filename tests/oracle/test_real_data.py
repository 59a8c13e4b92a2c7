"""A hundred thousand queries over recorded tuples accept what a database says: DuckDB joins tuples with predicates.

Every (row, query) pair is compared. The predicates are given to DuckDB as a table of values, which its own comparisons
read; of the engine's normal form, keys and codes it knows nothing. What the project packages is always compared, the
whole tables where ``ASC_DATA_DIR`` names a folder that has them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from workloads.drawn_predicates import NULL_CODE, DrawnWorkload, coded, drawn_workload
from workloads.errors import MissingDataError
from workloads.real_data import CENSUS_FILE, CONNECTIONS_FILE, FLIGHTS_FILE, REAL_DATA, VARIABLE

QUERIES, GATE_QUERIES = 100_000, 20_000
ROWS = 250

Pairs = npt.NDArray[np.int64]
"""``row << 32 | query``, ascending."""

WHOLE = {"flights": FLIGHTS_FILE, "KDD Cup 99": CONNECTIONS_FILE, "census": CENSUS_FILE}


def found(workload: DrawnWorkload, tuples: pa.Table) -> Pairs:
    """The pairs of the engine."""
    plan = compile_plan(workload.standing_queries())
    matches = match(plan, [tuples[own.sql] for own in plan.p_attributes], tuples.num_rows)
    # Ids are the numbers of the queries, so ordinals are.
    return np.sort(matches.rows.astype(np.int64) << 32 | matches.queries)


def joined(workload: DrawnWorkload, tuples: pa.Table) -> Pairs:
    """The pairs that DuckDB finds: of each column the tuples and predicates that go together. A query accepts a tuple
    that goes with as many predicates as the query has.
    """
    queries, rows = workload.queries, tuples.num_rows
    held = np.zeros(rows * queries, dtype=np.int64)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
        connection.register("given", tuples.append_column("row", pa.array(range(rows), pa.int64())))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
        for place, column in enumerate(workload.columns):
            for predicates, condition in asked(workload, place):
                connection.register("p", predicates)
                where = condition.format(f't."{column.name}"')
                sql = f"SELECT t.row * {queries} + p.query AS pair FROM t JOIN p ON {where}"
                # A query asks once for a column, so no pair comes twice.
                held[connection.execute(sql).fetchnumpy()["pair"]] += 1
    row, query = np.divmod(np.flatnonzero(held == np.tile(np.bincount(workload.owner), rows)), queries)
    return row << 32 | query


def asked(workload: DrawnWorkload, place: int) -> Iterator[tuple[pa.Table, str]]:
    """The predicates of one column as tables of values, with the condition of each table: equalities and the members of
    lists (no tuple goes with two of a list), ranges, tests for NULL.
    """
    values = workload.columns[place].values
    predicates = np.repeat(np.arange(len(workload.owner)), np.diff(workload.first))
    which = np.flatnonzero(workload.attribute[predicates] == place)
    query, low, high = workload.owner[predicates[which]], workload.low[which], workload.high[which]
    is_null, is_range = low == NULL_CODE, low != high
    is_point = ~is_null & ~is_range
    yield pa.table({"query": query[is_null]}), "{0} IS NULL"
    yield pa.table({"query": query[is_point], "value": values.take(pa.array(low[is_point]))}), "{0} = p.value"
    bounds = {end: values.take(pa.array(codes[is_range])) for end, codes in (("low", low), ("high", high))}
    yield pa.table({"query": query[is_range], **bounds}), "{0} BETWEEN p.low AND p.high"


@pytest.fixture(autouse=True)
def without_collections() -> Iterator[None]:
    """Half of the time to make so many queries would go into looking for cycles among them."""
    gc.disable()
    yield
    gc.enable()


def compare(tuples: pa.Table, queries: int = QUERIES) -> None:
    workload = drawn_workload(coded(tuples), queries, seed=17)
    drawn, _ = workload.tuples(ROWS, seed=71)
    ours, theirs = found(workload, drawn), joined(workload, drawn)
    wrong = np.setxor1d(ours, theirs)
    assert not len(wrong), (
        f"{len(wrong)} pairs differ, {len(ours)} found and {len(theirs)} expected; the first: "
        f"{drawn.slice(int(wrong[0] >> 32), 1).to_pylist()} and {workload.texts()[int(wrong[0] & 0xFFFFFFFF)]}"
    )
    assert 0.001 < len(ours) / (ROWS * queries) < 0.1, "the predicates should neither all fail nor all pass"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["flights", "census"])
def test_what_is_packaged(name: str, full_size: bool) -> None:
    compare(REAL_DATA[name](None), QUERIES if full_size else GATE_QUERIES)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL_DATA)
def test_the_whole_tables(name: str) -> None:
    folder = Path(os.environ.get(VARIABLE, ""))
    if VARIABLE not in os.environ or not (folder / WHOLE[name]).is_file():
        pytest.skip(f"{WHOLE[name]} is in no folder that {VARIABLE} names: see workloads/real_data.py")
    compare(REAL_DATA[name](folder))


def test_connections_are_not_packaged() -> None:
    with pytest.raises(MissingDataError, match="missing KDD Cup 99 connections"):
        REAL_DATA["KDD Cup 99"](None)
