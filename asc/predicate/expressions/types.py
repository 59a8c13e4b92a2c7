"""The type rules of Spark (ANSI mode off): names of types, comparability, result types of operators, casts.

If the outcome of a rule is not certain, the type is None (unknown). Spark then evaluates the enclosing comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from asc.predicate.expressions.expression import Expression
from asc.predicate.syntax.interval_type import CALENDAR, IntervalType, spanned
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal
from asc.spark_types import VARIANT, ddl_of_type

Type: TypeAlias = "pa.DataType | None"

_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_NUMERIC_ORDER = (*_INTEGERS, pa.float32(), pa.float64())
INTEGERS = frozenset(_INTEGERS)
INTEGER_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 20), strict=True))
"""By integer type: the digits of the decimal to which Spark casts an integer if the other operand is a decimal."""
MAX_DIGITS = 20_000
"""The maximum length of a text that is cast to a decimal, in characters.

Java takes time quadratic in the number of digits to parse a decimal. Only a record that is crafted to stall a stream
has a longer text.
"""
_INSTANTS = (pa.date32(), TIMESTAMP, TIMESTAMP_NTZ)
_MONTHS, _MICROS = "interval of months", "interval of microseconds"
_WITH_STRINGS = frozenset(("number", "instant", _MONTHS, _MICROS))
"""The families of types whose values Spark casts to strings if an expression such as CASE chooses between them and
strings.
"""
_OF_VARIANTS = frozenset((*_NUMERIC_ORDER, *_INSTANTS, pa.bool_(), pa.string()))


def name(data_type: Type) -> str:
    """Return the name of a type in SQL, as error messages show it."""
    return "a value of unknown type" if data_type is None else ddl_of_type(data_type)


def is_instant(data_type: Type) -> bool:
    """Return whether a type is a date or a timestamp."""
    return data_type in _INSTANTS


def is_interval(data_type: Type) -> bool:
    return isinstance(data_type, IntervalType) or data_type == CALENDAR


def is_number(data_type: Type) -> bool:
    return data_type in _NUMERIC_ORDER or (data_type is not None and pa.types.is_decimal(data_type))


def is_container(data_type: Type) -> bool:
    """Return whether a type is an array, map or struct, or a variant, which may hold any of these three."""
    return data_type is not None and (pa.types.is_nested(data_type) or data_type == VARIANT)


def may_be_number(data_type: Type) -> bool:
    """Return whether a type is a number, is unknown, or is cast to a number in arithmetic (string, NULL)."""
    return data_type is None or is_number(data_type) or data_type in (pa.string(), pa.null())


def widest_integer(left: Type, right: Type) -> Type:
    """Return the wider of two integer types, which is the type of ``left & right`` and of sums of integers.

    Return None if one of the types is not an integer.
    """
    if left in _INTEGERS and right in _INTEGERS:
        return _INTEGERS[max(_INTEGERS.index(left), _INTEGERS.index(right))]
    return None


def _decimal_of(data_type: pa.DataType, literal: Literal | None) -> tuple[int, int] | None:
    """Return the precision and scale of the decimal to which Spark casts a number if the other operand is a decimal.

    Return None for a float and for any other type.
    """
    if pa.types.is_decimal(data_type):
        return data_type.precision, data_type.scale
    if data_type not in INTEGER_DIGITS:
        return None
    if literal is not None:
        return max(len(str(abs(literal.value))), 1), 0
    return INTEGER_DIGITS[data_type], 0


def arithmetic(operator: str, left: Type, right: Type, constants: tuple[Literal | None, Literal | None]) -> Type:
    """Return the type of ``left operator right`` for two numbers. Return None (unknown) if an operand is no number.

    ``constants`` holds, for each operand, its literal if the operand is a constant, else None.
    """
    if not is_number(left) or not is_number(right):
        return None
    if operator == "div":
        return pa.int64()
    if pa.types.is_decimal(left) or pa.types.is_decimal(right):
        a, b = _decimal_of(left, constants[0]), _decimal_of(right, constants[1])
        if a is None or b is None:
            return pa.float64()
        return _decimal_result(operator, *a, *b)
    if operator == "/":
        return pa.float64()
    return _NUMERIC_ORDER[max(_NUMERIC_ORDER.index(left), _NUMERIC_ORDER.index(right))]


def _decimal_result(operator: str, p1: int, s1: int, p2: int, s2: int) -> pa.DataType:
    if operator in "+-":
        scale = max(s1, s2)
        precision = max(p1 - s1, p2 - s2) + scale + 1
    elif operator == "*":
        scale, precision = s1 + s2, p1 + p2 + 1
    elif operator == "/":
        scale = max(6, s1 + p2 + 1)
        precision = p1 - s1 + s2 + scale
    else:
        scale = max(s1, s2)
        precision = min(p1 - s1, p2 - s2) + scale
    if precision <= 38:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(38, max(38 - whole, min(scale, 6)))


def rounded(data_type: Type, digits: int) -> Type:
    """Return the type of round(x, digits) and bround(x, digits) for an x of type ``data_type``. Return None if x is no
    number.
    """
    if data_type is None or not pa.types.is_decimal(data_type):
        return data_type if is_number(data_type) else None
    whole = data_type.precision - data_type.scale + 1
    if digits < 0:
        return pa.decimal128(min(max(whole, 1 - digits), 38), 0)
    scale = min(data_type.scale, digits)
    return pa.decimal128(min(whole + scale, 38), scale)


def sign_may_throw(data_type: Type) -> bool:
    """Return whether Spark's ``-x`` and ``abs(x)`` can throw even with ANSI mode off.

    They round decimals to 34 digits, so they can throw for a decimal with more digits.
    """
    return data_type is None or (pa.types.is_decimal(data_type) and data_type.precision > 34)


def unifiable(candidates: Sequence[Type], strings_with: str) -> bool:
    """Return whether Spark finds a common type for the results of CASE, coalesce, greatest and similar functions.

    ``strings_with`` names the types that may be mixed with strings: "numbers and instants" (coalesce, CASE) or ""
    (greatest). If one type is a string, Spark casts the values of all other types to strings.
    """
    kinds = {c for c in candidates if c is not None and c != pa.null()}
    families = {_family(kind) for kind in kinds}
    if "container" in families:
        return len(kinds) == 1 or _arrays_unifiable(kinds, strings_with)
    if len(families) <= 1:
        return True
    return "string" in families and bool(strings_with) and families - {"string"} <= _WITH_STRINGS


def _arrays_unifiable(kinds: Iterable[pa.DataType], strings_with: str) -> bool:
    """Return whether Spark finds a common type for the elements of arrays, and its casts to that type cannot throw."""
    if not all(map(pa.types.is_list, kinds)):
        return False
    held = [kind.value_type for kind in kinds]
    return unifiable(held, strings_with) and not mixed_instants(held)


def mixed_instants(candidates: Iterable[Type]) -> bool:
    """Return whether the candidates include several types of instants (dates and timestamps).

    Spark's implicit cast between these types may throw (see :func:`needs_guard`).
    """
    return len({c for c in candidates if c in _INSTANTS}) > 1


def together(candidates: Sequence[Type]) -> Type:
    """Return the timestamp type to which Spark casts values of these types in an expression that chooses one of them,
    such as CASE.

    Return None if Spark does not cast: all types are the same, or one is neither date nor timestamp nor NULL.
    """
    kinds = {c for c in candidates if c != pa.null()}
    return common_instant(kinds) if len(kinds) > 1 and kinds <= set(_INSTANTS) else None


def _family(data_type: pa.DataType) -> str:
    if is_number(data_type):
        return "number"
    if data_type in _INSTANTS:
        return "instant"
    if isinstance(data_type, IntervalType):
        return _MONTHS if data_type.of_months else _MICROS
    return "container" if is_container(data_type) else str(data_type)


def common(candidates: list[Type]) -> Type:
    """Return the common type of the results of CASE, coalesce and similar functions; None if unknown."""
    kinds = {c for c in candidates if c != pa.null()}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds and all(kind in _NUMERIC_ORDER for kind in kinds):
        return _NUMERIC_ORDER[max(_NUMERIC_ORDER.index(kind) for kind in kinds)]
    intervals = [kind for kind in kinds if isinstance(kind, IntervalType)]
    if intervals:
        return spanned(intervals) if len(intervals) == len(kinds) else None
    return together(candidates)


def comparable(operator: str, left: Type, right: Type) -> bool:
    """Return whether Spark can evaluate ``left operator right`` for operands of these types. Return True if a type is
    not known.
    """
    if left is None or right is None:
        return True
    if CALENDAR in (left, right):
        return False
    if same_shape(left, right):
        return not holds_map(left)
    if holds_map(left) or holds_map(right):
        return False
    if pa.null() in (left, right):
        return True
    if isinstance(left, IntervalType) or isinstance(right, IntervalType):
        return _family(left) == _family(right)
    if is_container(left) or is_container(right):
        # Spark compares some pairs of container types by a cast of the elements without a guard. Numbers need no guard.
        held = [kind.value_type for kind in (left, right) if pa.types.is_list(kind)]
        if len(held) == 2 and pa.null() in held:
            return True
        return len(held) == 2 and all(kind in _NUMERIC_ORDER for kind in held)
    if pa.string() in (left, right):
        return True
    if is_number(left) and is_number(right):
        return True
    if left in _INSTANTS and right in _INSTANTS:
        return True
    if pa.bool_() not in (left, right) or operator not in ("=", "<=>"):
        return False
    other = right if left == pa.bool_() else left
    # Spark casts the boolean to the number's type, and throws where a decimal has no digit for TRUE.
    return is_number(other) and not (pa.types.is_decimal(other) and other.precision == other.scale)


def same_shape(left: pa.DataType, right: pa.DataType) -> bool:
    """Return whether two types are equal apart from field names and nullability."""
    if left == right:
        return True
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        fields = range(left.num_fields)
        return left.num_fields == right.num_fields and all(
            same_shape(left.field(i).type, right.field(i).type) for i in fields
        )
    return bool(pa.types.is_list(left) and pa.types.is_list(right) and same_shape(left.value_type, right.value_type))


def holds_map(data_type: Type) -> bool:
    """Return whether values of a type are or contain maps or variants, which Spark neither compares nor hashes."""
    if data_type is None or not is_container(data_type):
        return False
    if pa.types.is_map(data_type) or data_type == VARIANT:
        return True
    return any(holds_map(data_type.field(i).type) for i in range(data_type.num_fields))


def searchable(held: Type, sought: Type) -> bool:
    """Return whether a value of type ``sought`` may be searched for among elements or map keys of type ``held``.

    The two types must be equal, or both must be integer or float types. For other types Spark would insert a cast that
    may throw, or would refuse the search.
    """
    if held in (None, pa.null()) or sought is None or sought in (pa.null(), held):
        return not holds_map(held) and not holds_map(sought)
    return held in _NUMERIC_ORDER and sought in _NUMERIC_ORDER


def listable(subject: Type, value: Type) -> bool:
    """Return whether Spark can evaluate ``subject IN (value)`` for values of these types.

    For IN, Spark casts between fewer types than for ``=``.
    """
    if pa.bool_() in (subject, value):
        return subject == value or None in (subject, value) or pa.null() in (subject, value)
    if {subject, value} == {pa.string(), pa.binary()}:
        return False
    if pa.string() in (subject, value) and any(isinstance(kind, IntervalType) for kind in (subject, value)):
        return True  # as strings
    return comparable("=", subject, value)


def comparison_remedy(left: Expression, right: Expression) -> str:
    """Return the remedy for a comparison that Spark rejects."""
    pair = {left.type, right.type}
    if VARIANT in pair:
        return "compare a part of it: variant_get(v, '$.key', 'string')"
    if any(pa.types.is_map(t) for t in pair if t is not None):
        return "compare an entry: column['key']"
    if any(is_interval(t) for t in pair):
        return "compare it with an INTERVAL: INTERVAL 1 DAY"
    if any(is_container(t) for t in pair):
        return "compare a field or an element of it"
    if TIMESTAMP in pair or TIMESTAMP_NTZ in pair:
        return "write TIMESTAMP 'yyyy-mm-dd hh:mm:ss'"
    if pa.date32() in pair:
        return "write DATE 'yyyy-mm-dd'"
    if pa.binary() in pair:
        return "write X'hex digits'"
    return "compare values of one type, or CAST one of them"


def castable(source: Type, target: pa.DataType, attempt: bool = False) -> bool:
    """Return whether Spark can cast one type to the other (``attempt``: with TRY_CAST).

    Return True if this is not known.
    """
    if source is None or source in (pa.null(), target):
        return True
    if is_interval(source) or is_interval(target):
        return _interval_castable(source, target)
    if is_container(source) and is_container(target):
        return _container_castable(source, target, attempt)
    if is_container(target):
        return False
    if source == VARIANT:
        return target in _OF_VARIANTS
    if attempt and ({source, target} == {pa.bool_(), TIMESTAMP} or (target == pa.binary() and source != pa.string())):
        return False
    if target == pa.string():
        return True
    if is_container(source):
        return False
    if source == pa.string():
        return True
    if source == pa.binary():
        return False
    if target == pa.binary():
        return source in _INTEGERS
    if is_number(source) and is_number(target):
        return True
    if source in _INSTANTS and target in _INSTANTS:
        return True
    if pa.bool_() in (source, target):
        return is_number(source) or is_number(target) or TIMESTAMP in (source, target)
    return (is_number(source) and target == TIMESTAMP) or (source == TIMESTAMP and is_number(target))


def _interval_castable(source: pa.DataType, target: pa.DataType) -> bool:
    if pa.string() in (source, target):
        return True
    if CALENDAR in (source, target):
        return False
    other = target if is_interval(source) else source
    return other in _INTEGERS or pa.types.is_decimal(other) or _family(source) == _family(target)


def throws_beyond(source: Type, target: Type) -> bool:
    """Return whether Spark's cast throws for a value that does not fit the target type, even with ANSI mode off.

    This holds for a cast to an interval type such as INTERVAL DAY TO SECOND, and for a cast from such an interval to a
    number.
    """
    if isinstance(target, IntervalType):
        return not isinstance(source, IntervalType) or source.of_months != target.of_months
    return isinstance(source, IntervalType) and is_number(target)


def _container_castable(source: pa.DataType, target: pa.DataType, attempt: bool) -> bool:
    """Return whether Spark can cast one container type to another.

    Spark casts the elements, fields, keys and values of the container; Spark refuses a cast that may make a key of a
    map NULL.
    """
    if pa.types.is_map(source) or pa.types.is_map(target):
        if not (pa.types.is_map(source) and pa.types.is_map(target)):
            return False
        keys = source.key_type, target.key_type
        plain = keys[0] == keys[1] or (keys[0] in _INTEGERS and keys[1] in (*_NUMERIC_ORDER, pa.string()))
        return plain and castable(source.item_type, target.item_type, attempt)
    if pa.types.is_struct(source) != pa.types.is_struct(target) or source.num_fields != target.num_fields:
        return False
    return all(castable(source.field(i).type, target.field(i).type, attempt) for i in range(source.num_fields))


def parts(source: pa.DataType, target: pa.DataType) -> Iterator[tuple[pa.DataType, pa.DataType]]:
    """Yield the source type and the target type of each cast of single values that a cast between two types
    performs.
    """
    if not (is_container(source) and is_container(target)):
        yield source, target
        return
    for i in range(source.num_fields):
        yield from parts(source.field(i).type, target.field(i).type)


def needs_guard(operand: Expression, target: Type) -> bool:
    """Return whether Spark's cast of the operand to ``target`` can throw even with ANSI mode off.

    A cast of a date to a timestamp throws if the year is outside the range of timestamps. A cast between timestamps
    with and without zone throws if the offset of the zone leads outside that range.
    """
    if operand.type not in _INSTANTS or target not in (TIMESTAMP, TIMESTAMP_NTZ) or target == operand.type:
        return False
    return operand.literal is None or not operand.literal.known


def common_instant(kinds: Iterable[Type]) -> Type:
    """Return the timestamp type in which Spark compares dates and timestamps of several types. Return None if no type
    is a timestamp.

    >>> common_instant([pa.date32(), TIMESTAMP_NTZ, TIMESTAMP])
    TimestampType(timestamp[us, tz=UTC])
    """
    found = set(kinds)
    return TIMESTAMP if TIMESTAMP in found else TIMESTAMP_NTZ if TIMESTAMP_NTZ in found else None


def guarded(sql: str, target: pa.DataType) -> str:
    """Return SQL that casts a date or timestamp to another instant type. The SQL gives NULL if the cast would throw.

    The SQL contains the operand only once, so nested casts do not double its length each time.

    >>> guarded("day", TIMESTAMP)
    'TRY_CAST(day AS TIMESTAMP)'
    """
    return f"TRY_CAST({sql} AS {ddl_of_type(target)})"
