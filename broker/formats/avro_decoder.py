"""From Avro records to attributes, in the JVM: each record by the schema that it was written with."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from asc.errors import SchemaError
from asc.spark_types import ddl_of_type
from broker.failure import one_line, root_cause
from broker.formats.avro_reading import WHOLE, AvroReading, reading_of
from broker.formats.avro_schema import AvroSchema
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
from broker.formats.record_attributes import record_columns
from broker.formats.schema_registry import SchemaRegistry, WrittenSchema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Row

    from asc.schema import Schema

LOG = logging.getLogger("asc.formats")

HEAD_BYTES = 5
"""Of Confluent's framing: a zero byte and the schema's id, the highest byte first."""

_WRITERS_MAX = 64
"""Schemas that records are read by at a time: each is a reader in the plan of a batch."""

_ASKED_MAX = 200
"""Ids that are looked up for one batch: the lowest ones, for a registry counts them up from 1."""

_UNREAD, _WRITER = "__asc_unparsed", "__asc_writer"

RAW = "__asc_raw"
"""Column of what a reader reads, with its number behind."""

_MALFORMED = "value is not an AVRO record of the stream's schema"
_DAMAGED = f"{_MALFORMED}: its bytes are damaged, or of another schema"
_SHORT = f"value has fewer than the {HEAD_BYTES} bytes that name a schema"
_UNFRAMED = "value does not begin with the zero byte before a schema's id"
_UNKNOWN = "value names a schema that the registry does not have"
_UNREADABLE = "value names a schema that cannot be read"


@dataclass(frozen=True, slots=True)
class AvroWriter:
    """A schema by which records were written, under the ids that stand for it, and how its records are read.

    ``reading`` is None of a schema that cannot be read.
    """

    ids: frozenset[int]
    schema: WrittenSchema
    reading: AvroReading | None


@dataclass(frozen=True, slots=True)
class AvroDecoder(Decoder):
    """A decoder of Avro records, framed as Confluent's serialisers do it, or bare.

    Invariant: ``writers`` are those that are known; where there is no ``registry``, the one that wrote all records,
    which bear no id. Each batch is looked through for ids that are not known, and those are asked of the registry
    before anything of the batch is written: so no record is read by a schema that is not its own, and none is lost
    while the registry does not answer. Cost: a look at five bytes a record; a reader of Avro's in the plan for each
    writer.
    """

    fields: Schema
    options: Mapping[str, str]
    time_zone: str
    registry: SchemaRegistry | None = None
    own: AvroSchema | None = None
    writers: tuple[AvroWriter, ...] = field(default=())

    def example(self) -> bytes:
        """See :class:`Decoder`."""
        return b"\0" * HEAD_BYTES

    @property
    def reasons(self) -> tuple[DeadLetterReason, ...]:
        """See :class:`Decoder`."""
        framing = (_SHORT, _UNFRAMED, _UNKNOWN, _UNREADABLE) if self.registry is not None else ()
        texts = map(DeadLetterReason, (NULL, *framing, _DAMAGED, _MALFORMED))
        return (*texts, *(reason_of_column(_MALFORMED, field) for field in self._named))

    def projections(self, carried: Sequence[str] = ()) -> tuple[tuple[Column, ...], ...]:
        """See :class:`Decoder`."""
        from pyspark.sql import functions as sf

        kept = tuple(map(sf.col, carried))
        own = map(sf.col, ("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers", RECORD))
        readers = [(place, writer.reading) for place, writer in enumerate(self.writers) if writer.reading is not None]
        looked_at = (
            *map(sf.col, (name for name, _ in KAFKA_FIELDS)),
            sf.expr(self._unread_sql()).alias(_UNREAD),
            sf.expr(self._writer_sql()).alias(_WRITER),
            *kept,
        )
        # Each reader has a column of its own, for what they give differs; it is used twice and more above, so that
        # Spark leaves it where it is, and a value is read once.
        decoded = (
            sf.struct(*RECORD_FIELDS).alias(RECORD),
            *map(sf.col, (_UNREAD, _WRITER)),
            *(self._raw(place, reading) for place, reading in readers),
            *record_columns(),
            *kept,
        )
        attributes = (
            *(sf.expr(self._value_sql(field, readers)).alias(field.name) for field in self.fields.arrow),
            *own,
            sf.expr(self._error_sql(readers)).alias(ERROR),
            *kept,
        )
        return looked_at, decoded, attributes

    def unknown(self, records: DataFrame) -> DataFrame | None:
        """See :class:`Decoder`."""
        if self.registry is None:
            return None
        known = [_head(schema_id) for writer in self.writers for schema_id in sorted(writer.ids)]
        return _heads(records, f"head NOT IN ({', '.join(known)})" if known else "true")

    def knowing(self, unknown: Sequence[Row], records: DataFrame) -> AvroDecoder:
        """See :class:`Decoder`.

        Where that would be too many schemas, those known before are forgotten that the records do not name.
        """
        if self.registry is None or not unknown:
            return self
        found = {}
        for schema_id in sorted(_ids(unknown))[:_ASKED_MAX]:
            schema = self.registry.schema(schema_id)
            if schema is None:
                LOG.warning("the schema registry has no schema %d: records that name it are dead letters", schema_id)
            else:
                found[schema_id] = schema
        if not found:
            return self
        known = self.writers
        if len(known) + len(found) > _WRITERS_MAX:
            named = _ids(_heads(records, "true").distinct().collect())
            known = tuple(writer for writer in known if writer.ids & named)
        writers = self._added(records, known, found)
        if len(writers) > _WRITERS_MAX:
            LOG.error("one batch names more than %d schemas: what names the others is a dead letter", _WRITERS_MAX)
        return replace(self, writers=writers[:_WRITERS_MAX])

    def _added(
        self, records: DataFrame, known: Sequence[AvroWriter], found: Mapping[int, WrittenSchema]
    ) -> tuple[AvroWriter, ...]:
        writers = list(known)
        for schema_id, schema in found.items():
            same = next((place for place, writer in enumerate(writers) if writer.schema == schema), None)
            if same is not None:
                writers[same] = replace(writers[same], ids=writers[same].ids | {schema_id})
                continue
            reading = self._read_by(schema, schema_id, records)
            writers.append(AvroWriter(frozenset([schema_id]), schema, reading))
        return tuple(writers)

    def _read_by(self, schema: WrittenSchema, schema_id: int, records: DataFrame) -> AvroReading | None:
        """How records of a schema are read; None, and a line in the log, where Spark does not read by it."""
        try:
            if schema.kind != "AVRO":
                raise SchemaError("schema", schema.kind, "is not of Avro")
            reading = reading_of(AvroSchema.of_text(schema.text, schema.references), self.fields, RAW, self.own)
            alone = replace(self, writers=(AvroWriter(frozenset([schema_id]), schema, reading),))
            alone.decode(records.limit(0))
        except Exception as error:
            if not records.sparkSession._jsc.sc().isStopped():
                said = one_line(root_cause(error))[:300]
                LOG.warning("schema %d cannot be read, its records are dead letters: %s", schema_id, said)
                return None
            raise
        unfit = [name for name, column in reading.columns.items() if column.value is None]
        LOG.info("schema %d is read%s", schema_id, f", but for columns {', '.join(unfit)}" if unfit else "")
        return reading

    # -- what Spark computes

    def _unread_sql(self) -> str:
        null = "CAST(NULL AS STRING)" if self.options.get(TOMBSTONES) == AS_RECORD else _literal(NULL)
        if self.registry is None:
            return f"CASE WHEN value IS NULL THEN {null} END"
        unreadable = [_head(i) for writer in self.writers if writer.reading is None for i in sorted(writer.ids)]
        readable = [_head(i) for writer in self.writers if writer.reading is not None for i in sorted(writer.ids)]
        head = f"substring(value, 1, {HEAD_BYTES})"
        named = f"WHEN {head} IN ({', '.join(unreadable)}) THEN {_literal(_UNREADABLE)}" if unreadable else ""
        known = f"WHEN {head} IN ({', '.join(readable)}) THEN CAST(NULL AS STRING)" if readable else ""
        return f"""CASE {known} WHEN value IS NULL THEN {null}
            WHEN octet_length(value) < {HEAD_BYTES} THEN {_literal(_SHORT)}
            WHEN substring(value, 1, 1) <> X'00' THEN {_literal(_UNFRAMED)} {named} ELSE {_literal(_UNKNOWN)} END"""

    def _writer_sql(self) -> str:
        if self.registry is None:
            return "CASE WHEN value IS NULL THEN -1 ELSE 0 END"
        cases = [
            f"WHEN substring(value, 1, {HEAD_BYTES}) IN ({', '.join(map(_head, sorted(writer.ids)))}) THEN {place}"
            for place, writer in enumerate(self.writers)
            if writer.reading is not None
        ]
        return f"CASE {' '.join(cases)} ELSE -1 END" if cases else "-1"

    def _raw(self, place: int, reading: AvroReading) -> Column:
        """What Spark reads of a record of one writer; NULL of all others."""
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
                # Text that is none is in no column, whoever looks at it.
                value = column.value if column.fault is None else f"IF({column.fault}, NULL, {column.value})"
                cases.append(f"WHEN {_WRITER} = {place} THEN CAST({_of_place(value, place)} AS {ddl})")
        text = f"CASE {' '.join(cases)} END" if cases else f"CAST(NULL AS {ddl})"
        # What has a lambda is held apart from the arguments of Python by a condition that hangs on chance.
        return f"if(rand() + 1D > 0D, {text}, NULL)" if "->" in text else text

    def _error_sql(self, readers: Sequence[tuple[int, AvroReading]]) -> str:
        cases = []
        for place, reading in readers:
            faults = [f"WHEN {RAW}{place}.{WHOLE} IS NULL THEN {_literal(_DAMAGED)}"]
            named = {field.name: reason_of_column(_MALFORMED, field).text for field in self._named}
            for name, column in reading.columns.items():
                if column.value is None:
                    faults.append(f"WHEN true THEN {_literal(named.get(name, _MALFORMED))}")
                elif column.fault is not None:
                    fault = _of_place(column.fault, place)
                    faults.append(f"WHEN {fault} THEN {_literal(named.get(name, _MALFORMED))}")
            cases.append(f"WHEN {_WRITER} = {place} THEN CASE {' '.join(faults)} END")
        found = f"CASE {' '.join(cases)} END" if cases else "CAST(NULL AS STRING)"
        return f"coalesce({_UNREAD}, {found})"

    @property
    def _named(self) -> list[pa.Field]:
        return list(self.fields.arrow)[:NAMED_COLUMNS_MAX]


def _heads(records: DataFrame, condition: str) -> DataFrame:
    """The first bytes of those records that name a schema, and whose heads meet a condition."""
    from pyspark.sql import functions as sf

    heads = records.select(sf.expr(f"substring(value, 1, {HEAD_BYTES})").alias("head"))
    return heads.filter(f"octet_length(head) = {HEAD_BYTES} AND substring(head, 1, 1) = X'00' AND {condition}")


def _ids(heads: Sequence[Row]) -> set[int]:
    return {int.from_bytes(head, "big") for head in {bytes(row["head"]) for row in heads}}


def _of_place(text: str, place: int) -> str:
    """An expression over the record that is read, over that of one reader."""
    return text.replace(f"{RAW}.", f"{RAW}{place}.")


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _head(schema_id: int) -> str:
    return f"X'{schema_id.to_bytes(HEAD_BYTES, 'big').hex()}'"
