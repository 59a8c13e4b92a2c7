"""A query, its record in the registry, and times with their offset."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.errors import BrokerError, QueryError
from broker.queries.query import RegisteredQuery, parse_time

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
QUERIES = st.builds(
    RegisteredQuery,
    id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", fullmatch=True),
    stream=TEXTS,
    where=TEXTS,
    topic=TEXTS,
    labels=st.dictionaries(TEXTS, TEXTS, max_size=3),
    paused=st.booleans(),
    expires_at=st.none() | st.datetimes(timezones=st.just(timezone.utc)),
)


@given(QUERIES, st.integers(0, 2**62))
def test_a_query_is_read_back_from_its_record(query: RegisteredQuery, version: int) -> None:
    assert RegisteredQuery.from_record(query.id, query.record(), version) == query.at(version)


@given(QUERIES)
def test_what_the_api_shows_is_the_record_with_its_version(query: RegisteredQuery) -> None:
    shown = query.at(9).plain()
    assert shown.pop("version") == 9
    assert shown == json.loads(query.record())
    assert shown["expires_at"] is None or parse_time(shown["expires_at"]) == query.expires_at


def test_a_query_at_another_version_is_else_the_same() -> None:
    query = RegisteredQuery("late", "flights", "n > 1", "out", {"team": "ops"}, paused=True)
    assert query.version == -1
    assert query.at(7).at(-1) == query
    assert query.at(7) != query


RECORD = RegisteredQuery("late", "flights", "n > 1", "out").record()


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b"{}",
        b"\xff",
        RECORD[:-1],
        RECORD.replace(b'"topic"', b'"topik"'),
        RECORD.replace(b'"expires_at":null', b'"expires_at":7'),
        RECORD.replace(b'"expires_at":null', b'"expires_at":"soon"'),
    ],
)
def test_a_record_that_holds_no_query_is_one_line_that_says_which(value: bytes) -> None:
    with pytest.raises(BrokerError) as caught:
        RegisteredQuery.from_record("late", value, 12)
    assert str(caught.value).startswith("registry record 'late at offset 12': cannot be read: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2030-01-31T12:00:00Z", datetime(2030, 1, 31, 12, tzinfo=timezone.utc)),
        ("2030-01-31T12:00:00z", datetime(2030, 1, 31, 12, tzinfo=timezone.utc)),
        ("2030-01-31 12:00:00.250000+01:30", datetime(2030, 1, 31, 10, 30, 0, 250_000, timezone.utc)),
        ("2030-01-31T12:00-00:30", datetime(2030, 1, 31, 12, 30, tzinfo=timezone.utc)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, timezone.utc)),
    ],
)
def test_a_time_with_its_offset_is_read_in_utc(text: str, time: datetime) -> None:
    found = parse_time(text)
    assert (found, found.utcoffset()) == (time, timedelta(0))


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2030-01-31", "2030-01-31T12:00:00", "2030-02-30T00:00:00Z", "Z", "é"]
)
def test_a_time_without_an_offset_or_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="write an ISO 8601 time with its offset") as caught:
        parse_time(text * 100 if len(text) == 1 else text)
    assert len(str(caught.value.value)) <= 100


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:30:00-01:00"])
def test_a_time_out_of_the_range_of_utc_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="is out of range: choose a year from 1 to 9999"):
        parse_time(text)
