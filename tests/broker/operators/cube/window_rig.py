"""A cube that writes windows, for tests: what it sent, and what DuckDB has of its records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_text
from asc.operators.cube.output import Output
from asc.operators.cube.revisions import RevisionLimits
from asc.operators.cube.window_rows import WindowRow
from broker.errors import KafkaError, TooLargeWindowError
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.first_limits import FirstLimits
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.window_state import WindowState
from broker.operators.cube.window_writer import WindowWriter
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    batch,
    cube_id,
    opened,
    table_of,
)

MEASURES = ("count(*) AS n", "sum(delay) AS d", "min(delay) AS least", "max(delay) AS most", "avg(delay) AS mean")
MEASURES += ("var_pop(delay) AS spread", "regr_count(delay, delay) AS known")
CUBE = CubeDefinition.parse(
    {"dimensions": [["carrier"], ["dest"]], "measures": list(MEASURES), "time": "t", "grain_s": 60}
)
LATE = cube_id("late", CUBE)


def output(window: int, slide: int, emit: str = "all", cuboids: Sequence[Sequence[str]] = (("carrier",), ())) -> Output:
    """The windows of so many minutes."""
    plain = {"output": cuboids, "window_s": 60 * window, "slide_s": 60 * slide, "emit": emit}
    found = Output.parse(plain, CUBE)
    assert found is not None
    return found


@dataclass
class Sent:
    """All rows, in the place of a topic; the next ones may fail, before or after they have arrived.

    ``value_bytes``: the largest value that it takes.
    """

    rows: list[WindowRow] = field(default_factory=list)
    fails_after: int | None = None
    value_bytes: int | None = None

    def send(self, topic: str, query: str, rows: Iterable[WindowRow]) -> Counter[str]:
        found: Counter[str] = Counter()
        for row in rows:
            if self.fails_after == 0:
                self.fails_after = None
                raise KafkaError("Kafka", "here", "does not answer")
            if self.fails_after is not None:
                self.fails_after -= 1
            if self.value_bytes is not None and len(row.value or b"") > self.value_bytes:
                raise TooLargeWindowError("topic", topic, "takes no row so large")
            self.rows.append(row)
            found[row.kind] += 1
        return found

    def flush(self, topic: str) -> None:
        return None

    def close(self) -> None:
        return None


@dataclass
class Rig:
    """A keeper with one cube that writes windows, and the records that it has.

    ``is_apart``: whether late records of the next batches stay apart.
    """

    keeper: Keeper
    own: Output
    folder: Path
    lateness_s: float
    topic: Topic = field(default_factory=Topic)
    sent: Sent = field(default_factory=Sent)
    outputs: Counter[str] = field(default_factory=Counter)
    limits: RevisionLimits = field(default_factory=RevisionLimits)
    cube: CubeDefinition = CUBE
    is_apart: bool = False
    first_limits: FirstLimits = field(default_factory=FirstLimits)

    @staticmethod
    def of(
        folder: Path,
        own: Output,
        *,
        lateness_s: float = 0,
        limits: RevisionLimits | None = None,
        first_limits: FirstLimits | None = None,
        cube: CubeDefinition = CUBE,
    ) -> Rig:
        keeper, first = opened(folder, lateness_s=lateness_s), first_limits or FirstLimits()
        rig = Rig(keeper, own, folder, lateness_s, limits=limits or RevisionLimits(), first_limits=first, cube=cube)
        rig.keeper.define(rig.id, cube, own, "asc.late")
        return rig

    def __post_init__(self) -> None:
        self.writer = self.new_writer()

    def new_writer(self) -> WindowWriter:
        own = self.outputs, self.limits, self.first_limits
        return WindowWriter(self.keeper, self.sent, *own)  # type: ignore[arg-type]

    def start_again(self) -> None:
        self.keeper.close()
        self.keeper = opened(self.folder, lateness_s=self.lateness_s)
        self.writer = self.new_writer()

    def commit(self, *records: Record, partition: int = 0) -> list[WindowRow]:
        """Commit a batch as the folder does, and return the rows that it wrote."""
        own = self.topic.partitions.setdefault(partition, [])
        first = len(own)
        own += records
        return self.commit_interval(batch(first, len(own), partition=partition))

    def commit_all(self, records: Mapping[int, Sequence[Record]]) -> list[WindowRow]:
        """Commit one batch of several partitions."""
        first = {each: len(self.topic.partitions.setdefault(each, [])) for each in range(3)}
        for partition, own in records.items():
            self.topic.partitions[partition] += own
        return self.commit_interval(
            BatchInterval("T", first, {each: len(self.topic.partitions[each]) for each in range(3)})
        )

    def commit_interval(self, interval: BatchInterval) -> list[WindowRow]:
        before = len(self.sent.rows)
        apart = [self.id] if self.is_apart else []
        assert self.writer.write([self.id]) == {}
        self.topic.commit(self.keeper, interval, {self.id: self.cube}, apart)
        assert self.writer.write([self.id]) == {}
        return self.sent.rows[before:]

    @property
    def id(self) -> CubeId:
        return cube_id("late", self.cube)

    @property
    def windows(self) -> WindowState:
        found = self.keeper.snapshot.cube(self.id).windows
        assert found is not None
        return found

    @property
    def records(self) -> list[Record]:
        return [record for own in self.topic.partitions.values() for record in own]

    @property
    def watermark_us(self) -> int | None:
        return self.keeper.snapshot.watermark_us(self.keeper.snapshot.cube(self.id))


def at(minute: float, carrier: str | None = "B6", delay: int | None = 1, dest: str = "JFK") -> Record:
    return (carrier, dest, delay, round(minute * MINUTE_US))


def minute(number: int) -> str:
    return instant_text(BASE_US + number * MINUTE_US)


Group = tuple[str, ...]
Windows = dict[tuple[str, str, str], dict[str, Any]]
"""By end of the window, cuboid and group, the measures."""


def read(row: WindowRow) -> tuple[str, str, str, dict[str, Any]]:
    """End, cuboid, group and measures of a row; no measures of a tombstone."""
    key = json.loads(row.key)
    end = row.identity.split("@")[1].split("/")[0]
    value = {} if row.value is None else json.loads(row.value)
    if value:
        assert value.pop("window")[1] == end
        assert value.pop("query") == "late"
    return end, json.dumps(key["cuboid"]), json.dumps(key["group"]), value


def summaries(rows: Iterable[WindowRow]) -> list[tuple[Any, ...]]:
    """End in minutes, carrier, and count of records with the revision; None of a tombstone. The total is no group."""
    found = []
    for row in rows:
        end, _, group, value = read(row)
        at_minute = next(number for number in range(-60, 10_000_000) if minute(number) == end)
        own = json.loads(group).get("carrier", "()")
        found.append((at_minute, own, (value["n"], value["revision"]) if value else None))
    return found


def newest(rows: Iterable[WindowRow]) -> Windows:
    """The row of the highest revision of each group in each window."""
    found: Windows = {}
    for row in rows:
        end, cuboid, group, value = read(row)
        known = found.get((end, cuboid, group))
        revision = int(row.identity.rpartition("#")[2])
        if value and (known is None or known["revision"] <= revision):
            assert value["revision"] == revision
            found[end, cuboid, group] = value
    return {place: {k: v for k, v in own.items() if k not in ("revision", "whole")} for place, own in found.items()}


def by_duckdb(records: Sequence[Record], own: Output, to_us: int | None) -> Windows:
    """All windows of some records that end up to a time."""
    found: Windows = {}
    times = [record[3] for record in records if record[3] is not None]
    if to_us is None or not times:
        return found
    slide_us, window_us = own.slide_s * 1_000_000, own.window_s * 1_000_000
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("flights", table_of(records))
        first = (BASE_US + min(times)) // slide_us
        last = min(to_us, BASE_US + max(times) + window_us) // slide_us
        for cuboid in own.cuboids:
            names = [CUBE.dimensions.names[column] for column in CUBE.dimensions.columns(cuboid)]
            group = "".join(f", {name}" for name in names)
            sql = f"""SELECT e, count(*), sum(delay), min(delay), max(delay), avg(delay),
                sum(delay * delay), count(delay){group}
                FROM flights, (SELECT unnest(range({first}, {last + 1})) * {slide_us} AS e)
                WHERE epoch_us(t) >= e - {window_us} AND epoch_us(t) < e GROUP BY e{group}"""
            for end, n, d, least, most, mean, squares, known, *values in connection.execute(sql).fetchall():
                measures = {"n": n, "d": None if d is None else int(d), "least": least, "most": most, "mean": mean}
                # Divided once, as an integer by an integer.
                spread = None if d is None else (known * int(squares) - int(d) ** 2) / known**2
                measures |= {"spread": spread, "known": known}
                key = json.dumps(dict(zip(names, values, strict=True)))
                found[instant_text(end), json.dumps(names), key] = measures
    return found


def last_by_key(rows: Iterable[WindowRow]) -> dict[bytes, WindowRow]:
    """What a compacted topic holds in the end."""
    return {row.key: row for row in rows}


def check(rig: Rig) -> None:
    """All windows that are final are there, equal to DuckDB's, and each key holds its group's newest window."""
    expected = by_duckdb(rig.records, rig.own, rig.watermark_us)
    if rig.own.emit == "all":
        assert newest(rig.sent.rows) == expected
    held = last_by_key(rig.sent.rows)
    ends = sorted({end for end, _, _ in expected})
    last = None if rig.watermark_us is None else rig.watermark_us // (rig.own.slide_s * 1_000_000)
    final = None if last is None else instant_text(last * rig.own.slide_s * 1_000_000)
    alive = {place[1:]: own for place, own in expected.items() if place[0] == final} if ends else {}
    found = {}
    for row in held.values():
        _, cuboid, group, value = read(row)
        if value:
            found[cuboid, group] = {k: v for k, v in value.items() if k not in ("revision", "whole")}
    assert found == alive
