"""CSV records: one line each, as Spark's ``from_csv`` reads it, without a header."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from broker.formats.plain_text import plain_text
from broker.formats.record_parser import Encoder
from broker.formats.spelling import respelling, spelled
from broker.formats.text_columns import ColumnEncoder, joined, mapped_unless
from broker.formats.text_format import TextFormat

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from asc.schema import Schema

_COLUMNS_MAX = 20_480
"""The largest number of columns of a record if the option maxColumns is not set."""

_PLAIN_FIELD = r"^[!#-+\--~](?:[ !#-+\--~]*[!#-+\--~])?\z"
"""Texts that need no quotes: ASCII without comma or quote, and without a space at either end."""

_COLUMNS_BOUND = 1_000_000
_SEPARATORS = ("sep", "delimiter")
_DISTINCT = ("quote", "escape", "comment")
_SYMBOLS = (*_SEPARATORS, *_DISTINCT, "charToEscapeQuoteEscaping")


class Csv(TextFormat):
    """The format CSV: a record is one line, with the fields of the schema in the order of the schema."""

    name = "csv"
    own_options = (
        *_SYMBOLS,
        *("unescapedQuoteHandling", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "nullValue", "emptyValue"),
        *("nanValue", "positiveInf", "negativeInf", "maxColumns"),
    )

    def wrong_option(self, option: str, value: str, options: Mapping[str, str]) -> str | None:
        """See :class:`RecordFormat`.

        >>> list(Csv().wrong_options({"sep": ";", "maxColumns": "0"}))
        [('maxColumns', '0', 'use 1 to 1000000')]
        """
        if option in _SEPARATORS and not value:
            return "give the separator at least one character"
        if option in _SEPARATORS and value == options.get("quote", '"'):
            return "is the quote too: choose another character"
        if option in _SYMBOLS and re.search("[\r\n]", value):
            return "a line break ends the record: choose another character"
        if option in _DISTINCT and value == _separator_text(options):
            return "is the separator too: choose another character"
        if option == "maxColumns" and not _is_count(value):
            return f"use 1 to {_COLUMNS_BOUND}"
        return None

    def wrong_type(self, data_type: pa.DataType) -> str | None:
        """See :class:`RecordFormat`."""
        import pyarrow as pa

        nested = pa.types.is_nested(data_type)
        return "CSV holds no nested values: use scalar types or format json" if nested else None

    def parsed_text(self, text: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """See :class:`RecordFormat`."""
        from pyspark.sql import functions as sf

        # RFC 4180 doubles a quote inside quotes; Spark's own default is a backslash.
        return sf.from_csv(text, ddl, {"escape": '"', "maxColumns": str(_COLUMNS_MAX), **options})

    def unparsed_text(self, text: Column, options: Mapping[str, str]) -> Column | None:
        """Return why a text must not be parsed: it has more columns than the parser accepts. The parser would then
        throw an error in every mode.

        Separators inside quotes are counted too.
        """
        from pyspark.sql import functions as sf

        separator = separator_of(options)
        most = _columns_max(options)
        spare = sf.length(text) - sf.length(sf.replace(text, sf.lit(separator), sf.lit("")))
        (reason,) = self.unparsed_text_reasons(options)
        return sf.when(spare >= most * len(separator), reason)

    def unparsed_text_reasons(self, options: Mapping[str, str]) -> tuple[str, ...]:
        """See :class:`TextFormat`."""
        return (f"value has more than {_columns_max(options)} CSV columns",)

    def misshapen(self, fields: Schema) -> str:
        """See :class:`RecordFormat`."""
        return f"it has fewer or more columns than {len(fields.arrow)}"

    def sample(self, names: Sequence[str], options: Mapping[str, str]) -> bytes:
        """See :class:`RecordFormat`."""
        return _separator_text(options).join("1" for _ in names).encode()

    def encoder(self, schema: Schema) -> Encoder:
        """See :class:`RecordFormat`."""
        respelled = respelling(schema)
        names = [field.name for field in schema.arrow]

        def encode(row: Mapping[str, Any]) -> bytes:
            own = respelled(row)
            return ",".join(csv_field(own.get(name)) for name in names).encode()

        return encode

    def encoder_of_columns(self, schema: Schema, columns: Sequence[str]) -> ColumnEncoder:
        """See :class:`RecordFormat`."""
        places = {name: place for place, name in enumerate(spelled(columns, schema))}
        names = [field.name for field in schema.arrow]

        def encode(texts: Sequence[pa.Array]) -> pa.Array:
            import pyarrow as pa
            import pyarrow.compute as pc

            pieces: list[str | pa.Array] = []
            for name in names:
                own = texts[places[name]] if name in places else pa.nulls(len(texts[0]), pa.string())
                plain = pc.match_substring_regex(own, _PLAIN_FIELD)
                pieces += [",", mapped_unless(plain, own, csv_field)]
            return joined(pieces[1:], "")

        return encode


def csv_field(value: Any) -> str:
    """Return a value as a field of a CSV line (RFC 4180) for a CSV stream. NULL is written as an empty field, an empty
    string as quotes.

    A stream distinguishes the two only if its options set ``nullValue``; otherwise both are NULL.

    >>> csv_field(None), csv_field(""), csv_field("a,b"), csv_field('a "b" c')
    ('', '""', '"a,b"', '"a ""b"" c"')
    """
    if value is None:
        return ""
    text = plain_text(value)
    if text and text == text.strip() and not any(char in text for char in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _separator_text(options: Mapping[str, str]) -> str:
    return options.get("sep", options.get("delimiter", ","))


def separator_of(options: Mapping[str, str]) -> str:
    """Return the separator, with its escapes resolved as Spark resolves them."""
    escapes = {"t": "\t", "r": "\r", "b": "\b", "f": "\f", "u0000": "\0"}
    return re.sub(r"\\(u0000|.)", lambda found: escapes.get(found[1], found[1]), _separator_text(options))


def _columns_max(options: Mapping[str, str]) -> int:
    return int(options.get("maxColumns", _COLUMNS_MAX))


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 9 and 1 <= int(text) <= _COLUMNS_BOUND
