"""LIKE patterns as keys: what they are of SQL, and what they accept."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import broker
from asc.keys.like import ANY, like_accepts, like_key, like_text
from asc.predicate.regex.like_pattern import like_parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEGMENTS = st.lists(st.text("ab%_\\é€\n", min_size=1, max_size=3), min_size=1, max_size=4)
KEYS = st.builds(
    lambda segments, before, after: ANY * before + ANY.join(s.encode() for s in segments) + ANY * after,
    SEGMENTS,
    st.booleans(),
    st.booleans(),
)


@given(KEYS)
def test_the_text_of_a_key_has_that_key(key: bytes) -> None:
    assert like_key(like_parts(like_text(key), "\\")) == key


@given(KEYS, st.text("ab%_\\é€\n", max_size=12))
def test_it_accepts_what_an_expression_accepts(key: bytes, value: str) -> None:
    expression = ".*".join(re.escape(segment.decode()) for segment in key.split(ANY))
    expected = re.fullmatch(expression, value, re.DOTALL) is not None
    assert like_accepts(key, value.encode()) == expected


@pytest.mark.parametrize("pattern", ["a_c", "%", "", "%_%", "%\N{ROCKET}%", "%\ufffd%"])
def test_some_patterns_are_left_to_spark(pattern: str) -> None:
    assert like_key(like_parts(pattern, "\\")) is None


def test_text_that_is_not_utf8_is_compared_byte_by_byte() -> None:
    assert like_accepts(ANY + b"b" + ANY, b"a\xffb")
    assert not like_accepts(ANY + "é".encode() + ANY, b"\xc3")


def test_spark_finds_the_same(spark: SparkSession) -> None:
    rng = Random(5)
    letters = ("a", "b", "%", "_", "\\", "é", "€", "\n", "A", "İ")

    def text(longest: int, more: tuple[str, ...] = ()) -> str:
        return "".join(rng.choices((*letters, *more), k=rng.randint(0, longest)))

    def literal(value: str) -> str:
        return "'" + value.replace("\\", "\\\\") + "'"

    def term() -> str:
        parts = [re.sub(r"([%_\\])", r"\\\1", text(3)) or "b" for _ in range(rng.randint(1, 3))]
        subject = rng.choice(("s", "s", "upper(s)", "(s || 'a')"))
        ends = rng.choice(("%{}%", "%{}", "%{}%"))
        like = f"{subject} LIKE {literal(ends.format('%'.join(parts)))}"
        return rng.choice(("{}", "{}", "NOT {}", "({}) IS NULL", "({}) IS NOT TRUE")).format(like)

    # What is no UTF-8 arrives as it is, and a literal of text is no part of a torn character.
    torn = [b"a\xffb", b"\xe2\x82a", b"\xed\xa0\x80ab", b"a\xc3", b"\xc3\xa9\xa9", b"\xf0\x9f\x98", b"ab\xf5b"]
    values = [text(10, ("\N{ROCKET}", "\ufffd")).encode() for _ in range(150)] + torn
    rows = [(number, bytearray(value)) for number, value in enumerate(values)] + [(1_000, None)]
    frame = spark.createDataFrame(rows, "i INT, b BINARY").selectExpr("i", "CAST(b AS STRING) AS s").cache()
    wheres = [rng.choice((" AND ", " OR ")).join(term() for _ in range(rng.randint(1, 3))) for _ in range(80)]
    queries = {f"q{number:02}": where for number, where in enumerate(wheres)}
    found = {row.i: row.queries for row in broker.match(frame, queries).collect()}
    flags = frame.selectExpr("i", *(f"coalesce({where}, false) AS {query_id}" for query_id, where in queries.items()))
    expected = {row.i: [query_id for query_id in queries if row[query_id]] for row in flags.collect()}
    assert {i: found.get(i, []) for i in expected} == expected
