"""What a function says of its arguments."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.functions.function import SORTS, Call, Function, plain
from asc.predicate.functions.table import FUNCTIONS
from asc.predicate.syntax.literal import Literal
from asc.predicate.syntax.nodes import Node

COLUMN = Node("column", (), 0, 1, ("a",))


def argument(data_type: pa.DataType | None, literal: Literal | None = None) -> Expression:
    return Expression(literal.sql if literal else "a", data_type, COLUMN, literal=literal)


def test_a_call_knows_its_constants() -> None:
    five = Literal("5", pa.int32(), 5)
    left_to_spark = Literal("'x'", pa.date32(), None, known=False)
    call = Call(
        "f", [argument(pa.int32(), five), argument(None), argument(pa.date32(), left_to_spark), argument(pa.null())]
    )
    assert [call.constant(i) for i in range(5)] == [5, None, None, None, None]
    assert call.kinds == [pa.int32(), None, pa.date32(), pa.null()]
    assert [call.is_null(i) for i in range(4)] == [False, False, False, True]
    assert plain(call) == "f(5, a, 'x', a)"


def test_a_constant_is_the_integer_that_spark_casts_it_to() -> None:
    values = [5, "7", " -7 ", Decimal("2.9"), -2.9, True, "x", "2.5", 1e300, float("nan"), None]
    call = Call("f", [argument(None, Literal("?", pa.string(), value)) for value in values])
    assert [call.integer(i) for i in range(12)] == [5, 7, -7, 2, -2, None, None, None, None, None, None, None]
    assert [call.is_no_integer(i) for i in range(12)] == [False] * 6 + [True] + [False] * 5


def test_only_a_call_that_is_spelled_otherwise_can_fail() -> None:
    function = Function(1, 1, "s", lambda call: None, spelling=lambda call: "g(a)", fails=True)
    assert function.can_fail(Call("f", [argument(None)]))
    assert not function.can_fail(Call("g", [argument(None)]))


def test_the_last_sort_repeats_and_null_and_the_unknown_fit_all() -> None:
    function = Function(1, 3, "nS", lambda call: None)
    assert [function.sort(i) for i in range(3)] == ["n", "S", "S"]
    assert function.trouble(Call("f", [argument(None), argument(pa.null())])) is None
    assert function.trouble(Call("f", [])) == "f takes 1 to 3 arguments, not 0"
    assert function.trouble(Call("f", [argument(pa.bool_())])) == "argument 1 of f is BOOLEAN, not a number"


def test_every_function_has_known_sorts() -> None:
    assert {sort for function in FUNCTIONS.values() for sort in function.sorts} <= set(SORTS)
