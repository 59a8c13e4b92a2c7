"""Interface of a parser of Spark for the values of records, with sample values that show whether Spark accepts the
parser's options.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pyspark.sql import Column

    from asc.schema import Schema

Encoder = Callable[[Mapping[str, Any]], bytes]
"""A function from a row, as values by column, to the value of a record."""


class RecordParser(ABC):
    """The parser of one record format, as :class:`broker.formats.record_decoder.RecordDecoder` uses it. Stateless."""

    name: ClassVar[str]
    """The name of the format in the configuration."""

    @abstractmethod
    def unparsed(self, value: Column, fields: Schema, options: Mapping[str, str]) -> Column:
        """Return the column of the reason why a value (BINARY, not NULL) must not be parsed. It is NULL if the value
        may be parsed.

        These are values for which the parser would throw an exception or never end.
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
    def encoder_of_texts(self, schema: Schema) -> Encoder:
        """Return an encoder of rows with texts, as CSV files contain them; None means NULL."""
