"""The records of a source topic in DuckDB, which computes the expected groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from tools.faults.counted_cubes import FUTURE_US, CountedCube

KEY_BYTES_MAX = 4_096
"""The most bytes that the texts in a group's key may have together. The records of a group with a longer key are not
counted.
"""

Intervals = Mapping[int, Sequence[tuple[int, int]]]
"""Offsets by partition, as intervals from the first offset to before the second."""


class RawRecords:
    """Decoded records with their partition and offset, extended as a topic grows. Records that are not JSON are
    excluded.

    ``ends``: by partition, the offset after the last added record.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        """Create an empty table. ``columns``: the DuckDB type of each column."""
        self.ends: dict[int, int] = {}
        self._columns = columns
        # A division by zero is NULL, as it is to Spark.
        self._connection = duckdb.connect(config={"ieee_floating_point_ops": False})
        declared = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        self._connection.execute(f"CREATE TABLE records (_partition INTEGER, _offset BIGINT, {declared})")

    def add(self, records: Iterable[tuple[int, int, bytes | None]]) -> None:
        """Add records, each as its partition, offset and value. In each partition, the offsets continue after the
        records that were added before.
        """
        rows = []
        for partition, offset, value in records:
            self.ends[partition] = offset + 1
            try:
                found = json.loads(value or b"")
            except ValueError:
                continue
            rows.append((partition, offset, *(found.get(name) for name in self._columns)))
        if rows:
            names = ("_partition", "_offset", *self._columns)
            table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
            self._connection.register("added", table)
            self._connection.execute("INSERT INTO records SELECT * FROM added")
            self._connection.unregister("added")

    def outcomes(self, cube: CountedCube, covered: Intervals) -> dict[str, int]:
        """Return the number of records that the cube accepts at covered offsets, by outcome. An outcome is ``counted``,
        or the reason why the cube excludes the record.
        """
        sql = f"SELECT _outcome, count(*) FROM ({self._accepted(cube, covered)}) GROUP BY 1"
        return dict(self._connection.execute(sql).fetchall())

    def missed_us(self, cube: CountedCube, covered: Intervals) -> list[int]:
        """Return the distinct times, ascending, of the records that would be counted but are not covered."""
        both = f"SELECT * FROM ({self._accepted(cube, None)}) WHERE NOT {_within(covered)} AND _outcome = 'counted'"
        return [
            time for (time,) in self._connection.execute(f"SELECT DISTINCT _time FROM ({both}) ORDER BY 1").fetchall()
        ]

    def span_us(self, cube: CountedCube, covered: Intervals) -> tuple[int, int] | None:
        """Return the first and the last time of the counted records. Return None if there are none."""
        sql = f"SELECT min(_time), max(_time) FROM ({self._accepted(cube, covered)}) WHERE _outcome = 'counted'"
        (found,) = self._connection.execute(sql).fetchall()
        return None if found[0] is None else found

    def groups(
        self, cube: CountedCube, names: Sequence[str], covered: Intervals, first_us: int | None, end_us: int | None
    ) -> dict[str, dict[str, Any]]:
        """Return the measures of the groups of a cuboid, by group as JSON. For a sum of doubles, return its addends."""
        own = "true" if first_us is None else f"_time >= {first_us}"
        own += "" if end_us is None else f" AND _time < {end_us}"
        sql = f"SELECT * FROM ({self._accepted(cube, covered)}) WHERE _outcome = 'counted' AND {own}"
        return {group: found for (_, group), found in self._grouped(cube, names, sql).items()}

    def windows(
        self, cube: CountedCube, names: Sequence[str], covered: Intervals, until_us: int
    ) -> dict[tuple[int, str], dict[str, Any]]:
        """Return the measures of the groups of a cuboid in all windows that end at or before a time, by end
        and group.
        """
        window_us, slide_us = (int(cube.operator[name]) * 1_000_000 for name in ("window_s", "slide_s"))
        span = self.span_us(cube, covered)
        if span is None:
            return {}
        first, last = span[0] // slide_us, min(until_us, span[1] + window_us) // slide_us
        sql = (
            f"SELECT own.*, _end FROM ({self._accepted(cube, covered)}) AS own, "
            f"(SELECT unnest(range({first}, {last + 1})) * {slide_us} AS _end) "
            f"WHERE _outcome = 'counted' AND _time >= _end - {window_us} AND _time < _end"
        )
        return self._grouped(cube, names, sql, "_end")

    def _grouped(
        self, cube: CountedCube, names: Sequence[str], sql: str, end: str = "NULL"
    ) -> dict[tuple[int, str], dict[str, Any]]:
        measures = {**cube.measures, **{name: f"list({own})" for name, own in cube.double_sums.items()}}
        columns = ", ".join([end, *(cube.dimensions[name] for name in names), *measures.values()])
        places = range(1 if end != "NULL" else 2, len(names) + 2)
        # Without records, a query without groups returns a row, as the cuboid of all records does.
        group_by = f" GROUP BY {', '.join(map(str, places))}" if places else ""
        found = {}
        for row in self._connection.execute(f"SELECT {columns} FROM ({sql}){group_by}").fetchall():
            group = dict(zip(names, row[1 : len(names) + 1], strict=True))
            found[row[0], group_text(group)] = dict(zip(measures, row[len(names) + 1 :], strict=True))
        return found

    def _accepted(self, cube: CountedCube, covered: Intervals | None) -> str:
        """Return the SQL query for the records that a cube accepts, each with its time and its outcome."""
        texts = [
            f"if(typeof({own}) = 'VARCHAR', coalesce(octet_length(encode(({own})::VARCHAR)), 0), 0)"
            for own in cube.dimensions.values()
        ]
        outcome = (
            f"CASE WHEN _time IS NULL THEN 'time' WHEN _time >= {FUTURE_US} THEN 'future_timestamp' "
            f"WHEN {' + '.join(texts) or '0'} > {KEY_BYTES_MAX} THEN 'too_large' ELSE 'counted' END"
        )
        timed = f"SELECT *, {cube.time_us} AS _time FROM records WHERE ({cube.where})"
        within = "true" if covered is None else _within(covered)
        return f"SELECT *, {outcome} AS _outcome FROM ({timed}) WHERE {within}"


def group_text(group: Mapping[str, Any]) -> str:
    """Return a group as text, equal for equal groups."""
    return json.dumps(group, ensure_ascii=False)


def _within(covered: Intervals) -> str:
    """Return an SQL condition that holds for the records whose partition and offset are in the intervals
    ``covered``.
    """
    own = [
        f"_partition = {partition} AND _offset >= {first} AND _offset < {end}"
        for partition, intervals in covered.items()
        for first, end in intervals
    ]
    return f"({' OR '.join(own) or 'false'})"
