"""The functions that return one of their arguments, and the functions that test for NULL."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.checks import of_one_kind
from asc.predicate.functions.function import MANY, Call, Function, plain
from asc.predicate.functions.results import BOOLEAN, STRING, common, common_of_branches, first, string_or_binary
from asc.predicate.functions.try_spellings import as_together, cast_to


def _comparable(call: Call) -> str | None:
    if not types.comparable("=", call.type(0), call.type(1)):
        return f"{types.name(call.type(0))} and {types.name(call.type(1))} cannot be compared"
    return None


def _nullif(call: Call) -> str:
    """Return SQL for ``nullif`` that compares a date and a timestamp, or two types of timestamps, as one type.

    The first argument is returned unchanged.
    """
    target = types.together(call.kinds)
    if target is None:
        return plain(call)
    left, right = (cast_to(target, arg) for arg in call.args)
    return f"if({left} = {right}, NULL, {call.args[0].sql})"


def _one_of(call: Call) -> pa.DataType | None:
    return string_or_binary(Call(call.name, call.args[1:]))


def _table() -> dict[str, Function]:
    after_first = slice(1, None)
    any_kind, branches, own_kind = of_one_kind(), of_one_kind(after_first), of_one_kind(strings_with="")
    chosen, of_branches = as_together(), as_together(after_first)
    either = Function(2, 2, "x", common, any_kind, spelling=chosen)
    return {
        "coalesce": Function(1, MANY, "x", common, any_kind, spelling=chosen),
        "ifnull": either,
        "nvl": either,
        "nvl2": Function(3, 3, "x", common_of_branches, branches, spelling=of_branches),
        "nullif": Function(2, 2, "q", first, _comparable, spelling=_nullif),
        "if": Function(3, 3, "bxx", common_of_branches, branches, spelling=of_branches),
        "greatest": Function(2, MANY, "q", common, own_kind, spelling=chosen),
        "least": Function(2, MANY, "q", common, own_kind, spelling=chosen),
        "isnull": Function(1, 1, "x", BOOLEAN),
        "isnotnull": Function(1, 1, "x", BOOLEAN),
        "equal_null": Function(2, 2, "q", BOOLEAN, _comparable, spelling=chosen),
        "elt": Function(2, MANY, "is", _one_of),
        "typeof": Function(1, 1, "x", STRING),
    }


CONDITIONALS = _table()
