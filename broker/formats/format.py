"""A format of records: what a stream's configuration asks of it, whatever decodes the records."""

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
"""Options of every format: what becomes of a record without a value, and whether records are CloudEvents."""

AS_RECORD = "record"
"""A tombstone is a record whose fields are all NULL."""

_OF_ALL = {TOMBSTONES: ("dead-letter", AS_RECORD), CLOUDEVENTS: ("true", "false")}
"""The values that options of every format may have."""

Fault = tuple[str, str, str]
"""The fault of an option: its name, its value, the remedy."""


@dataclass(frozen=True, slots=True)
class Given:
    """The inputs of a decoder beside a stream's fields and options: the text of the stream's schema, and the registry
    of the writers' schemas; None where there is none.
    """

    schema_text: str | None = None
    registry: SchemaRegistry | None = None


class Format(ABC):
    """How the value of a record becomes columns. Stateless; named in ``broker.formats.registry.FORMATS``."""

    name: ClassVar[str]
    """As the configuration names it."""

    own_options: ClassVar[tuple[str, ...]]
    """The options that a stream may set, beside those that all formats of its kind have."""

    general_options: ClassVar[tuple[str, ...]] = ()
    """The options that all formats of its kind have."""

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
        """Return the fault of the value of one of the format's own options, beside the others; None without one."""
        return None

    def wrong_general_option(self, option: str, value: str) -> str | None:
        """Return the fault of the value of one of the general options; None without one."""
        return None

    def wrong_type(self, data_type: pa.DataType) -> str | None:
        """Return why a field cannot be of a type, and the remedy; None where it can."""
        return None

    def fields_of_text(self, text: str, options: Mapping[str, str]) -> Schema:
        """Return the fields that a schema file of the format's has: Spark DDL, or the JSON of a StructType;
        SchemaError.
        """
        from asc.schema import Schema

        return Schema.from_json(text) if text.lstrip().startswith("{") else Schema.from_ddl(text)

    def missing(self, options: Mapping[str, str], given: Given) -> str | None:
        """Return the remedy for what a stream with these options lacks; None where it has all that it needs."""
        return None

    @abstractmethod
    def decoder(self, fields: Schema, options: Mapping[str, str], time_zone: str, given: Given) -> Decoder:
        """Return the decoder of records into those fields; times without a zone are of ``time_zone``."""
