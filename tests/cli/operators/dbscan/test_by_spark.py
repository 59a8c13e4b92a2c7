"""The columns of a file by Spark."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from asc.schema import Schema
from broker.files.decoding import Decoding
from cli.operators.dbscan.by_spark import columns_by_spark
from cli.operators.dbscan.file_columns import Asked
from cli.operators.dbscan.file_queries import read_file_queries
from cli.operators.dbscan.run import run_queries

DECODING = Decoding(Schema.from_ddl("x DOUBLE, n INT, s STRING, ts TIMESTAMP, raw BINARY"))
PLAIN: dict[str, Any] = {"name": "dbscan", "eps": 1.0, "min_samples": 2, "members": "all"}
COMPUTED = {"attributes": ["x * 2", "n"], "key": "upper(s)", "time": "ts + INTERVAL 1 SECOND"}
QUERIES = [
    {"id": "computed", "where": "abs(n) < 5", "operator": {**PLAIN, **COMPUTED, "eps": 2, "window_s": 4, "slide_s": 2}},
    {"id": "rows", "operator": {**PLAIN, "attributes": ["x"], "window_points": 4, "slide_points": 4}},
]


@pytest.mark.spark
@pytest.mark.usefixtures("settings_of_spark", "spark")
def test_what_spark_computes_keeps_the_order_and_the_numbers_of_the_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"x": n % 2 * 10 + 0.25, "n": n % 7, "s": f"k{n}", "ts": f"2018-08-01T00:00:0{n}Z"} for n in range(9)]
    lines = list(map(json.dumps, rows))
    # Rows that a stream would not decode have an offset as well.
    lines[2:2] = ['{"x": "no number"}', "{"]
    path = tmp_path / "rows.ndjson"
    path.write_text("\n".join(lines), "utf-8")
    (tmp_path / "q.ndjson").write_text("\n".join(map(json.dumps, QUERIES)), "utf-8")
    queries = read_file_queries(tmp_path / "q.ndjson", DECODING)
    records = tmp_path / "records.ndjson"
    found = run_queries(
        path, "ndjson", DECODING, queries, batch=3, lateness_s=1.0, labels=tmp_path / "labels", records=records
    )
    assert (found.engine, found.rows, found.undecodable, found.excluded) == ("spark", 11, 2, {})
    assert found.first_undecodable is not None
    assert "starting Spark: WHERE has Spark compute" in capsys.readouterr().err
    written = [json.loads(line) for line in records.read_text("utf-8").splitlines()]
    members = [own for own in written if own["record"] == "member"]
    computed = [(own["source"], own["key"]) for own in members if own["query"] == "computed"]
    assert computed[:2] == [("rows-0-0", "K0"), ("rows-0-4", "K2")]
    counted = [own["source"] for own in members if own["query"] == "rows" and own["window"] == [1, 4]]
    assert counted == ["rows-0-0", "rows-0-1", "rows-0-4", "rows-0-5"]


@pytest.mark.spark
@pytest.mark.usefixtures("settings_of_spark", "spark")
def test_a_key_that_is_not_utf_8_is_null_as_in_a_feed(tmp_path: Path) -> None:
    raw = ["Zürich".encode(), b"k\xff", None]
    rows = [{"x": 1, "raw": None if own is None else base64.b64encode(own).decode()} for own in raw]
    path = tmp_path / "rows.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    operator = {**PLAIN, "attributes": ["x"], "key": "CAST(raw AS STRING)", "window_points": 3, "slide_points": 3}
    (tmp_path / "q.ndjson").write_text(json.dumps({"id": "cast", "operator": operator}), "utf-8")
    queries = read_file_queries(tmp_path / "q.ndjson", DECODING)
    columns, _ = columns_by_spark(path, "ndjson", DECODING, Asked.of(queries))
    assert columns.keys == {"CAST(raw AS STRING)": ["Zürich", None, None]}
