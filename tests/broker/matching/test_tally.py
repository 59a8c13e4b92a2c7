"""Counts and samples of batches: uniform, bounded, of one plan alone, and no failure of the task's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyspark.accumulators import Accumulator

from asc.evaluation.executor import match
from asc.evaluation.regions import region_ids
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.tally import NO_TIME, Sampling, Tally, Tallying, TallyParam, TaskTally
from workloads.synthetic import d1_workload, uniform_tuples

WORKLOAD = d1_workload(40)
D1 = uniform_tuples(20_000, seed=3)


def test_a_task_whose_draw_fails_goes_on() -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    columns = [D1[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(10))
    task = TaskTally(Tallying(arrived, 1, Sampling(1.0, 10)))
    task.add(plan.p_attributes, columns[1:], match(plan, columns, D1.num_rows))
    task.hand_over()
    assert arrived.value is None


def test_the_slowest_task_is_what_matching_took() -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    columns = [D1[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(10))
    for match_s in (0.5, 2.0, 1.0):
        task = TaskTally(Tallying(arrived, 1, None))
        task.add(plan.p_attributes, columns, match(plan, columns, D1.num_rows))
        task.hand_over(match_s)
    assert arrived.value is not None
    assert (arrived.value.tuples, arrived.value.match_s) == (60_000, 2.0)


def test_a_draw_is_uniform_and_bounded(tallied: Callable[..., Tally]) -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    tuples = D1.set_column(0, "a0", pa.array(np.arange(20_000, dtype=np.int32)))
    columns = [tuples[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    draw = tallied(plan, columns, 20_000, Sampling(0.5, 2_000)).draw
    assert draw is not None
    assert len(draw) == 2_000
    (values,) = [draw.values["a0"].to_numpy()]
    assert len(set(values.tolist())) == 2_000
    # 500 of each quarter on average, with a deviation of 18: eight of them are never seen.
    assert all(350 < count < 650 for count in np.histogram(values, 4, (0, 20_000))[0])


def test_long_values_are_cut_in_a_draw(tallied: Callable[..., Tally]) -> None:
    plan = compile_plan([Query("q", normalise("s > 'b'", Schema.from_ddl("s STRING")))])
    # The second is cut inside a character.
    texts = pa.array(["x" * 1_000_000, "c" + "ü" * 100, None])
    draw = tallied(plan, [texts], 3, Sampling(1.0, 10)).draw
    assert draw is not None
    assert draw.values.nbytes < 1_000
    (column,) = draw.columns(plan.p_attributes)
    assert sorted(region_ids(plan, [column], 3)[0].tolist()) == sorted(region_ids(plan, [texts], 3)[0].tolist())


def test_what_is_compared_and_matched_is_drawn_once(tallied: Callable[..., Tally]) -> None:
    plan = compile_plan([Query("q", normalise("s > 'b' AND s LIKE '%a%c'", Schema.from_ddl("s STRING")))])
    assert len(plan.p_attributes) == 2
    texts = pa.array(["c and c", "abc", None])
    draw = tallied(plan, [texts, texts], 3, Sampling(1.0, 10)).draw
    assert draw is not None
    assert draw.values.column_names == ["s"]
    assert [sorted(map(str, column)) for column in draw.columns(plan.p_attributes)] == [sorted(map(str, texts))] * 2


def test_tallies_of_an_older_plan_are_left_out(tallied: Callable[..., Tally]) -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    columns = [D1[attribute.sql].combine_chunks().slice(0, 1_000) for attribute in plan.p_attributes]
    old, new = (tallied(plan, columns, 1_000, Sampling(1.0, 10), number) for number in (1, 2))
    assert old.merged(new, 10).tuples == new.merged(old, 10).tuples == 1_000
    assert new.merged(new, 10).tuples == 2_000


def test_the_newest_times_of_tracks_are_told_by_partition() -> None:
    plan = compile_plan(WORKLOAD.standing_queries())
    columns = [D1[attribute.sql].combine_chunks() for attribute in plan.p_attributes]
    arrived: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(10))
    batches = [([0, 0, 1], [5, 3, NO_TIME], [NO_TIME] * 3), ([1, 1], [7, 8], [NO_TIME, 1])]
    for partitions, *times in batches:
        task = TaskTally(Tallying(arrived, 1, None, times=("a", "b")))
        task.add(plan.p_attributes, columns, match(plan, columns, D1.num_rows))
        task.add_times(np.array(partitions), [np.array(own) for own in times])
        task.hand_over()
    assert arrived.value is not None
    assert arrived.value.newest == {("a", 0): 5, ("a", 1): 8, ("b", 1): 1}
