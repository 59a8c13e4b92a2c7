"""Functions that choose among their arguments."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("coalesce(flag, n)", "CAST them to one type"),
        ("greatest(s, n)", "CAST them to one type"),
        ("nullif(tags, n)", "cannot be compared"),
        ("coalesce(day, ts, nanvl(n, n))", "of several types"),
        ("if(n, 1, 2)", "not a condition"),
        ("elt(flag, s)", "not an integer"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("coalesce(NULL, n, big)", pa.int64()),
        ("if(flag, day, NULL)", pa.date32()),
        ("nullif(s, t)", pa.string()),
        ("elt(n, s, 5)", pa.string()),
        ("elt(1, raw)", None),
        ("elt(1, raw, s)", None),
        ("typeof(tags)", pa.string()),
        ("nvl2(s, n, big)", pa.int64()),
        ("greatest(day, ts)", TIMESTAMP),
        ("coalesce(day, ntz)", TIMESTAMP_NTZ),
        ("coalesce(day, ts, s)", pa.string()),
        ("nullif(day, ts)", pa.date32()),
    ],
)
def test_types_of_results(text: str, result: pa.DataType | None, expression_of: Callable[[str], Expression]) -> None:
    assert expression_of(text).type == result


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("greatest(day, NULL, ts)", "greatest(TRY_CAST(day AS TIMESTAMP), NULL, ts)"),
        ("nvl2(day, ntz, day)", "nvl2(day, ntz, TRY_CAST(day AS TIMESTAMP_NTZ))"),
        ("if(flag, ntz, ts)", "if(flag, TRY_CAST(ntz AS TIMESTAMP), ts)"),
        ("nullif(day, ts)", "if(TRY_CAST(day AS TIMESTAMP) = ts, NULL, day)"),
        ("equal_null(day, ts)", "equal_null(TRY_CAST(day AS TIMESTAMP), ts)"),
        ("coalesce(day, ts, s)", "coalesce(day, ts, s)"),
        ("coalesce(day, day)", "coalesce(day, day)"),
        ("CASE WHEN flag THEN day ELSE ts END", "CASE WHEN flag THEN TRY_CAST(day AS TIMESTAMP) ELSE ts END"),
    ],
)
def test_instants_of_several_types_are_cast_where_that_cannot_throw(
    text: str, sql: str, expression_of: Callable[[str], Expression]
) -> None:
    assert expression_of(text).sql == sql
