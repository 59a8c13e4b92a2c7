"""A guess at the type of a field, from its values, which are inspected one after the other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from broker.files.spellings import DATE, DOUBLE, TIME

if TYPE_CHECKING:
    import pyarrow as pa

_TIMES = (
    ("date", re.compile(DATE, re.ASCII)),
    ("timestamp_ntz", re.compile(DATE + TIME, re.ASCII)),
    ("timestamp", re.compile(f"{DATE}{TIME}(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})", re.ASCII)),
)
_TEXTS = (
    # Upper and lower case, as for publishing and in Spark.
    ("boolean", re.compile("true|false", re.ASCII | re.IGNORECASE)),
    ("integer", re.compile("-?(?:0|[1-9][0-9]{0,37})", re.ASCII)),
    ("integer beyond DECIMAL(38,0)", re.compile("-?[1-9][0-9]{38,}", re.ASCII)),
    ("double", re.compile(DOUBLE, re.ASCII)),
    *_TIMES,
)
_ALIKE = (
    ({"integer", "double"}, "double"),
    ({"date", "timestamp_ntz", "timestamp"}, "timestamp"),
)
"""Sets of kinds of values, each with the kind to which all values of the set can be converted."""

_INT = 2**31
_BIGINT = 2**63
_DECIMAL = 10**38
_ODD_SHOWN = 3
_DEPTH_MAX = 16
"""The depth to which nested values are examined. Deeper values become texts, because Spark reads any JSON value as
text.
"""


class TypeGuess:
    """Statistics of the values of one field: their number by kind and, for nested values, the guesses of the parts.

    Represents a multiset of values. Cost per value: its size. Memory: the size of the type, not of the values.
    """

    def __init__(self, depth: int = 0) -> None:
        self.count = 0
        self._depth = depth
        self.kinds: Counter[str] = Counter()
        self.fields: dict[str, TypeGuess] = {}
        self.items: TypeGuess | None = None
        self._lowest = self._highest = 0
        self._texts: dict[str, str] = {}

    def see(self, value: Any, *, texts: bool) -> None:
        """Count one value. ``texts``: whether the value is a text of CSV, in which numbers are written as text too."""
        self.count += 1
        if value is None:
            return
        kind = _kind(value, texts=texts)
        if kind in ("struct", "array") and self._depth >= _DEPTH_MAX:
            kind = "text"
        self.kinds[kind] += 1
        if kind not in self._texts:
            self._texts[kind] = str(value)[:30]
        if kind == "integer":
            number = int(value)
            self._lowest, self._highest = min(self._lowest, number), max(self._highest, number)
        elif kind == "struct":
            for name, inner in value.items():
                self.fields.setdefault(name, TypeGuess(self._depth + 1)).see(inner, texts=texts)
        elif kind == "array":
            self.items = self.items or TypeGuess(self._depth + 1)
            for inner in value:
                self.items.see(inner, texts=texts)

    @property
    def empty(self) -> int:
        """The number of values so far that were NULL or absent."""
        return self.count - sum(self.kinds.values())

    def type(self) -> pa.DataType:
        """Return the narrowest common type that holds every value. Return the text type for values of several kinds."""
        import pyarrow as pa

        kind = self._common()
        if kind == "integer":
            return self._integer()
        if kind == "struct" and self.fields:
            return pa.struct([pa.field(name, guess.type()) for name, guess in self.fields.items()])
        if kind == "array":
            return pa.list_(self.items.type() if self.items is not None else pa.string())
        return {
            "boolean": pa.bool_(),
            "double": pa.float64(),
            "date": pa.date32(),
            "timestamp": pa.timestamp("us", tz="UTC"),
            "timestamp_ntz": pa.timestamp("us", tz="UTC"),
        }.get(kind, pa.string())

    def doubts(self) -> Iterator[str]:
        """Yield a short text for each part of the guess that a person should check."""
        if not self.kinds:
            yield "no value was seen"
        elif self._common() == "mixed":
            shown = [
                f"{kind} as {self._texts[kind]!r} ({count:,})" for kind, count in self.kinds.most_common(_ODD_SHOWN)
            ]
            yield f"mixed: {', '.join(shown)}"
        elif self._common() == "struct" and not self.fields:
            yield "objects without fields"
        elif self._common() == "integer" and (beyond := self._beyond_bigint()) is not None:
            yield f"beyond BIGINT, as {str(beyond)[:30]!r}"
        if self._common() == "timestamp_ntz":
            yield "times without a zone: of the stream's time zone, or declare it TIMESTAMP_NTZ"

    def _common(self) -> str:
        """Return the common kind of all values. Return ``mixed`` if there is none, and ``text`` if there is no
        value.
        """
        kinds = set(self.kinds)
        if len(kinds) < 2:
            return next(iter(kinds), "text")
        return next((kind for alike, kind in _ALIKE if kinds <= alike), "mixed")

    def _beyond_bigint(self) -> int | None:
        """Return an observed integer that exceeds BIGINT. Return None if there was none."""
        return next((seen for seen in (self._highest, self._lowest) if not -_BIGINT <= seen < _BIGINT), None)

    def _integer(self) -> pa.DataType:
        import pyarrow as pa

        for bound, found in ((_INT, pa.int32()), (_BIGINT, pa.int64()), (_DECIMAL, pa.decimal128(38, 0))):
            if -bound <= self._lowest and self._highest < bound:
                return found
        return pa.string()


def is_value(text: str) -> bool:
    """Return whether a text of CSV is a number, a boolean or a time, and so is hardly a column name.

    >>> [is_value(text) for text in ("delay", "12.5", "2013-01-31", "")]
    [False, True, True, False]
    """
    return _kind(text, texts=True) != "text"


def _kind(value: Any, *, texts: bool) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, (float, Decimal)):
        return "double"
    if isinstance(value, Mapping):
        return "struct"
    if isinstance(value, list):
        return "array"
    # In JSON, a text is a text, except times, for which JSON has no other type.
    return next((kind for kind, text in (_TEXTS if texts else _TIMES) if text.fullmatch(value)), "text")
