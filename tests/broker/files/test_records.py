"""Rows of files as records of a stream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.schema import Schema
from broker.errors import InputError
from broker.files.input_files import file_format
from broker.files.records import OddLine, OddLines, Skip, Target, read_batches

SCHEMA = Schema.from_ddl(
    "n INT, price DECIMAL(10,2), ok BOOLEAN, name STRING, at TIMESTAMP, place STRUCT<city: STRING>"
)


def records(path: Path, stream_format: str = "json", key: str | None = None) -> list[tuple[bytes | None, bytes]]:
    return sent(path, Target(stream_format, SCHEMA), key)


def sent(path: Path, target: Target, key: str | None = None) -> list[tuple[bytes | None, bytes]]:
    found = read_batches(
        path, file_format(path), target, key, advance=lambda _: None, on_columns=lambda _columns, _by_case: None
    )
    return [record for values, keys in found for record in zip(keys or [None] * len(values), values, strict=True)]


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


def test_the_key_is_the_text_of_a_column(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", "name,n\na,7\n,8\n")
    assert [key for key, _ in records(path, key="name")] == [b"a", None]
    pq.write_table(pa.table({"name": ["a"]}), tmp_path / "rows.parquet")
    lines = written(tmp_path, "rows.ndjson", '{"n": 1}\n{"name": "b"}\n')
    assert [key for key, _ in records(lines, key="name")] == [None, b"b"]
    for other in (path, tmp_path / "rows.parquet", lines):
        with pytest.raises(InputError, match="no such column for --key 'nme'"):
            records(other, key="nme")


def test_ndjson_is_sent_byte_for_byte(tmp_path: Path) -> None:
    lines = ['{"n": 1,  "name":"\\u00e6"}', '{"n":2.50}', "not json"]
    path = written(tmp_path, "rows.ndjson", "\n".join(lines) + "\n\n")
    assert [value for _, value in records(path)] == [line.encode() for line in lines]


def test_ndjson_into_a_csv_stream_keeps_every_digit(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.jsonl", '{"price": 12345678.10, "n": 3}\n')
    assert [value for _, value in records(path, "csv")] == [b"3,12345678.10,,,,"]


def test_a_line_that_is_no_object_is_sent_without_a_key(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.ndjson", '{"n": 1}\n[2]\n{"n": 3}\n')
    assert records(path, key="n") == [(b"1", b'{"n": 1}'), (None, b"[2]"), (b"3", b'{"n": 3}')]


def test_a_line_that_is_no_object_is_not_sent_where_it_has_to_be_converted(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.ndjson", '{"n": 1}\n[2]\n{"n": 3}\n')
    assert records(path, "csv") == [(None, b"1,,,,,"), (None, b"3,,,,,")]


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


OSLO = Target(
    "json",
    Schema.from_ddl("at TIMESTAMP, day DATE, local TIMESTAMP_NTZ, s STRING, place STRUCT<at: TIMESTAMP>"),
    {
        "timestampFormat": "dd/MM/yyyy HH:mm:ss",
        "dateFormat": "d.M.yyyy",
        "timestampNTZFormat": "yyyyMMddHHmmss",
        "timeZone": "Europe/Oslo",
    },
)


def test_times_of_parquet_are_written_by_the_streams_patterns(tmp_path: Path) -> None:
    at = datetime(2013, 1, 1, 10, 0, 5, tzinfo=timezone.utc)
    table = pa.table(
        {
            "AT": pa.array([at, None], pa.timestamp("us", tz="UTC")),
            "day": pa.array([at.date(), None], pa.date32()),
            "local": pa.array([at.replace(tzinfo=None), None], pa.timestamp("us")),
            "s": pa.array([at, None], pa.timestamp("us", tz="UTC")),
            "place": pa.array([{"at": at}, None], pa.struct([("at", pa.timestamp("us", tz="UTC"))])),
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    first, second = (json.loads(value) for _, value in sent(tmp_path / "rows.parquet", OSLO))
    assert first == {
        "at": "01/01/2013 11:00:05",
        "day": "1.1.2013",
        "local": "20130101100005",
        "s": "2013-01-01T10:00:05Z",
        "place": {"at": "01/01/2013 11:00:05"},
    }
    assert set(second.values()) == {None}


def test_times_of_csv_are_rewritten_where_they_are_iso_8601(tmp_path: Path) -> None:
    lines = ["At,day", "2013-01-01T10:00:05Z,2013-01-02", "2013-01-01 10:00:05,2.1.2013", "01/01/2013 10:00:05,x", ","]
    path = written(tmp_path, "rows.csv", "\n".join(lines) + "\n")
    assert [tuple(json.loads(value).values()) for _, value in sent(path, OSLO)] == [
        ("01/01/2013 11:00:05", "2.1.2013"),
        ("01/01/2013 10:00:05", "2.1.2013"),
        ("01/01/2013 10:00:05", "x"),
        (None, None),
    ]


def test_a_pattern_that_cannot_be_written_is_refused_before_the_first_record(tmp_path: Path) -> None:
    target = Target("json", SCHEMA, {"timestampFormat": "EEE dd MMM yyyy"})
    path = written(tmp_path, "rows.csv", "n,at\n1,2013-01-01\n")
    with pytest.raises(InputError, match=r"timestampFormat of the stream 'EEE dd MMM yyyy': 'EEE' in it cannot"):
        sent(path, target)
    # Without such a column nothing has to be written.
    assert sent(written(tmp_path, "other.csv", "n\n1\n"), target) == [(None, b'{"n":1}')]


@pytest.mark.parametrize(
    ("name", "text", "target", "expected"),
    [
        ("rows.csv", "N,extra\n1,2\n", "json", (["N", "extra"], False)),
        ("rows.csv", "N,extra\n", "json", (["N", "extra"], False)),
        ("rows.csv", "N", "json", (["N"], False)),
        ("rows.ndjson", '{"n": 1}\nx\n[1]\n{"m": 2, "n": 3}\n', "json", (["n", "m"], True)),
        ("rows.ndjson", '{"n": 1}\n', "csv", (["n"], False)),
    ],
)
def test_columns_are_told_before_the_first_record(
    tmp_path: Path, name: str, text: str, target: str, expected: tuple[list[str], bool]
) -> None:
    path, reported = written(tmp_path, name, text), []

    def on_columns(found: Sequence[str], found_by_case: bool) -> None:
        reported.append((list(found), found_by_case))
        raise StopAsyncIteration

    with pytest.raises(StopAsyncIteration):
        next(
            read_batches(
                path, file_format(path), Target(target, SCHEMA), None, advance=lambda _: None, on_columns=on_columns
            )
        )
    assert reported == [expected]


def test_a_csv_stream_that_would_not_read_the_lines_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "rows.csv", "n\n1\n")
    with pytest.raises(InputError, match="option sep of the stream ';'"):
        sent(path, Target("csv", SCHEMA, {"sep": ";"}))
    assert sent(path, Target("csv", SCHEMA, {"sep": ",", "nullValue": "NA"})) == [(None, b"1,,,,,")]


@pytest.mark.parametrize(
    ("odd", "reported"),
    [
        ({}, []),
        ({3: '{"n": }', 140: "x"}, [OddLine(4)]),
        ({140: "[1]", 141: "x"}, [OddLine(141)]),
        ({0: '[{"n": 1},', 1: '{"n": 1}]'}, [OddLine(1, begins_array=True)]),
        ({1: "[{"}, [OddLine(2)]),
        (dict.fromkeys(range(150), "x"), [OddLine(1, is_all=True)]),
    ],
)
@pytest.mark.parametrize("key", [None, "n"])
def test_the_first_line_that_is_no_object_is_told_once_and_all_are_counted(
    tmp_path: Path, odd: dict[int, str], reported: list[OddLine], key: str | None
) -> None:
    """Without a key, of the first lines by reading them, of later ones by how they begin and end."""
    lines = [odd.get(place, '{"n": 1}') for place in range(150)]
    found: list[OddLine] = []
    seen = OddLines(found.append)
    batches = read_batches(
        written(tmp_path, "rows.ndjson", "\n".join(lines)),
        "ndjson",
        Target("json", SCHEMA),
        key,
        advance=lambda _: None,
        on_columns=lambda _columns, _by_case: None,
        odd_lines=seen,
    )
    assert sum(len(values) for values, _ in batches) == 150
    assert found == reported
    assert (seen.count, seen.first) == (len(odd), min(odd) + 1 if odd else None)


@pytest.mark.parametrize("key", [None, "n"])
@pytest.mark.parametrize(
    ("name", "target"), [("rows.ndjson", "json"), ("rows.ndjson", "csv"), ("rows.csv", "json")], ids=str
)
def test_the_first_records_are_skipped_and_what_is_missing_is_told(
    tmp_path: Path, key: str | None, name: str, target: str
) -> None:
    text = "n\n1\n2\n3\n" if name.endswith(".csv") else '{"n": 1}\n\n{"n": 2}\n{"n": 3}\n'
    path = written(tmp_path, name, text)
    for skipped, left in ((0, 0), (2, 0), (3, 0), (5, 2)):
        skip = Skip(skipped)
        batches = read_batches(
            path, file_format(path), Target(target, SCHEMA), key, advance=lambda _: None, on_columns=_unheard, skip=skip
        )
        found = [value for batch in batches for value in batch.values]
        assert (len(found), skip.left) == (max(0, 3 - skipped), left)
        assert [b"3" in value for value in found] == [False, False, True][skipped:]


@pytest.mark.parametrize("key", [None, "n"])
def test_nothing_is_told_of_odd_lines_that_are_skipped(tmp_path: Path, key: str | None) -> None:
    reported: list[OddLine] = []
    odd = OddLines(reported.append)
    path = written(tmp_path, "rows.ndjson", 'x\n{"n": 1}\n[2]\n')
    for skipped in (3, 1):
        skip = Skip(skipped)
        batches = read_batches(
            path,
            "ndjson",
            Target("json", SCHEMA),
            key,
            advance=lambda _: None,
            on_columns=_unheard,
            odd_lines=odd,
            skip=skip,
        )
        assert sum(len(values) for values, _ in batches) == 3 - skipped
    assert (reported, odd.count) == ([OddLine(3)], 1)


def _unheard(_columns: Sequence[str], _by_case: bool) -> None:
    """Take what is said of the columns."""
