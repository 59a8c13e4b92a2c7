"""What Spark's own parser makes of predicates, beside what was read of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from broker.failure import one_line, root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TOGETHER_CHARS = 20_000
"""Texts that are parsed in one call, by their length together."""


def differences(spark: SparkSession, pairs: Sequence[tuple[str, str]]) -> dict[int, str]:
    """The positions of the pairs of texts that Spark parses to different expressions, each with what it makes of both.

    Several pairs are parsed in one call; what differs there is parsed alone, for it may have shifted the others.
    """
    parser: Any = spark._jsparkSession.sessionState().sqlParser()
    found: dict[int, str] = {}
    for positions in _pieces(pairs):
        if _is_same(parser, *(_listed([pairs[i][side] for i in positions]) for side in (0, 1))):
            continue
        for position in positions:
            difference = _difference(parser, *pairs[position])
            if difference is not None:
                found[position] = difference
    return found


def _pieces(pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
    pieces: list[list[int]] = []
    room = 0
    for position, (text, _) in enumerate(pairs):
        room -= len(text)
        if room < 0:
            pieces.append([])
            room = _TOGETHER_CHARS - len(text)
        pieces[-1].append(position)
    return pieces


def _listed(texts: list[str]) -> str:
    # A line's end closes what comment a text may end with.
    return "array(" + ",".join(f"{text}\n" for text in texts) + ")"


def _is_same(parser: Any, one: str, other: str) -> bool:
    try:
        return bool(parser.parseExpression(one).equals(parser.parseExpression(other)))
    except Exception:
        return False  # asked again one by one, where the error is told


def _difference(parser: Any, text: str, again: str) -> str | None:
    made = []
    for each in (text, again):
        try:
            made.append(parser.parseExpression(each))
        except Exception as error:
            return f"Spark does not parse it: {one_line(root_cause(error))}"
    # Two names given in structs are never equal, but mean the same.
    if made[0].equals(made[1]) or made[0].semanticEquals(made[1]):
        return None
    spark_has, read = (one_line(each.toString()) for each in made)
    return f"Spark reads {spark_has[:200]}, and this was read: {read[:200]}"
