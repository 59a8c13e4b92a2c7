"""Decoding of records by a parser of Spark, in the JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from operator import and_
from typing import TYPE_CHECKING

from asc.spark_types import ddl_of_type, quoted_name
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.formats.decoder import (
    ERROR,
    KAFKA_FIELDS,
    NAMED_COLUMNS_MAX,
    NULL,
    RECORD,
    RECORD_FIELDS,
    Decoder,
    reason_of_column,
)
from broker.formats.format import AS_RECORD, TOMBSTONES
from broker.formats.record_attributes import RESERVED_ATTRIBUTES, record_columns
from broker.formats.record_parser import RecordParser

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

    from asc.schema import Schema

_DECODED = "__asc_decoded"
_CORRUPT = "__asc_corrupt"
_UNPARSED = "__asc_unparsed"

_CONNECT_DECIMAL = "; where Debezium writes it, set decimal.handling.mode=string there"
"""The remedy for a decimal that arrives as base64, or as an object with its scale. Kafka Connect puts the scale into
the message's schema, or into such an object.
"""

_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"


@dataclass(frozen=True, slots=True)
class RecordDecoder(Decoder):
    """A decoder that uses the parser of Spark for a record format."""

    parser: RecordParser
    fields: Schema
    options: Mapping[str, str]
    time_zone: str

    def projections(self, carried: Sequence[str] = ()) -> tuple[tuple[Column, ...], ...]:
        """See :class:`Decoder`."""
        from pyspark.sql import functions as sf

        value, kept = sf.col("value"), tuple(map(sf.col, carried))
        own = self.parser.unparsed(value, self.fields, self.options)
        of_null = sf.lit(None if self._takes_tombstones else NULL)
        unparsed = sf.when(value.isNull(), of_null).otherwise(own)
        ddl = f"{self.fields.ddl()}, {_CORRUPT} STRING"
        given = sf.when(sf.col(_UNPARSED).isNull(), value)
        parsed = self.parser.parsed(given, ddl, self._parser_options())
        # Spark does not compile expressions inside a parser's argument, so a separate projection computes them. Spark
        # does not inline it, because its results are used twice above.
        looked_at = (*map(sf.col, (name for name, _ in KAFKA_FIELDS)), unparsed.alias(_UNPARSED), *kept)
        decoded = (
            sf.struct(*RECORD_FIELDS).alias(RECORD),
            sf.col(_UNPARSED),
            parsed.alias(_DECODED),
            *record_columns(),
            *kept,
        )
        own_fields = self._record_in(sf.col(_DECODED))
        # A separate projection reads the attributes, so that Spark parses a value once, and not once for each field.
        attributes = (
            *(own_fields.getField(field.name).alias(field.name) for field in self.fields.arrow),
            *map(sf.col, (*RESERVED_ATTRIBUTES, RECORD)),
            self._reason().alias(ERROR),
            *kept,
        )
        return looked_at, decoded, attributes

    def sample(self) -> bytes:
        """See :class:`Decoder`."""
        return self.parser.sample([field.name for field in self.fields.arrow], self.options)

    def example(self) -> bytes:
        """Return a value of the schema in the format without options: numbers and texts are 1, booleans true, all else
        NULL.
        """
        return self.parser.encoder_of_texts(self.fields)(
            {field.name: _example_of(field.type) for field in self.fields.arrow}
        )

    @property
    def reasons(self) -> tuple[DeadLetterReason, ...]:
        """See :class:`Decoder`."""
        malformed = DeadLetterReason(self._malformed)
        unparsed = map(DeadLetterReason, self.parser.unparsed_reasons(self.fields, self.options))
        parts = [*self.named, *(inner for field in self.named for _, inner in self._inner(field))]
        columns = map(self._of_column, parts)
        hinted = (self._of_connect(field) for field in parts if self._takes_connect_decimals(field))
        found = (DeadLetterReason(NULL), *unparsed, malformed, DeadLetterReason(self._misshapen), *columns, *hinted)
        return tuple(dict.fromkeys(found))

    def _reason(self) -> Column:
        from pyspark.sql import functions as sf

        decoded = sf.col(_DECODED)
        is_malformed = decoded.isNull() | decoded[_CORRUPT].isNotNull()
        if "envelope" in self.options:
            is_malformed = is_malformed | self._record_in(decoded).isNull()
        if self._takes_tombstones:
            is_malformed = is_malformed & sf.col(RECORD)["value"].isNotNull()
        return sf.coalesce(sf.col(_UNPARSED), sf.when(is_malformed, self._first_fault(decoded)))

    def _first_fault(self, decoded: Column) -> Column:
        """Return the column of the reason for a malformed record, which names the first column of the schema that has a
        text but no value. To find it, Spark parses a malformed record again, with all fields as texts.
        """
        from pyspark.sql import functions as sf

        ddl = f"{', '.join(f'{quoted_name(field.name)} STRING' for field in self.fields.arrow)}, {_CORRUPT} STRING"
        parsed = self.parser.parsed(sf.col(RECORD)["value"], ddl, self._parser_options())

        def first_fault(texts: Column) -> Column:
            is_none = texts.isNull() | texts[_CORRUPT].isNotNull()
            record = self._record_in(texts)
            if "envelope" in self.options:
                is_none = is_none | record.isNull()
            reason = sf.when(is_none, self._misshapen)
            for field in self.named:
                text = record.getField(field.name)
                reason = reason.when(
                    text.isNotNull() & self._is_at_fault(field, self._record_in(decoded), text),
                    self._said_of(field, self._record_in(decoded), text),
                )
            return reason.otherwise(self._malformed)

        # A lambda holds the parsed texts in its variable, so that they are parsed once for all columns.
        return sf.get(sf.transform(sf.array(parsed), first_fault), sf.lit(0))

    def _is_at_fault(self, field: pa.Field, decoded: Column, text: Column) -> Column:
        """Return the condition that a column of a partly read record is faulty: it has a text that is not a value of
        the column's type.
        """
        from pyspark.sql import functions as sf

        has_none = decoded.getField(field.name).isNull()
        if field.type.num_fields == 0:
            return has_none
        # A nested field is not NULL if only something inside it is invalid. So its JSON is parsed again, alone. Only
        # JSON has nested fields.
        ddl = f"v {ddl_of_type(field.type)}, {_CORRUPT} STRING"
        alone = sf.concat(sf.lit('{"v":'), text, sf.lit("}"))
        options = {name: text for name, text in self._parser_options().items() if name != "envelope"}
        parsed = self.parser.parsed(alone.cast("binary"), ddl, options)
        return has_none | parsed[_CORRUPT].isNotNull()

    def _said_of(self, field: pa.Field, decoded: Column, text: Column) -> Column:
        """Return the reason for a faulty column. For a struct, it names the first faulty field inside."""
        from pyspark.sql import functions as sf

        reason = self._reason_for(field, text)
        for path, inner in reversed(self._inner(field)):
            place = "".join(f"['{name}']" for name in path)
            own, value = sf.get_json_object(text, f"${place}"), decoded.getField(field.name)
            for name in path:
                value = value.getField(name)
            reason = sf.when(own.isNotNull() & value.isNull(), self._reason_for(inner, own)).otherwise(reason)
        return reason

    def _reason_for(self, field: pa.Field, text: Column) -> Column:
        from pyspark.sql import functions as sf

        reason = sf.lit(self._of_column(field).text)
        if not self._takes_connect_decimals(field):
            return reason
        members = (sf.get_json_object(text, f"$.{name}").isNotNull() for name in ("scale", "value"))
        is_of_connect = sf.rlike(text, sf.lit(f"^{_BASE64}$")) | reduce(and_, members)
        return sf.when(is_of_connect, self._of_connect(field).text).otherwise(reason)

    def _inner(self, field: pa.Field) -> list[tuple[tuple[str, ...], pa.Field]]:
        """Return the fields inside a struct column that a reason may name, by their paths in the column."""
        found = (each for each in _inner_fields(field, ()) if not any("'" in name for name in each[0]))
        return list(islice(found, NAMED_COLUMNS_MAX // max(1, len(self.named))))

    def _takes_connect_decimals(self, field: pa.Field) -> bool:
        import pyarrow as pa

        return self.parser.name == "json" and pa.types.is_decimal(field.type)

    def _of_connect(self, field: pa.Field) -> DeadLetterReason:
        reason = self._of_column(field)
        return DeadLetterReason(f"{reason.text}{_CONNECT_DECIMAL}", reason.kind, reason.column)

    @property
    def _malformed(self) -> str:
        return f"value is not a {self.parser.name.upper()} record of the stream's schema"

    @property
    def _misshapen(self) -> str:
        return f"{self._malformed}: {self.parser.misshapen(self.fields)}"

    def _of_column(self, field: pa.Field) -> DeadLetterReason:
        return reason_of_column(self._malformed, field)

    def _record_in(self, parsed: Column) -> Column:
        return self.parser.record_in(parsed, self.options)

    @property
    def _takes_tombstones(self) -> bool:
        return self.options.get(TOMBSTONES) == AS_RECORD

    def _parser_options(self) -> dict[str, str]:
        return {
            "timeZone": self.time_zone,
            **self.options,
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": _CORRUPT,
        }


def _inner_fields(field: pa.Field, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], pa.Field]]:
    """Yield the fields inside a struct field: the path of each, and the field with its full name."""
    import pyarrow as pa

    if not pa.types.is_struct(field.type):
        return
    for place in range(field.type.num_fields):
        inner = field.type.field(place)
        path, named = (*above, inner.name), inner.with_name(f"{field.name}.{inner.name}")
        yield path, named
        yield from _inner_fields(named, path)


def _example_of(data_type: pa.DataType) -> str | None:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(data_type):
        return "true"
    is_plain = types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type)
    return "1" if is_plain or types.is_string(data_type) else None
