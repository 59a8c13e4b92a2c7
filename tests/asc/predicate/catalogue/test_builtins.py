"""The list of Spark's functions: that it is all of them, and right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asc.predicate.catalogue.builtins import builtins, markdown
from asc.predicate.catalogue.refusals import LANGUAGE, REFUSALS
from asc.predicate.functions import FUNCTIONS
from asc.predicate.limits import Limits
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = Schema.from_ddl(
    "n INT, d DOUBLE, s STRING, t STRING, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, flag BOOLEAN, raw BINARY,"
    " tags ARRAY<STRING>, labels MAP<STRING, INT>"
)


def test_the_list_is_that_of_the_running_spark(spark: SparkSession) -> None:
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert {builtin.name for builtin in builtins()} == listed


def test_every_function_has_one_verdict() -> None:
    names = [builtin.name for builtin in builtins()]
    assert names == sorted({*FUNCTIONS, *REFUSALS, *LANGUAGE})
    assert all(builtin.verdict and "\n" not in builtin.verdict for builtin in builtins())
    assert {builtin.name for builtin in builtins() if not builtin.allowed} == set(REFUSALS)


def test_the_examples_are_calls_that_are_allowed_and_that_spark_takes(spark: SparkSession) -> None:
    examples = {builtin.name: builtin.example for builtin in builtins() if builtin.example}
    assert set(examples) == set(FUNCTIONS)
    assert all(text.startswith(f"{name}(") for name, text in examples.items())
    sqls = []
    for text in examples.values():
        node, source = parse(text, Limits(), "UTC")
        sqls.append(Typer(source, SCHEMA).of(node).sql)
    frame = spark.createDataFrame([], SCHEMA.ddl())
    assert len(frame.selectExpr(*examples.values(), *sqls).columns) == 2 * len(examples)


def test_the_table_escapes_what_ends_a_cell() -> None:
    rows = markdown().splitlines()
    assert "| `\\|\\|` |  |  | part of the SQL grammar |" in rows
    assert len(rows) == len(builtins()) + 2
