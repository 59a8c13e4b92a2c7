"""Rows of files as records of a stream."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.schema import Schema
from cli.failure import CommandError
from cli.records import column_warnings, read_records

SCHEMA = Schema.from_ddl(
    "n INT, price DECIMAL(10,2), ok BOOLEAN, name STRING, at TIMESTAMP, place STRUCT<city: STRING>"
)


def records(path: Path, stream_format: str = "json", key: str | None = None) -> list[tuple[bytes | None, bytes]]:
    return list(read_records(path, stream_format, SCHEMA, key, lambda _: None))


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_csv_becomes_json_by_the_types_of_the_schema(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "rows.csv",
        'name,n,price,ok,extra,place\r\n07,7,1.10,TRUE,9,"{""city"":""Oslo""}"\r\n,,,,,\r\n"a,""b""",x,1e2,maybe,,x\r\n',
    )
    values = [value for _, value in records(path)]
    assert values[0] == b'{"name":"07","n":7,"price":1.10,"ok":true,"extra":"9","place":{"city":"Oslo"}}'
    assert json.loads(values[1]) == dict.fromkeys(["name", "n", "price", "ok", "extra", "place"])
    assert json.loads(values[2])["name"] == 'a,"b"'
    assert json.loads(values[2])["n"] == "x"  # sent as it stands: the stream judges it


def test_csv_becomes_csv_in_the_order_of_the_schema(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", 'name,n,extra\n"a,b",7,zzz\n,8,\n')
    assert [value for _, value in records(path, "csv")] == [b'7,,,"a,b",,', b"8,,,,,"]


def test_columns_in_another_case_are_spelled_as_the_schema_does(tmp_path: Path) -> None:
    rows = written(tmp_path, "rows.csv", "NAME,N,Extra\na,7,z\n")
    assert records(rows, key="NAME") == [(b"a", b'{"name":"a","n":7,"Extra":"z"}')]
    assert records(rows, "csv") == [(None, b"7,,,a,,")]
    lines = written(tmp_path, "rows.ndjson", '{"NAME": "a", "N": 7}\n{"N": 8}\n')
    assert [value for _, value in records(lines, "csv")] == [b"7,,,a,,", b"8,,,,,"]
    pq.write_table(pa.table({"Name": ["a"], "OK": [True]}), tmp_path / "rows.parquet")
    assert records(tmp_path / "rows.parquet") == [(None, b'{"name":"a","ok":true}')]
    assert records(tmp_path / "rows.parquet", "csv") == [(None, b",,true,a,,")]


def test_the_very_name_goes_before_one_in_another_case(tmp_path: Path) -> None:
    rows = written(tmp_path, "rows.csv", "NAME,name,N,N_\na,b,7,8\n")
    assert records(rows) == [(None, b'{"NAME":"a","name":"b","n":7,"N_":"8"}')]
    unknown, lacking = column_warnings(rows, SCHEMA)
    assert unknown.endswith("schema lacks: NAME, N_")
    assert lacking.endswith("the file lacks it: price, ok, at, place")


def test_only_what_is_not_shared_is_warned_of(tmp_path: Path) -> None:
    assert list(column_warnings(written(tmp_path, "rows.csv", "N,PRICE,Ok,NAME,At,place\n"), SCHEMA)) == []
    assert list(column_warnings(written(tmp_path, "empty.csv", ""), SCHEMA)) == []


def test_the_key_is_the_text_of_a_column(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", "name,n\na,7\n,8\n")
    assert [key for key, _ in records(path, key="name")] == [b"a", None]
    with pytest.raises(CommandError, match="no such column for --key 'nme'"):
        records(path, key="nme")


def test_ndjson_is_sent_byte_for_byte(tmp_path: Path) -> None:
    lines = ['{"n": 1,  "name":"\\u00e6"}', '{"n":2.50}', "not json"]
    path = written(tmp_path, "rows.ndjson", "\n".join(lines) + "\n\n")
    assert [value for _, value in records(path)] == [line.encode() for line in lines]


def test_ndjson_into_a_csv_stream_keeps_every_digit(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.jsonl", '{"price": 12345678.10, "n": 3}\n')
    assert [value for _, value in records(path, "csv")] == [b"3,12345678.10,,,,"]


def test_ndjson_that_is_none_is_named_by_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.ndjson", '{"n": 1}\n[2]\n')
    with pytest.raises(CommandError, match="record 2"):
        records(path, key="n")


def test_parquet_becomes_json(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    at = datetime(2013, 1, 1, 10, 0, 0, 5, tzinfo=timezone.utc)
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int32()),
            "price": pa.array([Decimal("1.10"), None], pa.decimal128(10, 2)),
            "at": pa.array([at, None], pa.timestamp("us", tz="UTC")),
            "place": pa.array([{"city": "Oslo"}, None], pa.struct([("city", pa.string())])),
        }
    )
    pq.write_table(table, path)
    first, second = (value for _, value in records(path))
    assert first == b'{"n":1,"price":1.10,"at":"2013-01-01T10:00:00.000005Z","place":{"city":"Oslo"}}'
    assert set(json.loads(second).values()) == {None}
