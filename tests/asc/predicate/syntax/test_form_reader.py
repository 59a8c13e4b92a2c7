"""Calls with words between their arguments, rows and lambdas, as they are read."""

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
    return f"{node.value if node.op == 'call' else node.op}({', '.join(map(shown, node.args))})"


@pytest.mark.parametrize(
    ("text", "tree", "written"),
    [
        ("TRIM(a)", "TRIM(a)", None),
        ("TRIM('x', a)", "TRIM('x', a)", None),
        ("TRIM(both, a)", "TRIM(both, a)", None),
        ("TRIM(BOTH FROM a)", "trim(a)", "TRIM(BOTH FROM {0})"),
        ("TRIM(LEADING 'x' FROM a)", "ltrim('x', a)", "TRIM(LEADING {0} FROM {1})"),
        ("TRIM('x' FROM a)", "trim('x', a)", "TRIM({0} FROM {1})"),
        ("TRIM(FROM a)", "trim(a)", "TRIM(FROM {0})"),
        ("TRIM(from)", "trim(from)", None),
        ("POSITION('b' IN a || 'c')", "position('b', ||(a, 'c'))", "POSITION({0} IN {1})"),
        ("POSITION('b', a, 2)", "position('b', a, 2)", None),
        ("SUBSTRING(a FROM 2 FOR 1)", "substring(a, 2, 1)", "SUBSTRING({0} FROM {1} FOR {2})"),
        ("SUBSTR(a, 2)", "substr(a, 2)", None),
        ("OVERLAY(a PLACING 'x' FROM 2)", "overlay(a, 'x', 2)", "OVERLAY({0} PLACING {1} FROM {2})"),
        ("OVERLAY(a, 'x', 2, 1)", "overlay(a, 'x', 2, 1)", None),
        ("EXTRACT(YEAR FROM a)", "extract('YEAR', a)", "EXTRACT(YEAR FROM {0})"),
        ("EXTRACT('YEAR', a)", "extract('YEAR', a)", None),
        ("DATEADD(DAY, 1, a)", "timestampadd('DAY', 1, a)", "timestampadd(DAY, {0}, {1})"),
        ("DATE_ADD(day, 1)", "date_add(day, 1)", None),
        ("DATEDIFF(day, a)", "datediff(day, a)", None),
        ("DATEDIFF(day, a, b)", "timestampdiff('DAY', a, b)", "timestampdiff(DAY, {0}, {1})"),
    ],
)
def test_forms(text: str, tree: str, written: str | None) -> None:
    node, _ = parse(text, Limits(), "UTC")
    assert shown(node).lower() == tree.lower()
    assert (None if node.written is None else node.written.value) == written


def test_items_and_lambdas() -> None:
    node, _ = parse("struct(a AS x, b)", Limits(), "UTC")
    assert (node.op, node.value, len(node.args)) == ("struct", ("x", None), 2)
    node, _ = parse("(a, b AS y)", Limits(), "UTC")
    assert (node.op, node.value, len(node.args)) == ("row", (None, "y"), 2)
    node, _ = parse("f((a, `b c`) -> a + `b c`)", Limits(), "UTC")
    assert (node.args[0].op, node.args[0].value) == ("lambda", ("a", "b c"))


@pytest.mark.parametrize(
    "text", ["TRIM(BOTH a)", "OVERLAY(a PLACING 'x')", "POSITION(a IN b", "EXTRACT(YEAR FROM)", "DATEADD('day', 1, a)"]
)
def test_what_is_none(text: str) -> None:
    with pytest.raises(PredicateError):
        parse(text, Limits(), "UTC")


def test_nested_forms_are_read_in_one_pass() -> None:
    text = "date_add(day, " * 40 + "1" + ", a)" * 40
    node, _ = parse(text, Limits(), "UTC")
    assert node.depth == 41
    with pytest.raises(PredicateError, match="nested too deeply"):
        parse("x -> " * 60 + "1", Limits(), "UTC")
