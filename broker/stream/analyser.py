"""What only Spark can judge: whether it evaluates an expression over a stream's attributes, and to which type."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from asc.keys.attribute import PAttribute
from broker.config.config import StreamConfig
from broker.config.sections import ConfigError
from broker.failure import one_line, root_cause
from broker.formats.decode import ERROR, KAFKA_FIELDS, as_records, decode
from broker.formats.options import DATE_PATTERNS
from broker.matching.expressions import analyse
from broker.queries.query import QueryError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KAFKA_DDL = ", ".join(f"{name} {kind}" for name, kind in KAFKA_FIELDS)


class StreamAnalyser:
    """The attributes of one stream as an empty DataFrame: expressions are tried on it before they reach the job.

    An expression that passed once passes again without Spark. Thread-safe.
    """

    def __init__(self, spark: SparkSession, stream: StreamConfig, time_zone: str) -> None:
        self._spark = spark
        self._stream = stream
        self._time_zone = time_zone
        self._lock = threading.Lock()
        self._accepted: set[PAttribute] = set()
        self._empty: DataFrame | None = None

    def check_decoding(self) -> None:
        """ConfigError where Spark cannot decode with the stream's options, found on a sample record."""
        from pyspark.sql import functions as sf

        stream = self._stream
        self._check_patterns()
        names = [field.name for field in stream.fields().arrow]
        separator = stream.options.get("sep", stream.options.get("delimiter", ","))
        sample = (
            json.dumps(dict.fromkeys(names, "1")) if stream.format == "json" else separator.join("1" for _ in names)
        )
        rows = self._spark.range(1, numPartitions=1)
        row = as_records(rows, value=sf.concat(sf.lit(sample), sf.col("id").cast("string")))
        try:
            decode(row, stream, self._time_zone).collect()
        except Exception as error:
            remedy = f"Spark cannot decode with them: {one_line(root_cause(error))}"
            raise ConfigError(f"options of stream with topic {stream.topic}", dict(stream.options), remedy) from error

    def _check_patterns(self) -> None:
        # A pattern that is none makes no error in a decoder: every record would be a dead letter.
        from pyspark.sql import functions as sf

        for option, reader in DATE_PATTERNS.items():
            pattern = self._stream.options.get(option)
            if pattern is None:
                continue
            try:
                read = sf.call_function(reader, sf.col("id").cast("string"), sf.lit(pattern))
                self._spark.range(1, numPartitions=1).select(read).collect()
            except Exception as error:
                remedy = f"is no pattern that Spark reads by: {one_line(root_cause(error), 2_000)}"
                # What follows is advice on a setting of Spark's, not on the pattern.
                remedy = remedy.partition(": [INCONSISTENT_BEHAVIOR")[0].partition(" You can form")[0]
                raise ConfigError(
                    f"options.{option} of stream with topic {self._stream.topic}", pattern, remedy
                ) from error

    def refusals(self, attributes: Iterable[PAttribute]) -> dict[PAttribute, QueryError]:
        """The expressions among these p-attributes that Spark refuses, each with the reason in one line."""
        with self._lock:
            unknown = [
                attribute
                for attribute in dict.fromkeys(attributes)
                if attribute.path is None and attribute not in self._accepted
            ]
            if not unknown:
                return {}
            if self._empty is None:
                self._empty = decode(self._spark.createDataFrame([], _KAFKA_DDL), self._stream, self._time_zone)
            found = analyse(self._empty, unknown, plan=True)
            self._accepted.update(found.nullable)
            return {a: QueryError("expression", a.sql, reason) for a, reason in found.refusals.items()}

    def tuple_values(self, value: bytes, attributes: Iterable[PAttribute]) -> list[Any]:
        """The values (pyarrow scalars) of p-attributes for a tuple given as a JSON object; QueryError if it is none."""
        from pyspark.sql import functions as sf

        rows = [(None, bytearray(value), self._stream.topic, 0, 0, None, 0, None)]
        attributes = list(attributes)
        as_json = self._stream.model_copy(update={"format": "json", "options": {}})
        frame = decode(self._spark.createDataFrame(rows, _KAFKA_DDL), as_json, self._time_zone)
        columns = [sf.expr(attribute.sql).alias(f"a{slot}") for slot, attribute in enumerate(attributes)]
        table = frame.select(sf.col(ERROR), *columns).toArrow()
        reason = table.column(0)[0].as_py()
        if reason is not None:
            raise QueryError("tuple", value.decode("utf-8", "replace")[:200], f"the {reason}")
        return [table.column(slot + 1)[0].cast(attribute.type) for slot, attribute in enumerate(attributes)]
