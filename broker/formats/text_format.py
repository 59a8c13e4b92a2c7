"""Formats whose values are UTF-8 text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker.formats.record_format import RecordFormat

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from asc.schema import Schema

_ALONE = r"(?<![\p{Alnum}_.-])"
_HUGE_EXPONENT = (
    rf"{_ALONE}[-+]?[\p{{Nd}}.]++[eE][-+]?\p{{Nd}}[\p{{Nd}}GROUP]{{3,}}+(?![\p{{Alnum}}_.-])"
    rf"|(?:(?<!\\)[\"']\s*+[:,\[][^\"']*?|[{{,]\s*+[\w$]++\s*+:[^\"':]*?){_ALONE}[-+]?[\p{{Nd}}.]++[eE][-+]?\p{{Nd}}{{4,}}"
    r"|[\"'][-+]?[\p{Nd}.,]++[eE][-+]?\p{Nd}[\p{Nd},]{3,}+[\"']"
)
# A number that is a separate token: digits with an e inside an identifier are no number. Spark parses a JSON number
# before it sees letters that follow. It ignores commas in a decimal's text.

_DIGITS_MAX = 10_000
_MORE_DIGITS = f"{{{_DIGITS_MAX + 1},}}+"
_LONG_NUMBER = rf'(?<![\p{{Alnum}}_.-])[-+]?[\p{{Nd}}.GROUP]{_MORE_DIGITS}|"[-+]?[\p{{Nd}}.,]{_MORE_DIGITS}"'
# Spark ignores commas in a decimal. If commas separate fields, only a decimal between quotes can contain them.

_EMPTY = "value is empty"
_NO_TEXT = "value is not UTF-8 text"
_HUGE = "value holds a number with an exponent beyond 999"
_LONG = f"value holds a number of more than {_DIGITS_MAX:,} digits"


class TextFormat(RecordFormat):
    """A format that Spark parses from text. Values that are empty or not UTF-8 are not passed to the parser."""

    def unparsed(self, value: Column, fields: Schema, options: Mapping[str, str]) -> Column:
        """See :class:`RecordFormat`."""
        from pyspark.sql import functions as sf

        text = value.cast("string")
        reason = sf.when(sf.trim(text) == "", _EMPTY).when(~sf.is_valid_utf8(text), _NO_TEXT)
        own = self.unparsed_text(text, options)
        if own is not None:
            reason = reason.when(own.isNotNull(), own)
        if _any_decimal(fields):
            # Spark writes all digits of a decimal before it finds that they do not fit.
            group = "" if options.get("sep", options.get("delimiter", ",")) == "," else ","
            huge = sf.rlike(text, sf.lit(_HUGE_EXPONENT.replace("GROUP", group)))
            # Java's time to parse a decimal is quadratic in its digits: half a minute for a million digits.
            long = (sf.length(text) > _DIGITS_MAX) & sf.rlike(text, sf.lit(_LONG_NUMBER.replace("GROUP", group)))
            reason = reason.when(huge, _HUGE).when(long, _LONG)
        return reason

    def unparsed_reasons(self, fields: Schema, options: Mapping[str, str]) -> tuple[str, ...]:
        """See :class:`RecordFormat`."""
        return (
            _EMPTY,
            _NO_TEXT,
            *self.unparsed_text_reasons(options),
            *((_HUGE, _LONG) if _any_decimal(fields) else ()),
        )

    def parsed(self, value: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """See :class:`RecordFormat`."""
        return self.parsed_text(value.cast("string"), ddl, options)

    def unparsed_text(self, text: Column, options: Mapping[str, str]) -> Column | None:
        """Return the column of the reason why a text must not be parsed in this format. It is NULL if the text may be
        parsed.

        Return None if all texts may be parsed.
        """
        return None

    def unparsed_text_reasons(self, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return all values that :meth:`unparsed_text` may have."""
        return ()

    @abstractmethod
    def parsed_text(self, text: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """Return the struct of :meth:`parsed`, read from a text."""


def _any_decimal(fields: Schema) -> bool:
    return any(_has_decimal(field.type) for field in fields.arrow)


def _has_decimal(kind: pa.DataType) -> bool:
    import pyarrow as pa

    children = [kind.field(i).type for i in range(kind.num_fields)]
    return pa.types.is_decimal(kind) or any(map(_has_decimal, children))
