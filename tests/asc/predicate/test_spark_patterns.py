"""Patterns against Spark: each predicate accepts what ``DataFrame.filter`` accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate import normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Differing = Callable[[str, Sequence[tuple[Any, ...]], Sequence[str]], list[tuple[str, list[int]]]]


@pytest.fixture
def differing(spark: SparkSession) -> Differing:
    """The predicates that accept other rows than Spark's filter, with those rows, for rows of a DDL."""

    def found(ddl: str, rows: Sequence[tuple[Any, ...]], texts: Sequence[str]) -> list[tuple[str, list[int]]]:
        numbered = [(place, *row) for place, row in enumerate(rows)]
        df = spark.createDataFrame(numbered, f"id INT, {ddl}").coalesce(1).localCheckpoint()
        kept = _kept(df, texts)
        own = [_accepted(df, text, ddl, len(rows)) for text in texts]
        return [(text, sorted(a ^ b)) for text, a, b in zip(texts, kept, own, strict=True) if a != b]

    return found


def _kept(df: DataFrame, texts: Sequence[str]) -> list[set[int]]:
    from pyspark.sql import functions as F  # noqa: N812

    kept: list[set[int]] = [set() for _ in texts]
    parts = [df.filter(text).select(F.lit(place).alias("i"), "id") for place, text in enumerate(texts)]
    for row in reduce(type(df).union, parts).collect():
        kept[row.i].add(row.id)
    return kept


def _accepted(df: DataFrame, text: str, ddl: str, count: int) -> set[int]:
    from pyspark.sql import functions as F  # noqa: N812

    predicate = normalise(text, Schema.from_ddl(ddl))
    attributes = list(predicate.p_attributes)
    table = df.orderBy("id").select(*[F.expr(a.sql).alias(f"c{i}") for i, a in enumerate(attributes)]).toArrow()
    values = {a.sql: [a.key_of(value) for value in column] for a, column in zip(attributes, table.columns, strict=True)}
    return {
        row
        for row in range(count)
        if predicate.match_all
        or any(all(c.admits(values[a.sql][row]) for a, c in conjunct) for conjunct in predicate.conjuncts)
    }


TEXTS = (
    *(
        "",
        "error",
        "ERROR",
        "Error: timeout",
        "k",
        "K",
        "\u212a",
        "s",
        "\u017f",
        "\u00e9",
        "\u00c9",
        "i",
        "I",
        "\u0130",
    ),
    *("ab", "aB", "a-b", "_", "[", "X", "x", "a\nb", "a\r\nb", "aXbXb", "id=7,8,", "x1", "1x", "xx", "axxb", "debug a"),
    *("foobar", "foobaz", "barfoo", "price 5", "price 50", "a1b2", "\U0001f600", "a\U0001f600b", None),
)
EXPRESSIONS = r"""
s RLIKE '(?i)error'
s RLIKE '(?i)^K$'
s RLIKE '(?i)[k-s]'
s RLIKE '(?i)[^k]$'
s RLIKE '(?i)[X-c]'
s RLIKE '(?i)[a-]B'
s RLIKE '(?i)[-_a]b'
s RLIKE '(?i)\u00e9|\u0130|\u017f'
s RLIKE '(?i)e(?-i)RROR'
s RLIKE 'e(?i)RROR|A'
s RLIKE '((?i)A|E)rror'
s RLIKE '(?i:A)B'
s RLIKE '(?i)\\w\\W?\\D$'
s RLIKE '(?s)a.b'
s RLIKE '(?s:a.)b'
s RLIKE '(?is)A..B'
s RLIKE 'a.*?b'
s RLIKE '^a.*?b$'
s RLIKE '^x+?$'
s RLIKE '(?:xx)+?$'
s RLIKE 'a??b'
s RLIKE '^x{1,2}?$'
s RLIKE 'foo(?=bar)'
s RLIKE 'foo(?!bar)'
s RLIKE '(?<=foo)ba[rz]'
s RLIKE '(?<!foo)bar'
s RLIKE '(?<=^|a)[x1]'
s RLIKE 'price (?!50)[0-9]{1,3}$'
s RLIKE '^(?=.*[0-9])(?=.*[a-z])'
s RLIKE '^(?!.*debug).*a'
s RLIKE '^(?!error$)'
s NOT RLIKE '(?i)ERROR'
regexp_like(s, '(?i)ERROR')
regexp_count(s, '(?i)B') > 1
regexp_instr(s, '(?i)B') = 3
regexp_extract(s, 'a(.*?)b', 1) = 'X'
regexp_extract(s, '(?i)id=(.*?),', 1) = '7'
regexp_extract(s, '(x+?)x*', 1) = 'x'
regexp_extract(s, '([a-z]+?)b', 1) <> ''
regexp_substr(s, 'x{1,2}?') = 'x'
regexp_replace(s, '(?i)x|(?<=a)b', '-') LIKE '%-%'
regexp_replace(s, '"[^"]{0,20}?"|[a-z](?=[0-9])', '-') LIKE '%-%'
split(s, '(?<=a)(?=[^a])')[1] = 'b'
split(s, '(?i)X')[1] = 'b'
"""


def test_regular_expressions(differing: Differing) -> None:
    assert differing("s STRING", [(text,) for text in TEXTS], EXPRESSIONS.strip().splitlines()) == []
