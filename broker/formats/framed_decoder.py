"""Decoding of records that contain the id of their schema, in the framing of Confluent's serialisers."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from broker.errors import SchemaAnswerError, SchemaRegistryError
from broker.failure import one_line, root_cause
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.formats.decoder import NULL, Decoder, UnfinishedError, reason_of_column
from broker.formats.format import AS_RECORD, TOMBSTONES
from broker.formats.schema_registry import SchemaRegistry, WrittenSchema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row
    from typing_extensions import Self

LOG = logging.getLogger("asc.formats")

HEAD_BYTES = 5
"""The number of bytes of Confluent's framing: a zero byte, and four bytes with the id of the schema, the highest byte
first.
"""

_WRITERS_MAX = 64
"""The largest number of writers' schemas with which one batch is decoded. Each schema adds a reader to Spark's plan of
the batch.
"""

_ID_MAX = (1 << 31) - 1
"""The largest id that a schema registry assigns to a schema: such ids are of Java's type int."""

_ASKED_MAX = 200
"""The largest number of ids of schemas that are looked up for one batch. The lowest ids are looked up, because a schema
registry assigns ids from 1 upwards.
"""

_TIMEOUTS_A_BATCH_MAX = 6
"""The time after which one attempt to run a batch requests no further schema, as a multiple of the timeout of one
answer of the schema registry.
"""

_SHORT = f"value has fewer than the {HEAD_BYTES} bytes that name a schema"
_UNFRAMED = "value does not begin with the zero byte before a schema's id"
_UNKNOWN = "value names a schema that the registry does not have"
_UNREADABLE = "value names a schema that cannot be read"
_UNANSWERED = "value names a schema for which the registry gives no answer, though it answers other questions"

Reading = TypeVar("Reading")


@dataclass(frozen=True, slots=True)
class Writer(Generic[Reading]):
    """A schema with which records were written, the ids that identify it, and the reading of its records.

    ``reading`` is None if the schema cannot be read. Of the schema only ``digest`` is stored, because its text may be
    long.
    """

    ids: frozenset[int]
    digest: bytes
    reading: Reading | None


class FramedDecoder(Decoder, Generic[Reading]):
    """A decoder of records that contain the id of their schema, or of bare records that all have one schema. A frozen
    dataclass.

    Invariant: ``writers`` are the known schemas. Without a ``registry``, they are the one schema of all records, which
    contain no id. Each batch is scanned for unknown ids, and their schemas are fetched from the registry before
    anything of the batch is written. So no record is read with the wrong schema, and none is lost while the registry
    does not answer. Cost: an extra pass over the first five bytes of each record of a batch.
    """

    __slots__ = ()

    registry: SchemaRegistry | None
    writers: tuple[Writer[Reading], ...]
    unanswered: frozenset[int]
    """The ids of schemas that are no longer requested, because the registry gave no answer for them."""
    asked: frozenset[int]
    """The ids of schemas of the current batch for which an earlier attempt got an answer, including the answer that
    they do not exist.
    """

    @property
    @abstractmethod
    def malformed(self) -> str:
        """The text of the reason that a value does not match the stream's schema."""

    @property
    @abstractmethod
    def own_reasons(self) -> tuple[str, ...]:
        """The texts of further reasons of a reader, besides ``malformed`` and the reasons for columns."""

    @abstractmethod
    def reading(self, schema: WrittenSchema, schema_id: int, records: DataFrame) -> Reading:
        """Return the reading of a schema's records. Raise an error that explains why they cannot be read."""

    def said_of(self, reading: Reading) -> str:
        """Return the text about a reading that is added to the log."""
        return ""

    def example(self) -> bytes:
        """See :class:`Decoder`."""
        return b"\0" * HEAD_BYTES

    @property
    def reasons(self) -> tuple[DeadLetterReason, ...]:
        """See :class:`Decoder`."""
        framing = (_SHORT, _UNFRAMED, _UNKNOWN, _UNREADABLE, _UNANSWERED) if self.registry is not None else ()
        texts = map(DeadLetterReason, (NULL, *framing, *self.own_reasons, self.malformed))
        return (*texts, *(reason_of_column(self.malformed, field) for field in self.named))

    def unknown(self, records: DataFrame) -> DataFrame | None:
        """See :class:`Decoder`."""
        if self.registry is None:
            return None
        ids = frozenset().union(self.unanswered, *(writer.ids for writer in self.writers))
        known = [head_sql(schema_id) for schema_id in sorted(ids)]
        return _heads(records, f"head NOT IN ({', '.join(known)})" if known else "true")

    def knowing(self, unknown: Sequence[Row], records: DataFrame) -> Self:
        """See :class:`Decoder`.

        If there were too many schemas, forget known schemas that these records do not name.
        """
        if self.registry is None or not (unknown or self.asked):
            return self
        left = sorted(_ids(unknown) - self.unanswered - self.asked)[: _ASKED_MAX - len(self.asked)]
        writers = self._writers_with(self.registry, left, records)
        if len(writers) > _WRITERS_MAX:
            named = _ids(_heads(records, "true").distinct().collect())
            writers = tuple(writer for writer in writers if writer.ids & named)
        if len(writers) > _WRITERS_MAX:
            LOG.error("one batch names more than %d schemas: what names the others is a dead letter", _WRITERS_MAX)
        if writers is self.writers and not self.asked:
            return self
        return self._with_asked(frozenset()).with_writers(writers[:_WRITERS_MAX])

    def _writers_with(
        self, registry: SchemaRegistry, schema_ids: Sequence[int], records: DataFrame
    ) -> tuple[Writer[Reading], ...]:
        """Return the known writers' schemas (:class:`Writer`), and those that the registry delivers for ``schema_ids``.

        Raise SchemaAnswerError with all schemas for which the registry gives no answer. Raise UnfinishedError if the
        time for a batch has passed.
        """
        writers = self.writers
        failed: list[SchemaAnswerError] = []
        end_s = time.monotonic() + _TIMEOUTS_A_BATCH_MAX * registry.timeout_s
        for place, schema_id in enumerate(schema_ids):
            if place and time.monotonic() >= end_s:
                if failed:
                    break
                partial = self._with_asked(self.asked.union(schema_ids[:place])).with_writers(writers)
                detail = f"{place} of {len(schema_ids)} in {_TIMEOUTS_A_BATCH_MAX} times its timeout"
                raise UnfinishedError("schema registry", registry.urls[0], f"answers slowly: {detail}", partial)
            try:
                schema = registry.schema(schema_id)
            except SchemaAnswerError as error:
                failed.append(error)
                continue
            if schema is None:
                LOG.warning("the schema registry has no schema %d: records that name it are dead letters", schema_id)
            elif not failed:
                # Process each schema when it arrives, so that only one schema text is in memory.
                writers = self._with(writers, schema_id, schema, records)
        if failed:
            failed[0].schema_ids = tuple(schema_id for error in failed for schema_id in error.schema_ids)
            raise failed[0]
        return writers

    def without(self, schema_ids: Collection[int]) -> Self:
        """See :class:`Decoder`."""
        own: Any = self
        changed: Self = replace(own, unanswered=frozenset(schema_ids))
        return changed

    def _with_asked(self, asked: frozenset[int]) -> Self:
        own: Any = self
        changed: Self = replace(own, asked=asked)
        return changed

    def with_writers(self, writers: tuple[Writer[Reading], ...]) -> Self:
        """Return a decoder with these writers."""
        own: Any = self
        changed: Self = replace(own, writers=writers)
        return changed

    def _with(
        self, writers: tuple[Writer[Reading], ...], schema_id: int, schema: WrittenSchema, records: DataFrame
    ) -> tuple[Writer[Reading], ...]:
        digest = schema.digest()
        if all(writer.digest != digest for writer in writers):
            return (*writers, Writer(frozenset([schema_id]), digest, self._read_by(schema, schema_id, records)))
        return tuple(
            replace(writer, ids=writer.ids | {schema_id}) if writer.digest == digest else writer for writer in writers
        )

    def _read_by(self, schema: WrittenSchema, schema_id: int, records: DataFrame) -> Reading | None:
        """Return the reading of a schema's records. Return None, and write a line to the log, if they cannot be read.

        Raise SchemaRegistryError if the failure is not the schema's fault, such as a full disk.
        """
        try:
            reading = self.reading(schema, schema_id, records)
        except OSError as error:
            said = f"cannot be made out now: {one_line(error)}"
            raise SchemaRegistryError("schema", str(schema_id), said) from error
        except Exception as error:
            if not records.sparkSession._jsc.sc().isStopped():
                said = one_line(root_cause(error))[:300]
                LOG.warning("schema %d cannot be read, its records are dead letters: %s", schema_id, said)
                return None
            raise
        LOG.info("schema %d is read%s", schema_id, self.said_of(reading))
        return reading

    def unread_sql(self) -> str:
        """Return the SQL of the reason why no reader reads a record's value, for example an unknown schema id. It is
        NULL if a reader reads the value.
        """
        null = "CAST(NULL AS STRING)" if self.options.get(TOMBSTONES) == AS_RECORD else literal(NULL)
        if self.registry is None:
            return f"CASE WHEN value IS NULL THEN {null} END"
        unreadable = [head_sql(i) for writer in self.writers if writer.reading is None for i in sorted(writer.ids)]
        readable = [head_sql(i) for writer in self.writers if writer.reading is not None for i in sorted(writer.ids)]
        head = f"substring(value, 1, {HEAD_BYTES})"
        silent = ", ".join(map(head_sql, sorted(self.unanswered)))
        unanswered = f"WHEN {head} IN ({silent}) THEN {literal(_UNANSWERED)}" if silent else ""
        named = f"WHEN {head} IN ({', '.join(unreadable)}) THEN {literal(_UNREADABLE)}" if unreadable else ""
        known = f"WHEN {head} IN ({', '.join(readable)}) THEN CAST(NULL AS STRING)" if readable else ""
        return f"""CASE {known} WHEN value IS NULL THEN {null}
            WHEN octet_length(value) < {HEAD_BYTES} THEN {literal(_SHORT)}
            WHEN substring(value, 1, 1) <> X'00' THEN {literal(_UNFRAMED)}
            {named} {unanswered} ELSE {literal(_UNKNOWN)} END"""


def _heads(records: DataFrame, condition: str) -> DataFrame:
    """Return the first bytes (the framing with the schema id) of the records that meet an SQL condition. Records
    without the framing, or with an id that no registry assigns, are excluded. The result may have duplicates: the plan
    that is prepared for all batches may have no exchange.
    """
    from pyspark.sql import functions as sf

    heads = records.select(sf.expr(f"substring(value, 1, {HEAD_BYTES})").alias("head"))
    named = f"octet_length(head) = {HEAD_BYTES} AND substring(head, 1, 1) = X'00' AND head <= {head_sql(_ID_MAX)}"
    return heads.filter(f"{named} AND {condition}")


def _ids(heads: Sequence[Row]) -> set[int]:
    return {int.from_bytes(head, "big") for head in {bytes(row["head"]) for row in heads}}


def head_of(schema_id: int) -> bytes:
    """Return the bytes that precede records of a schema."""
    return schema_id.to_bytes(HEAD_BYTES, "big")


def head_sql(schema_id: int) -> str:
    """Return the bytes that precede records of a schema, as a literal of Spark SQL."""
    return f"X'{head_of(schema_id).hex()}'"


def literal(text: str) -> str:
    """Return a text as a literal of Spark SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
