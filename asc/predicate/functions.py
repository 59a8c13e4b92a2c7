"""The functions a predicate may call, and why others may not be.

Every function here is a pure scalar built-in of Spark that, with ANSI mode off, throws for no input, and whose
result is not much longer than its arguments: one record must not stop the stream. So there is
no add_months, last_day, trunc or timestamp_seconds (they throw on overflow), no element_at (throws at 0), no repeat,
space or hex (nested, they grow without bound), no levenshtein (it takes the product of two lengths), no format_string,
no to_json, no regular expressions that are not constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from asc.predicate import types
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal
from asc.predicate.regular_expression import rlike_trouble

_MAX_SOUGHT = 1_000
Argument = tuple[pa.DataType | None, Literal | None]


@dataclass(frozen=True, slots=True)
class Call:
    """A function's name and the types (None: unknown) and constants of its arguments."""

    name: str
    args: list[Argument]

    def type(self, i: int) -> pa.DataType | None:
        return self.args[i][0]

    def constant(self, i: int) -> object:
        """The value of a constant argument; None for any other."""
        literal = self.args[i][1]
        return literal.value if literal is not None and literal.known else None


Result = Callable[[Call], "pa.DataType | None"]
Check = Callable[[Call], "str | None"]


@dataclass(frozen=True, slots=True)
class Function:
    """An allowed function: how many arguments, of which sorts, with which result.

    ``sorts`` has a letter an argument, the last one repeating: n number, s string (or what Spark makes one), i integer,
    t date or timestamp, b condition, a array or map, x any type, q any but map. Strings pass for n, i and t: Spark
    casts them.
    """

    least: int
    most: int
    sorts: str
    result: Result
    check: Check | None = None

    def trouble(self, call: Call) -> str | None:
        """Why this call is refused; None for one that is allowed."""
        count = len(call.args)
        if not self.least <= count <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            return f"{call.name} takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}"
        for i in range(count):
            sort = self.sorts[min(i, len(self.sorts) - 1)]
            if not _fits(sort, call.type(i)):
                return f"argument {i + 1} of {call.name} is {types.name(call.type(i))}, not {_SORTS[sort][0]}"
        return self.check(call) if self.check else None


_INSTANTS = (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)


def _is_array(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_list(data_type) and not pa.types.is_map(data_type))


def _is_map(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_map(data_type))


def _is_integer(data_type: pa.DataType) -> bool:
    return data_type in types.INTEGERS


def _is_text(data_type: pa.DataType) -> bool:
    return bool(data_type == pa.string())


_SORTS: Mapping[str, tuple[str, Callable[[pa.DataType], bool]]] = MappingProxyType(
    {
        "x": ("a value", lambda t: True),
        "q": ("a value that can be compared", lambda t: not types.holds_map(t)),
        "n": ("a number", lambda t: types.is_number(t) or _is_text(t)),
        "i": ("an integer", lambda t: _is_integer(t) or _is_text(t)),
        "I": ("an integer", _is_integer),
        "s": ("a string", lambda t: not types.is_container(t)),
        "S": ("a string", _is_text),
        "B": ("a string or binary", lambda t: _is_text(t) or t == pa.binary()),
        "t": ("a date or timestamp", lambda t: t in _INSTANTS or _is_text(t)),
        "h": ("a timestamp", lambda t: t in (TIMESTAMP, TIMESTAMP_NTZ) or _is_text(t)),
        "T": ("a TIMESTAMP", lambda t: bool(t == TIMESTAMP)),
        "D": ("a date", lambda t: bool(t == pa.date32())),
        "b": ("a condition", lambda t: bool(t == pa.bool_())),
        "a": ("an array or map", lambda t: _is_array(t) or _is_map(t)),
        "y": ("an array", _is_array),
        "m": ("a map", _is_map),
    }
)


def _fits(sort: str, data_type: pa.DataType | None) -> bool:
    return data_type is None or bool(data_type == pa.null()) or _SORTS[sort][1](data_type)


def _always(data_type: pa.DataType) -> Result:
    return lambda call: data_type


_INT, _BIGINT, _DOUBLE = _always(pa.int32()), _always(pa.int64()), _always(pa.float64())
_STRING, _BOOLEAN, _DATE = _always(pa.string()), _always(pa.bool_()), _always(pa.date32())


def _unknown(call: Call) -> pa.DataType | None:
    return None


def _same_number(call: Call) -> pa.DataType | None:
    return call.type(0) if types.is_number(call.type(0)) else None


def _common(call: Call) -> pa.DataType | None:
    return types.common([data_type for data_type, _ in call.args])


def _common_of_branches(call: Call) -> pa.DataType | None:
    return types.common([data_type for data_type, _ in call.args[1:]])


def _first(call: Call) -> pa.DataType | None:
    return call.type(0) if call.type(0) != pa.null() else None


def _string_or_binary(call: Call) -> pa.DataType | None:
    """Binary stays binary, everything else becomes a string."""
    kinds = {data_type for data_type, _ in call.args}
    return None if pa.binary() in kinds or None in kinds else pa.string()


def _part_of_string(call: Call) -> pa.DataType | None:
    return None if call.type(0) in (None, pa.binary()) else pa.string()


def _remainder(call: Call) -> pa.DataType | None:
    return types.arithmetic("%", call.type(0), call.type(1), (call.args[0][1], call.args[1][1]))


def _rounded(call: Call) -> pa.DataType | None:
    digits = call.constant(1) if len(call.args) > 1 else 0
    return types.rounded(call.type(0), digits) if isinstance(digits, int) else None


def _shifted(call: Call) -> pa.DataType | None:
    data_type = call.type(0)
    return data_type if data_type == pa.int64() else pa.int32() if data_type in types.INTEGERS else None


def _whole_number(call: Call) -> pa.DataType | None:
    """Ceil and floor: bigint, but decimals stay decimal."""
    data_type = call.type(0)
    return pa.int64() if types.is_number(data_type) and not pa.types.is_decimal(data_type) else None


def _same_kind(call: Call) -> str | None:
    return _unified([data_type for data_type, _ in call.args], call.name, "numbers and instants")


def _same_kind_of_branches(call: Call) -> str | None:
    return _unified([data_type for data_type, _ in call.args[1:]], call.name, "numbers and instants")


def _same_kind_strictly(call: Call) -> str | None:
    return _unified([data_type for data_type, _ in call.args], call.name, "")


def _unified(kinds: list[pa.DataType | None], name: str, strings_with: str) -> str | None:
    if not types.unifiable(kinds, strings_with):
        return f"{name} of {' and '.join(dict.fromkeys(map(types.name, kinds)))}: CAST them to one type"
    if types.mixed_instants(kinds):
        return f"{name} of instants of several types: CAST them to one type"
    return None


def _sign(call: Call) -> str | None:
    if types.sign_may_throw(call.type(0)):
        return f"{call.name} of {types.name(call.type(0))} can throw: CAST it to DOUBLE or DECIMAL(34, ...) first"
    return None


def _padding(call: Call) -> str | None:
    length = call.constant(1)
    if not isinstance(length, int) or not 0 <= length <= 1_000:
        return f"the length given to {call.name} must be a constant of 0..1000"
    return None


def _replacement(call: Call) -> str | None:
    """A replacement may not lengthen the string, or nested ones could fill the memory."""
    search = call.constant(1)
    new = call.constant(2) if len(call.args) > 2 else ""
    if not isinstance(search, str) or not isinstance(new, str) or not search or len(new) > len(search):
        return "replace needs constants, the replacement no longer than what it replaces"
    return None


def _regular_expression(call: Call) -> str | None:
    pattern = call.constant(1)
    if not isinstance(pattern, str):
        return "the regular expression must be a constant string"
    return rlike_trouble(pattern)


def _digest_bits(call: Call) -> str | None:
    return None if call.constant(1) in (0, 224, 256, 384, 512) else "sha2 takes 0, 224, 256, 384 or 512 bits"


def _constant_scale(call: Call) -> str | None:
    if len(call.args) > 1:
        scale = call.constant(1)
        if not isinstance(scale, int) or not -30 <= scale <= 30:
            return f"the number of digits given to {call.name} must be a constant of -30..30"
    return None


def _comparable_pair(call: Call) -> str | None:
    if not types.comparable("=", call.type(0), call.type(1)):
        return f"{types.name(call.type(0))} and {types.name(call.type(1))} cannot be compared"
    if types.mixed_instants([call.type(0), call.type(1)]):
        return f"{call.name} of instants of several types: CAST them to one type"
    return None


def _element(call: Call) -> str | None:
    container, sought = call.type(0), call.type(1)
    if container is None or container == pa.null():
        return None
    held = container.key_type if _is_map(container) else container.value_type
    if not types.searchable(held, sought):
        return f"{call.name} seeks {types.name(held)}, not {types.name(sought)}: CAST it"
    return None


_NUMBER_TO_DOUBLE = """
acos acosh asin asinh atan atanh cbrt cos cosh degrees exp expm1 ln log10 log1p log2 radians sin sinh sqrt tan
tanh rint signum sign cot csc sec
"""


def _table() -> dict[str, Function]:
    many = 100
    table: dict[str, Function] = {
        **{name: Function(1, 1, "n", _DOUBLE) for name in _NUMBER_TO_DOUBLE.split()},
        **{name: Function(2, 2, "n", _DOUBLE) for name in ("atan2", "hypot", "power", "pow", "log")},
        "abs": Function(1, 1, "n", _same_number, _sign),
        "negative": Function(1, 1, "n", _same_number, _sign),
        "positive": Function(1, 1, "n", _same_number),
        "ceil": Function(1, 1, "n", _whole_number),
        "ceiling": Function(1, 1, "n", _whole_number),
        "floor": Function(1, 1, "n", _whole_number),
        "round": Function(1, 2, "n", _rounded, _constant_scale),
        "bround": Function(1, 2, "n", _rounded, _constant_scale),
        "mod": Function(2, 2, "n", _remainder),
        "pmod": Function(2, 2, "n", _remainder),
        "isnan": Function(1, 1, "n", _BOOLEAN),
        "nanvl": Function(2, 2, "n", _unknown),
        "bit_count": Function(1, 1, "I", _INT),
        "shiftleft": Function(2, 2, "I", _shifted),
        "shiftright": Function(2, 2, "I", _shifted),
        "shiftrightunsigned": Function(2, 2, "I", _shifted),
    }
    table.update(_conditionals(many))
    table.update(_strings(many))
    table.update(_instants())
    return table


def _conditionals(many: int) -> dict[str, Function]:
    either = Function(2, 2, "x", _common, _same_kind)
    return {
        "coalesce": Function(1, many, "x", _common, _same_kind),
        "ifnull": either,
        "nvl": either,
        "nvl2": Function(3, 3, "x", _common_of_branches, _same_kind_of_branches),
        "nullif": Function(2, 2, "q", _first, _comparable_pair),
        "if": Function(3, 3, "bxx", _common_of_branches, _same_kind_of_branches),
        "greatest": Function(2, many, "q", _common, _same_kind_strictly),
        "least": Function(2, many, "q", _common, _same_kind_strictly),
        "isnull": Function(1, 1, "x", _BOOLEAN),
        "isnotnull": Function(1, 1, "x", _BOOLEAN),
        "equal_null": Function(2, 2, "q", _BOOLEAN, _comparable_pair),
        "size": Function(1, 1, "a", _INT),
        "cardinality": Function(1, 1, "a", _INT),
        "array_size": Function(1, 1, "y", _INT),
        "array_contains": Function(2, 2, "yx", _BOOLEAN, _element),
        "array_position": Function(2, 2, "yx", _BIGINT, _element),
        "map_contains_key": Function(2, 2, "mx", _BOOLEAN, _element),
    }


def _strings(many: int) -> dict[str, Function]:
    to_string = Function(1, 1, "s", _STRING)
    to_length = Function(1, 1, "s", _INT)
    trims = Function(1, 2, "s", _STRING, _searched)
    part = Function(2, 3, "sii", _part_of_string)
    test = Function(2, 2, "s", _BOOLEAN)
    regular = Function(2, 2, "s", _BOOLEAN, _regular_expression)
    return {
        **dict.fromkeys(("lower", "lcase", "upper", "ucase", "initcap"), to_string),
        **dict.fromkeys(
            ("length", "len", "char_length", "character_length", "octet_length", "bit_length", "ascii"), to_length
        ),
        **dict.fromkeys(("trim", "btrim", "ltrim", "rtrim"), trims),
        **dict.fromkeys(("substring", "substr"), part),
        **dict.fromkeys(("startswith", "endswith"), test),
        "contains": Function(2, 2, "s", _BOOLEAN, _searched),
        **dict.fromkeys(("rlike", "regexp", "regexp_like"), regular),
        **dict.fromkeys(("left", "right"), Function(2, 2, "si", _part_of_string)),
        **dict.fromkeys(("lpad", "rpad"), Function(2, 3, "sis", _part_of_string, _padding)),
        "instr": Function(2, 2, "s", _INT, _searched),
        **dict.fromkeys(("locate", "position"), Function(2, 3, "ssi", _INT, _searched)),
        **dict.fromkeys(("md5", "sha", "sha1"), Function(1, 1, "B", _STRING)),
        "soundex": Function(1, 1, "S", _STRING),
        "reverse": Function(1, 1, "s", _part_of_string),
        "concat": Function(1, many, "s", _string_or_binary),
        "concat_ws": Function(2, many, "s", _STRING),
        "replace": Function(2, 3, "s", _STRING, _replacement),
        "translate": Function(3, 3, "s", _STRING),
        "substring_index": Function(3, 3, "ssi", _STRING, _searched),
        "split_part": Function(3, 3, "ssi", _STRING, _part_number),
        "find_in_set": Function(2, 2, "s", _INT, _searched),
        "sha2": Function(2, 2, "BI", _STRING, _digest_bits),
        "crc32": Function(1, 1, "B", _BIGINT),
        "hash": Function(1, many, "q", _INT),
        "xxhash64": Function(1, many, "q", _BIGINT),
    }


def _searched(call: Call) -> str | None:
    """One string sought in another takes the product of their lengths: one of the two must be short."""
    if len(call.args) == 1:
        return None
    constants = [literal.value for _, literal in call.args[:2] if literal is not None]
    if not any(len(str(constant)) <= _MAX_SOUGHT for constant in constants):
        return f"one of the strings given to {call.name} must be a constant of at most {_MAX_SOUGHT} characters"
    return None


def _part_number(call: Call) -> str | None:
    number = call.constant(2)
    if not isinstance(number, int) or number == 0:
        return "split_part takes a constant part number other than 0"
    return _searched(call)


def _instants() -> dict[str, Function]:
    field = Function(1, 1, "t", _INT)
    names = "year quarter month day dayofmonth dayofweek weekday dayofyear weekofyear"
    return {
        **dict.fromkeys(names.split(), field),
        **dict.fromkeys(("hour", "minute", "second"), Function(1, 1, "h", _INT)),
        "datediff": Function(2, 2, "t", _INT),
        "date_diff": Function(2, 2, "t", _INT),
        "date_add": Function(2, 2, "tI", _DATE),
        "date_sub": Function(2, 2, "tI", _DATE),
        "to_date": Function(1, 1, "t", _DATE),
        "unix_date": Function(1, 1, "D", _INT),
        "unix_seconds": Function(1, 1, "T", _BIGINT),
        "unix_millis": Function(1, 1, "T", _BIGINT),
        "unix_micros": Function(1, 1, "T", _BIGINT),
    }


FUNCTIONS: Mapping[str, Function] = MappingProxyType(_table())
"""The allowed functions by lower-case name."""
