"""The operator ``route``: it writes an unchanged record to each topic, with headers that name the accepting queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker.formats.decoder import ERROR, RECORD
from broker.matching.matches_text import AFTER_SHAPES, AFTER_TOPIC, BETWEEN_IDS
from broker.operators.headers import HEADER_ERROR, HEADER_QUERY, HEADER_SHAPE, HEADER_SOURCE, HEADER_TIMESTAMP
from broker.operators.operator import Operator

if TYPE_CHECKING:
    from pyspark.sql import Column

SOURCE = f"concat({RECORD}.topic, '-', {RECORD}.partition, '-', {RECORD}.offset)"
"""The identity of a source record (``topic-partition-offset``), as SQL."""

TIMESTAMP = f"CAST(unix_millis({RECORD}.timestamp) AS STRING)"
"""The timestamp of a source record in milliseconds, as SQL."""

_NO_HEADERS = "CAST(array() AS ARRAY<STRUCT<key: STRING, value: BINARY>>)"
# An upper estimate. The header ids of queries and shapes are at most as long as the target without its topic. The names
# of asc's headers have at most 10 bytes, except that of the timestamp, which the constant covers. Headers are joined as
# texts, because Spark does not compile a lambda together with the code around it.
_BYTES = f"""180L + coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)
    + 20L * size(headers) - 10L * greatest(size({RECORD}.headers), 0)
    + octet_length(target) - octet_length(topic) + coalesce(octet_length({ERROR}), 0) + octet_length(source)
    + CASE WHEN size({RECORD}.headers) > 0 THEN octet_length(array_join({RECORD}.headers.key, ''))
        + octet_length(array_join(CAST({RECORD}.headers.value AS ARRAY<STRING>), '')) ELSE 0 END"""
# At least the size that Kafka's producer estimates and compares with its own limit.


class Routing(Operator):
    """The operator ``route``: it writes each record unchanged to each topic.

    Key and value are byte for byte those of the source record. The headers of the source record come first. Then follow
    ``asc-shape`` for each shape of a join that accepts the record, ``asc-query`` for each query, ``asc-source`` and
    ``asc-timestamp``, because Spark's sink has no column for a record's time. The operator takes each target that no
    other operator takes, including dead letters.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        return ()

    def targets(self, deliveries: Column) -> Column:
        return deliveries

    def takes(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.lit(True)

    def topic(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.substring_index("target", AFTER_TOPIC, 1)

    def partition(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.lit(None).cast("int")

    def key(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.col(f"{RECORD}.key")

    def value(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.col(f"{RECORD}.value")

    def headers(self) -> Column:
        from pyspark.sql import functions as sf

        own = f"substring_index(target, '{AFTER_TOPIC}', -1)"
        of_queries = _zipped(HEADER_QUERY, f"substring_index({own}, '{AFTER_SHAPES}', -1)")
        of_shapes = _zipped(HEADER_SHAPE, f"substring_index({own}, '{AFTER_SHAPES}', 1)")
        return sf.expr(
            f"""concat(coalesce({RECORD}.headers, {_NO_HEADERS}),
                       CASE WHEN {ERROR} IS NULL AND instr(target, '{AFTER_SHAPES}') > 0 THEN {of_shapes}
                            ELSE {_NO_HEADERS} END,
                       CASE WHEN {ERROR} IS NULL THEN {of_queries}
                            ELSE array(struct('{HEADER_ERROR}' AS key, CAST({ERROR} AS BINARY) AS value)) END,
                       array(struct('{HEADER_SOURCE}' AS key, CAST({SOURCE} AS BINARY) AS value),
                             struct('{HEADER_TIMESTAMP}' AS key, CAST({TIMESTAMP} AS BINARY) AS value)))"""
        )

    def size(self) -> Column:
        from pyspark.sql import functions as sf

        return sf.expr(_BYTES)


def _zipped(name: str, texts: str) -> str:
    """Return SQL for headers that all have the name ``name``: one header for each of the texts that BETWEEN_IDS
    separates.
    """
    values = f"split({texts}, '{BETWEEN_IDS}')"
    zipped = f"arrays_zip(array_repeat('{name}', size({values})), CAST({values} AS ARRAY<BINARY>))"
    return f"CAST({zipped} AS ARRAY<STRUCT<key: STRING, value: BINARY>>)"
