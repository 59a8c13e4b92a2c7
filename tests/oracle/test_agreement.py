"""What a predicate accepts is what ``DataFrame.filter`` accepts: kernels = reference = Spark, tuple by tuple."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from asc.evaluation.executor import match
from asc.evaluation.reference import accepted_by
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from workloads.drawn_values import DDL as VALUES_DDL
from workloads.drawn_values import SCHEMA as VALUES
from workloads.drawn_values import Drawn
from workloads.random_predicates import hand_picked_predicates, random_predicates
from workloads.random_tuples import ALL_TYPES_DDL, random_tuples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1_200)]

ROWS = 200
RANDOM_PREDICATES, GATE_PREDICATES = 1_200, 200
SCHEMA = Schema.from_ddl(ALL_TYPES_DDL)


def chunks(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (items[i : i + size] for i in range(0, len(items), size))


def spark_values(df: DataFrame, expressions: Sequence[str]) -> list[pa.ChunkedArray]:
    """The value of every expression for every row, as Spark computes it."""
    from pyspark.sql import functions as F  # noqa: N812

    columns: list[pa.ChunkedArray] = []
    for chunk in chunks(expressions, 100):
        columns += df.select(*[F.expr(sql).alias(f"p{i}") for i, sql in enumerate(chunk)]).toArrow().columns
    return columns


def accepted_by_filter(df: DataFrame, texts: Sequence[str]) -> list[set[int]]:
    """The oracle: for each predicate the ids of the rows that ``DataFrame.filter`` keeps."""
    from pyspark.sql import functions as F  # noqa: N812

    def of_chunk(chunk: Sequence[str]) -> list[set[int]]:
        kept = (df.filter(text).select(F.lit(i).alias("i"), "id") for i, text in enumerate(chunk))
        found: list[set[int]] = [set() for _ in chunk]
        for row in reduce(type(df).union, kept).collect():
            found[row.i].add(row.id)
        return found

    with ThreadPoolExecutor(2) as pool:
        return [ids for found in pool.map(of_chunk, chunks(texts, 25)) for ids in found]


def matches_by_query(plan: Plan, columns: list[pa.ChunkedArray], rows: int) -> dict[str, set[int]]:
    matches = match(plan, columns, rows)
    ids = plan.query_ids.to_pylist()
    found: dict[str, set[int]] = {query_id: set() for query_id in ids}
    for row, query in zip(matches.rows.tolist(), matches.queries.tolist(), strict=True):
        found[ids[query]].add(row)
    return found


def resequenced(plan: Plan, rng: np.random.Generator) -> Plan:
    """The plan with a random sequence and random micro-arrows in every block."""
    orders = {}
    for number, block in enumerate(plan.blocks):
        constructs = len(block.slots)
        arrows = [
            (construct, int(rng.integers(block.region_count(construct) + 1)), int(rng.integers(constructs)))
            for construct in rng.integers(constructs, size=2 * constructs).tolist()
        ]
        orders[number] = block.order_of(rng.permutation(constructs).tolist(), arrows)
    return plan.with_orders(orders)


def matches_with_swaps(plan: Plan, columns: list[pa.ChunkedArray], rows: int) -> dict[str, set[int]]:
    """As :func:`matches_by_query`, in batches of 25 rows, with other sequences swapped in before each."""
    rng = np.random.default_rng(7)
    found: dict[str, set[int]] = {query_id: set() for query_id in plan.query_ids.to_pylist()}
    for start in range(0, rows, 25):
        batch = [column.slice(start, 25) for column in columns]
        for query_id, own in matches_by_query(resequenced(plan, rng), batch, len(batch[0])).items():
            found[query_id] |= {start + row for row in own}
    return found


@pytest.mark.parametrize("time_zone", ["UTC", pytest.param("America/New_York", marks=pytest.mark.nightly)])
def test_kernels_agree_with_filter(spark: SparkSession, time_zone: str, full_size: bool) -> None:
    """Exact and bounded regions, every type, NULL, NaN, both zeros, extremes, Unicode, a clock that changes."""
    most = RANDOM_PREDICATES if full_size else GATE_PREDICATES
    count, seed = (most, 2013) if time_zone == "UTC" else (max(40, most // 10), 310)
    texts = [*hand_picked_predicates(), *random_predicates(seed, count)]
    tuples = random_tuples(seed, ROWS)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", time_zone)
    local = session.createDataFrame(
        tuples.append_column("id", pa.array(range(ROWS), pa.int32())), schema=f"{ALL_TYPES_DDL}, id INT"
    )
    # A DataFrame over local data is computed while it is planned, before LIKE and casts are rewritten, and accepts
    # a little differently than one that is executed. Streams are executed.
    df = local.coalesce(1).localCheckpoint()
    oracle = accepted_by_filter(df, texts)
    queries = [Query(f"q{i:05d}", normalise(text, SCHEMA, time_zone=time_zone)) for i, text in enumerate(texts)]
    plans = {
        "exact": compile_plan(queries, CompileOptions(spark_attributes=10**6, always_exact=True)),
        "bounded": compile_plan(
            queries,
            CompileOptions(
                spark_attributes=10**6, exact_bytes=0, exact_regions=4, bounded_regions=4, block_conjuncts=256
            ),
        ),
        "listed": compile_plan(queries, CompileOptions(spark_attributes=10**6, exact_bytes=0, listed_conjuncts=1)),
    }
    assert len(plans["listed"].listed) > 5
    attributes = [attribute.sql for attribute in plans["exact"].p_attributes]
    columns = dict(zip(attributes, spark_values(df, attributes), strict=True))
    own_attributes = plans["exact"].p_attributes
    conditions = [own.error_condition for own in own_attributes if own.error_condition is not None]
    failed = spark_values(df, conditions)

    # Spark takes the condition under which an expression fails, whatever the expression, and it is TRUE or FALSE.
    assert [text for text, errors in zip(conditions, failed, strict=True) if errors.null_count] == []
    assert 0 < sum(pc.any(errors).as_py() for errors in failed) < len(failed)
    for name, plan in plans.items():
        own = [columns[attribute.sql] for attribute in plan.p_attributes]
        found = matches_by_query(plan, own, ROWS)
        assert matches_with_swaps(plan, own, ROWS) == found, f"{name}: sequences change what is accepted"
        wrong = [
            (text, sorted(found[f"q{i:05d}"] ^ oracle[i]))
            for i, text in enumerate(texts)
            if found[f"q{i:05d}"] != oracle[i]
        ]
        assert not wrong, f"{name}: {len(wrong)} of {len(texts)} predicates differ, first: {wrong[:3]}"
    for row in range(0, ROWS, 4):
        keys = [attribute.key_of(columns[attribute.sql][row]) for attribute in own_attributes]
        expected = [f"q{i:05d}" for i in range(len(texts)) if row in oracle[i]]
        assert accepted_by(plans["exact"], keys) == expected, f"the reference differs from Spark on row {row}"
    assert 0.02 < sum(map(len, oracle)) / (ROWS * len(texts)) < 0.9, (
        "the predicates should neither all fail nor all pass"
    )


def test_lists_by_values_agree_with_filter(spark: SparkSession, full_size: bool) -> None:
    """Equality with one of many values of every kind of column, alone, beside other terms, and in disjunctions."""
    drawn = Drawn(2013, 150)
    count = 600 if full_size else 200
    texts, tuples = [drawn.predicate() for _ in range(count)], drawn.rows(ROWS)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    local = session.createDataFrame(
        tuples.append_column("id", pa.array(range(ROWS), pa.int32())), schema=f"{VALUES_DDL}, id INT"
    )
    oracle = accepted_by_filter(local.coalesce(1).localCheckpoint(), texts)
    queries = [Query(f"q{i:05d}", normalise(text, VALUES, time_zone="UTC")) for i, text in enumerate(texts)]
    plan = compile_plan(queries, CompileOptions(exact_bytes=0, listed_conjuncts=10))
    assert {"s", "n"} <= {str(block.listed) for block in plan.listed}
    assert sum(map(len, plan.listed)) > count // 4
    found = matches_by_query(plan, [tuples[own.sql] for own in plan.p_attributes], ROWS)
    wrong = [(text, found[f"q{i:05d}"] ^ own) for i, (text, own) in enumerate(zip(texts, oracle, strict=True))]
    assert not [one for one in wrong if one[1]]
    listed = {query.id for query in queries if (at := plan.conjuncts_of(query.id)) and at[0][0] >= len(plan.blocks)}
    assert sum(len(found[query_id]) for query_id in listed) > count // 12
