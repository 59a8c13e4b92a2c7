"""Decoding of Avro records to attributes in the JVM: each record is read with the schema with which it was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asc.errors import SchemaError
from asc.spark_types import ddl_of_type
from broker.formats.avro_reading import MISSING, WHOLE, AvroReading, reading_of
from broker.formats.avro_schema import AvroSchema
from broker.formats.decoder import ERROR, KAFKA_FIELDS, RECORD, RECORD_FIELDS, reason_of_column
from broker.formats.framed_decoder import HEAD_BYTES, FramedDecoder, Writer, head_sql, literal
from broker.formats.record_attributes import RESERVED_ATTRIBUTES, record_columns
from broker.formats.schema_registry import SchemaRegistry, WrittenSchema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from asc.schema import Schema

_UNREAD, _WRITER = "__asc_unparsed", "__asc_writer"

RAW = "__asc_raw"
"""Prefix of the columns in which Spark's Avro readers, one for each writer's schema, put their results. The number of
the reader follows.
"""

_MALFORMED = "value is not an AVRO record of the stream's schema"
_DAMAGED = f"{_MALFORMED}: its bytes are damaged, or of another schema"


@dataclass(frozen=True, slots=True)
class AvroDecoder(FramedDecoder[AvroReading]):
    """A decoder of Avro records, bare or in the framing of Confluent's serialisers.

    Cost: one Avro reader in the plan for each writer schema.
    """

    fields: Schema
    options: Mapping[str, str]
    time_zone: str
    registry: SchemaRegistry | None = None
    own: AvroSchema | None = None
    writers: tuple[Writer[AvroReading], ...] = field(default=())
    unanswered: frozenset[int] = frozenset()
    asked: frozenset[int] = frozenset()

    def projections(self, carried: Sequence[str] = ()) -> tuple[tuple[Column, ...], ...]:
        """See :class:`Decoder`."""
        from pyspark.sql import functions as sf

        kept = tuple(map(sf.col, carried))
        reserved = map(sf.col, (*RESERVED_ATTRIBUTES, RECORD))
        readers = [(place, writer.reading) for place, writer in enumerate(self.writers) if writer.reading is not None]
        looked_at = (
            *map(sf.col, (name for name, _ in KAFKA_FIELDS)),
            sf.expr(self.unread_sql()).alias(_UNREAD),
            sf.expr(self._writer_sql()).alias(_WRITER),
            *kept,
        )
        # Each reader has a separate column, because readers return different types. The column is used more than once
        # above, so Spark does not inline it, and decodes a value once.
        decoded = (
            sf.struct(*RECORD_FIELDS).alias(RECORD),
            *map(sf.col, (_UNREAD, _WRITER)),
            *(self._raw(place, reading) for place, reading in readers),
            *record_columns(),
            *kept,
        )
        attributes = (
            *(sf.expr(self._value_sql(field, readers)).alias(field.name) for field in self.fields.arrow),
            *reserved,
            sf.expr(self._error_sql(readers)).alias(ERROR),
            *kept,
        )
        return looked_at, decoded, attributes

    @property
    def malformed(self) -> str:
        """See :class:`FramedDecoder`."""
        return _MALFORMED

    @property
    def own_reasons(self) -> tuple[str, ...]:
        """See :class:`FramedDecoder`."""
        return (_DAMAGED,)

    def reading(self, schema: WrittenSchema, schema_id: int, records: DataFrame) -> AvroReading:
        """See :class:`FramedDecoder`."""
        if schema.kind != "AVRO":
            raise SchemaError("schema", schema.kind, "is not of Avro")
        # An Avro schema contains its name, so only the texts of references are needed.
        references = list(dict.fromkeys(text for _, text in schema.references))
        reading = reading_of(AvroSchema.of_text(schema.text, references), self.fields, RAW, self.own)
        # Let Spark plan a query with this schema, which fails if Spark cannot use it.
        self.with_writers((Writer(frozenset([schema_id]), schema.digest(), reading),)).decode(records.limit(0))
        return reading

    def said_of(self, reading: AvroReading) -> str:
        """See :class:`FramedDecoder`."""
        unfit = [name for name, column in reading.columns.items() if column.value is None]
        missing = [name for name, column in reading.columns.items() if column == MISSING]
        suffix = f", but for columns {', '.join(unfit)}" if unfit else ""
        return f"{suffix}; it has no field for columns {', '.join(missing)}: they are NULL" if missing else suffix

    # -- what Spark computes

    def _writer_sql(self) -> str:
        if self.registry is None:
            return "CASE WHEN value IS NULL THEN -1 ELSE 0 END"
        cases = [
            f"WHEN substring(value, 1, {HEAD_BYTES}) IN ({', '.join(map(head_sql, sorted(writer.ids)))}) THEN {place}"
            for place, writer in enumerate(self.writers)
            if writer.reading is not None
        ]
        return f"CASE {' '.join(cases)} ELSE -1 END" if cases else "-1"

    def _raw(self, place: int, reading: AvroReading) -> Column:
        """Return the column that Spark reads from records of one writer. It is NULL for records of other writers."""
        from pyspark.sql import functions as sf
        from pyspark.sql.avro.functions import from_avro

        body = f"substring(value, {HEAD_BYTES + 1})" if self.registry is not None else "value"
        given = sf.expr(f"CASE WHEN {_WRITER} = {place} THEN {body} END")
        options = {"mode": "PERMISSIVE", "avroSchema": reading.reader}
        return from_avro(given, reading.writer, options).alias(f"{RAW}{place}")

    def _value_sql(self, field: pa.Field, readers: Sequence[tuple[int, AvroReading]]) -> str:
        ddl = ddl_of_type(field.type)
        cases = []
        for place, reading in readers:
            column = reading.columns[field.name]
            if column.value is not None:
                # A text that is not valid must not become a column.
                value = column.value if column.fault is None else f"IF({column.fault}, NULL, {column.value})"
                cases.append(f"WHEN {_WRITER} = {place} THEN CAST({_of_place(value, place)} AS {ddl})")
        text = f"CASE {' '.join(cases)} END" if cases else f"CAST(NULL AS {ddl})"
        # Spark must not move an expression with a lambda into the arguments of a Python function. A random condition
        # prevents this.
        return f"if(rand() + 1D > 0D, {text}, NULL)" if "->" in text else text

    def _error_sql(self, readers: Sequence[tuple[int, AvroReading]]) -> str:
        cases = []
        for place, reading in readers:
            faults = [f"WHEN {RAW}{place}.{WHOLE} IS NULL THEN {literal(_DAMAGED)}"]
            named = {field.name: reason_of_column(_MALFORMED, field).text for field in self.named}
            for name, column in reading.columns.items():
                if column.value is None:
                    faults.append(f"WHEN true THEN {literal(named.get(name, _MALFORMED))}")
                elif column.fault is not None:
                    fault = _of_place(column.fault, place)
                    faults.append(f"WHEN {fault} THEN {literal(named.get(name, _MALFORMED))}")
            cases.append(f"WHEN {_WRITER} = {place} THEN CASE {' '.join(faults)} END")
        found = f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS STRING)"
        return f"coalesce({_UNREAD}, {found})"


def _of_place(text: str, place: int) -> str:
    """Return an SQL expression in which the column name RAW is replaced by the name of one reader's column. ``place``:
    the number of the reader.
    """
    return text.replace(f"{RAW}.", f"{RAW}{place}.")
