"""Which parts of a condition become constraints, and which are a boolean p-attribute that Spark computes."""

from __future__ import annotations

import pytest

from asc.predicate.formula import Atom, Const, Formula, Not, Some, Within
from asc.predicate.limits import Limits
from asc.predicate.normal_form.formula_builder import FormulaBuilder
from asc.predicate.syntax.parser import parse
from asc.schema import Schema

SCHEMA = Schema.from_ddl("a INT, b INT, c BOOLEAN, s STRING, xs ARRAY<INT>")


def built(text: str) -> Formula:
    node, source = parse(text, Limits(), "UTC")
    return FormulaBuilder(source, SCHEMA, "UTC").formula(node)


def shape(formula: Formula) -> object:
    """The formula with its p-attributes' texts alone."""
    if isinstance(formula, Atom):
        return formula.attribute.sql
    if isinstance(formula, Const):
        return formula.value
    if isinstance(formula, Not | Within):
        return (type(formula).__name__, shape(formula.part))
    return (type(formula).__name__, *map(shape, formula.parts))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 5 AND s = 'x'", ("Every", "a", "s")),
        ("a > b OR 5 < a", ("Some", "a > b", "a")),
        ("NOT c", ("Not", "c")),
        ("(a > 5) IS TRUE", ("Within", "a")),
        ("(a > 5) = FALSE", ("Not", "a")),
        ("a BETWEEN 1 AND 5", "a"),
        ("a BETWEEN 1 AND b", "a BETWEEN 1 AND b"),
        ("a IN (1, 2)", "a"),
        ("a IN (1, b)", "a IN (1, b)"),
        ("s LIKE 'ab%'", "s"),
        ("s LIKE 'a_b'", "s LIKE 'a_b'"),
        ("s LIKE '%a%b'", "s LIKE '%a%b'"),
        ("s LIKE '%a!%%' ESCAPE '!'", r"s LIKE '%a\\%%'"),
        ("contains(s, 'a_')", r"s LIKE '%a\\_%'"),
        ("endswith(s, 'a')", "s LIKE '%a'"),
        ("startswith(s, 'a')", "s"),
        ("xs IS NULL", "xs IS NULL"),
        ("a + 1 > 5", "a + 1"),
        ("1 < 2", 1),
        ("1 > 2", 2),
        ("a = NULL", 4),
    ],
)
def test_shapes(text: str, expected: object) -> None:
    assert shape(built(text)) == expected


def test_one_p_attribute_for_one_text() -> None:
    formula = built("a > 5 OR a < 3")
    assert isinstance(formula, Some)
    first, second = formula.parts
    assert isinstance(first, Atom)
    assert isinstance(second, Atom)
    assert first.attribute is second.attribute


def test_a_condition_as_a_whole() -> None:
    node, source = parse("a > 5 AND s = 'x'", Limits(), "UTC")
    builder = FormulaBuilder(source, SCHEMA, "UTC")
    assert shape(builder.whole(node)) == "(a > 5) AND (s = 'x')"


def test_a_comparison_that_smells_of_a_mistake_is_warned_of() -> None:
    node, source = parse("s > 5", Limits(), "UTC")
    builder = FormulaBuilder(source, SCHEMA, "UTC")
    builder.formula(node)
    assert list(builder.warnings) == [
        "s is a string compared with a number: write CAST(s AS DOUBLE), or '5' to compare as text"
    ]
