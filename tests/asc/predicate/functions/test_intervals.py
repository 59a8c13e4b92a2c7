"""Functions that make intervals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.interval_type import CALENDAR, DAY_TIME, YEAR_MONTH


def test_what_throws_is_caught(expression_of: Callable[[str], Expression]) -> None:
    days, months = expression_of("make_dt_interval(n, 1.5)"), expression_of("make_ym_interval(s)")
    assert (days.sql, days.type) == ("try_add(make_dt_interval(n, 1.5), INTERVAL '0' DAY '0' SECOND)", DAY_TIME)
    assert (months.sql, months.type) == ("try_add(make_ym_interval(s), INTERVAL '0' YEAR '0' MONTH)", YEAR_MONTH)
    assert "left(s, 20000)" in expression_of("make_dt_interval(1, 1, 1, s)").sql
    assert "left(s, 20000)" in expression_of("try_make_interval(1, 1, 1, 1, 1, 1, s)").sql
    calendar = expression_of("make_interval(1, 2, 3, 4, 5, 6, d)")
    assert (calendar.sql, calendar.type) == ("make_interval(1, 2, 3, 4, 5, 6, d)", CALENDAR)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("make_interval(flag)", "not a number"),
        ("make_ym_interval(1, 2, 3)", "takes 0 to 2 arguments"),
        ("try_make_interval()", "takes 1 to 7 arguments"),
    ],
)
def test_calls_that_are_refused(text: str, part: str, trouble_of: Callable[[str], str]) -> None:
    assert part in trouble_of(text)
