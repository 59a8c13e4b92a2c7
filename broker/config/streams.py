"""The streams of the configuration: source topics with a record format and a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from asc.errors import AscError
from broker.config.options import Options
from broker.config.sections import Section, TopicName
from broker.config.text_file import read_text
from broker.errors import ConfigError
from broker.formats import RECORD_FORMATS
from broker.formats.record_attributes import RESERVED_ATTRIBUTES
from broker.formats.record_format import RecordFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema
    from broker.formats.decoder import RecordDecoder

_TAKEN_PREFIX = "__asc_"
# The columns that the job puts beside the fields.


def _known_format(name: str) -> str:
    if name not in RECORD_FORMATS:
        raise ValueError(f"use one of {', '.join(RECORD_FORMATS)}")
    return name


class StreamConfig(Section):
    """A source topic with a record format and a schema (Spark DDL here, or a file of DDL or of Spark's JSON form)."""

    topic: TopicName
    format: Annotated[str, AfterValidator(_known_format)]
    schema_text: str | None = Field(default=None, alias="schema")
    schema_file: Path | None = None
    starting_offsets: Literal["earliest", "latest"] = "latest"
    options: Options = Field(default_factory=dict)

    @property
    def record_format(self) -> RecordFormat:
        return RECORD_FORMATS[self.format]

    def fields(self) -> Schema:
        """The schema of the records' fields, each of which a record may lack; SchemaError, ConfigError.

        A schema file is read at each call: whoever runs a stream calls once.
        """
        import pyarrow as pa

        schema = self._declared_fields()
        return type(schema)(pa.schema([_nullable(field) for field in schema.arrow]))

    def decoder(self, fields: Schema, time_zone: str) -> RecordDecoder:
        """How records become those fields, times without a zone being of ``time_zone``."""
        from broker.formats.decoder import RecordDecoder

        return RecordDecoder(self.record_format, fields, self.options, time_zone)

    def faults(self, where: str) -> Iterator[ConfigError]:
        """The options and what of the schema do not go with the format; ``where`` is the path of its table."""
        for option, value, remedy in self.record_format.wrong_options(self.options):
            yield ConfigError(f"{where}.options.{option}", value, remedy)
        try:
            fields = self.fields()
        except AscError as error:
            place = where if isinstance(error, ConfigError) else f"{where}.schema"
            yield ConfigError(f"{place}: {error.subject}", error.value, error.remedy)
            return
        for field in fields.arrow:
            wrong = self.record_format.wrong_type(field.type)
            if field.name.lower() in RESERVED_ATTRIBUTES:
                wrong = "the name is the record's own attribute: choose another"
            elif field.name.lower().startswith(_TAKEN_PREFIX):
                wrong = "the broker uses such names itself: choose another"
            if wrong is not None:
                yield ConfigError(f"{where}.schema: field", field.name, wrong)

    def _declared_fields(self) -> Schema:
        from asc.schema import Schema

        if (self.schema_text is None) == (self.schema_file is None):
            raise ConfigError(
                "stream of topic", self.topic, "give it exactly one of schema (Spark DDL) and schema_file"
            )
        if self.schema_file is None:
            return Schema.from_ddl(self.schema_text or "")
        text = read_text("schema file", self.schema_file)
        return Schema.from_json(text) if text.lstrip().startswith("{") else Schema.from_ddl(text)


def check_stream_name(name: str) -> None:
    """ConfigError for a name that folders and topics could not be called after."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise ConfigError("stream name", name, "use 1 to 100 of A-Z a-z 0-9 . _ -, a letter or digit first")


def _nullable(field: pa.Field) -> pa.Field:
    import pyarrow as pa

    if not pa.types.is_struct(field.type):
        return field.with_nullable(True)
    inner = [_nullable(field.type.field(i)) for i in range(field.type.num_fields)]
    return pa.field(field.name, pa.struct(inner))
