"""Formats that cannot fail, whatever is put into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from asc.predicate.expressions.expression import Expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALLS = (
    "format_string('plain')",
    "format_string('100%%%n')",
    "format_string('%s and %2$s', s, n)",
    "format_string('%5s|%-5s', s, flag)",
    "format_string('%d|%05d|%+d|%,d|%(d|% d', n, n, n, n, n, n)",
    "format_string('%x|%X|%o|%#x|%08x', n, n, n, n, n)",
    "format_string('%f|%.2f|%,10.3f|%-10.1f|%e|%+.3E', d, d, d, d, d, d)",
    "format_string('%100s', s)",
    "printf('%d', NULL)",
)
REFUSED = (
    ("format_string(s, n)", "must be a constant string"),
    ("format_string('%d', s)", "%d takes an integer, not STRING"),
    ("format_string('%d', price)", "%d takes an integer"),
    ("format_string('%f', n)", "%f takes a double, not INT"),
    ("format_string('%f', price)", "%f takes a double"),
    ("format_string('%s')", "has no argument for %s"),
    ("format_string('%2$s', s)", "has no argument for %2$s"),
    ("format_string('%0$s', s)", "has no argument for %0$s"),
    ("format_string('%s', tags)", "not a single value"),
    ("format_string('%101s', s)", "at most 100"),
    ("format_string('%.101f', d)", "at most 100"),
    ("format_string('%c', n)", "not %c"),
    ("format_string('%tY', ts)", "not %t"),
    ("format_string('50%')", "not %"),
    ("format_string('%-s', s)", "give it a width"),
    ("format_string('%--5s', s)", "exclude each other"),
    ("format_string('%-05d', n)", "exclude each other"),
    ("format_string('%+ d', n)", "exclude each other"),
    ("format_string('%.2d', n)", "no precision"),
    ("format_string('%+s', s)", "not %+s"),
    ("format_string('%5%')", "not %5%"),
    ("format_string('%<s', s)", "not %"),
    ("format_string('" + "%1$s" * 101 + "', s)", "100 times longer"),
)


@pytest.mark.parametrize(("text", "part"), REFUSED)
def test_formats_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)


def test_formats_that_are_allowed_throw_for_no_value(
    spark: SparkSession, expression_of: Callable[[str], Expression]
) -> None:
    sqls = [expression_of(text).sql for text in CALLS]
    rows = "(2147483647, 'NaN', 'x', TRUE), (-2147483648, '-Infinity', '', NULL), "
    rows += "(0, '1e300', '%', FALSE), (NULL, NULL, NULL, NULL)"
    frame = spark.sql(f"SELECT n, CAST(d AS DOUBLE) AS d, s, flag FROM VALUES {rows} AS v(n, d, s, flag)")
    found = frame.coalesce(1).localCheckpoint().selectExpr(*sqls).collect()
    assert found[0][:3] == ("plain", "100%\n", "x and 2147483647")
