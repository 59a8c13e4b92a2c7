"""Blocks of several lines, of which tuples read some: each pair against DuckDB, with patterns and NULL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from asc.evaluation.executor import match
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.normaliser import normalise
from asc.schema import Schema

SCHEMA = "n INT, m INT, s STRING, t STRING"
QUERIES, ROWS = 3_000, 400
WORDS = ("", "a", "ab", "abc", "b", "ba", "bab", "c", "cab", "ccc", "xyz", "x%z", "Zo\u00eb")
OPTIONS = {
    "exact regions": CompileOptions(always_exact=True),
    "bounded regions, one block": CompileOptions(exact_bytes=0, exact_regions=8, bounded_regions=4, bounded_rows=0),
    "blocks of four lines": CompileOptions(exact_bytes=0, block_conjuncts=2_048, bounded_rows=64),
}

Draw = Callable[[np.random.Generator], str]


def _word(random: np.random.Generator) -> str:
    return str(random.choice(WORDS))


def _pattern(random: np.random.Generator) -> str:
    parts = [_word(random).replace("%", "") for _ in range(random.integers(1, 4))]
    return "%".join(["", *parts][random.integers(2) :]) + str(random.choice(["", "%"]))


TERMS: Sequence[Draw] = (
    lambda random: f"n BETWEEN {(low := random.integers(-50, 50))} AND {low + random.integers(0, 9)}",
    lambda random: f"m >= {random.integers(0, 1_000)}",
    lambda random: f"n IN ({random.integers(-50, 50)}, {random.integers(-50, 50)})",
    lambda random: f"s LIKE '{_pattern(random)}'",
    lambda random: f"t LIKE '{_pattern(random)}'",
    lambda random: f"t = '{_word(random)}'",
    lambda random: f"s <> '{_word(random)}'",
    lambda random: "n IS NULL",
    lambda random: "s IS NOT NULL",
    lambda random: "t IS NULL",
)


def predicates(random: np.random.Generator) -> list[str]:
    """Two to four terms, joined by AND; of each fifth the last two by OR."""
    found = []
    for number in range(QUERIES):
        terms = [TERMS[place](random) for place in random.choice(len(TERMS), random.integers(2, 5), replace=False)]
        if number % 5 == 0:
            terms[-2:] = [f"({terms[-2]} OR {terms[-1]})"]
        found.append(" AND ".join(terms))
    return found


def tuples(random: np.random.Generator) -> pa.Table:
    def column(values: Sequence[object], kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=random.random(ROWS) < 0.2)

    return pa.table(
        {
            "n": column(random.integers(-55, 60, ROWS), pa.int32()),
            "m": column(random.integers(0, 1_000, ROWS), pa.int32()),
            "s": column([_word(random) + _word(random) for _ in range(ROWS)], pa.string()),
            "t": column([_word(random) for _ in range(ROWS)], pa.string()),
        }
    )


def by_duckdb(texts: Sequence[str], table: pa.Table) -> set[tuple[int, int]]:
    """The pairs of row and query, with the predicates as columns."""
    found: set[tuple[int, int]] = set()
    with duckdb.connect() as connection:
        connection.register("tuples", table)
        for first in range(0, len(texts), 500):
            columns = ", ".join(f"coalesce({text}, false) AS q{i}" for i, text in enumerate(texts[first : first + 500]))
            accepted = connection.execute(f"SELECT {columns} FROM tuples").arrow().read_all()
            for i, column in enumerate(accepted.columns):
                found.update((int(row), first + i) for row in np.flatnonzero(column.to_numpy()))
    return found


def pairs(plan: Plan, table: pa.Table) -> set[tuple[int, int]]:
    columns = [table[attribute.sql] for attribute in plan.p_attributes]
    found = match(plan, columns, table.num_rows)
    numbers = [int(query_id[1:]) for query_id in plan.query_ids.to_pylist()]
    assert len(set(zip(found.rows.tolist(), found.queries.tolist(), strict=True))) == len(found)
    return {(row, numbers[query]) for row, query in zip(found.rows.tolist(), found.queries.tolist(), strict=True)}


@pytest.fixture(scope="module")
def compared() -> tuple[list[Query], pa.Table, set[tuple[int, int]]]:
    """Queries, tuples and what DuckDB says of them."""
    random = np.random.default_rng(11)
    texts, table = predicates(random), tuples(random)
    schema = Schema.from_ddl(SCHEMA)
    queries = [Query(f"q{number:05d}", normalise(text, schema)) for number, text in enumerate(texts)]
    return queries, table, by_duckdb(texts, table)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_pair_is_found_and_no_other(
    name: str, compared: tuple[list[Query], pa.Table, set[tuple[int, int]]]
) -> None:
    queries, table, expected = compared
    assert len(expected) > 10 * ROWS
    plan = compile_plan(queries, OPTIONS[name])
    assert max(block.matrix.shape[1] for block in plan.blocks) > 16
    assert pairs(plan, table) == expected

    # Every third one goes and comes again, into lines that others are in.
    gone = change_plan(plan, remove=[query.id for query in queries[::3]])
    assert pairs(gone, table) == {pair for pair in expected if pair[1] % 3}
    assert pairs(change_plan(gone, add=queries[::3]), table) == expected
