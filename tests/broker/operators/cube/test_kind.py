"""The kind of cubes: what a plan has of a query, and what its workers make of records."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

from asc.operators.cube.answer import answer
from asc.operators.cube.part import Part
from asc.operators.cube.question import Question
from asc.operators.cube.task_fold import CubeFold, CubePartial
from asc.plan.plan import Plan
from asc.predicate import normalise
from asc.schema import Schema
from broker.errors import QueryError
from broker.formats.record_attributes import attributes_of
from broker.operators.cube.definition import StandingCube
from broker.operators.cube.kind import CUBE
from broker.operators.fold_destination import FoldDestination
from broker.operators.folder import FoldBatch
from broker.operators.kind import FoldedQuery
from broker.operators.kinds import OPERATORS
from broker.operators.schema_analyser import SchemaAnalyser
from tests.broker.fold_rig import AT, FoldRig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from broker.kafka.embedded import EmbeddedKafka

DDL = "t TIMESTAMP, s STRING, b BOOLEAN, i INT, x DECIMAL(9, 2), l ARRAY<INT>, place STRUCT<city: STRING, `a b`: INT>"
ANALYSER = SchemaAnalyser(attributes_of(Schema.from_ddl(DDL)))
PLAIN = {
    "name": "cube",
    "dimensions": [["b", "upper(s)"], ["place.city"], ["(i > 5)"]],
    "measures": [
        *("count(*) AS `n`", "sum(x) AS `total`", "count(l) AS `lists`", "avg(i) AS `mean`", "min(I) AS `least`"),
        *("max(i) FILTER (WHERE i < 8) AS `worst`", "regr_sxx(i, x * 4) FILTER (WHERE b) AS `spread`"),
    ],
    "time": "t",
    "grain_s": 900,
}


def destination(plain: Mapping[str, Any] = PLAIN, where: str = "true", name: str = "c") -> FoldDestination:
    definition = StandingCube.parse(plain)
    asked = FoldedQuery(name, "s", where, f"asc.{name}")
    predicate = normalise(where, ANALYSER.attributes)
    return CUBE.destination(definition, asked, predicate, CUBE.read(definition, ANALYSER))


def test_a_destination_has_generation_definition_and_the_schema_that_is_read() -> None:
    found = destination()
    assert found.time == "unix_micros(t)"
    read = {column.name: (column.attribute.sql, str(column.attribute.type)) for column in found.columns}
    assert read == {
        "t": ("unix_micros(t)", "int64"),
        "b": ("b", "bool"),
        "upper(s)": ("upper(s)", "string"),
        "place.city": ("place.city", "string"),
        "(i > 5)": ("CAST(i > 5 AS INT)", "int32"),
        "x": ("x", "decimal128(9, 2)"),
        "l": ("CASE WHEN NOT (l IS NULL) THEN 1 END", "int32"),
        "i": ("i", "int32"),
        "I": ("i", "int32"),
        "CASE WHEN (i < 8) THEN i END": ("CASE WHEN i < 8 THEN i END", "int32"),
        "CASE WHEN (b) THEN i END": ("CASE WHEN b THEN i END", "int32"),
        "CASE WHEN (b) THEN x * 4 END": ("CASE WHEN b THEN (x * 4) END", "decimal128(11, 2)"),
    }
    assert found.definition["cube"] == PLAIN
    assert Schema.from_ddl(found.definition["schema"]) == Schema.from_ddl(DDL)
    again = FoldDestination.of(found.in_plan())
    assert CubeFold().prepare(again.definition).definition == StandingCube.parse(PLAIN).cube
    # What becomes of late records is in it where it is another thing than with every cube before.
    assert "late" not in found.definition
    assert destination({**PLAIN, "late": "apart"}).definition == {**found.definition, "late": "apart"}
    # Its pieces are those of WHERE, dimensions and measures.
    assert destination(where="i > 1").definition["generation"] != found.definition["generation"]
    assert destination(name="d").definition["generation"] == found.definition["generation"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dimensions": [["nope"]]}, "operator.dimension 'nope': unknown column"),
        ({"dimensions": [["l"]]}, "operator.dimension 'l': is ARRAY<INT>: group by"),
        ({"measures": ["sum(s)"]}, "operator.measure 'sum(s)': takes numbers"),
        ({"time": "i"}, "operator.time 'i': is INT, no TIMESTAMP"),
        ({"dimensions": [["1 + 1"]]}, "operator.dimension '1 + 1': is the same for every record"),
        ({"dimensions": [["rand()"]]}, "operator.dimension 'rand()': "),
    ],
)
def test_what_does_not_fit_the_records_is_refused_in_one_line(change: dict[str, Any], said: str) -> None:
    with pytest.raises(QueryError) as refused:
        CUBE.read(StandingCube.parse({**PLAIN, **change}), ANALYSER)
    assert str(refused.value).replace('"', "'").startswith(said), refused.value
    assert "\n" not in str(refused.value)


def test_warnings_of_its_expressions_are_those_of_the_registration() -> None:
    analyser = SchemaAnalyser(Schema.from_ddl("t TIMESTAMP, x DOUBLE"))
    plain = {"name": "cube", "dimensions": [["x"]], "measures": ["count(*)"], "time": "t", "grain_s": 60}
    found = CUBE.read(StandingCube.parse(plain), analyser)
    assert found.warnings == ("dimension 'x': each different DOUBLE is a group: round it",)


class Recorder:
    """A folder that keeps what it is given."""

    held, watermarks_us = None, {}  # type: ignore[var-annotated]

    def __init__(self) -> None:
        self.batches: list[FoldBatch] = []

    def commit(self, batch: FoldBatch) -> Mapping[str, str]:
        self.batches.append(batch)
        return {}

    def close(self) -> None:
        """Nothing is open."""


def records(count: int) -> list[dict[str, Any]]:
    draw = random.Random(5)
    return [
        {
            "t": (AT + timedelta(seconds=draw.randrange(-7200, 0))).isoformat(),
            "s": draw.choice(["a", "A", "é", None]),
            "b": draw.choice([True, False, None]),
            "i": draw.choice([None, *range(10)]),
            "x": draw.choice([None, 0.25, -1.5, 1234567.89]),
            "l": draw.choice([None, [1], []]),
            "place": draw.choice([None, {"city": "Oslo"}, {"city": None}]),
        }
        for _ in range(count)
    ]


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_workers_fold_what_duckdb_groups(spark: SparkSession, kafka: EmbeddedKafka, tmp_path: Path) -> None:
    folder, given = Recorder(), records(600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(OPERATORS, CUBE.name, CUBE)  # type: ignore[arg-type]
        rig = FoldRig.made(spark, kafka, tmp_path, {CUBE.name: folder}, schema=DDL, limits={})
        try:
            total = {"name": "cube", "measures": ["count(*) AS n"], "time": "t", "grain_s": 3600}
            plan: Plan = rig.plan(
                ("c", "i > 1 OR i IS NULL", destination(where="i > 1 OR i IS NULL")),
                ("total", "b", destination(total, "b", "total")),
            )
            rig.runner.warm_up(plan, 0, threading.Event())
            rig.run(plan, *given, b"?", tasks=3)
        finally:
            rig.close()
    (batch,) = folder.batches
    assert batch.failed == {}
    kept = [one for one in given if one["i"] is None or one["i"] > 1]
    layout = CubeFold().prepare(batch.queries["c"].definition)
    partial = CubePartial.of_bytes(layout, batch.partials["c"].state)
    assert batch.partials["c"].counts.counted == sum(partial.records.values()) == len(kept)
    names = list(layout.definition.dimensions.names)
    found = answer(
        layout, [Part.base(layout, partial.cells)], Question.parse({"by": names, "limit": 1000}, layout.definition)
    )["rows"]
    assert sorted(map(str, map(flat, found))) == sorted(map(str, grouped(kept)))
    whole = CubeFold().prepare(batch.queries["total"].definition)
    (row,) = answer(
        whole,
        [Part.base(whole, CubePartial.of_bytes(whole, batch.partials["total"].state).cells)],
        Question.parse({}, whole.definition),
    )["rows"]
    assert row["n"] == sum(one["b"] is True for one in given)


def flat(row: Mapping[str, Any]) -> list[Any]:
    own = row["group"]
    texts = [own[name] for name in ("b", "upper(s)", "place.city", "(i > 5)")]
    total = None if row["total"] is None else Decimal(row["total"])
    return [*texts, row["n"], total, row["lists"], row["mean"], row["least"], row["worst"], rounded(row["spread"])]


def grouped(given: list[dict[str, Any]]) -> list[list[Any]]:
    """The groups of records, by DuckDB."""
    table = pa.table(
        {
            "s": pa.array([one["s"] for one in given], pa.string()),
            "b": pa.array([one["b"] for one in given], pa.bool_()),
            "i": pa.array([one["i"] for one in given], pa.int32()),
            "x": pa.array([None if one["x"] is None else Decimal(str(one["x"])) for one in given], pa.decimal128(9, 2)),
            "l": pa.array([one["l"] for one in given], pa.list_(pa.int32())),
            "city": pa.array([(one["place"] or {}).get("city") for one in given], pa.string()),
        }
    )
    connection = duckdb.connect()
    connection.register("given", table)
    rows = connection.execute(
        "SELECT b, upper(s) AS s, city, i > 5 AS more, count(*), sum(x), count(l), avg(i), min(i), "
        "max(i) FILTER (WHERE i < 8), list(x * 4) FILTER (WHERE b AND i IS NOT NULL AND x IS NOT NULL) "
        "FROM given GROUP BY ALL"
    ).fetchall()
    return [[*row, None if values is None else rounded(deviations(values))] for *row, values in rows]


def rounded(value: float | None) -> str | None:
    """Return a number without its last digits, which two ways of rounding may have otherwise."""
    return None if value is None else f"{value:.12g}"


def deviations(values: list[Decimal]) -> float:
    """Return the sum of the squared deviations from the mean, of values as doubles."""
    exact = [Fraction(float(value)) for value in values]
    squares = len(exact) * sum((value * value for value in exact), Fraction(0)) - sum(exact) ** 2
    return float(squares / len(exact))
