"""Rows read without Spark: what is read at all is what Spark decodes, the rest is Spark's."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.schema import Schema
from broker.files.decoding import Decoding
from broker.files.file_rows import read_rows
from broker.files.plain_rows import DoubtError, plain_tables
from broker.files.row_columns import REASON

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl(
    "n INT, big BIGINT, x DOUBLE, f FLOAT, ok BOOLEAN, s STRING, price DECIMAL(5,2), day DATE, at TIMESTAMP,"
    " local TIMESTAMP_NTZ"
)
CELLS: dict[str, list[str]] = {
    "n": ["0", "-0", "-7", "2147483647", "2147483648", "007", "+5", "1.0", " 1", "NA", '"5"', '""'],
    "big": ["9223372036854775807", "-9223372036854775808", "9223372036854775808"],
    "x": [
        "1",
        "0.1",
        "-1.5e-10",
        "123456789012345678901",
        "1e99",
        "1e400",
        "NaN",
        "Infinity",
        ".5",
        "5.",
        "1d",
        "-0.0",
    ],
    "f": ["0.1", "16777217", "3.4028235e38", "1e39", "1.00000017881393432617"],
    "ok": ["true", "false", "TRUE", "1", "yes"],
    "s": [
        *(" a ", "æøå\u2028", '"a,b"', '"say ""hi"""', 'a"b', '"a" ', ' "a"', '"a', "a\\b", "\x00", "\ufeff", "a\rb"),
        *("'", '"a""', '"""a"""', '"a"b', "null", "\t"),
    ],
    "price": ["1.5", "-123.45", "1.005", "1234", "1e2", "007.50"],
    "day": ["2013-01-31", "2013-02-30", "2013-1-31", "0001-01-01", "2013", "9999-12-31", "today"],
    "at": [
        *("2013-01-31T10:00:00Z", "2013-01-31 10:00:00", "2013-01-31T10:00:00.1", "2013-01-31T10:00:00.123456Z"),
        *("2013-01-31T10:00:00.123456789Z", "2013-01-31", "2013-01-31T10:00", "2013-01-31T24:00:00", "10:00:00"),
        *("2013-01-31T10:00:00+01:00", "2013-02-30T10:00:00", "1000-01-01T00:00:00Z", "2013-01-31t10:00:00"),
    ],
    "local": ["2013-01-31T10:00:00", "2013-01-31 10:00:00.5", "2013-01-31T10:00:00Z"],
}
HEADER = ",".join(SCHEMA.arrow.names) + ",extra"
ODD_LINES = [
    "1,2",
    ",,,,,,,,,,",
    ",,,,,,,,,,,",
    " ",
    "\t",
    ",,,,,a\rb,,,,,",
    f"{HEADER}",
    '1,,,,,,,,,,"x"',
    '1,,,,,,,,,," x"y',
]

OBJECTS = [
    *('{"n": 1}', "{}", ' {"n": 1} ', '{"n": 1, "n": 2}', '{"extra": 1, "extra": 2}', '{"N": 1}', '{"n": null}'),
    *('{"n": 1}{"n": 2}', '{"n": 1} {"n": 2}', '[{"n": 1}]', '{"n": 1},', '{"n": 1}}', '{"n": 1} x', "{", "null", "1"),
    *('{"n": 1.0}', '{"n": "1"}', '{"n": 01}', '{"n": -0}', '{"n": 2147483648}', '{"n": true}', '{"n": 1e2}'),
    *('{"x": 1}', '{"x": 0.1}', '{"x": 1e400}', '{"x": NaN}', '{"x": "NaN"}', '{"x": -1.5E-10}', '{"extra": NaN}'),
    *('{"x": 12345678901234567890}', '{"x": 0.1234567890123456789012345678901234567890}', '{"x": [1]}', '{"x": -0.0}'),
    *(
        '{"s": "a\\u0041\\n\\/"}',
        '{"s": "\\ud83d\\ude00"}',
        '{"s": "\\ud83d"}',
        '{"s": "a\tb"}',
        '{"s": 12}',
        '{"s": ""}',
    ),
    *(
        '{"s": {"a": 1}}',
        '{"s": "\\u0000"}',
        '{"s": "\\q"}',
        "{'s': 'a'}",
        '{s: "a"}',
        '{"s": "}{"}',
        '{"\\u0073": "a"}',
    ),
    *('{"ok": true}', '{"ok": "true"}', '{"ok": TRUE}', '{"at": "2013-01-31T10:00:00.5Z"}', '{"at": 1359626400}'),
    *(
        '{"at": "2013-01-31 10:00:00"}',
        '{"at": ""}',
        '{"day": "2013-01-31"}',
        '{"day": "2013-02-30"}',
        '{"day": 15706}',
    ),
    *('{"place": {"x": 1, "y": 2}}', '{"place": null}', '{"place": {}}', '{"place": []}', '{"place": {"day": "x"}}'),
    *(
        '{"place": {"day": "2013-01-31"}, "n": 1}',
        '{"place": "x"}',
        '{"n": 1, }',
        '/* c */ {"n": 1}',
        '{"n": 1 /* c */}',
    ),
    *(
        '{"price": 12.5}',
        '{"price": "-0.05"}',
        '{"price": 1234}',
        '{"price": 1.005}',
        '{"price": "1,5"}',
        '{"price": 1e2}',
    ),
    *(
        '{"price": ""}',
        '{"price": " 1"}',
        '{"price": "+1."}',
        '{"price": 123.450}',
        '{"price": 999.995}',
        '{"price": [1]}',
    ),
    *('{"price": 1e-2000000000}', '{"price": "1\\u0065-2000000000"}', '{"s": "4ca1e23", "price": 1}'),
    *('{"price": 1e-100}', '{"price": 1E100}', '{"price": 1e-2147483649}', f'{{"price": 0.{"0" * 200}1}}'),
    *('{"price": "1e-99999"}', f'{{"price": "0.{"0" * 80}"}}', f'{{"price": {"0.1" + "0" * 250}}}'),
    *('{"n": 1, "deep": ' + "[" * 600 + "]" * 600 + "}", '{"n": 1, "wide": ' + "9" * 1200 + "}"),
]
OBJECT_SCHEMA = Schema.from_ddl(
    "n INT, x DOUBLE, ok BOOLEAN, s STRING, day DATE, at TIMESTAMP, place STRUCT<x: INT, day: DATE>, price DECIMAL(5,2)"
)
BESIDE_N = Schema.from_ddl(
    "n INT, f FLOAT, price DECIMAL(38,2), few DECIMAL(2,2), days ARRAY<DATE>, items ARRAY<STRUCT<price: DECIMAL(5,2)>>"
)
OBJECTS_BESIDE_N = [
    *('{"n": 1, "f": 0.1}', '{"n": 2, "f": 1e39}', '{"f": "NaN"}', '{"f": 1e400}', '{"f": "0.1"}', '{"f": null}'),
    *(f'{{"price": {"9" * 36}.99}}', f'{{"price": {"9" * 37}}}', f'{{"price": {"9" * 77}}}', '{"price": 12.5}'),
    *('{"few": 0.25}', '{"few": 1}', '{"few": "0.5"}', '{"few": 0}'),
    *('{"n": 3, "days": ["2013-01-31", null]}', '{"days": []}', '{"days": ["x"]}', '{"days": "x"}', '{"days": [1]}'),
    *('{"items": [{"price": 1.5}, {}, null]}', '{"items": [{"price": 1234}]}', '{"items": [1]}', '{"items": {}}'),
]


def read(path: Path, format_name: str, decoding: Decoding, needed: Collection[str] | None = None) -> pa.Table:
    empty = decoding.schema.arrow.empty_table()
    names = empty.column_names if needed is None else needed
    return pa.concat_tables([empty, *plain_tables(path, format_name, decoding, names, lambda _: None)])


def read_plainly(
    path: Path, format_name: str, decoding: Decoding, content: str, needed: Collection[str] | None = None
) -> list[dict[str, Any]] | None:
    """The rows of a file with that content; None where there is a doubt."""
    path.write_text(content, encoding="utf-8", newline="")
    try:
        return read(path, format_name, decoding, needed).to_pylist()
    except DoubtError:
        return None


@pytest.mark.parametrize(
    ("format_name", "content"),
    [
        ("ndjson", '{"s": "' + "x" * 10_000_000 + '"}\n'),
        ("ndjson", '{"deep": ' + "[" * 501 + "]" * 501 + "}\n"),
        ("csv", "s,n\nx" + "," * 20_000 + "\n"),
    ],
    ids=["long", "deep", "wide"],
)
def test_lines_beyond_the_bounds_are_left_to_spark(format_name: str, content: str, tmp_path: Path) -> None:
    decoding = Decoding(Schema.from_ddl("s STRING, n INT"), {}, "UTC")
    assert read_plainly(tmp_path / "rows", format_name, decoding, content) is None


def by_spark(spark: SparkSession, path: Path, format_name: str, decoding: Decoding) -> list[dict[str, Any]]:
    rows = read_rows(spark, [path], format_name, decoding)
    assert rows.where(f"{REASON} IS NOT NULL").count() == 0
    return rows.select(*decoding.schema.arrow.names).toArrow().cast(decoding.schema.arrow).to_pylist()


def test_lines_of_csv_that_are_read_are_what_spark_decodes(spark: SparkSession, tmp_path: Path) -> None:
    names = SCHEMA.arrow.names
    lines = [
        ",".join(cell if name == column else "" for name in names) + ",x"
        for column, cells in CELLS.items()
        for cell in cells
    ]
    decoding, rows, plain = Decoding(SCHEMA), [], []
    for line in [*lines, *ODD_LINES]:
        found = read_plainly(tmp_path / "one.csv", "csv", decoding, f"{HEADER}\n{line}\n")
        if found:
            rows += found
            plain.append(line)
    assert len(plain) > 35
    (tmp_path / "all.csv").write_text("\r\n".join([HEADER, *plain]), encoding="utf-8", newline="")
    assert read(tmp_path / "all.csv", "csv", decoding).to_pylist() == rows
    assert by_spark(spark, tmp_path / "all.csv", "csv", decoding) == rows


def test_lines_of_json_that_are_read_are_what_spark_decodes(spark: SparkSession, tmp_path: Path) -> None:
    decoding, rows, plain = Decoding(OBJECT_SCHEMA), [], []
    for line in OBJECTS:
        found = read_plainly(tmp_path / "one.ndjson", "ndjson", decoding, f"{line}\n")
        if found:
            rows += found
            plain.append(line)
    assert len(plain) > 20
    (tmp_path / "all.ndjson").write_text("\n\n".join(plain), encoding="utf-8", newline="")
    assert read(tmp_path / "all.ndjson", "ndjson", decoding).to_pylist() == rows
    assert by_spark(spark, tmp_path / "all.ndjson", "ndjson", decoding) == rows


def test_columns_that_are_not_needed_are_no_doubt_where_spark_decodes_them(spark: SparkSession, tmp_path: Path) -> None:
    decoding, numbers, plain = Decoding(BESIDE_N), [], []
    for line in OBJECTS_BESIDE_N:
        found = read_plainly(tmp_path / "one.ndjson", "ndjson", decoding, f"{line}\n", {"n"})
        if found:
            numbers += [row["n"] for row in found]
            plain.append(line)
    assert len(plain) == 10
    (tmp_path / "all.ndjson").write_text("\n".join(plain), encoding="utf-8")
    assert [row["n"] for row in by_spark(spark, tmp_path / "all.ndjson", "ndjson", decoding)] == numbers


def test_parquet_columns_that_are_not_needed_are_not_read(tmp_path: Path) -> None:
    path, decoding = tmp_path / "rows.parquet", Decoding(Schema.from_ddl("n INT, s STRING, tags ARRAY<STRING>"))
    pq.write_table(pa.table({"n": [1, 2], "s": [1.5, None], "tags": [["a"], []]}), path)
    assert read(path, "parquet", decoding, {"n"}).column("n").to_pylist() == [1, 2]
    with pytest.raises(DoubtError, match="column s is of type double"):
        read(path, "parquet", decoding, {"s"})
    pq.write_table(pa.table({"s": [1.5, None]}), path)
    assert read(path, "parquet", decoding, ()).num_rows == 2


def test_parquet_that_is_read_is_what_spark_reads(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table(
        {
            "N": pa.array([1, None, 2**31 - 1], pa.int64()),
            "x": pa.array([1.5, float("inf"), None], pa.float32()),
            "s": pa.array(["a", None, "æ"]).dictionary_encode(),
            "at": pa.array([1, None, 1359626400123], pa.timestamp("ms", tz="Europe/Oslo")),
            "local": pa.array([1, None, 1359626400123456], pa.timestamp("us")),
            "day": pa.array([0, None, 15706], pa.date32()),
            "price": pa.array([Decimal("1.5"), None, Decimal("-99.9")], pa.decimal128(3, 1)),
        }
    )
    path, decoding = tmp_path / "rows.parquet", Decoding(SCHEMA)
    pq.write_table(table, path, row_group_size=2)
    assert by_spark(spark, path, "parquet", decoding) == read(path, "parquet", decoding).to_pylist()


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("n", pa.array([2**31])),
        ("n", pa.array(["1"])),
        ("n", pa.array([1.0])),
        ("n", pa.array([1], pa.uint8())),
        ("at", pa.array([1], pa.timestamp("ns", tz="UTC"))),
        ("at", pa.array([1], pa.timestamp("us"))),
        ("at", pa.array([-(10**16)], pa.timestamp("us", tz="UTC"))),
        ("day", pa.array([-200_000], pa.date32())),
        ("s", pa.array([b"a"])),
        ("f", pa.array([0.1])),
        ("price", pa.array([Decimal("1234.5")], pa.decimal128(5, 1))),
        ("a.b", pa.array([1])),
    ],
)
def test_parquet_that_is_left_to_spark(tmp_path: Path, column: str, values: pa.Array) -> None:
    pq.write_table(pa.table({column: values}), tmp_path / "rows.parquet")
    with pytest.raises(DoubtError):
        read(tmp_path / "rows.parquet", "parquet", Decoding(SCHEMA))


def test_blocks_do_not_cut_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.files.plain_rows._BLOCK_BYTES", 50)
    rows = [{"n": number, "s": "text " * (number % 7)} for number in range(200)]
    (tmp_path / "rows.csv.gz").write_bytes(
        gzip.compress("\n".join(["s,n", *(f"{row['s']},{row['n']}" for row in rows)]).encode())
    )
    (tmp_path / "rows.ndjson").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    schema = Schema.from_ddl("n INT, s STRING")
    expected = [{"n": row["n"], "s": row["s"]} for row in rows]
    assert read(tmp_path / "rows.ndjson", "ndjson", Decoding(schema)).to_pylist() == expected
    expected = [{"n": row["n"], "s": row["s"] or None} for row in rows]
    assert read(tmp_path / "rows.csv.gz", "csv", Decoding(schema)).to_pylist() == expected


def test_what_is_not_utf8_and_any_option_are_left_to_spark(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"n,extra\n1,\xff\n")
    with pytest.raises(DoubtError, match="not UTF-8"):
        read(path, "csv", Decoding(SCHEMA))
    path.write_bytes(b"n,extra\n1,x\n")
    with pytest.raises(DoubtError, match="decoding options: nullValue"):
        read(path, "csv", Decoding(SCHEMA, {"nullValue": "NA"}))
    path.write_bytes(b"n,local,at\n1,2013-01-31T10:00:00,2013-01-31T10:00:00\n")
    with pytest.raises(DoubtError, match="column at holds"):
        read(path, "csv", Decoding(SCHEMA, time_zone="Europe/Oslo"))
