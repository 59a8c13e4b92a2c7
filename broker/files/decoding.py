"""The decoding of rows of files: the schema of their attributes, options of the parser, and a time zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asc.schema import Schema

ZONE = "UTC"
"""The time zone where nothing says another."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """A schema, options of Spark's parser for rows of one format of files, and the zone of times without one."""

    schema: Schema
    options: Mapping[str, str] = field(default_factory=dict)
    time_zone: str = ZONE
