"""Protobuf records, either bare or preceded by the id of the schema with which they were written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from broker.formats.format import Format, Given
from broker.formats.protobuf_extra import NOT_INSTALLED, is_installed

if TYPE_CHECKING:
    from asc.schema import Schema
    from broker.formats.decoder import Decoder

_CONFLUENT, _NONE = "confluent", "none"
_MESSAGE = "message"
_OWN = re.compile(r"^\s*(?:syntax|edition)\s*=|\bmessage\s+\w+\s*\{", re.MULTILINE)
"""A pattern that recognises a Protobuf schema, as opposed to Spark DDL."""


class Protobuf(Format):
    """The format whose records are each one Protobuf message.

    With the framing ``confluent`` a zero byte, the id of the schema in the registry and the position of the message in
    it precede the message. With the framing ``none`` nothing does, and all records are one message of ``schema_file``.
    """

    name = "protobuf"
    own_options = ("framing", _MESSAGE)

    def wrong_option(self, option: str, value: str, options: Mapping[str, str]) -> str | None:
        """See :class:`Format`.

        >>> list(Protobuf().wrong_options({"framing": "grpc", "message": "a.B"}))
        [('framing', 'grpc', 'use confluent or none')]
        """
        if option == _MESSAGE:
            is_name = re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", value) is not None
            return None if is_name else "is no message's full name, such as flights.v1.Flight"
        return None if value in (_CONFLUENT, _NONE) else f"use {_CONFLUENT} or {_NONE}"

    def fields_of_text(self, text: str, options: Mapping[str, str]) -> Schema:
        """See :class:`Format`. The text may also be a Protobuf schema; its first message, or the named one, has the
        fields.
        """
        if not _is_own(text):
            return super().fields_of_text(text, options)
        from broker.formats.protobuf_schema import ProtobufSchema

        return ProtobufSchema.of_text(text).fields(options.get(_MESSAGE))

    def missing(self, options: Mapping[str, str], inputs: Given) -> str | None:
        """See :class:`Format`."""
        if not is_installed():
            return NOT_INSTALLED
        has_own = inputs.schema_text is not None and _is_own(inputs.schema_text)
        if _MESSAGE in options and not has_own:
            return "names a message (options.message): name the .proto file that has it as schema_file"
        if options.get("framing", _CONFLUENT) == _CONFLUENT:
            return "asks a schema registry: set schema_registry.url" if inputs.registry is None else None
        return None if has_own else "needs the schema that all records were written with: name its .proto file"

    def decoder(self, fields: Schema, options: Mapping[str, str], time_zone: str, inputs: Given) -> Decoder:
        """See :class:`Format`. Raise SchemaError if the stream's own schema cannot be used for reading."""
        from broker.formats.framed_decoder import Writer
        from broker.formats.protobuf_decoder import ProtobufDecoder
        from broker.formats.protobuf_schema import ProtobufSchema
        from broker.formats.schema_registry import WrittenSchema

        if options.get("framing", _CONFLUENT) == _CONFLUENT:
            return ProtobufDecoder(fields, options, time_zone, inputs.registry)
        text = inputs.schema_text or ""
        own = ProtobufSchema.of_text(text)
        own.message(options.get(_MESSAGE))
        writer = Writer(frozenset(), WrittenSchema(text, "PROTOBUF").digest(), own.descriptors)
        return ProtobufDecoder(fields, options, time_zone, None, (writer,))


def _is_own(text: str) -> bool:
    return not text.lstrip().startswith("{") and _OWN.search(text) is not None
