"""DBSCAN queries over files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from asc.errors import AscError
from asc.schema import Schema
from broker.config.sections import LimitsConfig
from broker.files.decoding import Decoding
from broker.unfinished_file import unfinished
from cli.operators.dbscan.file_queries import read_file_queries
from cli.operators.dbscan.run import POINTS_OF_A_WINDOW, DbscanRun, points_of_a_window, run_queries, show_run
from tests.asc.operators.dbscan.label_methods import by_scikit_learn, heaps

DECODING = Decoding(Schema.from_ddl("x DOUBLE, y DOUBLE, n INT, ts TIMESTAMP"))
PLAIN: dict[str, Any] = {"name": "dbscan", "attributes": ["x", "y"], "eps": 0.03, "min_samples": 4}
QUERIES = [
    {"id": "timed", "where": "n < 5", "operator": {**PLAIN, "time": "ts", "window_s": 200, "slide_s": 100}},
    {"id": "counted", "operator": {**PLAIN, "eps": [0.01, 0.05], "window_points": 300, "slide_points": 100}},
]
ROWS = 700


def write(folder: Path, form: str) -> tuple[Path, pa.Table]:
    """Points, a second apart, n from 0 to 9 in turn."""
    points, number = heaps(ROWS), np.arange(ROWS)
    times = pa.array(1_533_081_600_000_000 + number * 1_000_000).cast(pa.timestamp("us", tz="UTC"))
    table = pa.table({"x": points[:, 0], "y": points[:, 1], "n": number % 10, "ts": times})
    path = folder / f"rows.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    else:
        rows = [{**row, "ts": row["ts"].strftime("%Y-%m-%dT%H:%M:%SZ")} for row in table.to_pylist()]
        lines = [json.dumps(row) for row in rows]
        if form == "csv":
            lines = ["x,y,n,ts", *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n", "utf-8")
    return path, table


def run(path: Path, queries: list[dict[str, Any]] = QUERIES, **options: Any) -> DbscanRun:
    file = path.parent / "queries.ndjson"
    file.write_text("\n".join(map(json.dumps, queries)), "utf-8")
    own: dict[str, Any] = {"batch": 64, "lateness_s": 10.0, "labels": None, "records": None, **options}
    return run_queries(path, path.suffix[1:], DECODING, read_file_queries(file, DECODING), **own)


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_labels_equal_scikit_learn_over_every_window(tmp_path: Path, form: str) -> None:
    path, table = write(tmp_path, form)
    found = run(path, labels=tmp_path / "labels", records=tmp_path / "records.ndjson")
    assert (found.engine, found.rows, found.excluded) == ("arrow", ROWS, {})
    points = np.column_stack([table["x"].to_numpy(), table["y"].to_numpy()])
    times, accepted = table["ts"].cast(pa.int64()).to_numpy(), table["n"].to_numpy() < 5
    windows = 0
    for name, eps in (("timed", 0.03), ("counted.1", 0.01), ("counted.2", 0.05)):
        labels = pq.read_table(tmp_path / "labels" / f"{name}.parquet").to_pandas()
        for end, own in labels.groupby("window_end"):
            rows = np.arange(end - 300, end)
            if name == "timed":
                rows = np.flatnonzero((times < end) & (times >= end - 200_000_000) & accepted)
            assert own["row"].tolist() == rows.tolist()
            assert own["label"].tolist() == by_scikit_learn(points[rows], eps, 4).tolist()
            assert ((own["label"] < 0) == (own["role"] == "noise")).all()
            windows += 1
    assert windows == sum(own.windows for own in found.queries.values()) == 6 + 2 * 5
    written = [json.loads(line) for line in (tmp_path / "records.ndjson").read_text("utf-8").splitlines()]
    assert sum(own["record"] == "window" for own in written) == windows
    assert found.queries["counted.2"].last == [own for own in written if own["query"] == "counted.2"][-1]


def test_the_table_and_the_json_have_the_last_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = write(tmp_path, "parquet")
    found = run(path)
    show_run(found, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[0].split()) == "query windows skipped points clusters noise end of last window"
    assert lines[1].split()[:4] == ["timed", "6", "0", "100"]
    assert lines[3].split()[-1] == "700"
    assert lines[4] == "700 rows read (without Spark)"
    show_run(found, as_json=True)
    plain = json.loads(capsys.readouterr().out)
    assert plain["records"] == {"read": ROWS, "undecodable": 0}
    assert plain["queries"]["counted.1"]["windows"] == 5
    assert plain["queries"]["counted.1"]["last"]["window"] == [401, 700]


def test_a_file_without_a_window_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y,n,ts\n1,,2,\n", "utf-8")
    found = run(path)
    show_run(found, as_json=False)
    out = capsys.readouterr().out.splitlines()
    assert out[1].split() == ["timed", "0", "0"]
    assert out[-1] == "1 row read, 1 excluded: time, 1 excluded: attributes (without Spark)"


def test_everything_is_checked_before_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n", "utf-8")
    wide = {**PLAIN, "window_points": POINTS_OF_A_WINDOW + 1, "slide_points": POINTS_OF_A_WINDOW}
    for queries, said in (
        (QUERIES, "no column of the schema"),
        ([{"id": "wide", "operator": wide}], "at most 200,000"),
    ):
        with pytest.raises(AscError) as refused:
            run(path, queries)
        assert said in str(refused.value)


def test_a_window_by_counts_is_bounded_by_the_limit(tmp_path: Path) -> None:
    path, _ = write(tmp_path, "parquet")
    assert run(path, points_max=300).queries["counted.1"].windows == 5
    with pytest.raises(AscError, match=r"counted\.1: a window has at most 299 points: shorten it, or raise lim"):
        run(path, points_max=299)
    # Of the windows by time, the full ones have a hundred points.
    assert run(path, QUERIES[:1], points_max=99).queries["timed"].skipped == 5
    assert run(path, QUERIES[:1], points_max=100).queries["timed"].skipped == 0


def test_the_limit_is_that_of_a_configuration_or_its_default(tmp_path: Path) -> None:
    assert points_of_a_window(None) == LimitsConfig().stream_dbscan_points
    file = tmp_path / "asc.toml"
    stream = '[streams.s]\ntopic = "t"\nformat = "json"\nschema = "x DOUBLE"\n'
    file.write_text(f"[limits]\nstream_dbscan_points = 77\n{stream}", "utf-8")
    assert points_of_a_window(file) == 77


def test_a_file_of_records_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path, _ = write(tmp_path, "parquet")
    with pytest.raises(AscError, match="file of records"):
        run(path, records=tmp_path / "missing" / "records.ndjson")


@pytest.mark.parametrize("full", ["/dev/full", "records.ndjson"])
def test_a_full_disk_for_records_is_not_that_of_labels(tmp_path: Path, full: str) -> None:
    path, _ = write(tmp_path, "parquet")
    labels, records = tmp_path / "labels", tmp_path / full
    if not records.exists():
        unfinished(records).symlink_to("/dev/full")
    with pytest.raises(AscError, match=r"file of records '.*': cannot be written: No space left on device"):
        run(path, labels=labels, records=records)
    assert list(labels.iterdir()) == []
    assert sorted(own.name for own in tmp_path.iterdir()) == ["labels", "queries.ndjson", "rows.parquet"]
    unfinished(labels / "timed.parquet").symlink_to("/dev/full")
    with pytest.raises(AscError, match=r"file of labels '.*timed\.parquet': cannot be written: No space left"):
        run(path, labels=labels, records=tmp_path / "good.ndjson")
    assert list(labels.iterdir()) == []


def test_where_no_row_could_be_decoded_the_command_fails() -> None:
    with pytest.raises(AscError, match=r"none could be decoded, rows 3: the first: rows\.csv"):
        show_run(DbscanRun({}, rows=3, undecodable=3, first_undecodable="rows.csv"), as_json=False)
