"""Regions as conditions, for every kind of key space."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Query
from asc.plan.region_text import region_text
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("n INT, big BIGINT, s STRING, flag BOOLEAN")
BOUNDED = CompileOptions(exact_bytes=0, exact_regions=3, bounded_regions=3, bounded_rows=0)


@pytest.mark.parametrize(
    ("where", "texts"),
    [
        ("n > 30", ["n < 30", "n = 30", "n > 30", "NULL"]),
        ("big = 9223372036854775807", ["big < 9223372036854775807", "big = 9223372036854775807", "NULL"]),
        ("s = 'b'", ["s < 'b'", "s = 'b'", "s > 'b'", "NULL"]),
        ("flag", ["NOT flag", "flag", "NULL"]),
    ],
    ids=["numbers", "the greatest", "texts", "booleans"],
)
def test_exact_regions(where: str, texts: list[str]) -> None:
    plan = compile_plan([Query("q", normalise(where, SCHEMA))])
    regions = plan.grids[0].regions
    region_texts = [region_text(plan, 0, region) for region in range(regions + 1)]
    assert [text for text in region_texts if text in texts] == texts
    assert region_texts[-1] == "NULL"


def test_bounded_regions_say_where_they_begin_and_end() -> None:
    queries = [Query(f"q{number}", normalise(f"n >= {number * 10}", SCHEMA)) for number in range(9)]
    plan = compile_plan(queries, BOUNDED)
    region_texts = [region_text(plan, 0, region) for region in range(plan.grids[0].regions + 1)]
    assert region_texts == ["n < 0", "0 <= n < 80", "n >= 80", "NULL"]


def test_a_matched_text_has_one_region() -> None:
    plan = compile_plan([Query("q", normalise("s LIKE '%a%b%'", SCHEMA))])
    assert region_text(plan, 0, 1) == "NULL"
    assert pa.types.is_string(plan.p_attributes[0].type)
    assert "IS NOT NULL" in region_text(plan, 0, 0)


def test_a_long_text_is_cut() -> None:
    plan = compile_plan([Query("q", normalise(f"s = '{'x' * 1000}'", SCHEMA))])
    assert len(region_text(plan, 0, 0)) == 300
