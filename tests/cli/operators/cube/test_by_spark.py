"""Cubes over files by Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube.answer import answer
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.task_fold import CubeFold, CubePartial
from asc.schema import Schema
from broker.files.decoding import Decoding
from cli.operators.cube.by_spark import column_of, folding
from cli.operators.cube.run import Rolled, run_cube

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl("a INT, b INT, s STRING, ts TIMESTAMP, tags ARRAY<STRING>, place STRUCT<city: STRING>")
PLAIN: dict[str, Any] = {
    "dimensions": [["upper(s)"], ["place.city"]],
    "measures": ["count(*) AS n", "sum(a - b) AS gain", "count(tags) AS tagged", "max(a) FILTER (WHERE a > b) AS most"],
    "time": "ts",
    "grain_s": 3_600,
}


def test_a_task_makes_a_row_of_each_piece_and_one_of_its_counts() -> None:
    definition = CubeDefinition.parse({**PLAIN, "dimensions": [["s"]], "measures": ["count(*) AS n"]})
    batch = pa.record_batch({"_0": pa.array([0, None], pa.timestamp("us", tz="UTC")), "_1": ["x", "y"]})
    (found,) = folding(definition, SCHEMA.ddl(), "UTC")([batch])
    rows = found.to_pylist()
    assert [(row["pane"], row["piece"] is None, row["counted"], row["time"]) for row in rows] == [
        (0, False, 0, 0),
        (0, True, 1, 1),
    ]
    (nothing,) = folding(definition, SCHEMA.ddl(), "UTC")([])
    assert nothing.num_rows == 1


def test_a_text_that_is_not_utf_8_is_that_of_a_standing_cube() -> None:
    measures = ["count(*) AS n", "max(upper(s)) AS last"]
    definition = CubeDefinition.parse({**PLAIN, "dimensions": [["upper(s)"]], "measures": measures})
    texts = pa.array([b"A", b"\xff", None], pa.binary()).view(pa.string())
    batch = pa.record_batch({"_0": pa.array([0, 0, 0], pa.timestamp("us", tz="UTC")), "_1": texts})
    (found,) = folding(definition, SCHEMA.ddl(), "UTC")([batch])
    piece = found.to_pylist()[0]["piece"]
    fold = CubeFold()
    layout = fold.prepare({"cube": definition.plain(), "schema": SCHEMA.ddl()})
    state = fold.state(layout)
    names = [operand.sql for operand in layout.operands]
    state.fold(fold.columns(batch.rename_columns(names)), np.arange(3))
    cells = CubePartial.of_bytes(layout, state.to_bytes()).cells
    assert [own.to_bytes() for own in cells.pieces(layout)] == [piece]
    rows = answer(layout, [Part.base(layout, cells)], Question.parse({"by": ["upper(s)"]}, definition))["rows"]
    assert [row["group"]["upper(s)"] for row in rows] == [None, "A", "\ufffd"]


def test_an_expression_comes_as_a_column_that_the_fold_finds() -> None:
    cube = Cube(CubeDefinition.parse(PLAIN), SCHEMA)
    names = [column_of(operand) for operand in cube.layout.operands]
    assert names == ["ts", "upper(s)", "place.city", "a - b", "tags", "CASE WHEN (a > b) THEN a END"]


@pytest.mark.spark
@pytest.mark.usefixtures("settings_of_spark")
def test_what_spark_computes_is_rolled_up(
    tmp_path: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"a": 5, "b": 3, "s": "x", "ts": "2013-07-10T00:00:00Z", "tags": ["t"], "place": {"city": "Oslo"}},
        {"a": 1, "b": 3, "s": "X", "ts": "2013-07-10T00:59:59Z", "tags": None, "place": {"city": "Oslo"}},
        {"a": None, "b": 3, "s": None, "ts": "2013-07-10T01:00:00Z", "tags": [], "place": None},
        {"a": 9, "b": 1, "s": "x", "ts": None},
        {"a": -9, "b": 1, "s": "x", "ts": "2013-07-10T01:00:00Z"},
    ]
    path = tmp_path / "rows.ndjson"
    path.write_text("\n".join([*map(json.dumps, rows), '{"a": "no number"}']), "utf-8")
    question = {"by": [["upper(s)", "place.city"], []]}
    found: Rolled = run_cube(
        [path], "ndjson", Decoding(SCHEMA), operator=PLAIN, where="a > -5 OR abs(b) = 3", question=question
    )
    assert found.answer["rows"] == [
        {"group": {"upper(s)": None, "place.city": None}, "n": 1, "gain": None, "tagged": 1, "most": None},
        {"group": {"upper(s)": "X", "place.city": "Oslo"}, "n": 2, "gain": 0, "tagged": 1, "most": 5},
        {"group": {}, "n": 3, "gain": 0, "tagged": 2, "most": 5},
    ]
    assert (found.engine, found.held.records, found.held.counted) == ("spark", 6, 3)
    assert (found.excluded["time"], found.undecodable) == (1, 1)
    assert found.first_undecodable is not None
    assert str(path) in found.first_undecodable
    assert "starting Spark: WHERE has Spark compute" in capsys.readouterr().err
    everything: Rolled = run_cube(
        [path], "ndjson", Decoding(SCHEMA), operator={"measures": ["count(*) AS n"]}, where="abs(a) >= 0", question={}
    )
    assert everything.answer["rows"] == [{"group": {}, "n": 4}]
