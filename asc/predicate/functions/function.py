"""A function that a predicate may call: its arguments, its result type, and its spelling in Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.expressions.constant_text import constant_text
from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.interval_type import CALENDAR
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ
from asc.spark_types import VARIANT

_INTEGER = re.compile(r" *[+-]?\d{1,9} *\Z", re.ASCII)
_BEYOND_INT = 1 << 31

_NO_EXPRESSION = (
    "must be a constant string, or made of such ones by ||, concat and lower: one of a record may take exponential"
    " time, and Spark throws where it is malformed"
)
MANY = 100
"""The maximum number of arguments of a variadic function."""


def not_constant(what: str) -> str:
    """Return the reason why a regular expression from a record is refused. ``what`` describes the expression."""
    return f"{what} {_NO_EXPRESSION}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function: the name and the typed arguments."""

    name: str
    args: Sequence[Expression]

    def type(self, i: int) -> pa.DataType | None:
        """Return the type of the argument at index ``i``; None if it is not known without Spark."""
        return self.args[i].type

    def constant(self, i: int) -> object:
        """Return the value of a constant argument; None if the argument is not constant or is missing."""
        literal = self.args[i].literal if i < len(self.args) else None
        return literal.value if literal is not None and literal.known else None

    def text(self, i: int) -> str | None:
        """Return the text of an argument that is a string constant or is composed of string constants.

        Return None for any other argument and for NULL.
        """
        constant = constant_text(self.args[i].node) if i < len(self.args) else None
        return None if constant is None or self.type(i) != pa.string() else constant.value

    def integer(self, i: int) -> int | None:
        """Return the integer to which Spark casts a constant argument.

        Return None if the argument is not constant or the cast gives NULL.
        """
        value = self.constant(i)
        if isinstance(value, str):
            return int(value) if _INTEGER.match(value) else None
        if isinstance(value, Decimal | float):
            return int(value) if -_BEYOND_INT < value < _BEYOND_INT else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def is_no_integer(self, i: int) -> bool:
        """Return whether the argument at index ``i`` is NULL, or a constant text without digits, which Spark casts to a
        NULL integer.
        """
        value = self.constant(i)
        return self.is_null(i) or (isinstance(value, str) and not any(character.isdigit() for character in value))

    def is_null(self, i: int) -> bool:
        """Return whether an argument is the constant NULL."""
        return i < len(self.args) and bool(self.type(i) == pa.null())

    @property
    def kinds(self) -> list[pa.DataType | None]:
        """The types of the arguments, in order."""
        return [arg.type for arg in self.args]


Result = Callable[[Call], "pa.DataType | None"]
Check = Callable[[Call], "str | None"]
Growth = Callable[[Call], float]
Spelling = Callable[[Call], str]


@dataclass(frozen=True, slots=True)
class Function:
    """An allowed function: the number and the sorts of its arguments, its result type, and its spelling for Spark.

    ``sorts`` has one letter for each argument, which says what types the argument may have (see SORTS); the last letter
    holds for all further arguments. A string is accepted for a number, integer or instant, because Spark casts it.
    ``check`` returns the reason why a call is refused. ``growth`` returns the factor by which the result may be longer
    than the text of the record; if it is None, the result is no longer than the longest argument. ``spelling`` returns
    the SQL for Spark if it differs from the call itself.

    ``steps`` returns the number of steps that a pattern takes for each character of the first argument. ``fails`` tells
    for which calls a NULL result with no NULL argument is an evaluation error. True means all calls whose spelling
    differs from the call itself.
    """

    least: int
    most: int
    sorts: str
    result: Result
    check: Check | None = None
    growth: Growth | None = None
    spelling: Spelling | None = None
    fails: bool | Callable[[Call], bool] = False
    steps: Callable[[Call], int] | None = None

    def sort(self, i: int) -> str:
        """Return the sort of the argument at index ``i``: a letter of SORTS, which says what types the argument may
        have.
        """
        return self.sorts[min(i, len(self.sorts) - 1)]

    def trouble(self, call: Call) -> str | None:
        """Return the reason why a predicate may not have this call, for an error message; None if the call is
        allowed.
        """
        count = len(call.args)
        if not self.least <= count <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            return f"{call.name} takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}"
        for i in range(count):
            what, fits = SORTS[self.sort(i)]
            data_type = call.type(i)
            if data_type is not None and data_type != pa.null() and not fits(data_type):
                return f"argument {i + 1} of {call.name} is {types.name(data_type)}, not {what}"
        return self.check(call) if self.check else None

    def can_fail(self, call: Call) -> bool:
        """Return whether the SQL of the call can give NULL because the call that the user wrote would throw or take too
        long.
        """
        return self.fails(call) if callable(self.fails) else self.fails and self.sql(call) != plain(call)

    def sql(self, call: Call) -> str:
        """Return the SQL text with which Spark evaluates the call: the function's ``spelling``, or the call itself."""
        return self.spelling(call) if self.spelling else plain(call)


def plain(call: Call) -> str:
    """Return the SQL text of the call as the user wrote it, although Spark may throw for some records."""
    return f"{call.name}({', '.join(arg.sql for arg in call.args)})"


_INSTANTS = (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)


def is_array(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_list(data_type) and not pa.types.is_map(data_type))


def is_map(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_map(data_type))


def is_text_like(data_type: pa.DataType) -> bool:
    """Return whether Spark casts values of a type to a string when a function requires a string."""
    return not types.is_container(data_type) and data_type != CALENDAR


def _is_integer(data_type: pa.DataType) -> bool:
    return data_type in types.INTEGERS


def _is_condition(data_type: pa.DataType) -> bool:
    return bool(data_type == pa.bool_())


def _is_text(data_type: pa.DataType) -> bool:
    return bool(data_type == pa.string())


SORTS: Mapping[str, tuple[str, Callable[[pa.DataType], bool]]] = MappingProxyType(
    {
        "x": ("a value", lambda t: True),
        "q": ("a value that can be compared", lambda t: not types.holds_map(t) and t != CALENDAR),
        "n": ("a number", lambda t: types.is_number(t) or _is_text(t)),
        "N": ("a number", types.is_number),
        "i": ("an integer", lambda t: types.is_number(t) or _is_text(t)),
        "I": ("an integer", _is_integer),
        "k": ("an integer or condition", lambda t: _is_integer(t) or _is_condition(t)),
        "u": ("a number or condition", lambda t: types.is_number(t) or _is_text(t) or _is_condition(t)),
        "f": ("an integer or string", lambda t: _is_integer(t) or _is_text(t)),
        "s": ("a string", is_text_like),
        "S": ("a string", _is_text),
        "W": ("a string or an array of strings", lambda t: is_text_like(t.value_type if is_array(t) else t)),
        "B": ("a string or binary", lambda t: _is_text(t) or t == pa.binary()),
        "Y": ("binary", lambda t: bool(t == pa.binary())),
        "t": ("a date or timestamp", lambda t: t in _INSTANTS or _is_text(t)),
        "z": ("a string, date or timestamp", lambda t: t in _INSTANTS or _is_text(t)),
        "r": ("a value that is read as a time", lambda t: not types.is_container(t) and t != CALENDAR),
        "e": ("an integer, date or timestamp", lambda t: _is_integer(t) or t in _INSTANTS),
        "w": ("an integer or INTERVAL", lambda t: _is_integer(t) or types.is_interval(t)),
        "T": ("a TIMESTAMP", lambda t: bool(t == TIMESTAMP)),
        "D": ("a date", lambda t: bool(t == pa.date32())),
        "b": ("a condition", _is_condition),
        "a": ("an array or map", lambda t: is_array(t) or is_map(t)),
        "y": ("an array", is_array),
        "m": ("a map", is_map),
        "V": ("a VARIANT", lambda t: bool(t == VARIANT)),
    }
)
"""The sorts of arguments by letter. A sort is a set of types: a description for error messages, and a test of a type.
"""
CASTING_SORTS = frozenset("nitTD")
"""The sorts of arguments for which Spark casts a string to another type. If the string cannot be cast, the NULL result
is an evaluation error.
"""
