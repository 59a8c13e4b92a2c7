"""Interface of a record format that Spark parses: decoding, checks of options, and encoding for publication."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from broker.formats.format import Format, Given
from broker.formats.record_decoder import RecordDecoder
from broker.formats.record_parser import Encoder, RecordParser
from broker.formats.text_columns import ColumnEncoder

if TYPE_CHECKING:
    from asc.schema import Schema

DATE_PATTERNS = {"dateFormat": "to_date", "timestampFormat": "to_timestamp", "timestampNTZFormat": "to_timestamp_ntz"}
"""Options whose values are patterns, each with the Spark function that parses with the pattern."""

_PATTERN_LETTERS = frozenset("yMLdDgGHhKkmsSazvVOXxZ")
"""The pattern letters that Spark supports for reading dates and times."""

_LOCALE = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")


class RecordFormat(RecordParser, Format):
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
        return RecordDecoder(self, fields, options, time_zone)

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
