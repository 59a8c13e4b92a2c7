"""The decoding parameters of rows in files: the schema of the attributes, options of the parser, and a time zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asc.schema import Schema

ZONE = "UTC"
"""The time zone of times without a zone, if nothing sets another."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """A schema, options of Spark's parser for one file format, and the time zone of times without a zone."""

    schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = ZONE
