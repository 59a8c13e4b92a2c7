"""The columns of rows that Spark reads from files: the columns of the schema, the file of a row, and the reason why a
row is undecodable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

    from asc.schema import Schema

REASON, FILE, ROW = "__asc_reason", "__asc_file", "__asc_row"
"""Columns beside those of the schema: the reason why a row is undecodable (NULL if it is decodable); the row's file;
the row itself as BINARY if it is undecodable.
"""


def attributes(columns: Mapping[str, Column], schema: Schema) -> list[Column]:
    """Return the columns of the schema, in its order and types. ``columns``: the columns of a frame by name in lower
    case.
    """
    from pyspark.sql import functions as sf

    from asc.spark_types import ddl_of_type

    nothing = sf.lit(None)
    return [columns.get(f.name.lower(), nothing).cast(ddl_of_type(f.type)).alias(f.name) for f in schema.arrow]


def quoted(name: str) -> str:
    """Return the name of a column in backquotes."""
    return "`" + name.replace("`", "``") + "`"
