"""From the records of a source topic to attributes, in the JVM: what a predicate may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from broker.formats import RECORD_FORMATS
from broker.formats.record_attributes import record_columns
from broker.formats.record_format import RecordFormat

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from asc.schema import Schema

RECORD = "__asc_record"
"""Column of the record as it came: struct of key, value, headers, topic, partition, offset."""

ERROR = "__asc_error"
"""Column of the reason why a record cannot be decoded; NULL where it can."""

KAFKA_FIELDS = (
    *(("key", "BINARY"), ("value", "BINARY"), ("topic", "STRING"), ("partition", "INT"), ("offset", "BIGINT")),
    *(("timestamp", "TIMESTAMP"), ("timestampType", "INT")),
    ("headers", "ARRAY<STRUCT<key: STRING, value: BINARY>>"),
)
"""The columns of Spark's Kafka source, ``includeHeaders``: name and type."""

_DECODED = "__asc_decoded"
_CORRUPT = "__asc_corrupt"
_UNPARSED = "__asc_unparsed"


@dataclass(frozen=True, slots=True)
class RecordDecoder:
    """How the records of one stream become attributes: its format, the fields of its schema (all of them nullable),
    the options of Spark's parser, and the time zone that times without one are in.
    """

    record_format: RecordFormat
    fields: Schema
    options: Mapping[str, str]
    time_zone: str

    def of_json(self) -> RecordDecoder:
        """The same fields read from JSON objects."""
        return replace(self, record_format=RECORD_FORMATS["json"], options={})

    def decode(self, records: DataFrame) -> DataFrame:
        """The attributes of Kafka records (``includeHeaders``), as columns, with RECORD and ERROR beside them.

        Fields that a record lacks are NULL. A value that is null, not given to the parser by its format (empty, not
        UTF-8) or not of the schema has a reason in ERROR; its fields are then NULL or hold what could be read, and mean
        nothing.
        """
        from pyspark.sql import functions as sf

        value = sf.col("value")
        own = self.record_format.unparsed(value, self.fields, self.options)
        unparsed = sf.when(value.isNull(), "value is null").otherwise(own)
        options = {
            "timeZone": self.time_zone,
            **self.options,
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": _CORRUPT,
        }
        ddl = f"{self.fields.ddl()}, {_CORRUPT} STRING"
        parsed = self.record_format.parsed(sf.when(unparsed.isNull(), value), ddl, options)
        decoded = records.select(
            sf.struct("key", "value", "headers", "topic", "partition", "offset").alias(RECORD),
            unparsed.alias(_UNPARSED),
            parsed.alias(_DECODED),
            *record_columns(),
        )
        names = [field.name for field in self.fields.arrow]
        # The attributes are read from a projection of their own, so that a value is parsed once, not once a field.
        return decoded.select(
            *(decoded[_DECODED].getField(name).alias(name) for name in names),
            *("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers", RECORD),
            self._reason().alias(ERROR),
        )

    def _reason(self) -> Column:
        from pyspark.sql import functions as sf

        malformed = f"value is not a {self.record_format.name.upper()} record of the stream's schema"
        return sf.expr(
            f"""coalesce({_UNPARSED},
                         CASE WHEN {_DECODED} IS NULL OR {_DECODED}.{_CORRUPT} IS NOT NULL THEN "{malformed}" END)"""
        )


def as_records(rows: DataFrame, **fields: Column) -> DataFrame:
    """Rows as Kafka records with those fields (KAFKA_FIELDS), cast to their types; the others are NULL."""
    from pyspark.sql import functions as sf

    return rows.select(*(fields.get(name, sf.lit(None)).cast(kind).alias(name) for name, kind in KAFKA_FIELDS))
