"""Random tuples: of every type, reproducible, with NULLs as asked for and the extremes of the types among them."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from asc.predicate import normalise
from asc.schema import Schema
from workloads.random_tuples import ALL_TYPES_DDL, POOLS, random_tuples, sql_literal

SCHEMA = Schema.from_ddl(ALL_TYPES_DDL)


def values(table: pa.Table, path: str) -> list[Any]:
    """Those of a column or of a field of a struct, NULL where the struct is."""
    name, *fields = path.split(".")
    found = table[name].to_pylist()
    for field in fields:
        found = [None if value is None else value[field] for value in found]
    return found


def test_the_table_has_the_types_of_its_ddl() -> None:
    assert random_tuples(1, 5).schema.equals(SCHEMA.arrow)
    assert random_tuples(1, 0).num_rows == 0


def test_the_same_seed_gives_the_same() -> None:
    # As text: NaN is not equal to itself.
    assert str(random_tuples(1, 50).to_pylist()) == str(random_tuples(1, 50).to_pylist())
    assert str(random_tuples(1, 50).to_pylist()) != str(random_tuples(2, 50).to_pylist())


@pytest.mark.parametrize("share", [0.0, 0.15, 1.0])
def test_as_many_nulls_as_asked_for_at_every_level(share: float) -> None:
    table = random_tuples(3, 2_000, share)
    for path in POOLS:
        # A field is there where all that hold it are.
        expected = 1 - (1 - share) ** (1 + path.count("."))
        nulls = sum(value is None for value in values(table, path)) / 2_000
        assert nulls == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("path", sorted(POOLS))
def test_every_value_of_a_pool_is_drawn(path: str) -> None:
    drawn = {str(value) for value in values(random_tuples(4, 2_000), path)}
    assert len(drawn) >= len({str(value) for value in POOLS[path]})


def test_the_pools_hold_what_goes_wrong() -> None:
    assert {-(2**31), 2**31 - 1} <= set(POOLS["n"])
    assert {-(2**63), 2**63 - 1} <= set(POOLS["big"])
    for name in ("f", "d"):
        assert any(math.isnan(value) for value in POOLS[name])
        assert {math.copysign(1, value) for value in POOLS[name] if value == 0} == {1, -1}
        assert {math.inf, -math.inf} <= set(POOLS[name])


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (-5, "-5"),
        (-0.0, "-0.0D"),
        (-math.inf, "CAST('-Infinity' AS DOUBLE)"),
        (b"\x00\xff", "X'00FF'"),
        ("a\\'b", "'a\\\\\\'b'"),
    ],
)
def test_a_value_as_a_literal(value: Any, literal: str) -> None:
    assert sql_literal(value) == literal


@pytest.mark.parametrize("path", sorted(POOLS))
def test_every_literal_can_stand_in_a_predicate(path: str) -> None:
    for value in POOLS[path]:
        predicate = normalise(f"{path} <=> {sql_literal(value)}", SCHEMA)
        assert len(predicate.conjuncts) <= 1
