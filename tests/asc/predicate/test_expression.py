"""Expressions: their text as an operator's argument, and names as Spark reads them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from asc.predicate.expression import Expression, column_sql
from asc.predicate.limits import Limits
from asc.predicate.parser import parse
from asc.predicate.syntax import Node

NODE = Node("column", (), 0, 1, ("a",))


@pytest.mark.parametrize(
    ("path", "sql"),
    [
        (("a",), "a"),
        (("place", "x1"), "place.x1"),
        (("a.b",), "`a.b`"),
        (("a`b",), "`a``b`"),
        (("end",), "`end`"),
        (("Between", "x"), "`Between`.x"),
        (("1a",), "`1a`"),
        (("größe",), "`größe`"),
    ],
)
def test_columns_are_quoted_where_they_must_be(path: tuple[str, ...], sql: str) -> None:
    assert column_sql(path) == sql
    node, _ = parse(sql, Limits(), "UTC")
    assert (node.op, node.value) == ("column", path)


def test_only_what_binds_looser_gets_parentheses() -> None:
    assert Expression("a", pa.int32(), NODE).argument == "a"
    assert Expression("a + b", pa.int32(), NODE, atomic=False).argument == "(a + b)"


def test_a_space_where_the_type_has_keys() -> None:
    space = Expression("a", pa.int32(), NODE).space
    assert space is not None
    assert space.type == pa.int32()
    assert Expression("xs", pa.list_(pa.int32()), NODE).space is None
    assert Expression("f(a)", None, NODE).space is None
