"""CloudEvents over Kafka: the event's attributes become columns, and its data are decoded in the stream's format."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from asc.spark_types import backquoted, ddl_of_type, quoted_name
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.formats.decoder import ERROR, KAFKA_FIELDS, RECORD, Decoder, UnfinishedError, reason_of_column
from broker.formats.record_attributes import RESERVED_ATTRIBUTES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Row

    from asc.schema import Schema

PREFIX = "ce_"
"""The prefix of columns for attributes of the event, and of their headers in binary mode."""

_EVENT, _VALUE, _MODE, _IS_EMPTY = "__asc_event", "__asc_value", "__asc_mode", "__asc_is_empty"
_STRUCTURED, _BINARY = 1, 2
_CORRUPT = "__asc_corrupt"

_MALFORMED = "value is not a CloudEvent"
_NEITHER = f"{_MALFORMED}: it has no header ce_specversion, nor the content type application/cloudevents+json"
_MISSHAPEN = f"{_MALFORMED}: it is no JSON object, or not whole"
_UNVERSIONED = f"{_MALFORMED}: it has no member specversion"


def data_fields(fields: Schema) -> Schema:
    """Return the fields of an event's data. Raise SchemaError if there are none."""
    import pyarrow as pa

    from asc.errors import SchemaError

    own = [field for field in fields.arrow if not field.name.startswith(PREFIX)]
    if not own:
        raise SchemaError("schema of CloudEvents", fields.ddl()[:100], "needs a field of the events' data as well")
    return type(fields)(pa.schema(own))


@dataclass(frozen=True, slots=True)
class CloudEventsDecoder(Decoder):
    """A decoder of CloudEvents. Fields that begin with ``ce_`` are the event's attributes; ``inner`` decodes the other
    fields from its data.

    Each record says whether its event is structured or binary. A structured event has the content type
    ``application/cloudevents+json``: its attributes, ``specversion`` among them, and its data are members of a JSON
    object. A binary event has its attributes in headers and its data as the value. If an event has no data, the columns
    of the data are NULL. The source record is delivered unchanged. Cost: a search of the headers for each attribute.
    For structured events the JSON is parsed once more.
    """

    fields: Schema
    options: Mapping[str, str]
    time_zone: str
    inner: Decoder

    def example(self) -> bytes:
        """See :class:`Decoder`."""
        return self.inner.example()

    def sample(self) -> bytes:
        """See :class:`Decoder`."""
        return self.inner.sample()

    @property
    def reasons(self) -> tuple[DeadLetterReason, ...]:
        """See :class:`Decoder`."""
        own = (*map(DeadLetterReason, (_NEITHER, _MISSHAPEN, _UNVERSIONED)), *map(_reason_of, self._attributes))
        return (*own, *self.inner.reasons)

    def projections(self, carried: Sequence[str] = ()) -> tuple[tuple[Column, ...], ...]:
        """See :class:`Decoder`."""
        from pyspark.sql import functions as sf

        kept = tuple(map(sf.col, carried))
        kafka_fields = tuple(sf.col(name) for name, _ in KAFKA_FIELDS)
        is_structured = "startswith(lower(trim({})), 'application/cloudevents+json')".format(_header("content-type"))
        is_binary = f"exists(headers, h -> lower(h.key) = '{PREFIX}specversion')"
        mode = f"CASE WHEN {is_structured} THEN {_STRUCTURED} WHEN {is_binary} THEN {_BINARY} ELSE 0 END"
        text = (
            f"CASE WHEN {_MODE} = {_STRUCTURED} AND is_valid_utf8(CAST(value AS STRING)) THEN CAST(value AS STRING) END"
        )
        names = dict.fromkeys(["specversion", *map(_attribute, self._attributes), "data", "data_base64"])
        ddl = f"{', '.join(f'{quoted_name(name)} STRING' for name in names)}, {_CORRUPT} STRING"
        event = sf.from_json(sf.expr(text), ddl, {"columnNameOfCorruptRecord": _CORRUPT})
        value = (
            f"CASE WHEN {_is_empty_sql()} THEN NULL WHEN {_MODE} = {_STRUCTURED} THEN {self._data_sql()} "
            f"WHEN {_MODE} = {_BINARY} THEN {self._wrapped('value')} END"
        )
        unwrapped = (
            *(sf.expr(value).alias("value") if name == "value" else sf.col(name) for name, _ in KAFKA_FIELDS),
            *(sf.col("value").alias(_VALUE), sf.expr(_is_empty_sql()).alias(_IS_EMPTY), sf.col(_EVENT), sf.col(_MODE)),
            *(sf.expr(self._text_of(field)).alias(_text_name(field)) for field in self._attributes),
            *kept,
        )
        own_columns = [_VALUE, _IS_EMPTY, _EVENT, _MODE, *map(_text_name, self._attributes)]
        attributes = {field.name for field in self._attributes}
        columns = (
            *(
                sf.expr(_value_of(field)).alias(field.name)
                if field.name in attributes
                else sf.col(backquoted(field.name))
                for field in self.fields.arrow
            ),
            *map(sf.col, RESERVED_ATTRIBUTES),
            sf.col(RECORD).withField("value", sf.col(_VALUE)).alias(RECORD),
            sf.coalesce(sf.expr(self._error_sql()), sf.when(~sf.col(_IS_EMPTY), sf.col(ERROR))).alias(ERROR),
            *kept,
        )
        return (
            (*kafka_fields, sf.expr(mode).alias(_MODE), *kept),
            (*kafka_fields, sf.col(_MODE), event.alias(_EVENT), *kept),
            unwrapped,
            *self.inner.projections([*own_columns, *carried]),
            columns,
        )

    def unknown(self, records: DataFrame) -> DataFrame | None:
        """See :class:`Decoder`."""
        return self.inner.unknown(self._data_of(records))

    def knowing(self, unknown: Sequence[Row], records: DataFrame) -> CloudEventsDecoder:
        """See :class:`Decoder`."""
        try:
            inner = self.inner.knowing(unknown, self._data_of(records))
        except UnfinishedError as error:
            if error.decoder is not None:
                error.decoder = replace(self, inner=error.decoder)
            raise
        return self if inner is self.inner else replace(self, inner=inner)

    def without(self, schema_ids: Collection[int]) -> CloudEventsDecoder:
        """See :class:`Decoder`."""
        return replace(self, inner=self.inner.without(schema_ids))

    def _data_of(self, records: DataFrame) -> DataFrame:
        for columns in self.projections()[:3]:
            records = records.select(*columns)
        return records

    def _data_sql(self) -> str:
        """Return the SQL of the data of a structured event."""
        of_text = self._wrapped(f"try_to_binary({_EVENT}.data_base64, 'base64')")
        own = "value" if self._is_wrapped else f"CAST({_EVENT}.data AS BINARY)"
        return f"CASE WHEN {_EVENT}.data IS NOT NULL THEN {own} ELSE {of_text} END"

    @property
    def _is_wrapped(self) -> bool:
        """True if the inner decoder reads a member ``data``. If the data of an event were passed to the inner decoder
        as text, Spark would round numbers.
        """
        return self.inner.options.get("envelope") == "data"

    def _wrapped(self, data: str) -> str:
        wrapped = f"concat(CAST('{{\"data\":' AS BINARY), {data}, CAST('}}' AS BINARY))"
        return wrapped if self._is_wrapped else data

    def _text_of(self, field: pa.Field) -> str:
        """Return the SQL of an attribute's text."""
        structured = f"{_EVENT}.{backquoted(_attribute(field))}"
        # In the Kafka binding, this attribute has a header with another name.
        header = "content-type" if field.name == f"{PREFIX}datacontenttype" else field.name
        binary = f"try_validate_utf8({_header(header)})"
        return f"CASE {_MODE} WHEN {_STRUCTURED} THEN {structured} WHEN {_BINARY} THEN {binary} END"

    def _error_sql(self) -> str:
        wrong = f"{_EVENT} IS NULL OR {_EVENT}.{_CORRUPT} IS NOT NULL"
        cases = [
            f"WHEN {_MODE} = 0 THEN {_literal(_NEITHER)}",
            f"WHEN {_MODE} = {_STRUCTURED} AND ({wrong}) THEN {_literal(_MISSHAPEN)}",
            f"WHEN {_MODE} = {_STRUCTURED} AND {_EVENT}.specversion IS NULL THEN {_literal(_UNVERSIONED)}",
            *(
                f"WHEN {backquoted(_text_name(field))} IS NOT NULL AND {_value_of(field)} IS NULL "
                f"THEN {_literal(_reason_of(field).text)}"
                for field in self._attributes
            ),
        ]
        return f"CASE {' '.join(cases)} END"

    @property
    def _attributes(self) -> list[pa.Field]:
        return [field for field in self.fields.arrow if field.name.startswith(PREFIX)]


def _is_empty_sql() -> str:
    """Return the SQL of the condition, never NULL, that an event has no data."""
    of_members = f"{_EVENT} IS NOT NULL AND {_EVENT}.data IS NULL AND {_EVENT}.data_base64 IS NULL"
    of_value = "coalesce(length(value), 0) = 0"
    return f"CASE {_MODE} WHEN {_STRUCTURED} THEN {of_members} WHEN {_BINARY} THEN {of_value} ELSE false END"


def _attribute(field: pa.Field) -> str:
    return str(field.name).removeprefix(PREFIX)


def _text_name(field: pa.Field) -> str:
    return f"__asc_text_{field.name}"


def _value_of(field: pa.Field) -> str:
    return f"TRY_CAST({backquoted(_text_name(field))} AS {ddl_of_type(field.type)})"


def _reason_of(field: pa.Field) -> DeadLetterReason:
    return reason_of_column(_MALFORMED, field)


def _header(name: str) -> str:
    """Return the SQL of the text of the first header with a name, regardless of upper and lower case. It is NULL if
    there is no such header.
    """
    return f"CAST(get(filter(headers, h -> lower(h.key) = {_literal(name.lower())}), 0).value AS STRING)"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
