"""The functions that format numbers, instants and binaries, and the functions that parse numbers with a format."""

from __future__ import annotations

import re

import pyarrow as pa

from asc.predicate.expressions import types
from asc.predicate.functions.function import Call, Function
from asc.predicate.functions.pattern_argument import brings_pattern, longest_shown, pattern_check, shown_by_pattern
from asc.predicate.functions.results import STRING
from asc.predicate.functions.try_spellings import cast_to, caught_text
from asc.predicate.syntax.literal import TIMESTAMP

_MAX_DIGITS = 38
_MAX_TEXT_CHARS = 20_000
"""The maximum length of a text that is parsed as a number, in characters: Java takes time quadratic in the length."""
_MAX_NUMBER_CHARS = 1_000
"""The maximum length of a text that is matched with a format, in characters. Spark takes time quadratic in the length.

The maximum is far longer than any format.
"""
_FORMAT = re.compile(r"(MI|S)?(\$)?([09](?:[09G,]*[09])?)(?:[.D]([09]*))?(\$)?(PR|MI|S)?", re.IGNORECASE)
_BINARY_FORMATS = ("base64", "hex", "utf-8")


def _digits(text: object) -> tuple[int, int] | None:
    """Return the precision and scale of the numbers that a format can represent; None if the text is no format.

    >>> _digits("$99,990.99S"), _digits("9,,9"), _digits("PR")
    ((7, 2), None, None)
    """
    match = _FORMAT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    first, currency, whole, fraction, late_currency, last = match.groups()
    if (first and last) or (currency and late_currency) or re.search("[G,]{2}", whole, re.IGNORECASE):
        return None
    scale = len(fraction or "")
    precision = len(re.sub("[G,]", "", whole, flags=re.IGNORECASE)) + scale
    return (precision, scale) if precision <= _MAX_DIGITS else None


def _format_trouble(call: Call) -> str | None:
    if _digits(call.text(1)) is None:
        return f"the format given to {call.name} must be a constant such as '$99,990.99S', of at most 38 digits"
    return None


def _shown(call: Call) -> str | None:
    kind, text = call.type(0), call.text(1)
    if types.is_instant(kind):
        return pattern_check(parses=False)(call)
    if kind == pa.binary():
        if str(text).lower() in _BINARY_FORMATS:
            return None
        return f"{call.name} of BINARY takes one of the formats {', '.join(_BINARY_FORMATS)}"
    if types.is_number(kind) or kind in (pa.string(), pa.null()):
        return _format_trouble(call)
    return f"argument 1 of {call.name} is {types.name(kind)}, not a number, date, timestamp or binary"


def _show(call: Call) -> str:
    value, text = call.args[0], call.args[1].sql
    if types.is_instant(value.type):
        return shown_by_pattern(call, cast_to(TIMESTAMP, value), "date_format")
    if value.type == pa.string():
        number = f"CAST(left({value.sql}, {_MAX_TEXT_CHARS}) AS DECIMAL(38,18))"
        return caught_text(f"{call.name}({number}, {text})")
    return caught_text(f"{call.name}({value.sql}, {text})")


def _grown(call: Call) -> float:
    """Return the factor by which a formatted value may be longer than the record.

    A formatted number is as long as its format. Only the texts of dates, timestamps and binaries may be longer than the
    value.
    """
    if types.is_instant(call.type(0)):
        return longest_shown(call)
    return 2.0 * call.args[0].growth if call.type(0) == pa.binary() else 1.0


def _number(call: Call) -> pa.DataType | None:
    digits = _digits(call.text(1))
    return None if digits is None else pa.decimal128(*digits)


def _read(call: Call) -> str:
    """Return SQL for the parsing of a number that gives NULL where Spark throws: for a number with fewer digits than
    the format.

    Spark throws for such a number even in ``try_to_number``.
    """
    number = f"left({call.args[0].sql}, {_MAX_NUMBER_CHARS})"
    text = caught_text(f"CAST(try_to_number({number}, {call.args[1].sql}) AS STRING)")
    precision, scale = _digits(call.text(1)) or (_MAX_DIGITS, 0)
    return f"CAST({text} AS DECIMAL({precision},{scale}))"


def _table() -> dict[str, Function]:
    show = Function(2, 2, "xS", STRING, _shown, _grown, _show, brings_pattern)
    return {
        "to_char": show,
        "to_varchar": show,
        "to_number": Function(2, 2, "sS", _number, _format_trouble, spelling=_read, fails=True),
        "try_to_number": Function(2, 2, "sS", _number, _format_trouble, spelling=_read),
    }


NUMBER_FORMATS = _table()
