"""Times of files as a stream reads them; the patterns themselves have a file of tests beside."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import Any

import pytest

from asc.schema import Schema
from broker.errors import InputError
from broker.files.stream_times import time_rewrites, times_rewritten

SCHEMA = Schema.from_ddl("at TIMESTAMP, days ARRAY<DATE>, n INT")


def rewritten(row: dict[str, Any], options: dict[str, str], *, texts: bool = False) -> dict[str, Any]:
    rewrites = time_rewrites(SCHEMA, options, "Europe/Oslo", list(row), texts=texts)
    return dict(times_rewritten(SCHEMA, rewrites)(row))


def test_without_patterns_a_row_is_given_back_itself() -> None:
    row = {"at": datetime(2013, 1, 1), "N": 1}
    rewrites = time_rewrites(SCHEMA, {"nullValue": "x"}, "UTC", list(row), texts=False)
    assert times_rewritten(SCHEMA, rewrites)(row) is row


def test_a_zone_in_the_pattern_says_utc() -> None:
    options = {"timestampFormat": "yyyy-MM-dd HH:mmX", "dateFormat": "d/M/yy"}
    assert rewritten({"at": datetime(2013, 7, 1, 12)}, options) == {"at": "2013-07-01 10:00Z"}
    assert rewritten({"at": datetime(2013, 7, 1, 12, tzinfo=timezone.utc)}, options) == {"at": "2013-07-01 12:00Z"}
    assert rewritten({"at": date(2013, 7, 1)}, options) == {"at": "2013-06-30 22:00Z"}
    assert rewritten({"at": 7, "days": [date(2013, 7, 1), None]}, options) == {"at": 7, "days": ["1/7/13", None]}


def test_a_year_that_would_be_read_as_another_is_refused() -> None:
    with pytest.raises(InputError, match=r"dateFormat of the stream 'd/M/yy': cannot write 1913-07-01"):
        rewritten({"days": [date(1913, 7, 1)]}, {"dateFormat": "d/M/yy"})


def test_a_text_that_the_pattern_reads_stays() -> None:
    options = {"timestampFormat": "yyyy-dd-MM HH:mm:ss"}
    assert rewritten({"at": "2013-02-01 10:00:00"}, options, texts=True) == {"at": "2013-02-01 10:00:00"}
    assert rewritten({"at": "2013-02-01T10:00:00"}, options, texts=True) == {"at": "2013-01-02 10:00:00"}
    assert rewritten({"at": "2013-02-30T10:00:00"}, options, texts=True) == {"at": "2013-02-30T10:00:00"}


@pytest.mark.parametrize("zone", ["+01:00", "Europe/Olso", "../etc"])
def test_a_zone_that_is_no_region_is_refused_where_times_are_written(zone: str) -> None:
    row = {"at": datetime(2013, 7, 1, 12, tzinfo=timezone.utc)}
    assert rewritten(row, {"timeZone": zone}) == row
    with pytest.raises(InputError, match="time zone of the stream"):
        rewritten(row, {"timeZone": zone, "timestampFormat": "yyyy"})
