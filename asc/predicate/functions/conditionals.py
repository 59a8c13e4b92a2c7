"""Functions that choose among their arguments, and what they tell of NULL."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate import types
from asc.predicate.functions.caught import cast_to
from asc.predicate.functions.function import MANY, Call, Check, Function, Spelling, plain
from asc.predicate.functions.results import BOOLEAN, STRING, common, common_of_branches, first, string_or_binary


def _same_kind(strings_with: str, start: int = 0) -> Check:
    """The arguments from a place on are of one type, or of types for which Spark finds a common one."""

    def check(call: Call) -> str | None:
        kinds = call.kinds[start:]
        if not types.unifiable(kinds, strings_with):
            return f"{call.name} of {' and '.join(dict.fromkeys(map(types.name, kinds)))}: CAST them to one type"
        if types.mixed_instants(kinds) and None in kinds:
            return f"{call.name} of instants of several types: CAST them to one type"
        return None

    return check


def _of_one_type(start: int = 0) -> Spelling:
    """The call, with instants of several types from a place on cast to one of them."""

    def spelled(call: Call) -> str:
        target = types.together(call.kinds[start:])
        if target is None:
            return plain(call)
        texts = [arg.sql if i < start else cast_to(target, arg) for i, arg in enumerate(call.args)]
        return f"{call.name}({', '.join(texts)})"

    return spelled


def _comparable(call: Call) -> str | None:
    if not types.comparable("=", call.type(0), call.type(1)):
        return f"{types.name(call.type(0))} and {types.name(call.type(1))} cannot be compared"
    return None


def _nullif(call: Call) -> str:
    """Instants of several types are compared as one of them, and the first is given as it is."""
    target = types.together(call.kinds)
    if target is None:
        return plain(call)
    left, right = (cast_to(target, arg) for arg in call.args)
    return f"if({left} = {right}, NULL, {call.args[0].sql})"


def _one_of(call: Call) -> pa.DataType | None:
    return string_or_binary(Call(call.name, call.args[1:]))


def _table() -> dict[str, Function]:
    any_kind, branches = _same_kind("numbers and instants"), _same_kind("numbers and instants", 1)
    own_kind = _same_kind("")
    chosen, of_branches = _of_one_type(), _of_one_type(1)
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
