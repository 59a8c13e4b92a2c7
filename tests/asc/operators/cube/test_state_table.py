"""Tables of states: another cube merges them and has the same answers, and other tables are refused."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from asc.errors import CubeError
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.state_table import cell_states

MEASURES = ["count(*) AS n", "avg(x) FILTER (WHERE e > 0) AS a", "corr(x, e) AS r", "min(s) AS s", "distinct(s) AS d"]
DDL = "pane STRING, e INT, f INT, x DOUBLE, s STRING, t TIMESTAMP, unused INT"
MINUTE_US = 60_000_000


def cube(seed: int, *measures: str, grain_s: float | None = 60) -> Cube:
    """Return a cube of random records of ten minutes. One dimension has the name of the column of panes."""
    plain: dict[str, Any] = {"dimensions": [["pane", "e"], ["f"]], "measures": [*MEASURES, *measures]}
    if grain_s is not None:
        plain |= {"time": "t", "grain_s": grain_s}
    made, draw, count = Cube(CubeDefinition.parse(plain, needs_time=False), DDL), np.random.default_rng(seed), 3_000
    numbers = {name: draw.integers(0, 4, count) for name in "pefs"}
    columns = {name: pa.array(numbers[name], pa.int32()) for name in "ef"}
    texts = {"pane": [f"p{n}" for n in numbers["p"]], "s": [f"s{n}" for n in draw.integers(0, 900, count)]}
    times = pa.array(draw.integers(0, 10 * MINUTE_US, count), pa.timestamp("us", "UTC"))
    made.fold(pa.table({**columns, **texts, "t": times, "x": draw.normal(size=count)}))
    return made


def stream_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return sink.getvalue()


@pytest.mark.parametrize("by", [["pane"], ["e", "f"], []])
@pytest.mark.parametrize("grain_s", [None, 60])
def test_merged_tables_have_the_answers_of_merged_cubes(by: list[str], grain_s: float | None) -> None:
    first, second = cube(1, grain_s=grain_s), cube(2, grain_s=grain_s)
    body = {"by": by, "where": "f < 3"} | ({} if grain_s is None else {"grain_s": 120})
    read = Cube.of_states(stream_of(first.states(body)))
    read.merge(Cube.of_states(second.states(body)))
    first.merge(second)
    asked = {"by": by} | ({} if grain_s is None else {"grain_s": 120})
    rows = read.query(asked)["rows"]
    expected = first.query({**asked, "where": "f < 3"})["rows"]
    assert [{**row, "a": None} for row in rows] == [{**row, "a": None} for row in expected]
    assert [row["a"] for row in rows] == pytest.approx([row["a"] for row in expected])
    assert "unused" not in read.layout.schema.arrow.names


def test_columns_are_named_by_the_kind_the_parameters_and_the_expressions() -> None:
    table = cube(1, "distinct(s, 14)", "quantiles(x)").states({"by": []})
    expression = "CASE WHEN (e > 0) THEN x END"
    assert table.column_names == [
        *("pane", "count()", f"sum({expression})", f"count({expression})", "moments(e, x)", "min(s)"),
        *("distinct(12, s)", "distinct(14, s)", "quantiles(200, x)"),
    ]
    assert table["pane"].type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"by": [["f"], []]}, "number of cuboids 2: ask for the states of one"),
        ({"by": ["f"], "limit": 9}, "limit 9: goes with rows"),
        ({"by": ["f"], "measures": ["n"]}, r"measures \['n'\]: goes with rows"),
        ({"by": ["f"], "grain": "1d"}, "grain '1d': goes with rows"),
        ({"by": ["g"]}, "'g'"),
    ],
)
def test_a_question_for_rows_is_refused(body: dict[str, Any], fault: str) -> None:
    with pytest.raises(CubeError, match=fault):
        cube(1).states(body)


def test_states_of_computed_dimensions_are_not_offered() -> None:
    plain = {"dimensions": [["geohash(lat, lon, 10)"]], "measures": ["count(*)"]}
    made = Cube(CubeDefinition.parse(plain, needs_time=False), "lat DOUBLE, lon DOUBLE")
    with pytest.raises(CubeError, match="states True: are not offered of a cube with computed dimensions"):
        made.states({"by": []})


def test_states_of_another_generation_never_merge() -> None:
    own, other = Cube.of_states(cube(1).states({"by": []})), Cube.of_states(cube(2).states({"by": []}))
    other.generation = "0123"
    with pytest.raises(CubeError, match="generation '0123': is another one than None: merge states of one"):
        own.merge(other)


@pytest.mark.parametrize("data", [b"", b"ARROW1", 7, pa.table({"a": [1]})])
def test_what_is_no_table_of_states_is_refused(data: object) -> None:
    with pytest.raises(CubeError, match="table: has no states of a cube"):
        cell_states(data)


def test_a_table_with_other_columns_or_damaged_states_is_refused() -> None:
    table = cube(1).states({"by": []})
    with pytest.raises(CubeError, match="table: has no states of a cube"):
        Cube.of_states(table.drop_columns(["min(s)"]).replace_schema_metadata(table.schema.metadata))
    place = table.column_names.index("distinct(12, s)")
    damaged = pa.array([b"\2" + (state.as_py() or b"")[1:] for state in table["distinct(12, s)"]], pa.binary())
    with pytest.raises(CubeError, match="state 'distinct with lg_k 12': is damaged"):
        Cube.of_states(table.set_column(place, "distinct(12, s)", damaged))
