"""The columns of a schema that the expressions of a cube read."""

from __future__ import annotations

import pyarrow as pa

from asc.operators.cube.definition import CubeDefinition
from asc.operators.read_operand import read_operand
from asc.predicate import normalise
from asc.schema import Schema


def read_columns(definition: CubeDefinition, schema: Schema, time_zone: str) -> Schema:
    """Return the schema of the columns that the expressions of a cube name, with its FILTER predicates.

    >>> own = CubeDefinition.parse({"dimensions": [["b + 1"]], "measures": ["sum(c)"]}, needs_time=False)
    >>> read_columns(own, Schema.from_ddl("a INT, b INT, c INT"), "UTC").ddl()
    'b INT, c INT'
    """
    expressions = [*definition.dimensions.names, *(sql for own in definition.measures for sql in own.columns)]
    if definition.time is not None:
        expressions.append(definition.time)
    names = {path[0] for sql in expressions for path in read_operand(sql, schema, time_zone).columns}
    for where in (own.where for own in definition.measures if own.where is not None):
        names |= {path[0] for path in normalise(where, schema, time_zone=time_zone).columns}
    return Schema(pa.schema([field for field in schema.arrow if field.name in names]))
