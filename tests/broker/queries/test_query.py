"""A query, its record in the registry, and times with their offset."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.operators.events.event_query import KINDS
from broker.errors import QueryError
from broker.operators.events.definition import EventsDefinition
from broker.queries.join import Join
from broker.queries.query import RegisteredQuery, check_id, check_labels, parse_time

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
QUERIES = st.builds(
    RegisteredQuery,
    id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", fullmatch=True),
    stream=TEXTS,
    where=TEXTS,
    topic=st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", fullmatch=True),
    labels=st.dictionaries(TEXTS.filter(lambda key: key and "=" not in key), TEXTS, max_size=3),
    paused=st.booleans(),
    expires_at=st.none() | st.datetimes(timezones=st.just(timezone.utc)),
    join=st.none() | st.builds(Join, TEXTS, st.booleans()),
    operator=st.none()
    | st.builds(
        EventsDefinition,
        key=TEXTS.filter(str.strip),
        time=TEXTS.filter(str.strip),
        kinds=st.sampled_from([KINDS, KINDS[1:]]),
        dwell_s=st.integers(0, 10),
        lost_after_s=st.sampled_from([1.5, 60]),
    ),
)


@given(QUERIES, st.integers(0, 2**62))
def test_a_query_is_read_back_from_its_record(query: RegisteredQuery, version: int) -> None:
    assert RegisteredQuery.from_record(query.id, query.record(), version) == query.at(version)


@given(QUERIES)
def test_what_the_api_shows_is_the_record_with_its_version(query: RegisteredQuery) -> None:
    shown = query.at(9).plain()
    assert shown.pop("version") == 9
    if query.join is None:
        assert shown.pop("join") is None
    # A daemon that knows no operators, and no joins, would route what one without a form of its own accepts.
    stored = {"v": 1 if query.operator is None and query.join is None else 2, **shown}
    if query.operator is None:
        del stored["operator"]
    assert stored == json.loads(query.record())
    assert shown["expires_at"] is None or parse_time(shown["expires_at"]) == query.expires_at


def test_a_query_at_another_version_is_else_the_same() -> None:
    query = RegisteredQuery("late", "flights", "n > 1", "out", {"team": "ops"}, paused=True)
    assert query.version == -1
    assert query.at(7).at(-1) == query
    assert query.at(7) != query


RECORD = RegisteredQuery("late", "flights", "n > 1", "out").record()


def test_a_record_of_before_forms_is_read_and_what_it_lacks_has_its_default() -> None:
    least = b'{"stream": "flights", "where": "n > 1"}'
    assert RegisteredQuery.from_record("late", least, 3) == RegisteredQuery(
        "late", "flights", "n > 1", "asc.late", version=3
    )
    assert RegisteredQuery.from_record("late", RECORD.replace(b'"v":1,', b""), 3) == RegisteredQuery(
        "late", "flights", "n > 1", "out", version=3
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"", "cannot be read (Expecting value"),
        (b"null", "cannot be read (it is no JSON object)"),
        (b"[]", "cannot be read (it is no JSON object)"),
        (b"{}", "cannot be read (stream is missing)"),
        (b"\xff", "cannot be read ("),
        (b"[" * 100_000, "cannot be read ("),
        (RECORD[:-1], "cannot be read (Expecting"),
        (RECORD.replace(b'"n > 1"', b'"n > \\ud800"'), "cannot be read ('utf-8' codec"),
        (RECORD.replace(b'"paused":false', b'"paused":"no"'), "cannot be read (paused is of another type)"),
        (RECORD.replace(b'"labels":{}', b'"labels":{"a":1}'), "cannot be read (a label is no text)"),
        (RECORD.replace(b'"labels":{}', b'"labels":{"a=b":""}'), "cannot be read (label 'a=b': use a key without '='"),
        (RECORD.replace(b'"out"', b'"a b"'), "cannot be read (destination topic 'a b': use 1 to 249"),
        (RECORD.replace(b'"out"', b'".."'), "cannot be read (destination topic '..': use 1 to 249"),
        (RECORD.replace(b'"expires_at":null', b'"expires_at":7'), "cannot be read (expires_at is of another type)"),
        (RECORD.replace(b'"expires_at":null', b'"expires_at":"soon"'), "cannot be read (expires_at 'soon'"),
        (RECORD.replace(b'"v":1', b'"v":3'), "is of form 3, and 1 and 2 are known"),
        (RECORD.replace(b'"v":1', b'"v":2,"operator":7'), "cannot be read (operator is of another type)"),
        (
            RECORD.replace(b'"v":1', b'"v":2,"operator":{"name":"x"}'),
            "has an operator that is not known here",
        ),
    ],
)
def test_a_record_that_holds_no_query_stands_unread_and_says_why(value: bytes, said: str) -> None:
    found = RegisteredQuery.from_record("late", value, 12)
    assert (found.id, found.version, found.stream, found.topic) == ("late", 12, "", "")
    assert found.unreadable is not None
    assert found.unreadable.startswith(f"its record in the registry {said}")
    assert "register it anew" in found.unreadable
    assert "\n" not in found.unreadable
    assert found.where.startswith(value.decode("utf-8", "replace")[:1_000])
    assert len(found.where) <= 1_003


@pytest.mark.parametrize("query_id", ["ghost-a\x1fghost-b", "x\x1dsomewhere\x1ey", "", "a b", "é", r"late\xff"])
def test_a_record_under_a_key_that_is_no_id_stands_unread(query_id: str) -> None:
    found = RegisteredQuery.from_record(query_id, RECORD, 12)
    assert (found.id, found.stream, found.topic) == (query_id, "", "")
    assert found.unreadable is not None
    assert "cannot be read (query id " in found.unreadable
    assert "register" in found.unreadable


@pytest.mark.parametrize("query_id", ["a", "7", "late.arrivals_of-2013", "x" * 200])
def test_an_id_of_legal_form_is_handed_back(query_id: str) -> None:
    assert check_id(query_id) == query_id


@pytest.mark.parametrize("query_id", ["", "-a", ".a", "_a", "a b", "a/b", "é", "a\n", "a\x00", "x" * 201])
def test_any_other_id_is_refused_and_shown_in_part(query_id: str) -> None:
    with pytest.raises(QueryError, match="use 1 to 200 of A-Z a-z 0-9") as caught:
        check_id(query_id * 100)
    assert len(str(caught.value.value)) <= 250


@pytest.mark.parametrize(
    "labels",
    [{}, {"team": ""}, {"k" * 1_000: "v" * 1_000}, {str(number): "" for number in range(64)}, {"blå ": "a=b"}],
)
def test_few_and_short_labels_are_handed_back(labels: dict[str, str]) -> None:
    assert check_labels(labels) is labels


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({str(number): "" for number in range(65)}, "number of labels 65: give a query at most 64"),
        ({"": "v"}, "label '': use a key without '='"),
        ({"a=b": "v"}, "label 'a=b': use a key without '='"),
        ({"fine": "v", "k" * 1_001: "v"}, "at most 1000 characters each"),
        ({"k": "v" * 1_001}, "label 'k': use a key without '=' and at most 1000 characters each"),
    ],
)
def test_labels_that_are_too_many_or_too_long_are_refused(labels: dict[str, str], said: str) -> None:
    with pytest.raises(QueryError) as caught:
        check_labels(labels)
    assert said in str(caught.value)


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


def test_an_operator_of_a_newer_version_is_kept_and_says_what_to_run() -> None:
    record = b'{"v":2,"stream":"s","where":"n > 1","operator":{"name":"tree","key":"k"}}'
    found = RegisteredQuery.from_record("late", record, 7)
    assert found.unreadable is not None
    assert "has an operator that is not known here (operator 'tree': is not known: known are route" in found.unreadable
    assert "run a newer daemon" in found.unreadable
    assert found.where == record.decode()
