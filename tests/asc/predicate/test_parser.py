"""Trees group as Spark's grammar does, and know where each node stands."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.parser import parse
from asc.predicate.syntax import Node


def shown(node: Node) -> str:
    if node.op == "column":
        return ".".join(node.value)
    if node.op == "literal":
        return str(node.value.sql)
    name = node.value if node.op == "call" else node.op
    return f"{name}({', '.join(map(shown, node.args))})"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a OR b AND NOT c", "or(a, and(b, not(c)))"),
        ("a = b IS NULL", "is(=(a, b))"),
        ("a + b * c - d", "-(+(a, *(b, c)), d)"),
        ("a & b = c", "=(&(a, b), c)"),
        ("a | b ^ c & d", "|(a, ^(b, &(c, d)))"),
        ("a << 1 + 2", "shiftleft(a, +(1, 2))"),
        ("a || b + c", "+(||(a, b), c)"),
        ("a <> 1", "not(=(a, 1))"),
        ("a NOT IN (1, 2)", "not(in(a, 1, 2))"),
        ("a IS NOT DISTINCT FROM b", "<=>(a, b)"),
        ("a BETWEEN 1 AND 2 AND b", "and(between(a, 1, 2), b)"),
        ("- a.b[1]", "neg(index(a.b, 1))"),
        ("- 5", "-5"),
        ("a::INT > 1", ">(cast(a), 1)"),
        ("CASE a WHEN 1 THEN b ELSE c END", "case_of(a, 1, b, c)"),
        ("a LIKE 'x' ESCAPE '/'", "like(a, 'x', '/')"),
        ("LOWER(a) = 'x'", "=(lower(a), 'x')"),
        ("`a.b`.c", "a.b.c"),
        ("! a", "not(a)"),
    ],
)
def test_grouping(text: str, tree: str) -> None:
    node, source = parse(text, Limits(), "UTC")
    assert shown(node) == tree
    assert source.text[node.start : node.end] == text


@pytest.mark.parametrize(
    "text", ["", "a >", "a > 1 b", "(a", "a IN ()", "a ILIKE 'x'", "count(DISTINCT a)", "a > (SELECT 1)", "f(x -> x)"]
)
def test_texts_that_are_no_predicate(text: str) -> None:
    with pytest.raises(PredicateError):
        parse(text, Limits(), "UTC")


def test_chains_count_one_level_whatever_their_length() -> None:
    node, _ = parse(" OR ".join(f"a = {number}" for number in range(500)), Limits(), "UTC")
    assert (node.op, len(node.args), node.depth) == ("or", 500, 3)
