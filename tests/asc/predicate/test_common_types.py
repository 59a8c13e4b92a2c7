"""The common type of several operands against Spark: every triple of types, in every form that finds one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3_600)]

COLUMNS = {
    "b": ("BOOLEAN", ("true", "false")),
    "tiny": ("TINYINT", ("1", "-128")),
    "i": ("INT", ("1", "20240229")),
    "l": ("BIGINT", ("1", "9007199254740993")),
    "f": ("FLOAT", ("1.5", "16777217")),
    "x": ("DOUBLE", ("1", "0.1")),
    "dec": ("DECIMAL(10, 2)", ("1.00", "0.10")),
    "wide": ("DECIMAL(38, 18)", ("1", "0.1")),
    "s": ("STRING", ("2024-02-29", "1")),
    "bin": ("BINARY", ("2024-02-29", "1")),
    "d": ("DATE", ("2024-02-29", "2019-03-10")),
    "ts": ("TIMESTAMP", ("2024-02-29 00:00:00", "2019-03-10 02:30:00")),
    "ntz": ("TIMESTAMP_NTZ", ("2024-02-29 00:00:00", "2019-03-10 00:00:00")),
}
LITERALS = ("NULL", "'2024-02-29'", "'1'", "1", "0.1BD", "DATE '2024-02-29'", "TIMESTAMP '2019-03-10 00:00:00'")
OPERANDS = (*COLUMNS, *LITERALS)
SCHEMA = Schema.from_ddl(", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items()))

CONDITIONS = ("{a} IN ({b}, {c})", "{a} NOT IN ({b}, {c})", "{a} BETWEEN {b} AND {c}")
VALUES = (
    "nullif({a}, {b})",
    "coalesce({a}, {b}, {c})",
    "greatest({a}, {b}, {c})",
    "least({a}, {b}, {c})",
    "if(b, {a}, {b})",
    "nvl2({a}, {b}, {c})",
    "CASE WHEN b THEN {a} WHEN NOT b THEN {b} ELSE {c} END",
    "CASE {a} WHEN {b} THEN 1 WHEN {c} THEN 2 END",
    "array({a}, {b}, {c})[1]",
    "map('u', {a}, 'v', {b}, 'w', {c})['v']",
    "struct({a}, {b}, {c})",
)


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Two values of each type in all four pairs of turns, and NULLs."""
    selects = []
    for row in range(8):
        values = (
            "NULL" if (row + place) % 5 == 4 else f"CAST('{pool[(row >> place % 3) % 2]}' AS {kind})"
            for place, (kind, pool) in enumerate(COLUMNS.values())
        )
        selects.append("SELECT " + ", ".join(f"{value} AS {name}" for value, name in zip(values, COLUMNS, strict=True)))
    return spark.sql(" UNION ALL ".join(selects)).coalesce(1).localCheckpoint()


REFUSED_FOR_A_REASON = (
    # Spark's analysis takes it, and its cast of TRUE throws.
    "BOOLEAN and DECIMAL(1,1) cannot be compared",
    "DECIMAL(1,1) and BOOLEAN cannot be compared",
    "BOOLEAN compared with DECIMAL(1,1):",
    "DECIMAL(1,1) compared with BOOLEAN:",
    "CASE of instants of several types:",
)
"""Refusals of what Spark takes, which docs/predicates.md names."""


def spelled(text: str) -> tuple[str, str] | None:
    """Return the SQL that a batch computes for an expression or condition, beside Spark's own.

    None where it is a constraint of a column; PredicateError where it is refused.
    """
    is_condition = not text.startswith("CAST(")
    predicate = normalise(text if is_condition else f"{text} > '2'", SCHEMA)
    computed = [one for one in predicate.p_attributes if one.is_computed]
    if len(computed) != 1 or len(predicate.p_attributes) != 1:
        # Constraints of columns are of one type and a constant: the agreement of plain terms has them.
        return None
    attribute, constraint = predicate.conjuncts[0][0]
    if not is_condition:
        return text, attribute.sql
    if attribute.type != pa.bool_() or constraint.admits(1) == constraint.admits(0):
        return None
    # Rows that are not kept, where the condition is FALSE or NULL, are alike to a filter.
    return f"coalesce({text}, false)", f"coalesce({'' if constraint.admits(1) else 'NOT '}({attribute.sql}), false)"


def differing(rows: DataFrame, pairs: Sequence[tuple[str, str]]) -> list[Any]:
    """The pairs whose two texts have other values on some row, or that only one side refuses."""
    from pyspark.errors import PySparkException

    if not pairs:
        return []
    try:
        found = rows.selectExpr(*(f"CAST(({one}) AS STRING)" for pair in pairs for one in pair)).collect()
    except PySparkException as error:
        if len(pairs) == 1:
            return [(*pairs[0], str(error)[:200])]
        half = len(pairs) // 2
        return [*differing(rows, pairs[:half]), *differing(rows, pairs[half:])]
    wrong = {place for row in found for place in range(len(pairs)) if row[2 * place] != row[2 * place + 1]}
    return [pairs[place] for place in sorted(wrong)]


def is_analysed(rows: DataFrame, text: str) -> bool:
    """Return whether Spark takes an expression."""
    from pyspark.errors import AnalysisException

    try:
        rows.selectExpr(text)
    except AnalysisException:
        return False
    return True


def triples(form: str) -> Iterator[tuple[str, str, str]]:
    """All triples that a form tells apart, those of constants alone left out."""
    for a, b, c in product(OPERANDS, OPERANDS, OPERANDS if "{c}" in form else OPERANDS[:1]):
        if not {a, b, c}.isdisjoint(COLUMNS):
            yield a, b, c


@pytest.mark.parametrize("form", [*CONDITIONS, *VALUES])
def test_every_triple_of_types_is_computed_as_spark_computes_it(
    rows: DataFrame, form: str, part_of: Callable[[Iterator[Any], int], list[Any]]
) -> None:
    texts = [form.format(a=a, b=b, c=c) for a, b, c in part_of(triples(form), 101)]
    asked = [text if form in CONDITIONS else f"CAST({text} AS STRING)" for text in texts]
    pairs, refused = [], []
    for text in asked:
        try:
            pairs.append(spelled(text))
        except PredicateError as error:
            if not any(reason in str(error) for reason in REFUSED_FOR_A_REASON):
                refused.append(text)
    assert len(pairs) + len(refused) > len(texts) * 4 // 5
    compared = [pair for pair in pairs if pair is not None]
    # An analysis that fails takes Spark long.
    assert [text for text in part_of(refused[::5], 2) if is_analysed(rows, text)] == []
    wrong = [each for start in range(0, len(compared), 40) for each in differing(rows, compared[start : start + 40])]
    assert wrong == []


CASES = (
    "d IN ('2024-02-29', TIMESTAMP '2019-03-10 00:00:00')",
    "d NOT IN ('2024-02-29', TIMESTAMP '2019-03-10 00:00:00')",
    "d IN ('2024-02-29', TIMESTAMP_NTZ '2019-03-10 00:00:00')",
    "s IN (d, ts)",
    "ts IN (d, s)",
    "'2024-02-29' IN (d, ts)",
    "ntz IN (d, '2024-02-29 00:00:00')",
    "s IN (d, i)",
    "i IN (s, d)",
    "i IN (d, '1')",
    "x NOT IN (ntz, dec, s)",
    "CAST(coalesce(s, d, i) AS STRING)",
    "CAST(CASE WHEN b THEN d WHEN NOT b THEN x ELSE s END AS STRING)",
    "CAST(CASE s WHEN d THEN 1 WHEN ts THEN 2 WHEN ntz THEN 3 END AS STRING)",
    "CAST(array(i, s, ts)[1] AS STRING)",
    "CAST(coalesce(array(d), array(i), array(s)) AS STRING)",
)


def test_what_stands_beside_a_string_becomes_one(rows: DataFrame) -> None:
    pairs = [pair for text in CASES if (pair := spelled(text)) is not None]
    assert len(pairs) == len(CASES)
    assert differing(rows, pairs) == []
