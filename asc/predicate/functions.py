"""The functions a predicate may call, and why others may not be.

Every function here is a pure scalar built-in of Spark that, with ANSI mode off, throws for no input, and whose
result is not much longer than its arguments: one record must not stop the stream. So there is no add_months,
last_day, trunc or timestamp_seconds (they throw on overflow), no element_at (throws at 0), no repeat, space or hex
(nested, they grow without bound), no format_string, no to_json, no regular expressions that are not constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from asc.predicate import types
from asc.predicate.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal
from asc.predicate.pattern import rlike_trouble

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
    spelling: str | None = None

    def trouble(self, call: Call) -> str | None:
        """Why this call is refused; None for one that is allowed."""
        count = len(call.args)
        if not self.least <= count <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            return f"{call.name} takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}"
        for i in range(count):
            sort = self.sorts[min(i, len(self.sorts) - 1)]
            if not _fits(sort, call.type(i)):
                return f"argument {i + 1} of {call.name} is {types.name(call.type(i))}, not {_SORT_NAMES[sort]}"
        return self.check(call) if self.check else None


_SORT_NAMES = {
    "n": "a number",
    "s": "a string",
    "i": "an integer",
    "t": "a date or timestamp",
    "b": "a condition",
    "a": "an array or map",
    "x": "a value",
    "q": "a value that can be compared",
}
_INSTANTS = (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)


def _fits(sort: str, data_type: pa.DataType | None) -> bool:
    if data_type is None or data_type == pa.null() or sort == "x":
        return True
    if data_type == pa.string() and sort in "nit":
        return True
    if sort == "q":
        return not pa.types.is_map(data_type)
    if sort == "a":
        return bool(pa.types.is_list(data_type) or pa.types.is_map(data_type))
    if sort == "b":
        return bool(data_type == pa.bool_())
    if sort == "s":
        return not types.is_container(data_type)
    if sort == "t":
        return data_type in _INSTANTS
    return bool(pa.types.is_integer(data_type)) if sort == "i" else types.is_number(data_type)


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


def _string_or_unknown(call: Call) -> pa.DataType | None:
    """Binary arguments keep their type in some of the string functions."""
    return pa.string() if all(data_type == pa.string() for data_type, _ in call.args[:1]) else None


def _all_strings(call: Call) -> pa.DataType | None:
    return pa.string() if call.args and all(data_type == pa.string() for data_type, _ in call.args) else None


def _whole_number(call: Call) -> pa.DataType | None:
    """Ceil and floor: bigint, but decimals stay decimal."""
    data_type = call.type(0)
    return pa.int64() if types.is_number(data_type) and not pa.types.is_decimal(data_type) else None


def _mixed_instants(call: Call) -> str | None:
    found = {data_type for data_type, _ in call.args if data_type in _INSTANTS}
    if len(found) > 1:
        return f"{call.name} of a date and a timestamp: CAST the one to the type of the other"
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
    return _mixed_instants(call)


_NUMBER_TO_DOUBLE = """
acos acosh asin asinh atan atanh cbrt cos cosh degrees exp expm1 ln log10 log1p log2 radians sin sinh sqrt tan
tanh rint signum sign cot csc sec
"""


def _table() -> dict[str, Function]:
    many = 100
    table: dict[str, Function] = {
        **{name: Function(1, 1, "n", _DOUBLE) for name in _NUMBER_TO_DOUBLE.split()},
        **{name: Function(2, 2, "n", _DOUBLE) for name in ("atan2", "hypot", "power", "pow", "log")},
        "abs": Function(1, 1, "n", _same_number),
        "negative": Function(1, 1, "n", _same_number),
        "positive": Function(1, 1, "n", _same_number),
        "ceil": Function(1, 1, "n", _whole_number),
        "ceiling": Function(1, 1, "n", _whole_number),
        "floor": Function(1, 1, "n", _whole_number),
        "round": Function(1, 2, "n", _unknown, _constant_scale),
        "bround": Function(1, 2, "n", _unknown, _constant_scale),
        "mod": Function(2, 2, "n", _unknown),
        "pmod": Function(2, 2, "n", _unknown),
        "isnan": Function(1, 1, "n", _BOOLEAN),
        "nanvl": Function(2, 2, "n", _unknown),
        "bit_count": Function(1, 1, "i", _INT),
        "shiftleft": Function(2, 2, "i", _unknown),
        "shiftright": Function(2, 2, "i", _unknown),
    }
    table.update(_conditionals(many))
    table.update(_strings(many))
    table.update(_instants())
    return table


def _conditionals(many: int) -> dict[str, Function]:
    either = Function(2, 2, "x", _common, _mixed_instants)
    return {
        "coalesce": Function(1, many, "x", _common, _mixed_instants),
        "ifnull": either,
        "nvl": either,
        "nvl2": Function(3, 3, "x", _common_of_branches, _mixed_instants),
        "nullif": Function(2, 2, "q", _first, _comparable_pair),
        "if": Function(3, 3, "bxx", _common_of_branches, _mixed_instants),
        "greatest": Function(2, many, "q", _common, _mixed_instants),
        "least": Function(2, many, "q", _common, _mixed_instants),
        "isnull": Function(1, 1, "x", _BOOLEAN),
        "isnotnull": Function(1, 1, "x", _BOOLEAN),
        "equal_null": Function(2, 2, "q", _BOOLEAN, _comparable_pair),
        "size": Function(1, 1, "a", _INT),
        "cardinality": Function(1, 1, "a", _INT),
        "array_size": Function(1, 1, "a", _INT),
        "array_contains": Function(2, 2, "ax", _BOOLEAN),
        "array_position": Function(2, 2, "ax", _BIGINT),
        "map_contains_key": Function(2, 2, "ax", _BOOLEAN),
    }


def _strings(many: int) -> dict[str, Function]:
    to_string = Function(1, 1, "s", _STRING)
    to_length = Function(1, 1, "s", _INT)
    trims = Function(1, 2, "s", _STRING)
    part = Function(2, 3, "sii", _string_or_unknown)
    test = Function(2, 2, "s", lambda call: pa.bool_())
    regular = Function(2, 2, "s", _BOOLEAN, _regular_expression)
    return {
        **dict.fromkeys(("lower", "lcase", "upper", "ucase", "initcap", "soundex", "md5", "sha", "sha1"), to_string),
        **dict.fromkeys(
            ("length", "len", "char_length", "character_length", "octet_length", "bit_length", "ascii"), to_length
        ),
        **dict.fromkeys(("trim", "btrim", "ltrim", "rtrim"), trims),
        **dict.fromkeys(("substring", "substr"), part),
        **dict.fromkeys(("contains", "startswith", "endswith"), test),
        **dict.fromkeys(("rlike", "regexp", "regexp_like"), regular),
        **dict.fromkeys(("left", "right"), Function(2, 2, "si", _string_or_unknown)),
        **dict.fromkeys(("lpad", "rpad"), Function(2, 3, "sis", _string_or_unknown, _padding)),
        **dict.fromkeys(("instr", "levenshtein"), Function(2, 2, "s", _INT)),
        **dict.fromkeys(("locate", "position"), Function(2, 3, "ssi", _INT)),
        "reverse": Function(1, 1, "s", _string_or_unknown),
        "concat": Function(1, many, "s", _all_strings),
        "concat_ws": Function(2, many, "s", _STRING),
        "replace": Function(2, 3, "s", _STRING, _replacement),
        "translate": Function(3, 3, "s", _STRING),
        "substring_index": Function(3, 3, "ssi", _STRING),
        "split_part": Function(3, 3, "ssi", _STRING, _part_number),
        "find_in_set": Function(2, 2, "s", _INT),
        "sha2": Function(2, 2, "si", _STRING, _digest_bits),
        "crc32": Function(1, 1, "s", _BIGINT),
        "hash": Function(1, many, "q", _INT),
        "xxhash64": Function(1, many, "q", _BIGINT),
    }


def _part_number(call: Call) -> str | None:
    number = call.constant(2)
    return None if isinstance(number, int) and number != 0 else "split_part takes a constant part number other than 0"


def _instants() -> dict[str, Function]:
    field = Function(1, 1, "t", _INT)
    names = "year quarter month day dayofmonth dayofweek weekday dayofyear weekofyear hour minute second"
    return {
        **dict.fromkeys(names.split(), field),
        "datediff": Function(2, 2, "t", _INT),
        "date_diff": Function(2, 2, "t", _INT),
        "date_add": Function(2, 2, "ti", _DATE),
        "date_sub": Function(2, 2, "ti", _DATE),
        "to_date": Function(1, 1, "t", _DATE),
        "unix_date": Function(1, 1, "t", _INT),
        "unix_seconds": Function(1, 1, "t", _BIGINT),
        "unix_millis": Function(1, 1, "t", _BIGINT),
        "unix_micros": Function(1, 1, "t", _BIGINT),
    }


FUNCTIONS: Mapping[str, Function] = MappingProxyType(_table())
"""The allowed functions by lower-case name."""
