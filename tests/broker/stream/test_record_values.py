"""The values of one record, as Spark computes them of it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from asc.predicate import Limits
from broker.config.streams import StreamConfig
from broker.errors import QueryError
from broker.formats.record_attributes import attributes_of
from broker.kafka.source_record import Place, SourceRecord
from broker.stream.analyser import StreamAnalyser
from broker.stream.record_values import RecordValues

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def analyser(spark: SparkSession) -> StreamAnalyser:
    stream = StreamConfig.model_validate({"topic": "t", "format": "csv", "schema": "a INT, b INT"})
    fields = stream.fields()
    return StreamAnalyser(spark, "t", stream.decoder(fields, "UTC"), attributes_of(fields), Limits())


def record(value: bytes | None, **more: Any) -> SourceRecord:
    return SourceRecord(
        Place("t", 3, 17),
        more.get("timestamp_ms", 1_500_000_000_123),
        0,
        more.get("key"),
        value,
        more.get("headers", ()),
    )


def read(analyser: StreamAnalyser, where: str, one: SourceRecord) -> tuple[dict[str, Any], RecordValues]:
    attributes = list(analyser.normalise(where).read)
    found = analyser.record_values(one, attributes)
    return {own.sql: value.as_py() for own, value in zip(attributes, found.values, strict=True)}, found


def test_a_record_is_decoded_by_the_stream_s_format(analyser: StreamAnalyser) -> None:
    where = "a > 1 AND b = 2 AND _key = 'k' AND _partition = 1 AND _offset = 1 AND _topic = 't'"
    values, found = read(analyser, f"{where} AND _timestamp IS NULL", record(b"7,", key=b"k"))
    own = {"_key": "k", "_partition": 3, "_offset": 17, "_topic": "t"}
    at = dt.datetime.fromtimestamp(1_500_000_000, dt.timezone.utc).replace(microsecond=123_000)
    assert values == {"a": 7, "b": None, **own, "_timestamp": at}
    assert (found.failed, found.reason) == ((), None)


@pytest.mark.parametrize(
    ("headers", "value"), [((), None), ((("h", b"1"), ("h", b"2")), "2"), ((("h", b"\xff"),), None)], ids=str
)
def test_headers(analyser: StreamAnalyser, headers: Any, value: str | None) -> None:
    values, _ = read(analyser, "_headers['h'] = 'x'", record(b"1,2", headers=headers))
    assert list(values.values()) == [value]


def test_what_could_not_be_evaluated_is_told_apart_from_null(analyser: StreamAnalyser) -> None:
    where = "a / b > 1 AND length(_key) > 1"
    values, found = read(analyser, where, record(b"7,0"))
    assert set(values.values()) == {None}
    assert [attribute.sql for attribute in found.failed] == ["a / b"]
    assert read(analyser, where, record(b"7,"))[1].failed == ()
    assert analyser.tuple_values(b'{"a": 7, "b": 0}', analyser.normalise(where).read).failed == found.failed


def test_what_cannot_be_decoded_has_its_reason(analyser: StreamAnalyser) -> None:
    _, found = read(analyser, "a > 1", record(b"x,1"))
    assert found.reason is not None
    assert found.reason.column == "a"
    _, nothing = read(analyser, "a > 1", record(None))
    assert nothing.reason is not None
    assert nothing.reason.text == "value is null"
    with pytest.raises(QueryError, match="the value is not a JSON record"):
        analyser.tuple_values(b"[]", analyser.normalise("a > 1").read)


def test_a_time_without_a_date_is_one_line(analyser: StreamAnalyser) -> None:
    with pytest.raises(
        QueryError, match=r"record 't-3-17': its timestamp, 4611686018427387904 ms, is none of the years"
    ):
        read(analyser, "a > 1", record(b"1,2", timestamp_ms=2**62))
