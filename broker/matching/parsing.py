"""The comparison of this project's parser of predicates with Spark's parser, on the same texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from broker.failure import check_jvm, one_line, root_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOT_PARSED = "Spark does not parse it"
"""The beginning of the description of a difference, if Spark refuses to parse a text."""

_EXPRESSION_ID = re.compile(r'"exprId":\{[^}]*\}')


def differences(spark: SparkSession, pairs: Sequence[tuple[str, str]]) -> dict[int, str]:
    """Return a description of the difference for each pair of texts that Spark parses to different expressions, by the
    index of the pair.

    All pairs are parsed in one call. If there is a difference, each pair is parsed in a separate call, because one text
    may affect other texts.
    """
    parser: Any = spark._jsparkSession.sessionState().sqlParser()
    differing: dict[int, str] = {}
    if _is_same(parser, *(_listed([pair[side] for pair in pairs]) for side in (0, 1))):
        return differing
    for position, (text, again) in enumerate(pairs):
        difference = _difference(parser, text, again)
        if difference is not None:
            differing[position] = difference
    return differing


def pieces(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Return the indexes of ``sizes``, divided into consecutive pieces. The sizes of a piece sum up to at most
    ``most``; a single size above ``most`` is a separate piece.

    >>> pieces([3, 4, 9, 1, 1], 8)
    [[0, 1], [2], [3, 4]]
    """
    parts: list[list[int]] = []
    free = -1
    for position, size in enumerate(sizes):
        free -= size
        if free < 0:
            parts.append([])
            free = most - size
        parts[-1].append(position)
    return parts


def _listed(texts: list[str]) -> str:
    # The line end closes a comment at the end of a text.
    return "array(" + ",".join(f"{text}\n" for text in texts) + ")"


def _is_same(parser: Any, one: str, other: str) -> bool:
    try:
        return bool(parser.parseExpression(one).equals(parser.parseExpression(other)))
    except Exception:
        return False  # the caller tests each text alone, and reports the error


def _difference(parser: Any, text: str, again: str) -> str | None:
    made = []
    for each in (text, again):
        try:
            made.append(parser.parseExpression(each))
        except Exception as error:
            check_jvm(error)
            return f"{NOT_PARSED}: {one_line(root_cause(error))}"
    if made[0].equals(made[1]) or _without_ids(made[0]) == _without_ids(made[1]):
        return None
    spark_has, read = (one_line(each.toString()) for each in made)
    return f"Spark reads {spark_has[:200]}, and this was read: {read[:200]}"


def _without_ids(expression: Any) -> str:
    """Return an expression as JSON without the ids that each parse assigns to names in a struct."""
    return _EXPRESSION_ID.sub("", expression.toJSON())
