"""The keeper against a model: sets of offsets that are folded, and DuckDB over their records."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from asc.operators.cube.definition import CubeDefinition
from asc.operators.cube.json_values import instant_text
from broker.operators.cube.backfilling import Seam, has_unreported, lacking, newest_part
from broker.operators.cube.coverage import BatchInterval
from broker.operators.cube.cube_state import CubeId
from broker.operators.cube.merging import CubeLimits
from tests.broker.operators.cube.kept_stream import (
    BASE_US,
    MINUTE_US,
    Record,
    Topic,
    cube_id,
    definition,
    duckdb_rows,
    opened,
    partial,
    rows_of,
)

PARTITIONS = 2
GRAINS_S = (60, 300)
QUERIES = ("p", "q", "r")
steps_of_time = st.integers(0, 100_000_000)
values = st.tuples(st.sampled_from(["B6", "UA", None]), st.sampled_from(["JFK", "LAX"]), st.integers(-5, 5) | st.none())
Offsets = set[tuple[int, int]]
Values = tuple[str | None, str, int | None]
LateBatch = tuple[int, int, list[tuple[float, Values]]]


@dataclass
class Model:
    """What a cube is to hold: the offsets, and those of them that stay apart."""

    folded: Offsets = field(default_factory=set)
    apart: Offsets = field(default_factory=set)


def offsets_of(batch: BatchInterval) -> Offsets:
    return {(each, offset) for each, end in batch.end.items() for offset in range(batch.first[each], end)}


class KeptCubes(RuleBasedStateMachine):
    """Batches, the same again, other cuts of them, backfills, starts, pauses, and cubes that come, change and go.

    Late records join their panes or stay apart, as the cube is told at the time.

    Times never run backwards, so that a gap is told exactly by marks.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.keeper = opened(Path(self.folder.name))
        self.topic = Topic(partitions={each: [] for each in range(PARTITIONS)})
        self.clock_us = 0
        self.position = dict.fromkeys(range(PARTITIONS), 0)
        self.begins = dict.fromkeys(range(PARTITIONS), 0)
        self.cubes: dict[CubeId, CubeDefinition] = {}
        self.models: dict[CubeId, Model] = {}
        self.paused: set[CubeId] = set()
        self.apart: set[CubeId] = set()
        self.history: list[tuple[BatchInterval, dict[CubeId, CubeDefinition]]] = []

    @initialize(grain_s=st.sampled_from(GRAINS_S))
    def begin(self, grain_s: int) -> None:
        self.define("p", grain_s)

    @rule(query=st.sampled_from(QUERIES), grain_s=st.sampled_from(GRAINS_S))
    def define(self, query: str, grain_s: int) -> None:
        own = definition(grain_s)
        cube = cube_id(query, own)
        assert self.keeper.define(cube, own) == (cube not in self.cubes)
        for former in [each for each in self.cubes if each.query == query and each != cube]:
            self.forget(former)
        self.cubes[cube] = own
        self.models.setdefault(cube, Model())

    @rule(query=st.sampled_from(QUERIES))
    def remove(self, query: str) -> None:
        self.keeper.remove(query)
        for former in [each for each in self.cubes if each.query == query]:
            self.forget(former)

    @rule(query=st.sampled_from(QUERIES))
    def pause_or_resume(self, query: str) -> None:
        self.paused ^= {each for each in self.cubes if each.query == query}

    @rule(query=st.sampled_from(QUERIES))
    def merge_late_records_or_keep_them_apart(self, query: str) -> None:
        self.apart ^= {each for each in self.cubes if each.query == query}

    @rule(records=st.lists(st.tuples(st.integers(0, PARTITIONS - 1), steps_of_time, values), min_size=1, max_size=8))
    def publish(self, records: list[tuple[int, int, Values]]) -> None:
        for partition, step_us, own in records:
            self.clock_us += step_us
            self.topic.partitions[partition].append((*own, self.clock_us))

    @precondition(lambda self: any(len(own) > self.position[each] for each, own in self.topic.partitions.items()))
    @rule(parts=st.lists(st.floats(0, 1), min_size=PARTITIONS, max_size=PARTITIONS))
    def run_batch(self, parts: list[float]) -> None:
        first = dict(self.position)
        for (each, own), part in zip(self.topic.partitions.items(), parts, strict=True):
            self.position[each] += round(part * (len(own) - self.position[each]))
        plan = {each: own for each, own in self.cubes.items() if each not in self.paused}
        self.history.append((BatchInterval("T", first, dict(self.position)), plan))
        self.commit(*self.history[-1])

    @precondition(lambda self: self.history)
    @rule(data=st.data())
    def run_again(self, data: st.DataObject) -> None:
        self.commit(*data.draw(st.sampled_from(self.history)))

    @precondition(lambda self: sum(self.position.values()))
    @rule(data=st.data())
    def run_another_cut(self, data: st.DataObject) -> None:
        first, end = {}, {}
        for each, position in self.position.items():
            bounds = st.integers(0, position)
            first[each], end[each] = sorted((data.draw(bounds), data.draw(bounds)))
        self.commit(BatchInterval("T", first, end), {k: v for k, v in self.cubes.items() if k not in self.paused})

    @precondition(lambda self: sum(self.position.values()))
    @rule(data=st.data())
    def backfill(self, data: st.DataObject) -> None:
        """Backfill a part of what a served cube lacks, while Kafka deletes records from time to time."""
        for each, begin in self.begins.items():
            self.begins[each] = data.draw(st.just(begin) | st.integers(begin, self.position[each]))
        seam = Seam("T", dict(self.position), dict(self.begins))
        served = [each for each in self.cubes if each not in self.paused]
        for cube in data.draw(st.lists(st.sampled_from(served), max_size=3)) if served else ():
            state = self.keeper.snapshot.cubes[cube]
            lacked = lacking(state.coverage, seam)
            if lacked or has_unreported(state, seam):
                part = newest_part(lacked, data.draw(st.integers(1, 9))) if lacked else {}
                first, end = ({each: own[at] for (_, each), own in part.items()} for at in (0, 1))
                marks, clocks = self.keeper.snapshot.marks, self.keeper.snapshot.clocks
                own = BatchInterval("T", first, end)
                assert self.topic.backfill(self.keeper, own, {cube: self.cubes[cube]}, seam).folded == {cube}
                assert (self.keeper.snapshot.marks, self.keeper.snapshot.clocks) == (marks, clocks)
                self.models[cube].folded |= offsets_of(own)

    @rule()
    def start_again(self) -> None:
        self.keeper.close()
        self.keeper = opened(Path(self.folder.name))

    def commit(self, batch: BatchInterval, plan: dict[CubeId, CubeDefinition]) -> None:
        mark_us = self.keeper.snapshot.marks.get("t")
        found = self.topic.commit(self.keeper, batch, plan, self.apart)
        own = offsets_of(batch)
        for cube, definition_of in plan.items():
            model = self.models.get(cube)
            if model is None:
                assert cube in found.dropped
            elif own <= model.folded:
                assert cube in found.covered
            elif own & model.folded:
                assert cube in found.partly
            else:
                assert cube in found.folded
                model.folded |= own
                if cube in self.apart and mark_us is not None:
                    model.apart |= {each for each in own if self.pane_end(each, definition_of) <= mark_us}

    def pane_end(self, place: tuple[int, int], own: CubeDefinition) -> int:
        """Return the end of the pane of a record, in microseconds since 1970."""
        time_us = self.topic.partitions[place[0]][place[1]][3]
        assert time_us is not None
        assert own.grain_us is not None
        return ((BASE_US + time_us) // own.grain_us + 1) * own.grain_us

    def forget(self, cube: CubeId) -> None:
        del self.cubes[cube], self.models[cube]
        self.paused.discard(cube)
        self.apart.discard(cube)

    @invariant()
    def every_record_is_counted_once(self) -> None:
        for cube, model in self.models.items():
            whole, joined = (self.records(own) for own in (model.folded, model.folded - model.apart))
            assert rows_of(self.keeper, cube, late=True) == duckdb_rows(whole)
            assert rows_of(self.keeper, cube) == duckdb_rows(joined)
            status = self.keeper.snapshot.status(cube)
            assert [status[name] for name in ("accepted", "counted", "apart")] == [
                *(len(whole), len(joined), len(model.apart))
            ]

    def records(self, offsets: Offsets) -> list[Record]:
        return [self.topic.partitions[each][offset] for each, offset in sorted(offsets)]

    @invariant()
    def what_is_called_whole_has_every_record(self) -> None:
        known = {own for model in self.models.values() for own in model.folded}
        ends = {
            each: max((offset + 1 for place, offset in known if place == each), default=0) for each in self.position
        }
        read = [own for each, end in ends.items() for own in self.topic.partitions[each][:end]]
        for cube in self.cubes:
            grain_us = self.keeper.snapshot.cubes[cube].grain_us
            for pane in range(self.clock_us // grain_us + 1):
                first_us, end_us = pane * grain_us, (pane + 1) * grain_us
                first, end = (BASE_US + each for each in (first_us, end_us))
                body = {"from": instant_text(first), "to": instant_text(end)}
                if self.keeper.questions.query(cube, {**body, "live": True})["whole"]:
                    expected = duckdb_rows(
                        [each for each in read if each[3] is not None and first_us <= each[3] < end_us]
                    )
                    assert rows_of(self.keeper, cube, **body, late=True) == expected

    def teardown(self) -> None:
        self.keeper.close()
        self.folder.cleanup()


late_batches = st.tuples(
    st.integers(0, PARTITIONS - 1),
    st.sampled_from([MINUTE_US - 1, MINUTE_US, 5 * MINUTE_US]),
    st.lists(st.tuples(st.floats(0, 1), values), min_size=1, max_size=8),
)
"""A step of time, and records of one partition from before it, by the part of all time."""


class LateCubes(KeptCubes):
    """One cube that stays, and records of any time, of which no gap is told exactly."""

    what_is_called_whole_has_every_record = None
    remove = None
    pause_or_resume = None

    def define(self, query: str, grain_s: int) -> None:
        super().define(query, grain_s)
        self.apart |= self.cubes.keys()

    @initialize(grain_s=st.sampled_from(GRAINS_S), batches=st.lists(late_batches, min_size=2, max_size=4))
    def begin(self, grain_s: int, batches: list[LateBatch]) -> None:
        self.define("p", grain_s)
        for own in batches:
            self.run_late_records(own)

    @rule(batch=late_batches)
    def run_late_records(self, batch: LateBatch) -> None:
        partition, step_us, late = batch
        self.publish([(each, step_us, ("B6", "JFK", 1)) for each in range(PARTITIONS)])
        self.run_batch([1.0] * PARTITIONS)
        self.topic.partitions[partition] += [(*own, round(part * self.clock_us)) for part, own in late]
        self.run_batch([1.0] * PARTITIONS)


@pytest.mark.parametrize(("machine", "examples"), [(KeptCubes, 6), (LateCubes, 4)])
def test_the_keeper_agrees_with_the_model(machine: type[KeptCubes], examples: int, full_size: bool) -> None:
    examples, steps = (30 * examples, 40) if full_size else (examples, 20)
    own = settings(
        phases=(Phase.generate,),
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=own)


records = st.lists(
    st.tuples(
        *(st.sampled_from(own) for own in (["B6", "UA", None], ["JFK", "LAX"], [1, 2**63 - 1, None])),
        st.none() | st.integers(0, 6 * MINUTE_US),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=25, phases=(Phase.generate,), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records=records, cuts=st.lists(st.integers(0, 40), max_size=6), data=st.data())
def test_any_cut_into_batches_and_order_of_partitions_gives_equal_bytes_of_closed_panes(
    records: list[Record], cuts: list[int], data: st.DataObject
) -> None:
    own = definition(60, ["count(*) AS n", "sum(delay) AS d", "max(dest) AS last", "min(delay) AS least"])
    cube = cube_id("p", own)
    whole = closed_bytes(cube, own, [[records]])
    bounds = sorted({0, len(records), *(min(cut, len(records)) for cut in cuts)})
    batches = []
    for first, end in pairwise(bounds):
        part = records[first:end]
        middle = data.draw(st.integers(0, len(part)))
        batches.append(data.draw(st.permutations([part[:middle], part[middle:]])))
    assert closed_bytes(cube, own, batches) == whole


def closed_bytes(
    cube: CubeId, own: CubeDefinition, batches: Sequence[Sequence[Sequence[Record]]]
) -> dict[int, list[bytes]]:
    """Return the bytes of all panes, which a last record closes. A batch is the records of its tasks."""
    with tempfile.TemporaryDirectory() as folder:
        keeper = opened(Path(folder), limits=CubeLimits())
        keeper.define(cube, own)
        offset = 0
        for tasks in batches:
            end = offset + sum(map(len, tasks))
            newest = {"t": {0: BASE_US + max((each[3] or 0) for task in tasks for each in task)}}
            keeper.commit(BatchInterval("T", {0: offset}, {0: end}), {cube: partial(own, tasks)}, newest)
            offset = end
        closing = [("B6", "JFK", 1, 60 * MINUTE_US)]
        newest = {"t": {0: BASE_US + 60 * MINUTE_US}}
        keeper.commit(BatchInterval("T", {0: offset}, {0: offset + 1}), {cube: partial(own, [closing])}, newest)
        panes = keeper.snapshot.cubes[cube].panes.closed
        found = {
            pane: [bytes(keeper._store.piece(piece.number) or b"") for piece in pieces]
            for pane, pieces in panes.items()
        }
        keeper.close()
        return found
