"""Functions that choose among their arguments, and what they tell of NULL."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.functions.checks import (
    comparable_pair,
    same_kind,
    same_kind_of_branches,
    same_kind_strictly,
)
from asc.predicate.functions.function import MANY, Call, Function
from asc.predicate.functions.results import BOOLEAN, STRING, common, common_of_branches, first, string_or_binary


def _one_of(call: Call) -> pa.DataType | None:
    return string_or_binary(Call(call.name, call.args[1:]))


def _table() -> dict[str, Function]:
    either = Function(2, 2, "x", common, same_kind)
    return {
        "coalesce": Function(1, MANY, "x", common, same_kind),
        "ifnull": either,
        "nvl": either,
        "nvl2": Function(3, 3, "x", common_of_branches, same_kind_of_branches),
        "nullif": Function(2, 2, "q", first, comparable_pair),
        "if": Function(3, 3, "bxx", common_of_branches, same_kind_of_branches),
        "greatest": Function(2, MANY, "q", common, same_kind_strictly),
        "least": Function(2, MANY, "q", common, same_kind_strictly),
        "isnull": Function(1, 1, "x", BOOLEAN),
        "isnotnull": Function(1, 1, "x", BOOLEAN),
        "equal_null": Function(2, 2, "q", BOOLEAN, comparable_pair),
        "elt": Function(2, MANY, "is", _one_of),
        "typeof": Function(1, 1, "x", STRING),
    }


CONDITIONALS = _table()
