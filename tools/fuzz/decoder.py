"""Fuzzing of the record decoder. The decoder must return for each record either its attributes or a reason for a dead
letter, and no batch may fail.
"""

from __future__ import annotations

import json
import random
from itertools import accumulate
from typing import TYPE_CHECKING

from broker.config.streams import StreamConfig
from broker.formats.dead_letter_reason import DeadLetterReason
from broker.formats.decoder import ERROR, Decoder, as_records
from tools.fuzz.record_values import batch_of
from tools.fuzz.spark_target import SparkTarget, reason_fault
from tools.fuzz.target import Violation
from tools.fuzz.trials import one_line

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_ALL_TYPES = (
    "flag BOOLEAN, tiny TINYINT, small SMALLINT, n INT, big BIGINT, f FLOAT, d DOUBLE, price DECIMAL(10,2), "
    "wide DECIMAL(38,10), s STRING, raw BINARY, day DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ"
)
_NESTED = (
    "nested STRUCT<x: INT, a: STRUCT<b: DOUBLE>>, tags ARRAY<STRING>, labels MAP<STRING, INT>, "
    "rows ARRAY<STRUCT<a: DATE>>"
)
_LAX = ("allowComments", "allowUnquotedFieldNames", "allowSingleQuotes", "allowNumericLeadingZeros")
_LAXER = ("allowNonNumericNumbers", "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars")
STREAMS = {
    "json": StreamConfig(topic="t", format="json", schema=f"{_ALL_TYPES}, {_NESTED}"),
    "lax json": StreamConfig(
        topic="t", format="json", schema=f"{_ALL_TYPES}, {_NESTED}", options=dict.fromkeys((*_LAX, *_LAXER), "true")
    ),
    "json of texts": StreamConfig(
        topic="t", format="json", schema="s STRING, tags ARRAY<STRING>, n INT", options={"primitivesAsString": "true"}
    ),
    "csv": StreamConfig(topic="t", format="csv", schema=_ALL_TYPES),
    "csv of bars": StreamConfig(
        topic="t",
        format="csv",
        schema="n INT, price DECIMAL(10,2), s STRING, ts TIMESTAMP",
        options={
            "sep": "|",
            "maxColumns": "5",
            "nullValue": "-",
            "comment": "#",
            "timestampFormat": "yyyy-MM-dd HH:mm:ss",
        },
    ),
}
"""The streams by name: every column type, both formats, and options that make a parser more lenient."""

_BATCH = 400
_BATCH_BYTES = 1_300_000
"""The most bytes of all values of a batch. The largest single value has fewer, and the journal can store six times as
many.
"""


class DecoderTarget(SparkTarget):
    """Target whose inputs are batches: JSON objects with the name of a stream in STREAMS, and values.

    A null value is a tombstone. A text represents bytes, one byte per character. Invariant of each batch: it is decoded
    as a whole. Each record has either no error, or one of the reasons for dead letters that the decoder declares, with
    the number of the reason. A value that is not UTF-8 is never decoded.
    """

    name = "decoder"
    kinds = STREAMS
    input_s = 60.0

    def __init__(self, spark: SparkSession | None = None) -> None:
        """See :class:`SparkTarget`."""
        super().__init__(spark)
        self._decoders = {name: _decoder(stream) for name, stream in STREAMS.items()}

    def batch(self, kind: str, rng: random.Random) -> bytes:
        """See :class:`SparkTarget`."""
        stream = STREAMS[kind]
        columns = stream.fields().arrow.names
        values = batch_of(rng, stream.format, columns, str(stream.options.get("sep", ",")), _BATCH)
        size_bytes = accumulate(len(value or b"") for value in values)
        return _encoded(kind, [value for value, size in zip(values, size_bytes, strict=True) if size <= _BATCH_BYTES])

    def check(self, given: bytes) -> None:
        """See :class:`Target`."""
        plain = json.loads(given)
        values = [None if text is None else text.encode("latin-1") for text in plain["values"]]
        decoder = self._decoders[plain["stream"]]
        try:
            self._check(decoder, values)
        except Exception as error:
            fewer = self._fewest(decoder, values)
            raise Violation(f"{plain['stream']}: {one_line(error)}", _encoded(plain["stream"], fewer)) from error

    def _check(self, decoder: Decoder, values: list[bytes | None]) -> None:
        found = sorted(self._decoded(decoder, values).to_pylist(), key=lambda row: int(row["_offset"]))
        if [row["_offset"] for row in found] != list(range(len(values))):
            raise Violation(f"{len(values)} records became {len(found)}")
        for value, row in zip(values, found, strict=True):
            fault = fault_of(value, row[ERROR], row["number"], decoder.reasons)
            if fault is not None:
                raise Violation(f"a value of {len(value or b'')} bytes: {fault}")

    def _decoded(self, decoder: Decoder, values: list[bytes | None]) -> pa.Table:
        from pyspark.sql import functions as sf

        rows = self._spark.createDataFrame(list(enumerate(values)), "place BIGINT, value BINARY").coalesce(1)
        records: DataFrame = as_records(rows, value=sf.col("value"), offset=sf.col("place"))
        decoded = decoder.decode(records)
        # Read each attribute, as a predicate would, but transfer only one number.
        fields = sf.hash(*(sf.col(f"`{field.name}`").cast("string") for field in decoder.fields.arrow))
        return decoded.select(
            "_offset", ERROR, decoder.reason_number().alias("number"), fields.alias("fields")
        ).toArrow()

    def _fewest(self, decoder: Decoder, values: list[bytes | None]) -> list[bytes | None]:
        """Return a subset of the values that still violates the invariant. Find it by halving the values repeatedly."""
        while len(values) > 1:
            middle = len(values) // 2
            for half in (values[:middle], values[middle:]):
                try:
                    self._check(decoder, half)
                except Exception:
                    values = half
                    break
            else:
                return values
        return values


def fault_of(value: bytes | None, error: str | None, number: int, reasons: tuple[DeadLetterReason, ...]) -> str | None:
    """Return the fault in the result of decoding a record. Return None if there is no fault."""
    texts = [reason.text for reason in reasons]
    fault = reason_fault(error, number, texts)
    if fault is None and error is None and (value is None or not _is_utf8(value)):
        return "is decoded, and is no text"
    return fault


def _encoded(name: str, values: list[bytes | None]) -> bytes:
    texts = [None if value is None else value.decode("latin-1") for value in values]
    return json.dumps({"stream": name, "values": texts}).encode()


def _decoder(stream: StreamConfig) -> Decoder:
    return stream.decoder(stream.fields(), "UTC")


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True
