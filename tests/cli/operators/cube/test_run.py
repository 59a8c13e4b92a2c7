"""Cubes over files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from asc.errors import AscError
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_of
from asc.operators.cube.layout import Layout
from asc.predicate import normalise
from asc.schema import Schema
from broker.files.decoding import Decoding
from cli.operators.cube.run import Rolled, question_of, run_cube, show_rolled, why_spark

FLIGHTS = Path(__file__).parents[4] / "workloads" / "data" / "flights.csv.gz"
SCHEMA = Schema.from_ddl(
    "month INT, day INT, dep_delay INT, arr_delay INT, carrier STRING, tailnum STRING, origin STRING, dest STRING, "
    "air_time INT, distance INT, time_hour TIMESTAMP, tags ARRAY<STRING>, place STRUCT<city: STRING>"
)
OPERATOR: dict[str, Any] = {
    "dimensions": [["origin", "dest"], ["carrier"]],
    "measures": [
        "count(*) AS flights",
        "sum(arr_delay) AS delay",
        "count(*) FILTER (WHERE arr_delay > 60) AS late",
        "max(tailnum) AS last",
    ],
    "time": "time_hour",
    "grain_s": 3_600,
}


def run(inputs: Sequence[Path], form: str = "csv", where: str = "true", **question: Any) -> Rolled:
    decoding = Decoding(SCHEMA)
    return run_cube(inputs, form, decoding, operator=OPERATOR, where=where, question={"limit": 100_000, **question})


@pytest.mark.parametrize("where", ["true", "arr_delay > 0 AND NOT dest = 'LAX'"])
def test_the_flights_rolled_up_equal_duckdb(where: str) -> None:
    found = run([FLIGHTS], where=where, by=["origin", "carrier"], **{"from": "2013-07-01", "to": "2013-08-01"})
    relation = duckdb.read_csv(str(FLIGHTS))  # noqa: F841 - DuckDB reads it by its name
    sql = (
        "SELECT origin, carrier, count(*), sum(arr_delay), count(*) FILTER (WHERE arr_delay > 60), max(tailnum) "
        f"FROM relation WHERE ({where}) AND time_hour >= TIMESTAMPTZ '2013-07-01 00:00:00Z' "
        "AND time_hour < TIMESTAMPTZ '2013-08-01 00:00:00Z' GROUP BY ALL ORDER BY ALL"
    )
    rows = [(*row["group"].values(), *list(row.values())[1:]) for row in found.answer["rows"]]
    assert rows == duckdb.execute(sql).fetchall()
    assert (found.engine, found.held.records, found.undecodable) == ("arrow", 20_000, 0)


def test_days_and_hours_of_the_zone_equal_duckdb() -> None:
    zone = "America/New_York"
    decoding, question = Decoding(SCHEMA, time_zone=zone), {"by": ["origin"], "grain": "1d", "hours": "6-9,22-2"}
    found = run_cube(
        [FLIGHTS], "csv", decoding, operator=OPERATOR, where="true", question={**question, "limit": 10_000}
    )
    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = '{zone}'")
    sql = (
        "SELECT epoch_us(date_trunc('day', time_hour)), origin, count(*) "
        f"FROM read_csv('{FLIGHTS}', types={{'time_hour': 'TIMESTAMPTZ'}}) "
        "WHERE hour(time_hour) IN (6, 7, 8, 22, 23, 0, 1) GROUP BY ALL ORDER BY ALL"
    )
    rows = [(instant_of("pane", row["pane"]), row["group"]["origin"], row["flights"]) for row in found.answer["rows"]]
    assert len(rows) > 1_000
    assert rows == connection.execute(sql).fetchall()


def test_files_of_every_format_roll_up_alike(tmp_path: Path) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    table = pyarrow.csv.read_csv(FLIGHTS)
    own = [name for name in table.column_names if name in SCHEMA.arrow.names]
    table = table.select(own).slice(0, 2_000)
    pq.write_table(table.cast(pyarrow.schema([(name, as_stored(name)) for name in own])), tmp_path / "flights.parquet")
    lines = [json.dumps({**row, "time_hour": row["time_hour"].isoformat()[:19] + "Z"}) for row in table.to_pylist()]
    (tmp_path / "flights.ndjson").write_text("\n".join(lines), "utf-8")
    by = [["origin", "dest"], ["carrier"], []]
    parquet = run([tmp_path / "flights.parquet"], "parquet", by=by)
    ndjson = run([tmp_path / "flights.ndjson"], "ndjson", by=by)
    assert parquet.engine == ndjson.engine == "arrow"
    assert parquet.answer == ndjson.answer
    twice = run([tmp_path / "flights.ndjson"] * 2, "ndjson", by=[])
    assert twice.answer["rows"][0]["flights"] == 4_000


def as_stored(name: str) -> Any:
    import pyarrow as pa

    kind = SCHEMA.arrow.field(name).type
    return pa.timestamp("ms", tz="UTC") if pa.types.is_timestamp(kind) else kind


@pytest.mark.parametrize(
    ("measure", "where", "said"),
    [
        ("count(*)", "true", None),
        ("max(place.city)", "carrier LIKE 'U%'", None),
        ("sum(arr_delay) FILTER (WHERE dep_delay > 0)", "true", None),
        ("sum(arr_delay)", "upper(carrier) = 'UA'", "WHERE has Spark compute"),
        ("sum(arr_delay - dep_delay)", "true", "the cube has Spark compute arr_delay - dep_delay"),
        ("count(*) FILTER (WHERE arr_delay > dep_delay)", "true", "FILTER has Spark compute"),
        ("sum(arr_delay + 1) FILTER (WHERE dep_delay > 0)", "true", "the cube has Spark compute arr_delay + 1"),
        ("count(tags)", "true", "Spark alone reads tags"),
    ],
)
def test_spark_is_needed_for_what_is_no_plain_column(measure: str, where: str, said: str | None) -> None:
    layout = Layout.of(CubeDefinition.parse({"measures": [measure]}, needs_time=False), SCHEMA)
    why = why_spark(layout, normalise(where, SCHEMA))
    assert why is None if said is None else str(why).startswith(said)


def test_a_question_is_made_of_options() -> None:
    nothing = question_of(OPERATOR, (), total=False, begin=None, end=None, order=None, limit=None)
    assert nothing == {"by": [["origin", "dest", "carrier"]]}
    days = question_of(
        OPERATOR, (), total=False, begin=None, end=None, every={"grain": "1d"}, hours="1-2", order=None, limit=None
    )
    assert days == {"by": [["origin", "dest", "carrier"]], "grain": "1d", "hours": "1-2"}
    given = question_of(
        OPERATOR, ("carrier, dest",), total=True, begin="a", end="b", order="flights DESC, carrier", limit=1
    )
    assert given == {
        "by": [["carrier", "dest"], []],
        "from": "a",
        "to": "b",
        "order": ["flights DESC", "carrier"],
        "limit": 1,
    }


def test_everything_is_checked_before_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "flights.csv").write_text("carrier,origin\nUA,JFK\n", "utf-8")
    for question in ({"by": ["tail"]}, {"from": "2013-07-01T00:30:00Z"}, {"order": ["n"]}):
        with pytest.raises(AscError):
            run([tmp_path / "flights.csv"], **question)
    with pytest.raises(AscError, match="unknown column"):
        run([tmp_path / "flights.csv"], where="dely > 0")


def test_a_table_tells_null_from_what_is_rolled_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flights.csv"
    path.write_text("carrier,origin,time_hour\n,JFK,2013-07-01T00:00:00Z\nUA,,\n", "utf-8")
    show_rolled(run([path], by=[["carrier"], []]), as_json=False)
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["carrier", "flights", "delay", "late", "last"]
    assert out[1].split() == ["NULL", "1", "NULL", "0", "NULL"]
    assert out[2].split() == ["1", "NULL", "0", "NULL"]
    assert out[3] == "2 rows read, 1 counted, 1 without a usable time, 1 cell, 2 groups (without Spark)"


def test_json_has_the_whole_answer(capsys: pytest.CaptureFixture[str]) -> None:
    show_rolled(run([FLIGHTS], by=["carrier"], limit=2), as_json=True)
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert found["records"] == {"read": 20_000, "counted": 20_000, "undecodable": 0, "time": 0, "too_large": 0}
    assert (found["engine"], len(found["rows"]), found["groups"]) == ("arrow", 2, 16)
    assert 0 < found["cells"] < found["bytes"]
    assert said.err.startswith("warning: 19,")
    assert "cells of 20,000 records: group by less, or round" in said.err
