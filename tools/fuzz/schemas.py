"""Fuzzing of schemas of a schema registry, with records. The broker must accept or refuse each schema, and must decode
each record or return a reason for a dead letter.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from asc.errors import SchemaError
from broker.config.streams import StreamConfig
from broker.formats.avro_schema import AvroSchema
from broker.formats.decoder import ERROR, Decoder, as_records
from broker.formats.framed_decoder import head_of
from broker.formats.schema_registry import SchemaRegistry, WrittenSchema
from tools.fuzz.schema_texts import DDL, written_of
from tools.fuzz.spark_target import SparkTarget, reason_fault
from tools.fuzz.target import Violation
from tools.fuzz.trials import one_line

_FORMATS = {"avro": ("AVRO",) * 9 + ("JSON",), "protobuf": ("PROTOBUF",) * 4 + ("JSON",)}
_SCHEMAS = {"avro": 12, "protobuf": 3}
_RECORDS = 12
"""The number of records for each schema."""


@dataclass(frozen=True, slots=True)
class HeldSchemas(SchemaRegistry):
    """A schema registry in memory, without a network."""

    held: Mapping[int, WrittenSchema] = field(default_factory=dict)

    def schema(self, schema_id: int) -> WrittenSchema | None:
        """See :class:`SchemaRegistry`."""
        return self.held.get(schema_id)


class SchemasTarget(SparkTarget):
    """Target whose inputs are batches: JSON objects with a format, schemas in a registry's form, and records of each
    schema.

    Invariant: an Avro schema is accepted, or refused by a SchemaError. A batch is decoded as a whole, and each of its
    records has no error, or one of the decoder's reasons. For a record that is decoded by an Avro schema, fastavro
    reads the same column ``a``.
    """

    name: ClassVar[str] = "schemas"
    kinds = _FORMATS
    input_s = 120.0

    def batch(self, kind: str, rng: random.Random) -> bytes:
        """See :class:`SparkTarget`."""
        schemas = [written_of(rng, rng.choice(_FORMATS[kind]), _RECORDS) for _ in range(_SCHEMAS[kind])]
        plain = [
            {
                "text": each.text,
                "kind": each.kind,
                "references": each.references,
                "records": [record.decode("latin-1") for record in each.records],
            }
            for each in schemas
        ]
        return json.dumps({"format": kind, "schemas": plain}).encode()

    def check(self, given: bytes) -> None:
        """See :class:`Target`."""
        plain = json.loads(given)
        schemas = plain["schemas"]
        try:
            self._check(plain["format"], schemas)
        except Exception as error:
            for schema in schemas if len(schemas) > 1 else ():
                try:
                    self._check(plain["format"], [schema])
                except Exception as own:
                    alone = json.dumps({"format": plain["format"], "schemas": [schema]}).encode()
                    raise Violation(f"{plain['format']}: {one_line(own)}", alone) from own
            raise Violation(f"{plain['format']}: {one_line(error)}") from error

    def _check(self, name: str, schemas: Sequence[Mapping[str, Any]]) -> None:
        held = {
            place: WrittenSchema(each["text"], each["kind"], tuple(map(tuple, each["references"])))
            for place, each in enumerate(schemas, 1)
        }
        for schema in held.values():
            if schema.kind == "AVRO":
                _check_avro(schema.text)
        stream = StreamConfig.model_validate({"topic": "t", "format": name, "schema": DDL})
        decoder = stream.decoder(stream.fields(), "UTC", HeldSchemas(("http://none",), held=held))
        first = b"\0" if name == "protobuf" else b""
        bodies = [(place, text.encode("latin-1")) for place, each in enumerate(schemas, 1) for text in each["records"]]
        found = self._decoded(decoder, [head_of(place) + first + body for place, body in bodies])
        if len(found) != len(bodies):
            raise Violation(f"{len(bodies)} records became {len(found)}")
        texts = [reason.text for reason in decoder.reasons]
        for (place, body), (error, number, a) in zip(bodies, found, strict=True):
            if (fault := reason_fault(error, number, texts)) is not None:
                raise Violation(f"a record of schema {place} {fault}")
            if error is None and held[place].kind == "JSON":
                raise Violation(f"a record of schema {place} is decoded, which is of no kind that is read")
            if error is None and held[place].kind == "AVRO":
                _compare(held[place].text, body, a)

    def _decoded(self, decoder: Decoder, values: Sequence[bytes]) -> list[tuple[str | None, int, int | None]]:
        from pyspark.sql import functions as sf

        rows = self._spark.createDataFrame(list(enumerate(values)), "place BIGINT, value BINARY").coalesce(1)
        records = as_records(rows, value=sf.col("value"), offset=sf.col("place"))
        known = decoder.for_records(records)
        # Read each attribute, as a predicate would.
        fields = sf.hash(*(sf.col(f"`{each.name}`").cast("string") for each in decoder.fields.arrow))
        columns = ("_offset", ERROR, known.reason_number().alias("number"), "a", fields.alias("fields"))
        found = sorted(known.decode(records).select(*columns).collect(), key=lambda row: int(row["_offset"]))
        return [(row[ERROR], row["number"], row["a"]) for row in found]


def _check_avro(text: str) -> None:
    from broker.formats.avro_levels import writer_text

    try:
        schema = AvroSchema.of_text(text)
    except SchemaError:
        return
    writer_text(schema)


def _compare(text: str, body: bytes, a: int | None) -> None:
    """Raise an exception if fastavro cannot read the column ``a`` of a decoded record, or reads another number.

    Like Java's reader, fastavro skips values that no column reads, and does not validate texts in them.
    """
    import fastavro

    schema = json.loads(text)
    own = [each for each in schema["fields"] if (each["name"], each["type"]) == ("a", "int")]
    if not own:
        return
    reader = fastavro.parse_schema({"type": "record", "name": schema["name"], "fields": own})
    try:
        value: Any = fastavro.schemaless_reader(io.BytesIO(body), fastavro.parse_schema(schema), reader)
    except EOFError as error:
        # Java also ignores a text with a negative length.
        if "Expected -" in str(error):
            return
        raise
    if value["a"] != a:
        raise Violation(f"the column a is {a}, and {value['a']} to fastavro, of {body[:60]!r}")
