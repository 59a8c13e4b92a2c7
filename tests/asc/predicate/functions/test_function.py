"""What a function says of its arguments."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expression import Expression
from asc.predicate.functions.function import SORTS, Call, Function, plain
from asc.predicate.functions.table import FUNCTIONS
from asc.predicate.literal import Literal
from asc.predicate.syntax import Node

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


def test_the_last_sort_repeats_and_null_and_the_unknown_fit_all() -> None:
    function = Function(1, 3, "nS", lambda call: None)
    assert [function.sort(i) for i in range(3)] == ["n", "S", "S"]
    assert function.trouble(Call("f", [argument(None), argument(pa.null())])) is None
    assert function.trouble(Call("f", [])) == "f takes 1 to 3 arguments, not 0"
    assert function.trouble(Call("f", [argument(pa.bool_())])) == "argument 1 of f is BOOLEAN, not a number"


def test_every_function_has_known_sorts() -> None:
    assert {sort for function in FUNCTIONS.values() for sort in function.sorts} <= set(SORTS)
