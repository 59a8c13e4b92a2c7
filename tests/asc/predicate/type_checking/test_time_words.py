"""Words for a time that depends on the clock are refused wherever Spark would read them, and nowhere else."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate import normalise
from asc.schema import Schema

SCHEMA = Schema.from_ddl("t TIMESTAMP, u TIMESTAMP_NTZ, d DATE, s STRING, n INT, ds ARRAY<DATE>")


@pytest.mark.parametrize(
    "text",
    [
        "t > TIMESTAMP 'now'",
        "u > TIMESTAMP_NTZ 'now'",
        "d = DATE ' Today'",
        "t > 'now'",
        "'yesterday' < t",
        "d = 'today'",
        "d = 'TOMORROW UTC'",
        "u < 'epoch'",
        "d BETWEEN 'yesterday' AND 'tomorrow'",
        "d <=> 'today'",
        "to_date('now') = d",
        "year('now') > 2020",
        "CAST('now' AS DATE) = d",
        "TRY_CAST('now' AS TIMESTAMP) = t",
        "CASE d WHEN 'today' THEN TRUE END",
        "nullif(d, 'today') IS NULL",
        "equal_null(d, 'today')",
        "date_add('today', 1) = d",
        "datediff('tomorrow', d) > 1",
        "CAST(s AS DATE) = 'today'",
        "CAST(concat('n', 'ow') AS TIMESTAMP) = t",
        "try_to_timestamp('now') = t",
        "convert_timezone('UTC', 'now') = u",
        "convert_timezone('UTC', 'Asia/Tokyo', 'epoch') = u",
        "date_trunc('HOUR', 'now') = t",
        "exists(ds, x -> x = 'today')",
        "t > `chr`(110) || `chr`(111) || `chr`(119)",
        "t > chr/**/(110) || chr/**/(111) || chr/**/(119)",
        "CASE WHEN n > 1 THEN t > 'now' END",
        "'now' + INTERVAL 1 DAY > s",
        "try_add('today', INTERVAL 1 DAY) > s",
        "CAST('now' AS STRING) + INTERVAL 1 DAY > s",
        "'today' - d > INTERVAL 1 DAY",
        "extract(DAY FROM 'now') = 1",
        "timestampdiff(DAY, 'now', t) = 1",
        "timestampadd(DAY, 1, 'now') = t",
        "to_timestamp('now') = t",
        "to_date(date_format(d, \"'now'\")) = d OR to_date(date_format(DATE '2020-01-01', \"'now'\")) = d",
    ],
)
def test_a_time_word_is_refused(text: str) -> None:
    with pytest.raises(PredicateError, match="write the date or time itself"):
        normalise(text, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "s = 'now'",
        "s IN ('today', 'now')",
        "s LIKE 'epoch%'",
        "d IN ('today')",
        "CAST(s AS DATE) = d",
        "s > d",
        "t > '2020-01-01'",
        "(t > CAST(NULL AS STRING)) IS NULL",
        "'5' + 3 = n",
        "s + INTERVAL 1 DAY > '2020-01-01'",
        "CAST('2020-01-01' AS STRING) + INTERVAL 1 DAY > s",
        "to_date(date_format(DATE '2020-01-01', 'yyyy-MM-dd')) = d",
        "timestampadd(DAY, 1, '2020-01-01') > t",
    ],
)
def test_where_spark_reads_no_time_it_is_a_string(text: str) -> None:
    assert normalise(text, SCHEMA).conjuncts
