"""A record format: what one must know, so that a stream can be decoded, checked, sampled and published to."""

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
"""Options that are a pattern, and the function of Spark that reads by it."""

_PATTERN_LETTERS = frozenset("yMLdDgGHhKkmsSazvVOXxZ")
"""The letters that Spark reads dates and times by."""

_LOCALE = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")

Encoder = Callable[[Mapping[str, Any]], bytes]
"""A row, by column, as the value of a record."""


class RecordFormat(Format):
    """How the value of a record becomes columns in the JVM by a parser of Spark's, and a row becomes such a value.

    A new format of this kind is a module with such a class, named in ``registry.RECORD_FORMATS``. Stateless.
    """

    is_lines_of: ClassVar[str | None] = None
    """The format of files whose lines are such records unchanged, as ``ndjson``; None where there is none."""

    general_options = (*DATE_PATTERNS, "timeZone", "locale")

    def wrong_general_option(self, option: str, value: str) -> str | None:
        """See :class:`Format`."""
        if option == "locale" and not _LOCALE.fullmatch(value):
            return "write a language tag, as en-US"
        if option in DATE_PATTERNS:
            return wrong_pattern(value) if value.strip() else "give a pattern, as yyyy-MM-dd"
        return None

    def decoder(self, fields: Schema, options: Mapping[str, str], time_zone: str, given: Given) -> RecordDecoder:
        """See :class:`Format`."""
        from broker.formats.decoder import RecordDecoder

        return RecordDecoder(self, fields, options, time_zone)

    @abstractmethod
    def unparsed(self, value: Column, fields: Schema, options: Mapping[str, str]) -> Column:
        """Return why a value (BINARY, not NULL) must not be given to the parser, NULL where it may.

        The parser is not to throw, nor to take for ever.
        """

    @abstractmethod
    def unparsed_reasons(self, fields: Schema, options: Mapping[str, str]) -> tuple[str, ...]:
        """Return all that :meth:`unparsed` may say."""

    @abstractmethod
    def misshapen(self, fields: Schema) -> str:
        """Return the fault of a value that is not even a record of texts."""

    @abstractmethod
    def parsed(self, value: Column, ddl: str, options: Mapping[str, str]) -> Column:
        """Return a struct with one of the fields in ``ddl`` (:meth:`record_in`), read from a value.

        It is NULL of a value that is NULL. Where the value is no such record, it is NULL or has the column named by the
        option ``columnNameOfCorruptRecord``.
        """

    def record_in(self, parsed: Column, options: Mapping[str, str]) -> Column:
        """Return the struct of the fields in what :meth:`parsed` gives."""
        return parsed

    @abstractmethod
    def sample(self, names: Sequence[str], options: Mapping[str, str]) -> bytes:
        """Return a value in which each field is a 1: enough to see whether Spark parses with the options."""

    @abstractmethod
    def encoder(self, schema: Schema) -> Encoder:
        """Encode rows of Python values. A column that is a field of the schema but for case is spelled as there."""

    def encoder_of_texts(self, schema: Schema) -> Encoder:
        """Encode rows of texts, as CSV files hold them; None for NULL."""
        return self.encoder(schema)

    @abstractmethod
    def encoder_of_columns(self, schema: Schema, columns: Sequence[str]) -> ColumnEncoder:
        """Encode texts by column, in the order of ``columns``, one or more; the same bytes as row by row."""


def wrong_pattern(pattern: str) -> str | None:
    """Return the fault of a pattern of dates and times, as far as it is seen without Spark; None without one.

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
