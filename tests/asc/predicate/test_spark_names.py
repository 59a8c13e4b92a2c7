"""Names, structs and collations in the ways that Spark has for them: accepted is what ``DataFrame.filter`` accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from asc.predicate import normalise
from asc.predicate.expressions.spelling import read_as
from asc.predicate.limits import Limits
from asc.schema import Schema
from broker.matching.parsing import differences

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DDL = "n INT, m INT, s STRING, xs ARRAY<INT>, p STRUCT<a: INT, b: STRING>, flag BOOLEAN"
ROWS = [
    (1, 2, "abc", [3, 1, 2], (1, "q"), True),
    (0, 5, "it's", None, None, None),
    (5, None, "ABC", [], (None, None), False),
    (None, -7, "its", [0, None], (2, "Q"), True),
    (2, 2, None, [1], (2, None), None),
]
TEXTS = r"""
div(m, 2) = 1
Div(m, n) <=> NULL
struct() IS NOT NULL
struct() = struct() AND n = 1
struct(n, m).n = 1
struct(n + 1, m).col1 = 2
struct(n AS a, m).a = 1
struct(p.*).a = 1
struct(p.*) = p
struct(p.*, n).n = 1
(p.*, n) = (1, 'q', 1)
struct(p.*) IN (struct(1, 'q'))
n IN (p.*)
coalesce(p.*) = '1'
concat(p.*, s) = '1qabc'
hash(p.*) = hash(1, 'q')
identifier('n') = 1
IDENTIFIER('N') = 1 AND flag
identifier("p.a") = 1
identifier('`p` . `a`') = 1
identifier('p').b = 'q'
identifier(r'xs')[0] = 3
s = '''abc'''
s = 'it''s'
s = 'it\'s'
s = "it""s"
length('''') = 0 AND n = 1
0 IS TRUE
1 IS TRUE AND n = 1
2 IS NOT TRUE AND flag
0 IS FALSE AND flag
1.5 IS TRUE
'true' IS TRUE AND flag
'x' IS NOT TRUE AND flag
sort_array(xs, NULL) IS NULL
sort_array(xs, NULL)[0] = 1
s COLLATE UTF8_LCASE = 'ABC'
s COLLATE `unicode_ci` = 'ABC'
s COLLATE SYSTEM.BUILTIN.UTF8_LCASE <> 'ABC'
'ABC' <=> s COLLATE UTF8_LCASE
s COLLATE UTF8_LCASE IN ('ABC', 'ITS')
s COLLATE UTF8_LCASE NOT IN ('ABC', NULL)
s COLLATE UTF8_LCASE > 'ABB' AND s COLLATE UTF8_LCASE <= 'ABD'
s COLLATE UTF8_BINARY = 'abc'
s COLLATE DE_CI = 'Abc'
(s || 'd') COLLATE UTF8_LCASE = 'ABCD'
s COLLATE UTF8_LCASE IS NULL
collate(s, 'UTF8_LCASE') = 'ABC'
collation(s) = 'SYSTEM.BUILTIN.UTF8_BINARY' AND n = 1
collation(s COLLATE UTF8_LCASE) = 'SYSTEM.BUILTIN.UTF8_LCASE' AND n = 1
s COLLATE UTF8_LCASE = p.b COLLATE UTF8_LCASE OR n = 1
""".strip().splitlines()


def test_they_accept_what_filter_accepts(spark: SparkSession) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    df = spark.createDataFrame([(i, *row) for i, row in enumerate(ROWS)], f"id INT, {DDL}").localCheckpoint()
    wrong = []
    for text in TEXTS:
        predicate = normalise(text, Schema.from_ddl(DDL))
        attributes = predicate.p_attributes
        table = df.select("id", *(F.expr(a.read.sql).alias(f"c{i}") for i, a in enumerate(attributes))).toArrow()
        accepted = []
        for row in table.to_pylist():
            keys = {a: a.key_of(table.column(i + 1)[row["id"]]) for i, a in enumerate(attributes)}
            if predicate.match_all or any(all(c.admits(keys[a]) for a, c in own) for own in predicate.conjuncts):
                accepted.append(row["id"])
        expected = [row.id for row in df.filter(text).select("id").collect()]
        if accepted != expected:
            wrong.append((text, accepted, expected))
    assert wrong == []


def test_spark_parses_them_as_they_were_read(spark: SparkSession) -> None:
    pairs = [(text, read_as(text, Limits(), "UTC")) for text in TEXTS]
    assert {pairs[place]: difference for place, difference in differences(spark, pairs).items()} == {}
