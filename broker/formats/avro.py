"""Avro records, either bare or preceded by the id of the schema with which they were written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker.formats.format import Format, Given

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema
    from broker.formats.avro_schema import AvroSchema
    from broker.formats.decoder import Decoder

_CONFLUENT, _NONE = "confluent", "none"


class Avro(Format):
    """The format whose records are each one Avro record.

    With the framing ``confluent`` a zero byte and the id of the record's schema in the registry precede the record.
    With the framing ``none`` nothing does, and all records have the stream's own Avro schema.
    """

    name = "avro"
    own_options = ("framing",)

    def wrong_option(self, option: str, value: str, options: Mapping[str, str]) -> str | None:
        """See :class:`Format`.

        >>> list(Avro().wrong_options({"framing": "snappy"}))
        [('framing', 'snappy', 'use confluent or none')]
        """
        return None if value in (_CONFLUENT, _NONE) else f"use {_CONFLUENT} or {_NONE}"

    def wrong_type(self, data_type: pa.DataType) -> str | None:
        """See :class:`Format`."""
        import pyarrow as pa

        if pa.types.is_map(data_type) and not pa.types.is_string(data_type.key_type):
            return "the keys of Avro's maps are strings: use MAP<STRING, ...>"
        children = (data_type.field(place).type for place in range(data_type.num_fields))
        return next(filter(None, map(self.wrong_type, children)), None)

    def fields_of_text(self, text: str, options: Mapping[str, str]) -> Schema:
        """See :class:`Format`. The text may also be an Avro schema."""
        own = _avro_schema(text)
        return super().fields_of_text(text, options) if own is None else own.fields()

    def missing(self, options: Mapping[str, str], inputs: Given) -> str | None:
        """See :class:`Format`."""
        if options.get("framing", _CONFLUENT) == _CONFLUENT:
            return "asks a schema registry: set schema_registry.url" if inputs.registry is None else None
        is_there = inputs.schema_text is not None and _avro_schema(inputs.schema_text) is not None
        return None if is_there else "needs the schema that all records were written with: name it as schema_file"

    def decoder(self, fields: Schema, options: Mapping[str, str], time_zone: str, inputs: Given) -> Decoder:
        """See :class:`Format`. Raise SchemaError if the stream's own schema cannot be used for reading."""
        from broker.formats.avro_decoder import RAW, AvroDecoder
        from broker.formats.avro_reading import reading_of
        from broker.formats.framed_decoder import Writer
        from broker.formats.schema_registry import WrittenSchema

        own_schema = None if inputs.schema_text is None else _avro_schema(inputs.schema_text)
        if options.get("framing", _CONFLUENT) == _CONFLUENT:
            return AvroDecoder(fields, options, time_zone, inputs.registry, own_schema)
        assert own_schema is not None
        digest = WrittenSchema(inputs.schema_text or "").digest()
        writer = Writer(frozenset(), digest, reading_of(own_schema, fields, RAW, own_schema))
        return AvroDecoder(fields, options, time_zone, None, own_schema, (writer,))


def _avro_schema(text: str) -> AvroSchema | None:
    """Return the Avro schema in a text. Return None if the text is a schema of Spark's. Raise SchemaError if it is
    invalid.
    """
    import json

    from broker.formats.avro_schema import AvroSchema

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return AvroSchema.of_text(text) if isinstance(found, dict) and found.get("type") == "record" else None
