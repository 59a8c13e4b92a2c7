"""Files of look-ups: the types of their columns, and the line of each fault."""

from __future__ import annotations

import io
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from asc.errors import AscError
from asc.operators.cube.lookup import LOOKUP_BYTES_MAX
from broker.files.media_types import CSV_TYPE, PARQUET_TYPE
from broker.http.operators.cube_lookup_file import lookup_of_file


def of_csv(text: str, key: str = "k") -> dict[str, Any]:
    found = lookup_of_file("planes", text.encode(), CSV_TYPE, key)
    return {"k": found.keys.to_pylist(), **{name: own.to_pylist() for name, own in found.attributes.items()}}


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_the_columns_of_csv_have_the_narrowest_type_of_all_their_values() -> None:
    text = (
        "k,text,whole,big,real,day,flag,zip,empty\n"
        '1,"a, ""b""",1,3000000000,1,2013-07-10,true,01,\n'
        "\n"
        '02,"two\nlines",-7,0,-2.5e3,2014-01-31,FALSE,2,\n'
        "ä,,,,,,,,\n"
    )
    assert of_csv(text) == {
        "k": ["1", "02", "ä"],
        "text": ['a, "b"', "two\nlines", None],
        "whole": [1, -7, None],
        "big": [3_000_000_000, 0, None],
        "real": [1.0, -2_500.0, None],
        "day": [date(2013, 7, 10), date(2014, 1, 31), None],
        "flag": [True, False, None],
        "zip": ["01", "2", None],
        "empty": [None, None, None],
    }
    found = lookup_of_file("planes", text.encode(), CSV_TYPE, "k")
    assert [str(own.type) for own in found.attributes.values()][:4] == ["string", "int32", "int64", "double"]
    assert found.has_text_keys


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k,a\nx,1\n\ny,2\nx,3\n", "key 'x': of look-up 'planes' is in line 2 and in line 5: keep one of them"),
        ('k,a\n"x\n1",1\ny,2\ny,3\n', "is in line 4 and in line 5"),
        ("k,a\nx,1\ny,2,3\n", "uneven row in look-up 'planes': line 3 has 3 fields, the header 2; mend or remove it"),
        ('k,a\nx,1\ny,"2\n', "not readable as CSV, look-up 'planes'"),
        ("k,a\n", "look-up 'planes': has no row with a key in 'k'"),
        ("", "no usable header in look-up 'planes'"),
        ("k,k,a\n1,2,3\n", "the first line must name each column once"),
        ("j,a\n1,2\n", "key 'k': is no column of look-up 'planes': its columns are j, a"),
        ("k\n1\n", "has 0 columns beside its key"),
    ],
)
def test_a_fault_of_csv_is_one_line_with_its_place(text: str, said: str) -> None:
    with pytest.raises(AscError) as refused:
        of_csv(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_parquet_has_the_types_of_its_columns() -> None:
    columns = {
        "k": pa.array([2, 1], pa.uint32()),
        "a": pa.array(["x", None], pa.large_string()).dictionary_encode(),
        "t": pa.array([1, 2], pa.timestamp("ms", "UTC")),
    }
    found = lookup_of_file("planes", parquet(pa.table(columns)), PARQUET_TYPE, "k")
    assert (found.keys.type, found.keys.to_pylist(), found.has_text_keys) == (pa.int64(), [2, 1], False)
    assert [str(own.type) for own in found.attributes.values()] == ["string", "timestamp[us, tz=UTC]"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PAR1 no", "look-up 'planes': is no Parquet that can be read"),
        (b"", "look-up 'planes': is no Parquet that can be read"),
        (parquet(pa.table({"k": ["a", "b", "a"], "x": [1, 2, 3]})), "key 'a': of look-up 'planes' is in row 1 and"),
        (parquet(pa.table({"k": ["a"], "x": [[1]]})), "column 'x': of look-up 'planes' is ARRAY<BIGINT>"),
        (
            parquet(pa.table({"k": ["a"], "x": pa.array([1], pa.time64("us"))})),
            "column 'x': of look-up 'planes' has no",
        ),
    ],
)
def test_a_fault_of_parquet_is_one_line(content: bytes, said: str) -> None:
    with pytest.raises(AscError) as refused:
        lookup_of_file("planes", content, PARQUET_TYPE, "k")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_more_bytes_than_the_limit_is_refused() -> None:
    with pytest.raises(AscError, match="is a file of over 64 MiB"):
        lookup_of_file("planes", b" " * (LOOKUP_BYTES_MAX + 1), CSV_TYPE, "k")
    # Few bytes of Parquet may be a large table.
    texts = pa.array([None, "x" * (1 << 20)] * 40).dictionary_encode()
    with pytest.raises(AscError, match="has over 64 MiB in memory"):
        lookup_of_file("planes", parquet(pa.table({"k": list(range(80)), "a": texts, "b": texts})), PARQUET_TYPE, "k")


@pytest.mark.parametrize("quoted", ["", '"'])
def test_a_file_of_many_blocks_has_all_its_rows(quoted: str) -> None:
    rows = 200_000
    text = "k,a\n" + "".join(f"{quoted}K{number}{quoted},{number % 7}\r\n" for number in range(rows))
    found = lookup_of_file("planes", text.encode(), CSV_TYPE, "k")
    assert len(found.keys) == rows
    assert found.attributes["a"].to_pylist() == [number % 7 for number in range(rows)]
