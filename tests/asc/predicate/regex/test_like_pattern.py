"""Patterns: parts of LIKE, and the regular expressions that stand for them."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asc.predicate.limits import Limits
from asc.predicate.regex.like_pattern import like_parts, like_regex, like_text, like_work
from asc.predicate.syntax.parser import parse
from asc.predicate.type_checking.typer import Typer
from asc.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

patterns = st.text("ab%_|", max_size=8)
texts = st.text("ab%_|", max_size=8)


def likes(pattern: str, text: str) -> bool:
    """LIKE by the book, | being the escape."""
    regex = "".join({None: ".*", "": "."}.get(part, re.escape(part or "")) for part in like_parts(pattern, "|"))
    return re.fullmatch(regex, text, re.DOTALL) is not None


def is_escaped_well(pattern: str) -> bool:
    try:
        like_parts(pattern, "|")
    except ValueError:
        return False
    return True


@given(patterns.filter(is_escaped_well))
def test_a_pattern_is_written_back_with_the_same_parts(pattern: str) -> None:
    parts = like_parts(pattern, "|")
    assert like_parts(like_text(parts, "|"), "|") == parts


@given(patterns.filter(is_escaped_well), texts)
def test_the_regular_expression_accepts_what_like_accepts(pattern: str, text: str) -> None:
    regex = like_regex(pattern, "|")
    if regex is not None:
        # Atomic groups come with Python 3.11; a lookahead and a reference to what it took are the same.
        groups = iter(range(1, 50))
        plain = re.sub(r"\(\?>(.*?)\)", lambda own: f"(?=({own[1]}))\\{next(groups)}", regex).replace("\\z", "\\Z")
        assert (re.search(plain, text) is not None) == likes(pattern, text)


@pytest.mark.parametrize("pattern", ["a|", "|a"])
def test_an_escape_of_nothing(pattern: str) -> None:
    with pytest.raises(ValueError, match="after the escape"):
        like_parts(pattern, "|")


@pytest.mark.parametrize(
    ("pattern", "work"),
    [
        ("abc", 0),
        ("abc%", 0),
        ("%abc", 0),
        ("%abc%", 0),
        ("%" + "a" * 900 + "%", 0),
        ("%a_", 2),
        ("a%b_%cd%", 2),
        ("%___%", 3),
        ("%", 0),
        ("", 0),
        ("%ab%abcd%e", 5),
    ],
)
def test_the_work_of_a_pattern_is_that_of_its_segments_after_the_first(pattern: str, work: int) -> None:
    assert like_work(like_parts(pattern, "|")) == work


@pytest.mark.parametrize("pattern", ["_" * 501, "%a" * 501, "_%" * 251])
def test_more_wildcards_than_a_small_stack_takes(pattern: str) -> None:
    with pytest.raises(ValueError, match="at most 500 of % and _"):
        like_work(like_parts(pattern, "|"))


LIKE_PATTERNS = (
    "%a%b%",
    "a%b%c",
    "%a_b%a%",
    "_%_%_",
    "%%a%%b",
    "a%b_%",
    "%.%*%",
    "%\\\\%%\\\\_%a",
    "%東%a%",
    "%ab%ab",
    "%a%",
    "a%b",
    "_",
    "%_",
    "",
    "a%a%a",
)
"""As they stand between quotes: Spark halves the doubled backslashes."""


@pytest.mark.spark
@pytest.mark.slow
def test_like_without_backtracking_is_like(spark: SparkSession) -> None:
    """The regular expressions that stand for LIKE patterns match what LIKE matches."""
    schema = Schema.from_ddl("s STRING")
    pieces = ("", "a", "b", "ab", "aab", "\n", "東", "🚀", ".", "*", "%", "_", "\\")
    rows = sorted({"".join(parts) for parts in product(pieces, repeat=3)})
    df = spark.createDataFrame([(row,) for row in rows], "s STRING")
    for pattern in LIKE_PATTERNS:
        text = f"s LIKE '{pattern}'"
        tree, source = parse(text, Limits(), "UTC")
        ours = Typer(source, schema).of(tree).sql
        rewritten = pattern.strip("%").count("%") > 0 and "RLIKE" in ours
        differing = df.where(f"NOT (({text}) <=> ({ours}))").limit(3).collect()
        assert not differing, (text, ours, differing)
        assert rewritten or "LIKE" in ours


@pytest.mark.spark
@pytest.mark.slow
def test_a_long_string_does_not_stall_a_pattern(spark: SparkSession) -> None:
    """A million characters made to backtrack; the pattern as it stands would take hours."""
    schema = Schema.from_ddl("s STRING")
    df = spark.range(1).selectExpr("repeat('a', 1000000) AS s")
    for text in ("s LIKE '%a%a%a%b'", "s LIKE '%a_a%b%c%'", "s LIKE '%a%b%a%'", "s RLIKE '^a*b'"):
        tree, source = parse(text, Limits(), "UTC")
        assert df.where(Typer(source, schema).of(tree).sql).count() == 0
