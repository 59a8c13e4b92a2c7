"""Tests whether Spark (ANSI mode off) casts a text to a number, and whether the text is also an SQL literal."""

from __future__ import annotations

import re

import pyarrow as pa

_AROUND_INTEGERS = "".join(map(chr, range(0x21))) + "\x7f"
_AROUND_FLOATS = "".join(map(chr, range(0x21)))
_INTEGER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d*)", re.ASCII)
_DECIMAL_FLOAT = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?"
_HEX_FLOAT = r"0[xX](?:[\da-fA-F]+\.?|[\da-fA-F]*\.[\da-fA-F]+)[pP][+-]?\d+[fFdD]?"
_FLOAT = re.compile(rf"[+-]?(?:{_DECIMAL_FLOAT}|{_HEX_FLOAT}|NaN|Infinity)", re.ASCII)
_WORD = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE | re.ASCII)
_LITERAL = re.compile(rf"[+-]?{_DECIMAL_FLOAT}", re.ASCII)


def is_number_text(text: str, target: pa.DataType) -> bool:
    """Return whether Spark casts a text to a value, not to NULL, of the given integer or floating-point type.

    The text of an integer may have a fraction, which Spark truncates, but no exponent.

    >>> [is_number_text(text, pa.int8()) for text in (" +1.9", ".", "128", "1e2", "1x")]
    [True, True, False, False, False]
    >>> [is_number_text(text, pa.float64()) for text in ("1e2", "0x1p3", "-inf", "+nan", "1,000", "0x10")]
    [True, True, True, False, False, False]
    """
    if not pa.types.is_integer(target):
        stripped = text.strip(_AROUND_FLOATS)
        return (_FLOAT.fullmatch(stripped) or _WORD.fullmatch(stripped)) is not None
    stripped = text.strip(_AROUND_INTEGERS)
    if _INTEGER.fullmatch(stripped) is None:
        return False
    digits = stripped.lstrip("+-").partition(".")[0].lstrip("0")
    value = int(digits[:20] or "0")
    limit: int = 1 << (target.bit_width - 1)
    return value <= limit if stripped.startswith("-") else value < limit


def is_literal_without_quotes(text: str) -> bool:
    """Return whether the text of a number is also an unquoted SQL literal.

    An infinity, a NaN and a hexadecimal fraction are not SQL literals.

    >>> is_literal_without_quotes(" -1.5e3 "), is_literal_without_quotes("Infinity"), is_literal_without_quotes("0x1p3")
    (True, False, False)
    """
    return _LITERAL.fullmatch(text.strip(" \t\r\n")) is not None
