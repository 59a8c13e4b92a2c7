"""The rows of files that Spark decodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from asc.schema import Schema
from broker.errors import InputError
from broker.files.decoded_rows import decoded_rows
from broker.files.decoding import Decoding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("settings_of_spark")]


def test_what_was_read_is_seen_when_an_action_is_over(tmp_path: Path, spark: SparkSession) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_text('{"a": 1}\n{"a": "x"}\n{"a": 2}\n', "utf-8")
    with decoded_rows([path], "ndjson", Decoding(Schema.from_ddl("a INT")), app_name="t", progress="reading") as rows:
        assert [row["a"] for row in rows.frame.collect()] == [1, 2]
        seen = rows.seen
    assert (seen.rows, seen.undecodable) == (3, 1)
    assert str(seen.first_undecodable).startswith(f"{path}: ")


def test_an_error_of_spark_is_one_line(tmp_path: Path, spark: SparkSession) -> None:
    path = tmp_path / "rows.ndjson"
    path.write_text('{"a": 1}\n', "utf-8")
    decoding = Decoding(Schema.from_ddl("a INT"))
    with (
        pytest.raises(InputError) as caught,
        decoded_rows([path], "ndjson", decoding, app_name="t", progress="reading") as rows,
    ):
        rows.frame.selectExpr("raise_error('no\\nmore')").collect()
    assert "Spark fails on" in str(caught.value)
    assert "\n" not in str(caught.value)
