"""The transfer of p-attributes from the JVM into Python: exact, and mostly without a Python object for each value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from asc.keys.attribute import PAttribute
from asc.keys.buffers import Mask

if TYPE_CHECKING:
    from pyspark.sql import Column

APART = "__asc_apart_"
"""The prefix of the names of columns that a separate projection computes."""

FLAG_BITS = 63
"""The number of flags in an int64 word. The sign bit is not used."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """The transfer of one p-attribute: the SQL text that the JVM evaluates, and the decoding of the received values.

    PySpark 4.0 passes Pandas columns to a scalar UDF, which hold neither NULL in numbers nor all dates and timestamps.
    So numbers, dates, timestamps and decimals of up to 18 digits travel as integers or floats that are never NULL.
    Their NULLs are bits of a word of flags (``flag`` is the bit's number over all words). A boolean travels as 0, 1 or
    -1 for NULL. Strings travel as bytes, so that invalid UTF-8 arrives unchanged. Strings, binaries and wider decimals
    are temporarily Python objects, None for NULL. A position travels as its two ``parts``, and is reassembled.
    ``argument``: the index of the UDF's argument. Several p-attributes may share an argument: an expression that is
    both compared with constants and matched with patterns travels once.
    """

    sql: str
    type: pa.DataType
    argument: int
    flag: int | None = None
    parts: tuple[Carrier, ...] = ()

    def read(self, series: pd.Series, flags: Sequence[npt.NDArray[np.int64] | None]) -> pa.Array:
        """Return the values as an Arrow array of the p-attribute's type. The bytes of strings are not validated."""
        types = pa.types
        if types.is_string(self.type):
            return pa.array(series, pa.binary(), from_pandas=True).view(self.type)
        if types.is_binary(self.type) or (types.is_decimal(self.type) and self.type.precision > FLAGGED_DIGITS):
            return pa.array(series, self.type, from_pandas=True)
        values = series.to_numpy()
        if types.is_boolean(self.type):
            return pa.array(values == 1, mask=values < 0)
        mask = self._mask(flags)
        if types.is_decimal(self.type):
            return _decimals(values, self.type, mask)
        # Only the NULL bitmap is copied. With from_pandas=False, NaN does not become NULL.
        return pa.array(values, mask=mask, from_pandas=False).view(self.type)

    def _mask(self, flags: Sequence[npt.NDArray[np.int64] | None]) -> Mask | None:
        if self.flag is None:
            return None
        word = flags[self.flag // FLAG_BITS]
        if word is None:
            return None
        mask: Mask = (word >> (self.flag % FLAG_BITS)) & 1 != 0
        return mask


FLAGGED_DIGITS = 18
"""The largest number of digits of a decimal that fits an int64."""


@dataclass(frozen=True, slots=True)
class Transport:
    """The transfer of a plan's p-attributes into Python, in the order of slots (the indexes of p-attributes in the
    plan). Words of NULL flags follow the values, and words of error flags follow the NULL flags.

    Error words exist if evaluation errors are counted: they have a bit for each slot of ``fallible``. ``arguments``:
    the SQL texts of the UDF's arguments. There is at least one argument, for the row count. Arguments may name columns
    of ``apart``. ``apart``: the SQL text of each column, by name, that a separate projection below the UDF computes.

    Columns of ``apart`` are expressions with a lambda. Spark 4.0 does not find a UDF whose arguments have a lambda
    within a lambda. When it compares such arguments, the outer variable looks like a missing column.
    """

    carriers: tuple[Carrier, ...]
    flag_words: tuple[str, ...]
    fallible: tuple[int, ...] = ()
    error_words: tuple[str, ...] = ()
    apart: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        attributes: Iterable[PAttribute],
        nullable: Iterable[bool],
        error_conditions: Mapping[int, str] | None = None,
    ) -> Transport:
        """Return the transport of p-attributes. A column that is not nullable gets no NULL flag.

        ``error_conditions``: the SQL conditions of the evaluation errors to count, by the index of the p-attribute.
        """
        carriers: dict[str, Carrier] = {}
        arguments: dict[str, int] = {}
        places: list[Carrier] = []
        flags: list[str] = []
        apart: dict[str, str] = {}

        def carried(attribute_sql: str, data_type: pa.DataType, may_be_null: bool) -> Carrier:
            if attribute_sql not in carriers:
                text = _named(attribute_sql, apart)
                sql, flagged = _encoded(text, data_type, may_be_null)
                # Different expressions may be equal after encoding: a date, and its number of days.
                argument = arguments.setdefault(sql, len(arguments))
                carriers[attribute_sql] = Carrier(sql, data_type, argument, len(flags) if flagged else None)
                if flagged:
                    flags.append(f"isnull({text})")
            return carriers[attribute_sql]

        for attribute, may_be_null in zip(attributes, nullable, strict=True):
            if attribute.parts:
                halves = tuple(carried(text, pa.float64(), True) for text in attribute.part_texts)
                places.append(Carrier(attribute.sql, attribute.type, halves[0].argument, None, halves))
            else:
                places.append(carried(attribute.sql, attribute.type, may_be_null))
        conditions = {slot: _named(text, apart) for slot, text in (error_conditions or {}).items()}
        return cls(tuple(places), _words(flags), tuple(conditions), _words(list(conditions.values())), apart)

    @property
    def arguments(self) -> tuple[str, ...]:
        own = dict.fromkeys(one.sql for carrier in self.carriers for one in carrier.parts or (carrier,))
        return (*own, *self.flag_words, *self.error_words) or ("0",)

    @property
    def values(self) -> int:
        """Return the number of arguments that are values of p-attributes. These arguments are the first ones."""
        return len({one.argument for carrier in self.carriers for one in carrier.parts or (carrier,)})

    def columns_apart(self) -> list[Column]:
        """Return the columns of ``apart``, which a projection below the UDF selects in addition to all other columns.
        Most plans need no such column.
        """
        from pyspark.sql import functions as sf

        return [sf.expr(sql).alias(name) for name, sql in self.apart.items()]

    def read(self, arrived: Sequence[pd.Series]) -> list[pa.Array]:
        """Return the columns of a batch, one for each p-attribute in the order of the plan, from the arguments that the
        UDF received.
        """
        words = [series.to_numpy() for series in arrived[self.values :][: len(self.flag_words)]]
        # Most batches have no NULL at all: then nothing is looked at bit by bit.
        flags = [word if word.any() else None for word in words]
        read = {carrier: _read(carrier, arrived, flags) for carrier in dict.fromkeys(self.carriers)}
        return [read[carrier] for carrier in self.carriers]

    def errors(self, arrived: Sequence[pd.Series]) -> dict[int, Mask]:
        """Return masks bool[rows] of the failed evaluations in a batch, by the index of the p-attribute, for
        p-attributes with a failure.
        """
        masks = {}
        for place, series in enumerate(arrived[self.values + len(self.flag_words) :]):
            word = series.to_numpy()
            some = int(np.bitwise_or.reduce(word))
            for bit, slot in enumerate(self.fallible[place * FLAG_BITS : (place + 1) * FLAG_BITS]):
                if some >> bit & 1:
                    masks[slot] = (word >> bit) & 1 != 0
        return masks


def _read(carrier: Carrier, arrived: Sequence[pd.Series], flags: Sequence[npt.NDArray[np.int64] | None]) -> pa.Array:
    if not carrier.parts:
        return carrier.read(arrived[carrier.argument], flags)
    parts = [part.read(arrived[part.argument], flags) for part in carrier.parts]
    return pa.StructArray.from_arrays(parts, fields=list(carrier.type))


def _named(text: str, apart: dict[str, str]) -> str:
    """Return the SQL text by which an argument of the UDF names an expression: the expression itself if it has no
    lambda. Otherwise, add a column with the expression to ``apart``, and return the column's name.
    """
    if "->" not in text:
        return text
    name = f"{APART}{len(apart)}"
    # The condition is always true. Being random, it keeps Spark from inlining the expression into the projection above.
    apart[name] = f"if(rand() + 1D > 0D, {text}, NULL)"
    return name


def _words(conditions: Sequence[str]) -> tuple[str, ...]:
    """Return the SQL texts of int64 words whose bits are the conditions, ``FLAG_BITS`` conditions for each word. The
    caller ensures that no condition is NULL.
    """
    terms = [f"shiftleft(CAST(({c}) AS BIGINT), {bit % FLAG_BITS})" for bit, c in enumerate(conditions)]
    return tuple(" | ".join(terms[start : start + FLAG_BITS]) for start in range(0, len(terms), FLAG_BITS))


def _encoded(sql: str, data_type: pa.DataType, nullable: bool) -> tuple[str, bool]:
    """Return the SQL text of the values to transfer, and whether they need a NULL flag."""
    types = pa.types
    if types.is_boolean(data_type):
        return f"coalesce(CAST(({sql}) AS TINYINT), -1Y)", False
    if types.is_string(data_type):
        return f"CAST(({sql}) AS BINARY)", False
    if types.is_binary(data_type) or (types.is_decimal(data_type) and data_type.precision > FLAGGED_DIGITS):
        return sql, False
    if types.is_date(data_type):
        sql, zero = f"unix_date({sql})", "0"
    elif types.is_timestamp(data_type):
        sql, zero = _micros(sql, data_type), "0L"
    elif types.is_decimal(data_type):
        sql, zero = f"CAST(({sql}) * {10**data_type.scale}BD AS BIGINT)", "0L"
    else:
        zero = _ZEROS[data_type]
    return (f"coalesce({sql}, {zero})" if nullable else sql), nullable


_ZEROS = {
    pa.int8(): "0Y",
    pa.int16(): "0S",
    pa.int32(): "0",
    pa.int64(): "0L",
    pa.float32(): "0F",
    pa.float64(): "0D",
}


def _micros(sql: str, data_type: pa.DataType) -> str:
    """Return the SQL text that computes the microseconds since 1970 of a timestamp.

    A timestamp without a zone is computed from its fields, because a cast would use the session's zone.
    """
    if data_type.tz is not None:
        return f"unix_micros({sql})"
    seconds = f"unix_date(CAST(({sql}) AS DATE)) * 86400L + hour({sql}) * 3600 + minute({sql}) * 60"
    return f"({seconds}) * 1000000L + CAST(extract(SECOND FROM ({sql})) * 1000000 AS BIGINT)"


def _decimals(unscaled: npt.NDArray[np.int64], data_type: pa.DataType, mask: Mask | None) -> pa.Array:
    """Return a decimal128 array of unscaled values. ``mask``: the NULLs, or None if there are no NULLs."""
    words = np.empty((len(unscaled), 2), dtype=np.int64)
    words[:, 0] = unscaled
    words[:, 1] = unscaled >> 63
    validity = None if mask is None else pa.py_buffer(np.packbits(~mask, bitorder="little"))
    return pa.Array.from_buffers(data_type, len(unscaled), [validity, pa.py_buffer(words)])
