"""Cubes over recorded tuples at every slide: questions and windows against DuckDB, one query of it a grouping set.

The flights come in the order of their table, which goes back from December to February. The other tuples have no time:
they get one by their order, and come with disorder.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from asc.operators.cube.cells import merged
from asc.operators.cube.columns import Columns
from asc.operators.cube.cube import Cube
from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.fold import folded
from asc.operators.cube.json_values import instant_of, instant_text
from asc.operators.cube.output import Output
from asc.schema import Schema
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.keeper import Keeper
from broker.operators.cube.merging import CubeLimits
from broker.operators.cube.partial import Partial
from broker.operators.cube.window_sender import WindowSender
from broker.operators.cube.window_writer import WindowWriter
from tests.broker.operators.cube.window_rig import Sent
from tests.oracle.test_cubes import recorded

Group = tuple[tuple[str, Any], ...]
"""The dimensions of a group with their values, in the order of the cuboid."""
Slides = dict[int, dict[Group, tuple[Any, ...]]]
"""By the end of a window the measures of each group, of all cuboids."""

HOUR_S = 3_600
PARTITIONS = 3
EPOCH_US = 1_704_067_200_000_000
"""The time of the first tuple where tuples have none: 2024-01-01T00:00:00Z. The next ones follow in seconds."""


@dataclass(frozen=True)
class Recording:
    """Recorded tuples, and the cube that they are for. ``values``: the columns that are measured."""

    name: str
    dimensions: list[list[str]]
    values: list[str]
    condition: str
    grain_s: int
    window_s: int
    slide_s: int
    time: str = "t"

    @property
    def measures(self) -> list[str]:
        functions = [f"{function}({own})" for own in self.values for function in ("count", "sum", "min", "max", "avg")]
        return ["count(*)", *functions, f"count(*) FILTER (WHERE {self.condition})"]

    @property
    def cube(self) -> CubeDefinition:
        measures = [f"{own} AS m{place}" for place, own in enumerate(self.measures)]
        plain = {"dimensions": self.dimensions, "measures": measures, "time": self.time, "grain_s": self.grain_s}
        return CubeDefinition.parse(plain)

    def cuboids(self) -> list[list[str]]:
        own = self.cube.dimensions
        return [[own.names[place] for place in own.columns(cuboid)] for cuboid in own.cuboids()]


RECORDINGS = (
    Recording(
        *("flights", [["origin", "dest"], ["carrier"]], ["arr_delay", "distance"], "arr_delay > 60"),
        *(6 * HOUR_S, 7 * 24 * HOUR_S, 24 * HOUR_S, "time_hour"),
    ),
    Recording(
        *("census", [["industry", "occupation"], ["employer_size"]], ["wage_per_hour", "age"], "weeks_worked >= 40"),
        *(HOUR_S // 2, 6 * HOUR_S, HOUR_S),
    ),
    Recording(
        *("KDD Cup 99", [["protocol_type", "service"], ["flag"], ["label"]], ["src_bytes", "serror_rate"]),
        *("logged_in = 1", HOUR_S // 4, 6 * HOUR_S, HOUR_S),
    ),
)


@dataclass(frozen=True)
class Case:
    """Recorded tuples with their times, and the windows that DuckDB has of them."""

    own: Recording
    tuples: pa.Table
    expected: Slides

    @property
    def ends_us(self) -> range:
        slide_us = self.own.slide_s * 1_000_000
        return range(min(self.expected), max(self.expected) + slide_us, slide_us)


@pytest.fixture(scope="module", params=RECORDINGS, ids=[own.name for own in RECORDINGS])
def case(request: pytest.FixtureRequest, full_size: bool) -> Case:
    own: Recording = request.param
    tuples = recorded(own.name, full_size)
    if not full_size:
        tuples = tuples.slice(0, 5_000)
    if own.time not in tuples.column_names:
        seconds = np.arange(tuples.num_rows) * max(1, 172_800 // tuples.num_rows)
        times = pa.array(EPOCH_US + seconds * 1_000_000, pa.timestamp("us", "UTC"))
        tuples = tuples.append_column(own.time, times)
    columns = [own.time, *(name for several in own.dimensions for name in several), *own.values]
    columns.append(own.condition.split()[0])
    return Case(own, tuples.select(list(dict.fromkeys(columns))), by_duckdb(own, tuples))


def by_duckdb(own: Recording, tuples: pa.Table) -> Slides:
    found: Slides = {}
    slide_us, window_us = own.slide_s * 1_000_000, own.window_s * 1_000_000
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("given", tuples)
        connection.execute(f"CREATE TABLE tuples AS SELECT *, epoch_us({own.time}) AS us FROM given")
        (least, most) = connection.execute("SELECT min(us), max(us) FROM tuples").fetchall()[0]
        slides = f"SELECT unnest(range({least // slide_us}, {(most + window_us) // slide_us + 1})) * {slide_us} AS e"
        for names in own.cuboids():
            columns = ", ".join(["e", *names])
            sql = f"""SELECT {columns}, {", ".join(own.measures)} FROM tuples, ({slides})
                WHERE us >= e - {window_us} AND us < e GROUP BY {columns}"""
            for end_us, *values in connection.execute(sql).fetchall():
                group = tuple(zip(names, values[: len(names)], strict=True))
                found.setdefault(end_us, {})[group] = tuple(values[len(names) :])
    return found


def rows_of(answer: Mapping[str, Any]) -> dict[Group, tuple[Any, ...]]:
    """Return the rows of an answer by group."""
    rows = {tuple(row["group"].items()): tuple(row.values())[1:] for row in answer["rows"]}
    assert len(rows) == answer["groups"]
    return rows


def question(case: Case, end_us: int, **more: object) -> dict[str, Any]:
    begin_us = end_us - case.own.window_s * 1_000_000
    interval = {"from": instant_text(begin_us), "to": instant_text(end_us)}
    return {"by": case.own.cuboids(), **interval, "limit": 100_000, **more}


def close(found: Mapping[Group, tuple[Any, ...]], expected: Mapping[Group, tuple[Any, ...]]) -> bool:
    """Return whether groups are equal, but for sums of doubles, which DuckDB rounds at each step."""
    return found.keys() == expected.keys() and all(
        all(
            one == other or (isinstance(other, float) and one == pytest.approx(other, rel=1e-9))
            for one, other in zip(own, expected[group], strict=True)
        )
        for group, own in found.items()
    )


def test_each_answer_at_each_slide_is_that_of_duckdb(case: Case) -> None:
    cube = Cube(case.own.cube, case.tuples.schema)
    for start in range(0, case.tuples.num_rows, 50_000):
        cube.fold(case.tuples.slice(start, 50_000))
    for end_us in case.ends_us:
        found = rows_of(cube.query(question(case, end_us)))
        if end_us not in case.expected:
            # Of an empty window the cuboid of all records alone has a row.
            assert list(found) == [()]
            assert found[()][0] == 0
            continue
        assert close(found, case.expected[end_us]), instant_text(end_us)


class Stream:
    """A keeper of the cube of a case, with its windows of all cuboids, that gets the tuples in batches."""

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._schema = Schema.of(case.tuples.schema)
        self.id = CubeId("all", case.own.cube.generation("recorded", "true"))
        self.keeper = Keeper.open(folder / "cubes.sqlite", self._schema, CubeLimits(query_s=60), lateness_s=HOUR_S)
        plain = {"output": case.own.cuboids(), "window_s": case.own.window_s, "slide_s": case.own.slide_s}
        output = Output.parse(plain, case.own.cube)
        assert output is not None
        self.keeper.define(self.id, case.own.cube, output, "asc.all")
        self.sent = Sent()
        self.writer = WindowWriter(self.keeper, cast(WindowSender, self.sent), Counter())
        self._ends = dict.fromkeys(range(PARTITIONS), 0)

    def run(self, batch: int) -> None:
        """Commit all tuples in batches, in disorder of less than the lateness, over several partitions."""
        tuples = self._case.tuples
        if self._case.own.time == "t":
            draw, places = np.random.default_rng(7), np.arange(tuples.num_rows)
            blocks = np.array_split(places, max(1, tuples.num_rows // 800))
            tuples = tuples.take(np.concatenate([draw.permutation(own) for own in blocks]))
        for start in range(0, tuples.num_rows, batch):
            self._commit(tuples.slice(start, batch))
        while self._windows().changes or self._windows().is_behind:
            assert self.writer.write_left([self.id]) == {}

    def _commit(self, tuples: pa.Table) -> None:
        assert self.writer.write([self.id]) == {}
        layout = self.keeper.snapshot.cube(self.id).layout
        assert layout is not None
        parts, newest = [], {}
        first, places = self._ends, np.arange(tuples.num_rows)
        self._ends = dict(first)
        for partition in range(PARTITIONS):
            rows = tuples.take(places[partition::PARTITIONS]).combine_chunks()
            if not rows.num_rows:
                continue
            parts.append(folded(layout, Columns(rows.to_batches()[0], self._schema, "UTC")))
            times = rows.column(self._case.own.time).cast(pa.int64()).to_numpy()
            newest[partition] = int(times.max())
            self._ends[partition] += rows.num_rows
        by_pane: Counter[int] = Counter()
        for part in parts:
            by_pane.update(part.by_pane)
        partial = Partial(merged(layout, [part.cells for part in parts]), by_pane)
        done = self.keeper.commit(
            BatchInterval("T", first, self._ends), {self.id: partial}, {self._case.own.time: newest}
        )
        assert done.parked == {}
        assert self.writer.write([self.id]) == {}

    def _windows(self) -> Any:
        return self.keeper.snapshot.cube(self.id).windows

    def windows(self) -> Slides:
        """Return the rows of the highest revision by end and group."""
        last: dict[tuple[int, Group], tuple[int, tuple[Any, ...]]] = {}
        for row in self.sent.rows:
            if row.value is None:
                continue
            group, value = json.loads(row.key)["group"], json.loads(row.value)
            place = instant_of("window", value["window"][1]), tuple(group.items())
            if value["revision"] >= last.get(place, (0, ()))[0]:
                measures = tuple(own for name, own in value.items() if name.startswith("m"))
                last[place] = value["revision"], measures
        found: Slides = {}
        for (end_us, group), (_, measures) in last.items():
            found.setdefault(end_us, {})[group] = measures
        return found


@pytest.fixture
def stream(case: Case, tmp_path: Path) -> Iterator[Stream]:
    stream = Stream(case, tmp_path)
    yield stream
    stream.keeper.close()


# In the gate test_window_writer.py compares windows of drawn records with DuckDB.
@pytest.mark.nightly
@pytest.mark.timeout(1_800)
def test_each_window_of_a_stream_and_its_answers_are_those_of_duckdb(case: Case, stream: Stream) -> None:
    stream.run(max(2_000, case.tuples.num_rows // 40))
    watermark_us = stream.keeper.snapshot.watermark_us(stream.keeper.snapshot.cube(stream.id))
    assert watermark_us is not None
    final = {end_us: groups for end_us, groups in case.expected.items() if end_us <= watermark_us}
    assert len(final) > len(case.expected) // 2
    written = stream.windows()
    assert written.keys() == final.keys()
    assert [instant_text(end_us) for end_us in final if not close(written[end_us], final[end_us])] == []
    for end_us, expected in case.expected.items():
        answer = stream.keeper.questions.query(stream.id, question(case, end_us, live=True))
        assert close(rows_of(answer), expected), instant_text(end_us)
        assert answer["whole"]
