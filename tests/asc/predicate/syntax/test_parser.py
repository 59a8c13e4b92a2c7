"""Trees group as Spark's grammar does, and know where each node stands."""

from __future__ import annotations

import pytest

from asc.errors import PredicateError
from asc.predicate.limits import Limits
from asc.predicate.syntax.nodes import Node
from asc.predicate.syntax.parser import parse


def shown(node: Node) -> str:
    if node.op == "column":
        return ".".join(node.value)
    if node.op == "literal":
        return str(node.value.sql)
    if node.op == "interval":
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
        ("a !> 1", "<=(a, 1)"),
        ("a !< 1", ">=(a, 1)"),
        ("a ILIKE 'X%'", "like(lower(a), 'x%')"),
        ("a LIKE ANY ('x', 'y')", "or(like(a, 'x'), like(a, 'y'))"),
        ("a NOT LIKE ALL ('x', 'y')", "and(not(like(a, 'x')), not(like(a, 'y')))"),
        ("a LIKE SOME ('x')", "like(a, 'x')"),
        ("(a, b) = (1, 2)", "=(row(a, b), row(1, 2))"),
        ("exists(a, x -> x > 1)", "exists(a, lambda(>(x, 1)))"),
        ("reduce(a, 0, (s, x) -> s + x)", "reduce(a, 0, lambda(+(s, x)))"),
        ("a > b - INTERVAL 1 DAY", ">(a, -(b, INTERVAL '1' DAY))"),
        ("end = 1 AND in IN (1)", "and(=(end, 1), in(in, 1))"),
        ("CASE WHEN case > 1 THEN end END", "case(>(case, 1), end)"),
        ("NOT not = 1", "not(=(not, 1))"),
        ("interval - 1 > 0", ">(-(interval, 1), 0)"),
        ("from.to = select", "=(from.to, select)"),
    ],
)
def test_grouping(text: str, tree: str) -> None:
    node, source = parse(text, Limits(), "UTC")
    assert shown(node) == tree
    assert source.text[node.start : node.end] == text


@pytest.mark.parametrize(
    "text",
    ["", "a >", "a > 1 b", "(a", "a IN ()", "count(DISTINCT a)", "a ! IN (1)", "a > (SELECT 1)", "x ->"],
)
def test_texts_that_are_no_predicate(text: str) -> None:
    with pytest.raises(PredicateError):
        parse(text, Limits(), "UTC")


def test_chains_count_one_level_whatever_their_length() -> None:
    node, _ = parse(" OR ".join(f"a = {number}" for number in range(500)), Limits(), "UTC")
    assert (node.op, len(node.args), node.depth) == ("or", 500, 3)


@pytest.mark.parametrize(
    ("text", "op", "value"),
    [
        ("a << 1", "<<", None),
        ("a ILIKE 'X'", "ilike", None),
        ("a NOT LIKE ANY ('x', 'y')", "like_any", True),
        ("a ILIKE ALL ('x', 'y')", "ilike_all", False),
        ("a LIKE SOME ('x')", "like_any", False),
        ("int(a)", "call", "int"),
        ("ilike(a, 'X')", "call", "ilike"),
        ("TRIM(BOTH b FROM a)", "form", "TRIM(BOTH {0} FROM {1})"),
        ("a = 1", None, None),
    ],
)
def test_what_was_written_is_kept_where_it_is_read_as_something_else(text: str, op: str | None, value: object) -> None:
    written = parse(text, Limits(), "UTC")[0].written
    assert (op, value) == ((None, None) if written is None else (written.op, written.value))


def test_a_pattern_without_one_lower_case_is_refused() -> None:
    for text in ("a ILIKE '\u0130%'", "a ILIKE ANY ('x', '\u03a3')"):
        with pytest.raises(PredicateError, match="lower case"):
            parse(text, Limits(), "UTC")
