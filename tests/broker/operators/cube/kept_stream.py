"""A topic of made-up records and the cubes that a keeper has of it, for tests."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from asc.operators.cube.cells import merged
from asc.operators.cube.columns import Columns
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import Folded, folded
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.layout import Layout
from asc.schema import Schema
from broker.operators.cube.backfilling import Seam
from broker.operators.cube.coverage import BatchInterval, Place
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import Committed, Partial

SCHEMA = Schema.of("carrier STRING, dest STRING, delay BIGINT, t TIMESTAMP")
MINUTE_US = 60_000_000
BASE_US = 1_373_414_400_000_000
"""2013-07-10T00:00:00Z, a multiple of each grain."""


def just_after(minutes: float) -> str:
    """Return the end of a gap without lateness, after a record of that minute: one with its time may be missing."""
    return instant_text(BASE_US + round(minutes * MINUTE_US) + 1)


Record = tuple[str | None, str | None, int | None, int | None]
"""Carrier, destination, delay, and microseconds after BASE_US, None for no time."""


def definition(grain_s: int = 60, measures: Sequence[str] = ("count(*) AS n", "sum(delay) AS d")) -> CubeDefinition:
    plain = {"dimensions": [["carrier"], ["dest"]], "measures": list(measures), "time": "t", "grain_s": grain_s}
    return CubeDefinition.parse(plain)


def cube_id(query: str, own: CubeDefinition) -> CubeId:
    return CubeId(query, own.generation("flights", "true"))


def table_of(records: Sequence[Record]) -> pa.Table:
    carriers, dests, delays, times = zip(*records, strict=True) if records else ((), (), (), ())
    instants = [None if time is None else BASE_US + time for time in times]
    types = ("carrier", pa.string()), ("dest", pa.string()), ("delay", pa.int64()), ("t", pa.timestamp("us", "UTC"))
    columns = (carriers, dests, delays, instants)
    return pa.table({name: pa.array(own, kind) for (name, kind), own in zip(types, columns, strict=True)})


def fold(own: CubeDefinition, records: Sequence[Record]) -> Folded:
    layout = Layout.of(own, SCHEMA)
    batch = pa.RecordBatch.from_struct_array(pa.array(table_of(records).to_pylist(), pa.struct(table_of([]).schema)))
    return folded(layout, Columns(batch, SCHEMA, "UTC"))


def partial(own: CubeDefinition, tasks: Sequence[Sequence[Record]], *, is_apart: bool = False) -> Partial:
    """Return the partial of the records of some tasks, merged in their order."""
    parts = [fold(own, records) for records in tasks]
    by_pane: Counter[int] = Counter()
    for part in parts:
        by_pane.update(part.by_pane)
    cells = merged(Layout.of(own, SCHEMA), [part.cells for part in parts])
    return Partial(cells, by_pane, time=sum(part.time for part in parts), is_apart=is_apart)


@dataclass
class Topic:
    """Records by partition, their places being their offsets."""

    topic_id: str = "T"
    partitions: dict[int, list[Record]] = field(default_factory=lambda: {0: []})

    def records(self, batch: BatchInterval) -> dict[int, list[Record]]:
        return {each: self.partitions[each][batch.first[each] : end] for each, end in batch.end.items()}

    def newest(self, batch: BatchInterval) -> dict[str, dict[int, int]]:
        found = {}
        for each, records in self.records(batch).items():
            times = [time for _, _, _, time in records if time is not None]
            if times:
                found[each] = BASE_US + max(times)
        return {"t": found}

    def commit(
        self,
        keeper: Keeper,
        batch: BatchInterval,
        cubes: Mapping[CubeId, CubeDefinition],
        apart: Collection[CubeId] = (),
    ) -> Committed:
        """Commit a batch for some cubes, a task a partition. ``apart``: the cubes whose late records stay apart."""
        tasks = list(self.records(batch).values())
        partials = {each: partial(own, tasks, is_apart=each in apart) for each, own in cubes.items()}
        return keeper.commit(batch, partials, self.newest(batch))

    def backfill(
        self, keeper: Keeper, batch: BatchInterval, cubes: Mapping[CubeId, CubeDefinition], seam: Seam
    ) -> Committed:
        """Commit a backfill batch for some cubes, a task a partition."""
        tasks = list(self.records(batch).values()) or [[]]
        partials = {each: partial(own, tasks) for each, own in cubes.items()}
        return keeper.commit(batch, partials, self.newest(batch), seam=seam)


def batch(first: int, end: int, *, topic_id: str = "T", partition: int = 0) -> BatchInterval:
    return BatchInterval(topic_id, {partition: first}, {partition: end})


def opened(
    folder: Path,
    *,
    lateness_s: float = 0,
    limits: CubeLimits | None = None,
    read_to: Mapping[Place, int] = MappingProxyType({}),
) -> Keeper:
    path = folder / "cubes.sqlite"
    return Keeper.open(path, SCHEMA, limits or CubeLimits(), lateness_s=lateness_s, read_to=read_to)


def to_form_1(folder: Path) -> None:
    """Turn the file of a closed keeper into one of the form that version 0.2.0 wrote."""
    with sqlite3.connect(folder / "cubes.sqlite") as connection:
        for statement in (
            *("DROP INDEX pieces_of_view", "DROP INDEX base_pieces", "ALTER TABLE pieces DROP COLUMN view"),
            *("DROP TABLE views", "DROP TABLE removed_views", "ALTER TABLE cubes DROP COLUMN kept_from"),
            *(
                "DROP TABLE demand",
                "DROP TABLE backfills",
                "ALTER TABLE gaps DROP COLUMN offsets",
                *TO_FORM_2,
                "PRAGMA user_version = 1",
            ),
        ):
            connection.execute(statement)
    connection.close()


TO_FORM_2 = (
    "ALTER TABLE pieces DROP COLUMN shard",
    "ALTER TABLE cubes DROP COLUMN shards",
    "PRAGMA user_version = 2",
)
"""The statements that turn a file of cubes into one without shards."""


def rows_of(keeper: Keeper, cube: CubeId, **body: Any) -> list[tuple[Any, ...]]:
    """Return the rows of an answer by carrier and destination, open panes too unless told otherwise."""
    found = keeper.questions.query(cube, {"by": ["carrier", "dest"], "live": True, "limit": 100_000, **body})
    return sorted_rows((*row["group"].values(), row["n"], row["d"]) for row in found["rows"])


def duckdb_rows(records: Sequence[Record]) -> list[tuple[Any, ...]]:
    """Return what DuckDB answers over records that have a time."""
    table = table_of(records)
    with duckdb.connect() as connection:
        connection.register("records", table)
        sql = "SELECT carrier, dest, count(*), sum(delay) FROM records WHERE t IS NOT NULL GROUP BY ALL"
        found = connection.execute(sql).fetchall()
    return sorted_rows((carrier, dest, n, None if d is None else int(d)) for carrier, dest, n, d in found)


def sorted_rows(rows: Any) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [(own is not None, own) for own in row])


def at(minute: float, carrier: str = "B6", delay: int = 1) -> Record:
    """Return a record of a minute after BASE_US."""
    return (carrier, "JFK", delay, round(minute * MINUTE_US))


def minute(number: int) -> str:
    """Return the beginning of a minute after BASE_US."""
    return instant_text(BASE_US + number * MINUTE_US)


def topic_of(*records: Record) -> Topic:
    """Return a topic of one partition."""
    return Topic(partitions={0: list(records)})
