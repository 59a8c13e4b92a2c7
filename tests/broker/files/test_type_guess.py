"""Types guessed from values."""

from __future__ import annotations

from typing import Any

import pytest

from asc.spark_types import ddl_of_type
from broker.files.type_guess import TypeGuess


def guessed(values: list[Any], *, texts: bool) -> TypeGuess:
    guess = TypeGuess()
    for value in values:
        guess.see(value, texts=texts)
    return guess


@pytest.mark.parametrize(
    ("values", "ddl"),
    [
        (["1", None, "-2147483648"], "INT"),
        (["2147483648"], "BIGINT"),
        (["-2147483649"], "BIGINT"),
        (["9223372036854775808"], "DECIMAL(38,0)"),
        (["99999999999999999999", "-1"], "DECIMAL(38,0)"),
        (["1" * 39], "STRING"),
        (["1", "1.5"], "DOUBLE"),
        (["007"], "STRING"),
        (["1", "NA"], "STRING"),
        (["true", "false"], "BOOLEAN"),
        (["True", "FALSE", "true"], "BOOLEAN"),
        (["true", "1"], "STRING"),
        (["2013-01-31"], "DATE"),
        (["2013-01-31", "2013-01-31T10:00:00Z"], "TIMESTAMP"),
        (["2013-01-31 10:00:00"], "TIMESTAMP"),
        (["2013-1-31"], "STRING"),
        ([None], "STRING"),
        ([], "STRING"),
    ],
)
def test_texts(values: list[Any], ddl: str) -> None:
    assert ddl_of_type(guessed(values, texts=True).type()) == ddl


@pytest.mark.parametrize(
    ("values", "ddl"),
    [
        ([1, 2.5], "DOUBLE"),
        ([True, 1], "STRING"),
        (["1"], "STRING"),
        (["true"], "STRING"),
        (["2013-01-31"], "DATE"),
        ([10**38], "STRING"),
        ([{"a": 1}, {"b": [1, None]}, None], "STRUCT<a: INT, b: ARRAY<INT>>"),
        ([[{"a": 1}], [{"a": 2**40}]], "ARRAY<STRUCT<a: BIGINT>>"),
        ([[]], "ARRAY<STRING>"),
        ([{}], "STRING"),
        ([{"a": 1}, [1]], "STRING"),
    ],
)
def test_values_of_json(values: list[Any], ddl: str) -> None:
    assert ddl_of_type(guessed(values, texts=False).type()) == ddl


def test_what_is_deep_is_a_text() -> None:
    value: Any = 1
    for _ in range(40):
        value = {"a": value}
    assert ddl_of_type(guessed([value], texts=False).type()).endswith("a: STRING" + ">" * 16)


def test_doubts() -> None:
    (mixed,) = guessed(["1", "2", "NA"], texts=True).doubts()
    assert mixed == "mixed: integer as '1' (2), text as 'NA' (1)"
    assert list(guessed(["1", None], texts=True).doubts()) == []
    assert guessed(["1", None], texts=True).empty == 1
    assert list(guessed([None], texts=True).doubts()) == ["no value was seen"]
    (without_zone,) = guessed(["2013-01-31 10:00:00"], texts=True).doubts()
    assert "without a zone" in without_zone


@pytest.mark.parametrize(
    ("values", "texts", "said"),
    [
        (["1", "9223372036854775808"], True, "beyond BIGINT, as '9223372036854775808'"),
        (["-99999999999999999999"], True, "beyond BIGINT, as '-99999999999999999999'"),
        (["1", "1" * 39], True, f"mixed: integer as '1' (1), integer beyond DECIMAL(38,0) as '{'1' * 30}' (1)"),
        ([10**38, 1], False, f"beyond BIGINT, as '1{'0' * 29}'"),
    ],
)
def test_an_integer_that_is_too_large_is_called_so(values: list[Any], texts: bool, said: str) -> None:
    assert list(guessed(values, texts=texts).doubts()) == [said]
