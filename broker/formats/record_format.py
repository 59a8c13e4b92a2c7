"""Interface of a record format that Spark parses: decoding, checks of options, a sample, and encoding for
publication.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from broker.formats.format import Format, Given
from broker.formats.text_columns import ColumnEncoder

if TYPE_CHECKING:
    from pyspark.sql import Column

    from asc.schema import Schema
    from broker.formats.decoder import RecordDecoder

DATE_PATTERNS = {"dateFormat": "to_date", "timestampFormat": "to_timestamp", "timestampNTZFormat": "to_timestamp_ntz"}
"""Options whose values are patterns, each with the Spark function that parses with the pattern."""

_PATTERN_LETTERS = frozenset("yMLdDgGHhKkmsSazvVOXxZ")
"""The pattern letters that Spark supports for reading dates and times."""

_LOCALE = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")

Encoder = Callable[[Mapping[str, Any]], bytes]
"""A function from a row, as values by column, to the value of a record."""


class RecordFormat(Format):
    """Decoding of a record's value to columns by a parser of Spark, and encoding of rows to such values.

    To add a format of this kind, add a module with such a class, and list it in ``registry.RECORD_FORMATS``. Stateless.
    """

    is_lines_of: ClassVar[str | None] = None
    """The file format whose lines are such records without conversion, for example ``ndjson``. None if there is
    none.
    """

    general_options = (*DATE_PATTERNS, "timeZone", "locale")

    def wrong_general_option(self, option: str, value: str) -> str | None:
        """See :class:`Format`."""
        if option == "locale" and not _LOCALE.fullmatch(value):
            return "write a language tag, as en-US"
        if option in DATE_PATTERNS:
            return wrong_pattern(value) if value.strip() else "give a pattern, as yyyy-MM-dd"
        return None

    def decoder(self, fields: Schema, options: Mapping[str, str], time_zone: str, inputs: Given) -> RecordDecoder:
        """See :class:`Format`."""
        from broker.formats.decoder import RecordDecoder

        return RecordDecoder(self, fields, options, time_zone)

    @abstractmethod
    def unparsed(self, value: Column, fields: Schema, options: Mapping[str, str]) -> Column:
        """Return the column of the reason why a value (BINARY, not NULL) must not be parsed. It is NULL if the value
        may be parsed.

        It excludes values for which the parser would throw or never end.
        """

    @abstractmethod
    def unparsed_reasons(self, fields: Schema, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return all values that :meth:`unparsed` may have."""

    @abstractmethod
    def misshapen(self, fields: Schema) -> str:
        """Return the reason for a value that cannot be parsed as a record even if all fields are texts."""

    @abstractmethod
    def parsed(self, value: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """Return a struct, parsed from a value, that contains the fields in ``ddl`` (see :meth:`record_in`).

        It is NULL if the value is NULL. If the value is no such record, it is NULL or contains the column that the
        option ``columnNameOfCorruptRecord`` names.
        """

    def record_in(self, parsed: Column, options: Mapping[str, str]) -> Column:
        """Return the struct of the fields within the result of :meth:`parsed`."""
        return parsed

    @abstractmethod
    def sample(self, names: Sequence[str], options: Mapping[str, str]) -> bytes:
        """Return a value in which each field is 1, which shows whether Spark can parse with the options."""

    @abstractmethod
    def encoder(self, schema: Schema) -> Encoder:
        """Return an encoder of rows with Python values. A column that equals a field except for case gets the field's
        spelling.
        """

    def encoder_of_texts(self, schema: Schema) -> Encoder:
        """Return an encoder of rows with texts, as CSV files contain them; None means NULL."""
        return self.encoder(schema)

    @abstractmethod
    def encoder_of_columns(self, schema: Schema, columns: Sequence[str]) -> ColumnEncoder:
        """Return an encoder of columns with texts, in the order of ``columns`` (at least one).

        It produces the same bytes as the encoder of rows.
        """


def wrong_pattern(pattern: str) -> str | None:
    """Return the fault of a date or time pattern that can be detected without Spark. Return None if there is none.

    >>> wrong_pattern("yyyy-MM-dd'T'HH:mm:ss")
    >>> wrong_pattern("yyyy-MM-ddTHH:mm:ss")
    "'T' is no letter that Spark reads by: put text in quotes, as yyyy-MM-dd'T'HH:mm:ss"
    """
    unquoted = re.sub("'[^']*'", "", pattern)
    if "'" in unquoted:
        return "a quote is not closed: write yyyy-MM-dd'T'HH:mm:ss, and two quotes for one"
    for char in unquoted:
        if (char.isascii() and char.isalpha() and char not in _PATTERN_LETTERS) or char in "#{}":
            return f"{char!r} is no letter that Spark reads by: put text in quotes, as yyyy-MM-dd'T'HH:mm:ss"
    return None
