"""Random predicates over shapes, each as SQL and as a reference function that evaluates one row with shapely and
three-valued logic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import shapely

from asc.evaluation.executor import match
from asc.plan.plan import Plan
from asc.schema import Schema
from asc.spatial.shape import distance_sphere_m

SCHEMA = Schema.from_ddl("lon DOUBLE, lat DOUBLE, x FLOAT, y FLOAT, alt INT, s STRING")
Row = Mapping[str, Any]
Truth = bool | None


@dataclass(frozen=True)
class Asks:
    """A predicate in two forms: the SQL text ``sql``, and a function ``of`` that evaluates the predicate for a row. The
    function uses shapely's scalar functions and three-valued logic.
    """

    sql: str
    of: Callable[[Row], Truth]


def both(first: Truth, second: Truth) -> Truth:
    return False if first is False or second is False else None if first is None or second is None else True


def either(first: Truth, second: Truth) -> Truth:
    negated = both(negation(first), negation(second))
    return negation(negated)


def negation(value: Truth) -> Truth:
    return None if value is None else not value


def place_of(row: Row, names: Sequence[str]) -> tuple[float, float] | None:
    x, y = (row[name] for name in names)
    if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)) or abs(x) > 180 or abs(y) > 90:
        return None
    return x, y


class Drawn:
    """A generator of random predicates over shapes, and of random rows. The vertices of the shapes and the positions
    (``lon``, ``lat``) of the rows are on the same grid.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def shape(self) -> shapely.Geometry:
        count = int(self.random.integers(3, 9))
        centre, reach = self.random.uniform(-5, 5, 2), self.random.uniform(0.5, 5, count)
        angle = np.sort(self.random.random(count)) * 2 * math.pi
        vertices = np.round((centre + np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])) * 4) / 4
        found = shapely.Polygon(vertices)
        return found if found.is_valid and found.area > 0 else self.shape()

    def spatial(self) -> Asks:
        names = [("lon", "lat"), ("lon", "lat"), ("x", "y"), ("lat", "lon")][self.random.integers(0, 4)]
        shape = self.shape()
        text, point = f"ST_GeomFromText('{shapely.to_wkt(shape)}')", f"ST_Point({', '.join(names)})"
        forms: list[tuple[str, Callable[[shapely.Point], Any]]] = [
            (f"ST_Contains({text}, {point})", lambda p: shapely.contains(shape, p)),
            (f"ST_Contains({text}, {point})", lambda p: shapely.contains(shape, p)),
            (f"ST_Within({point}, {text})", lambda p: shapely.within(p, shape)),
            (f"ST_Covers({text}, {point})", lambda p: shapely.covers(shape, p)),
            (f"ST_Intersects({point}, {text})", lambda p: shapely.intersects(p, shape)),
            (f"ST_Touches({text}, {point})", lambda p: shapely.touches(shape, p)),
            (f"ST_Disjoint({text}, {point})", lambda p: shapely.disjoint(shape, p)),
            (f"ST_DWithin({text}, {point}, 0.5)", lambda p: shapely.dwithin(shape, p, 0.5)),
            (
                f"ST_DistanceSphere(ST_Point(1, 1), {point}) <= 200000",
                lambda p: distance_sphere_m(1.0, 1.0, p.x, p.y) <= 200_000,
            ),
        ]
        sql, holds = forms[self.random.integers(0, len(forms))]

        def of(row: Row) -> Truth:
            place = place_of(row, names)
            return None if place is None else bool(holds(shapely.Point(place)))

        return Asks(sql, of)

    def plain(self) -> Asks:
        least, letter = int(self.random.integers(0, 100)), str(self.random.choice(["a", "b"]))
        forms: list[tuple[str, Callable[[Row], Truth]]] = [
            (f"alt > {least}", lambda row: None if row["alt"] is None else row["alt"] > least),
            ("alt IS NULL", lambda row: row["alt"] is None),
            ("alt IN (1, 5, 9)", lambda row: None if row["alt"] is None else row["alt"] in (1, 5, 9)),
            (f"s = '{letter}'", lambda row: None if row["s"] is None else row["s"] == letter),
            (f"s LIKE '%{letter}%'", lambda row: None if row["s"] is None else letter in row["s"]),
            ("s < 'b' OR s IS NULL", lambda row: row["s"] is None or row["s"] < "b"),
        ]
        return Asks(*forms[self.random.integers(0, len(forms))])

    def predicate(self) -> Asks:
        kind = int(self.random.integers(0, 9))
        first = self.spatial()
        if kind < 3:
            return first
        second = self.spatial() if kind in (3, 4, 5) else self.plain()
        if kind in (3, 6):
            return Asks(f"({first.sql}) AND ({second.sql})", lambda row: both(first.of(row), second.of(row)))
        if kind in (4, 7):
            return Asks(
                f"({first.sql}) AND NOT ({second.sql})", lambda row: both(first.of(row), negation(second.of(row)))
            )
        if kind == 5:
            third = self.plain()
            sql = f"(({first.sql}) OR ({third.sql})) AND ({second.sql})"
            return Asks(sql, lambda row: both(either(first.of(row), third.of(row)), second.of(row)))
        return Asks(f"({first.sql}) OR ({second.sql})", lambda row: either(first.of(row), second.of(row)))

    def rows(self, count: int) -> pa.Table:
        lon, lat = np.round(self.random.uniform(-8, 8, (2, count)) * 4) / 4
        odd = self.random.random(count)
        lon = np.select([odd < 0.03, odd < 0.06, odd < 0.08], [np.nan, 500.0, np.inf], lon)
        absent = self.random.random((4, count)) < 0.06
        return pa.table(
            {
                "lon": pa.array(lon, mask=absent[0]),
                "lat": pa.array(lat, mask=absent[1]),
                "x": pa.array(self.random.uniform(-6, 6, count), pa.float32()),
                "y": pa.array(np.round(self.random.uniform(-6, 6, count)), pa.float32()),
                "alt": pa.array(self.random.integers(0, 100, count), pa.int32(), mask=absent[2]),
                "s": pa.array(self.random.choice(["a", "ab", "b", "abb", "c"], count), mask=absent[3]),
            }
        )


def columns_of(plan: Plan, table: pa.Table) -> list[pa.Array]:
    columns = []
    for attribute in plan.p_attributes:
        if attribute.parts:
            halves = [table[part.sql].combine_chunks().cast(pa.float64()) for part in attribute.parts]
            columns.append(pa.StructArray.from_arrays(halves, fields=list(attribute.type)))
        else:
            columns.append(table[attribute.sql].combine_chunks())
    return columns


def accepted(plan: Plan, table: pa.Table) -> list[list[str]]:
    matches = match(plan, columns_of(plan, table), table.num_rows)
    found: list[list[str]] = [[] for _ in range(table.num_rows)]
    for row, query in zip(matches.rows.tolist(), matches.queries.tolist(), strict=True):
        found[row].append(plan.query_ids[query].as_py())
    assert all(len(set(ids)) == len(ids) and sorted(ids) == ids for ids in found)
    return found
