"""Interface of a decoder: from the records of a source topic to attributes, which predicates may name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from asc.spark_types import ddl_of_type
from broker.errors import SchemaAnswerError, SchemaRegistryError
from broker.formats.dead_letter_reason import DeadLetterReason

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, Row

    from asc.schema import Schema

RECORD = "__asc_record"
"""Column of the source record: a struct of key, value, headers, topic, partition, offset and timestamp."""

RECORD_FIELDS = ("key", "value", "headers", "topic", "partition", "offset", "timestamp")
"""The fields of RECORD. The columns of Spark's Kafka source have the same names."""

ERROR = "__asc_error"
"""Column of the reason why a record cannot be decoded. It is NULL if the record can be decoded."""

KAFKA_FIELDS = (
    *(("key", "BINARY"), ("value", "BINARY"), ("topic", "STRING"), ("partition", "INT"), ("offset", "BIGINT")),
    *(("timestamp", "TIMESTAMP"), ("timestampType", "INT")),
    ("headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
)
"""The names and types of the columns of Spark's Kafka source with the option ``includeHeaders``."""

NULL = "value is null"
"""The reason for a record without a value."""

NAMED_COLUMNS_MAX = 200
"""The number of the last column, counted from 1, that the reason of a dead letter may name. Spark plans an expression
for each column in every batch.
"""

_TYPE_CHARS = 100
"""The largest number of characters of a column's type in the reason of a dead letter."""


class Decoder(ABC):
    """The decoder from the records of one stream to attributes. ``fields``: the fields of the schema, all nullable.
    ``options``: the options of the format. ``time_zone``: the time zone of times without a zone. Immutable.
    """

    __slots__ = ()

    fields: Schema
    options: Mapping[str, str]
    time_zone: str

    @property
    @abstractmethod
    def reasons(self) -> tuple[DeadLetterReason, ...]:
        """All distinct values that ERROR may have. Decoders that :meth:`knowing` returns have the same reasons."""

    @property
    def named(self) -> list[pa.Field]:
        """The fields that a reason may name."""
        return list(self.fields.arrow)[:NAMED_COLUMNS_MAX]

    @abstractmethod
    def projections(self, carried: Sequence[str] = ()) -> tuple[tuple[Column, ...], ...]:
        """Return the projections of :meth:`decode`, each over the result of the one before. All records of the stream
        use them.

        The columns in ``carried`` stay unchanged.
        """

    @abstractmethod
    def example(self) -> bytes:
        """Return a value that exercises the usual decoding path of a record, as far as that path is known in
        advance.
        """

    def sample(self) -> bytes:
        """Return a value that shows whether Spark can decode with the options."""
        return self.example()

    def unknown(self, records: DataFrame) -> DataFrame | None:
        """Return the rows of Kafka records that need information that this decoder lacks, such as writers' schemas.

        The rows result from projections and conditions alone. Return None if the decoder never needs more information.
        """
        return None

    def knowing(self, unknown: Sequence[Row], records: DataFrame) -> Decoder:
        """Return a decoder that has the information for the rows of :meth:`unknown`. ``records``: the records of these
        rows.

        Raise SchemaRegistryError if the information is not available now, SchemaAnswerError if that holds only for some
        schemas, and UnfinishedError if one attempt takes too long.
        """
        return self

    def without(self, schema_ids: Collection[int]) -> Decoder:
        """Return a decoder that requests none of these schemas, and may request all others again.

        Records with one of these schemas become dead letters.
        """
        return self

    def for_records(self, records: DataFrame) -> Decoder:
        """Return a decoder with all information that the records need. Raise SchemaRegistryError.

        If the registry answers, but not for some schema, the decoder does not wait for that schema.
        """
        unknown = self.unknown(records)
        if unknown is None:
            return self
        rows = unknown.collect()
        try:
            return self.knowing(rows, records)
        except SchemaAnswerError as error:
            return self.without(error.schema_ids).knowing(rows, records)

    def decode(self, records: DataFrame) -> DataFrame:
        """Return the attributes of Kafka records (``includeHeaders``) as columns, with RECORD and ERROR.

        Fields that a record lacks are NULL. ERROR has a reason, one of ``reasons``, in three cases. The record's value
        is null; the format cannot parse the value, for example because it is not UTF-8; or the value does not match the
        schema. The reason names the first faulty column. The fields are then NULL or partly read, and must not be used.
        """
        for columns in self.projections():
            records = records.select(*columns)
        return records

    def reason_number(self) -> Column:
        """Return the column of the position of ERROR in ``reasons``, counted from 1. It is 0 if the record was
        decoded.
        """
        from pyspark.sql import functions as sf

        texts = sf.array(*(sf.lit(reason.text) for reason in self.reasons))
        return sf.when(sf.col(ERROR).isNull(), 0).otherwise(sf.array_position(texts, sf.col(ERROR))).cast("smallint")


class UnfinishedError(SchemaRegistryError):
    """An error: the schema registry did not deliver all schemas of a batch within the time of one attempt. ``decoder``
    has the delivered schemas.
    """

    def __init__(self, subject: str, value: object, remedy: str, decoder: Decoder | None = None) -> None:
        super().__init__(subject, value, remedy)
        self.decoder = decoder


def reason_of_column(malformed: str, field: pa.Field) -> DeadLetterReason:
    """Return the reason for a malformed value, in the words of ``malformed``: it has no value of the field's type."""
    text = f"{malformed}: column {field.name!r} holds no {ddl_of_type(field.type)[:_TYPE_CHARS]}"
    return DeadLetterReason(text, malformed, field.name)


def as_records(rows: DataFrame, **fields: Column) -> DataFrame:
    """Return rows in the form of Kafka records, with the columns KAFKA_FIELDS. ``fields``: some of these columns by
    name; each is cast to its type. All other columns are NULL.
    """
    from pyspark.sql import functions as sf

    return rows.select(*(fields.get(name, sf.lit(None)).cast(kind).alias(name) for name, kind in KAFKA_FIELDS))
