"""Functions that bring the roll-ups of all contenders into tables with the same schema, and compare the tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_TOLERANCE = 1e-9
"""The relative tolerance of sums of doubles, because contenders add doubles in different orders."""

SUMS = pa.schema(
    [
        *((name, pa.int64()) for name in ("records", "amounts", "least", "most")),
        ("turnover", pa.float64()),
    ]
)
"""The schema in which the measures of :data:`workloads.sales.MEASURES` are compared."""


def rolled_up(parts: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return the roll-up of ``parts`` by ``keys``: one row per group, sorted by the keys. A group may have several rows
    in ``parts``.
    """
    how = [("records", "sum"), ("amounts", "sum"), ("least", "min"), ("most", "max"), ("turnover", "sum")]
    plain = parts.select([*keys, *SUMS.names])
    for place, field in enumerate(SUMS, len(keys)):
        plain = plain.set_column(place, field, plain.column(place).cast(field.type))
    whole = plain.group_by(list(keys), use_threads=False).aggregate(how)
    return _sorted(whole.select([*keys, *(f"{name}_{function}" for name, function in how)]), keys)


def check_equal(name: str, table: pa.Table, other: pa.Table, keys: Sequence[str]) -> None:
    """Raise RuntimeError if two roll-ups differ in a group, a count, an extreme or a sum."""
    if table.num_rows != other.num_rows:
        raise RuntimeError(f"{name}: {table.num_rows:,} groups, and {other.num_rows:,}")
    for place, key in enumerate(keys):
        if not table.column(place).cast(pa.string()).equals(other.column(place).cast(pa.string())):
            raise RuntimeError(f"{name}: the values of {key} differ")
    for place, field in enumerate(SUMS, len(keys)):
        # Replace NULL by 0 before sums are compared, because Polars returns 0 for the sum of no values and the other
        # contenders NULL. The minimum, compared unchanged, shows whether there is a value.
        filled = [column.cast(field.type) for column in (table.column(place), other.column(place))]
        if field.name in ("amounts", "turnover"):
            filled = [pc.fill_null(column, 0) for column in filled]
        if pa.types.is_floating(field.type):
            equal = np.allclose(filled[0].to_numpy(), filled[1].to_numpy(), rtol=_TOLERANCE, atol=0)
        else:
            equal = filled[0].equals(filled[1])
        if not equal:
            raise RuntimeError(f"{name}: {field.name} differ")


def _sorted(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    return table.rename_columns([*keys, *SUMS.names]).sort_by([(key, "ascending") for key in keys]).combine_chunks()
