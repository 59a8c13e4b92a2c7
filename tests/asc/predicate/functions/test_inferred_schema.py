"""What schema_of_json finds in a constant."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from asc.predicate.functions.inferred_schema import inferred_type
from asc.spark_types import ddl_of_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = [
    '{"a": 1}',
    '{"b": 1.5, "a": {"y": true, "x": null}}',
    "[]",
    "[null, 1, 2.5]",
    '[1, "x"]',
    '[{"a": 1}, {"b": [1]}, {"b": [null, "x"], "a": 2.5}]',
    '{"a b": "1", "é": -9223372036854775808, "B": [[], [true]]}',
    '{"a": [1, true], "b": [{"x": 1}, 1], "c": 1e400}',
]


@pytest.mark.spark
def test_it_is_what_spark_finds(spark: SparkSession) -> None:
    calls = ", ".join(f"schema_of_json('{text}')" for text in PLAIN)
    found = spark.sql(f"SELECT {calls}").first()
    assert found is not None
    for text, ddl in zip(PLAIN, found, strict=True):
        kind = inferred_type(text)
        assert kind is not None
        assert ddl_of_type(kind).replace("`", "") == ddl.replace("`", ""), text


@pytest.mark.parametrize(
    "text",
    [
        None,
        1,
        "",
        "{",
        "1",
        '"x"',
        "{}",
        '[{"a": {}}]',
        '{"a": 1, "a": 2}',
        '{"a": 9223372036854775808}',
        "[" * 1900,
        json.dumps({"a": "x" * 2000}),
    ],
)
def test_what_is_not_plain(text: object) -> None:
    assert inferred_type(text) is None
