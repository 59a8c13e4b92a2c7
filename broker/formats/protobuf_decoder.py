"""Decoding of Protobuf records to attributes in Spark's workers: each record is read with the schema of its writer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from asc.errors import SchemaError
from asc.spark_types import ddl_of_type
from broker.formats.decoder import ERROR, KAFKA_FIELDS, RECORD, RECORD_FIELDS, reason_of_column
from broker.formats.framed_decoder import HEAD_BYTES, FramedDecoder, Writer, head_of
from broker.formats.protobuf_reading import RecordsReader
from broker.formats.protobuf_schema import ProtobufSchema
from broker.formats.record_attributes import RESERVED_ATTRIBUTES, record_columns
from broker.formats.schema_registry import SchemaRegistry, WrittenSchema
from broker.interpreter import own_interpreter

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from asc.schema import Schema

_UNREAD, _READ, _FOUND = "__asc_unparsed", "__asc_read", "__asc_found"
_MALFORMED = "value is not a PROTOBUF record of the stream's schema"
_DAMAGED = f"{_MALFORMED}: its bytes are damaged, or of another schema"
_NO_MESSAGE = "value names a message that its schema does not have"


@dataclass(frozen=True, slots=True)
class ProtobufDecoder(FramedDecoder[bytes]):
    """A decoder of Protobuf messages, bare or in the framing of Confluent's serialisers.

    The reading (see :class:`Writer`) of a writer's schema is the FileDescriptorSet of the schema. Cost: each value is
    transferred to a Python worker, where Protobuf's parser, written in C, reads it, and the columns are transferred
    back. Rejected: Spark's from_protobuf. Its package does not exist for all versions that asc supports, and it yields
    NULL for values that are 0 or empty.
    """

    fields: Schema
    options: Mapping[str, str]
    time_zone: str
    registry: SchemaRegistry | None = None
    writers: tuple[Writer[bytes], ...] = field(default=())
    unanswered: frozenset[int] = frozenset()
    asked: frozenset[int] = frozenset()

    @property
    def malformed(self) -> str:
        """See :class:`FramedDecoder`."""
        return _MALFORMED

    @property
    def own_reasons(self) -> tuple[str, ...]:
        """See :class:`FramedDecoder`."""
        return (_DAMAGED, _NO_MESSAGE)

    def reading(self, schema: WrittenSchema, schema_id: int, records: DataFrame) -> bytes:
        """See :class:`FramedDecoder`."""
        if schema.kind != "PROTOBUF":
            raise SchemaError("schema", schema.kind, "is not of Protobuf")
        return ProtobufSchema.of_text(schema.text, schema.references).descriptors

    def projections(self, carried: Sequence[str] = ()) -> tuple[tuple[Column, ...], ...]:
        """See :class:`Decoder`."""
        from pyspark.sql import functions as sf

        kept = tuple(map(sf.col, carried))
        looked_at = (
            *map(sf.col, (name for name, _ in KAFKA_FIELDS)),
            sf.expr(self.unread_sql()).alias(_UNREAD),
            *kept,
        )
        read = (
            *map(sf.col, (name for name, _ in KAFKA_FIELDS)),
            sf.col(_UNREAD),
            self._read(sf.expr(f"CASE WHEN {_UNREAD} IS NULL THEN value END")).alias(_READ),
            *kept,
        )
        decoded = (
            sf.struct(*RECORD_FIELDS).alias(RECORD),
            *map(sf.col, (_UNREAD, _READ)),
            *record_columns(),
            *kept,
        )
        own = map(sf.col, (*RESERVED_ATTRIBUTES, RECORD))
        attributes = (
            *(sf.col(_READ).getField(f"c{place}").alias(f.name) for place, f in enumerate(self.fields.arrow)),
            *own,
            sf.coalesce(sf.col(_UNREAD), self._fault()).alias(ERROR),
            *kept,
        )
        return looked_at, read, decoded, attributes

    def _read(self, value: Column) -> Column:
        """Return the column with the worker's result for a value."""
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as sf

        readers = [(writer.ids, writer.reading) for writer in self.writers if writer.reading is not None]
        if self.registry is None:
            schemas, size = {b"": readers[0][1]}, 0
        else:
            schemas, size = {head_of(i): reading for ids, reading in readers for i in sorted(ids)}, HEAD_BYTES
        columns = (f"c{place}: {ddl_of_type(f.type)}" for place, f in enumerate(self.fields.arrow))
        result = f"STRUCT<{_FOUND}: INT, {', '.join(columns)}>"
        reader = RecordsReader(schemas, self.fields.arrow, size, self.options.get("message"))
        session = SparkSession.active()
        with own_interpreter(session.sparkContext):
            function = sf.udf(reader, result).asNondeterministic()
            column: Column = function(value)
            return column

    def _fault(self) -> Column:
        from pyspark.sql import functions as sf

        named = [reason_of_column(_MALFORMED, f).text for f in self.named]
        texts = sf.array(*map(sf.lit, (_DAMAGED, _NO_MESSAGE, *named)))
        found = sf.col(_READ).getField(_FOUND)
        return sf.when(found > 0, sf.coalesce(sf.get(texts, found - 1), sf.lit(_MALFORMED)))
