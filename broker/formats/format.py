"""Interface of a record format: the validation of a stream's configuration, and the creation of its decoder."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

    from asc.schema import Schema
    from broker.formats.decoder import Decoder
    from broker.formats.schema_registry import SchemaRegistry

TOMBSTONES, CLOUDEVENTS = "tombstones", "cloudevents"
"""Options of every format: how a record without a value is treated, and whether records are CloudEvents."""

AS_RECORD = "record"
"""The value of the option TOMBSTONES with which a record without a value is decoded to a record whose fields are all
NULL.
"""

_OF_ALL = {TOMBSTONES: ("dead-letter", AS_RECORD), CLOUDEVENTS: ("true", "false")}
"""The permitted values of the options that every format has."""

Fault = tuple[str, str, str]
"""The fault of an option: its name, its value, and the remedy."""


@dataclass(frozen=True, slots=True)
class Given:
    """The inputs of a decoder besides a stream's fields and options: the text of the stream's schema, and the registry
    of the writers' schemas. Each is None if it is not configured.
    """

    schema_text: str | None = None
    registry: SchemaRegistry | None = None


class Format(ABC):
    """Decoding of a record's value to columns. Stateless; listed in ``broker.formats.registry.FORMATS``."""

    name: ClassVar[str]
    """The name of the format in the configuration."""

    own_options: ClassVar[tuple[str, ...]]
    """The options of this format that a stream may set, besides ``general_options``."""

    general_options: ClassVar[tuple[str, ...]] = ()
    """The options that a base class of formats defines for all of them, such as the options of all formats that Spark
    parses.
    """

    def wrong_options(self, options: Mapping[str, str]) -> Iterator[Fault]:
        """Yield the faults of a stream's options, in the order of the options."""
        known = (*self.own_options, *self.general_options, *_OF_ALL)
        for option, value in options.items():
            if option not in known:
                near = difflib.get_close_matches(option, known, n=1, cutoff=0.5)
                remedy = f"did you mean '{near[0]}'?" if near else f"known for {self.name}: {', '.join(known)}"
                yield option, value[:50], f"is not a decoding option: {remedy}"
                continue
            if option in _OF_ALL:
                if value not in _OF_ALL[option]:
                    yield option, value[:50], f"use {' or '.join(_OF_ALL[option])}"
                continue
            is_general = option in self.general_options
            wrong = (
                self.wrong_general_option(option, value) if is_general else self.wrong_option(option, value, options)
            )
            if wrong is not None:
                yield option, value[:50], wrong

    def wrong_option(self, option: str, value: str, options: Mapping[str, str]) -> str | None:
        """Return the fault in the value of one of the format's own options, given all options. Return None if it is
        valid.
        """
        return None

    def wrong_general_option(self, option: str, value: str) -> str | None:
        """Return the fault in the value of one of the general options. Return None if it is valid."""
        return None

    def wrong_type(self, data_type: pa.DataType) -> str | None:
        """Return why a field cannot be of this type, with the remedy. Return None if it can."""
        return None

    def fields_of_text(self, text: str, options: Mapping[str, str]) -> Schema:
        """Return the fields of a schema file in the format's syntax: Spark DDL, or the JSON of a StructType.

        Raise SchemaError if the text is invalid.
        """
        from asc.schema import Schema

        return Schema.from_json(text) if text.lstrip().startswith("{") else Schema.from_ddl(text)

    def missing(self, options: Mapping[str, str], inputs: Given) -> str | None:
        """Return the remedy for what a stream with these options lacks. Return None if it lacks nothing."""
        return None

    @abstractmethod
    def decoder(self, fields: Schema, options: Mapping[str, str], time_zone: str, inputs: Given) -> Decoder:
        """Return the decoder from records to those fields. Times without a zone are in ``time_zone``."""
