"""The section of a stream in the configuration: a source topic with a record format and a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from asc.errors import AscError
from broker.config.options import Options
from broker.config.sections import Section, TopicName
from broker.config.text_file import read_text
from broker.errors import ConfigError
from broker.formats.format import CLOUDEVENTS, Format, Given
from broker.formats.record_attributes import RESERVED_ATTRIBUTES
from broker.formats.registry import FORMATS
from broker.formats.schema_registry import SchemaRegistry

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema
    from broker.formats.decoder import Decoder

_TAKEN_PREFIX = "__asc_"
# The job adds columns with this prefix to the fields.


def _known_format(name: str) -> str:
    if name not in FORMATS:
        raise ValueError(f"use one of {', '.join(FORMATS)}")
    return name


class StreamConfig(Section):
    """A source topic with a record format and a schema. The schema is Spark DDL in ``schema``, or a file with DDL, the
    JSON of a StructType, or a schema in the format's own language, such as Avro. ``lateness_s``: the number of seconds
    by which the watermark is behind the mark of event time. ``max_future_s``: the largest number of seconds by which an
    event time may be later than its record's timestamp; a later event time is not usable.
    """

    renamed: ClassVar[Mapping[str, str]] = MappingProxyType({"ahead_s": "max_future_s"})

    topic: TopicName
    format: Annotated[str, AfterValidator(_known_format)]
    schema_text: str | None = Field(default=None, alias="schema")
    schema_file: Path | None = None
    starting_offsets: Literal["earliest", "latest"] = "latest"
    crs: Literal["wgs84", "planar"] = "wgs84"
    lateness_s: float = Field(default=10, ge=0, le=2_592_000, allow_inf_nan=False, strict=True)
    max_future_s: float = Field(default=3600, ge=0, le=2_592_000, allow_inf_nan=False, strict=True)
    options: Options = Field(default_factory=dict)

    @property
    def record_format(self) -> Format:
        return FORMATS[self.format]

    def fields(self) -> Schema:
        """Return the schema of the records' fields; a record may lack any field. Raise SchemaError or ConfigError.

        A schema file is read at each call, so a caller that runs a stream should call once.
        """
        import pyarrow as pa

        schema = self._declared_fields()
        return type(schema)(pa.schema([_nullable(field) for field in schema.arrow]))

    def decoder(self, fields: Schema, time_zone: str, registry: SchemaRegistry | None = None) -> Decoder:
        """Return the decoder from records to those fields. Times without a zone are in ``time_zone``.

        Raise SchemaError or ConfigError.
        """
        inputs = self._decoder_inputs(registry)
        missing = self.record_format.missing(self.options, inputs)
        if missing is not None:
            raise ConfigError("stream of topic", self.topic, f"of format {self.format} {missing}")
        if not self.takes_cloud_events:
            return self.record_format.decoder(fields, self.options, time_zone, inputs)
        from broker.formats.cloud_events import CloudEventsDecoder, data_fields

        of_data = {"envelope": "data", **self.options} if self.format == "json" else self.options
        inner = self.record_format.decoder(data_fields(fields), of_data, time_zone, inputs)
        return CloudEventsDecoder(fields, self.options, time_zone, inner)

    @property
    def takes_cloud_events(self) -> bool:
        return self.options.get(CLOUDEVENTS) == "true"

    def faults(self, where: str, registry: SchemaRegistry | None = None) -> Iterator[ConfigError]:
        """Yield the options and schema elements that the format does not support, and those that it requires but lacks.

        ``where`` is the path of the stream's table.
        """
        for option, value, remedy in self.record_format.wrong_options(self.options):
            yield ConfigError(f"{where}.options.{option}", value, remedy)
        try:
            fields = self.fields()
            if self.takes_cloud_events:
                from broker.formats.cloud_events import data_fields

                data_fields(fields)
        except AscError as error:
            if isinstance(error, ConfigError):
                yield ConfigError(f"{where}: {error.subject}", error.value, error.remedy)
                return
            if not self._schema_text().strip():
                key = "schema" if self.schema_file is None else "schema_file"
                file = None if self.schema_file is None else str(self.schema_file)
                yield ConfigError(f"{where}.{key}", file, "is empty: write the fields, as delay INT, dest STRING")
                return
            key = f"{where}.schema" if self.schema_file is None else f"{where}.schema_file '{self.schema_file}'"
            yield ConfigError(f"{key}: {error.subject}", error.value, error.remedy)
            return
        missing = self.record_format.missing(self.options, self._decoder_inputs(registry))
        if missing is not None:
            yield ConfigError(f"{where}.format", self.format, missing)
        for field in fields.arrow:
            wrong = self.record_format.wrong_type(field.type)
            if field.name.lower() in RESERVED_ATTRIBUTES:
                wrong = "the name is the record's own attribute: choose another"
            elif field.name.lower().startswith(_TAKEN_PREFIX):
                wrong = "the broker uses such names itself: choose another"
            if wrong is not None:
                yield ConfigError(f"{where}.schema: field", field.name, wrong)

    def _declared_fields(self) -> Schema:
        return self.record_format.fields_of_text(self._schema_text(), self.options)

    def _decoder_inputs(self, registry: SchemaRegistry | None) -> Given:
        return Given(self._schema_text(), registry)

    def _schema_text(self) -> str:
        if (self.schema_text is None) == (self.schema_file is None):
            raise ConfigError(
                "stream of topic", self.topic, "give it exactly one of schema (Spark DDL) and schema_file"
            )
        return self.schema_text or "" if self.schema_file is None else read_text("schema file", self.schema_file)


def check_stream_name(name: str) -> None:
    """Raise ConfigError for a name that cannot be used for folders and topics."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise ConfigError("stream name", name, "use 1 to 100 of A-Z a-z 0-9 . _ -, a letter or digit first")


def _nullable(field: pa.Field) -> pa.Field:
    import pyarrow as pa

    if not pa.types.is_struct(field.type):
        return field.with_nullable(True)
    inner = [_nullable(field.type.field(i)) for i in range(field.type.num_fields)]
    return pa.field(field.name, pa.struct(inner))
