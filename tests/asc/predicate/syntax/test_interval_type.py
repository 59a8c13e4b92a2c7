"""The types of intervals: equal by their fields, alone and in arrays."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.syntax.interval_type import DAY_TIME, DAYS, YEAR_MONTH, IntervalType, interval_type, spanned
from asc.spark_types import ddl_of_type


def test_a_type_is_its_fields() -> None:
    assert interval_type("DAY", "SECOND") == DAY_TIME != DAYS
    assert len({interval_type("DAY", "DAY"), DAYS, YEAR_MONTH}) == 2
    assert (DAY_TIME.fields, DAYS.fields) == (("DAY", "HOUR", "MINUTE", "SECOND"), ("DAY",))
    assert YEAR_MONTH.of_months
    assert not DAY_TIME.of_months
    assert (YEAR_MONTH.zero, DAYS.zero) == ("INTERVAL '0' YEAR '0' MONTH", "INTERVAL '0' DAY")


@pytest.mark.parametrize(("first", "last"), [("SECOND", "DAY"), ("YEAR", "DAY"), ("MONTH", "YEAR"), ("WEEK", "WEEK")])
def test_what_is_no_type(first: str, last: str) -> None:
    with pytest.raises(ValueError, match="from a larger to a smaller unit"):
        interval_type(first, last)


def test_an_array_gives_its_type_back() -> None:
    held = pa.list_(interval_type("HOUR", "MINUTE"))
    assert held == pa.list_(interval_type("HOUR", "MINUTE")) != pa.list_(DAYS)
    assert isinstance(held.value_type, IntervalType)
    assert ddl_of_type(held) == "ARRAY<INTERVAL HOUR TO MINUTE>"


def test_the_fields_of_several() -> None:
    assert spanned([DAYS, interval_type("HOUR", "MINUTE")]) == interval_type("DAY", "MINUTE")
    assert spanned([interval_type("MONTH", "MONTH"), interval_type("YEAR", "YEAR")]) == YEAR_MONTH
    assert spanned([DAYS, YEAR_MONTH]) is None
