"""The plan that runs: what registration and the monitor put in, what batches get, and what neither undoes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from asc.plan.compiler import change_plan, compile_plan
from asc.plan.order import Order
from asc.plan.plan import CompileOptions, Plan
from broker.errors import BrokerError
from broker.plans.binding import BatchBindings, Binding
from broker.plans.running_plan import RunningPlan, UnfinishedBatch
from workloads.synthetic import d1_workload

BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0, rebuild_share=1.0)
QUERIES = d1_workload(200, seed=9).standing_queries()


def compiled(version: int, queries: Sequence[object] = QUERIES) -> Plan:
    return compile_plan(queries, BLOCKS, version)  # type: ignore[arg-type]


def spark_plans(folder: Path, batch_id: int, end: int) -> None:
    """The offset log as Spark writes it before it runs a batch."""
    log = folder / "spark" / "offsets"
    log.mkdir(parents=True, exist_ok=True)
    (log / str(batch_id)).write_text(f"v1\n{{}}\n{json.dumps({'t': {'0': end}})}", "utf-8")


def spark_commits(folder: Path, batch_id: int) -> None:
    (folder / "spark" / "commits").mkdir(parents=True, exist_ok=True)
    (folder / "spark" / "commits" / str(batch_id)).write_text("v1\n{}", "utf-8")


def started_plan(folder: Path) -> RunningPlan:
    """As a daemon that starts finds it."""
    return RunningPlan("s", BatchBindings(folder / "bindings", folder / "spark"), {0: 3})


def reversed_order(plan: Plan, number: int) -> Order:
    block = plan.blocks[number]
    return block.order_of(block.sequence.tolist()[::-1])


def test_a_plan_holds_from_the_end_of_the_last_batch_that_was_bound(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    assert running.replace(compiled(1)) == {0: 3}
    spark_plans(tmp_path, 0, 7)
    assert running.bind(0).plan.version == 1
    assert running.replace(compiled(2)) == {0: 7}
    assert running.effective_offsets() == {0: 7}
    assert not running.is_settled
    spark_commits(tmp_path, 0)
    assert running.is_settled


def test_a_batch_that_failed_is_run_again_with_the_plan_it_was_bound_to(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    first = compiled(1)
    running.replace(first)
    spark_plans(tmp_path, 0, 7)
    assert running.bind(0).plan is first
    running.replace(compiled(2))
    for _ in range(2):
        again = running.bind(0)
        assert (again.plan, again.is_replay) == (first, True)
    spark_plans(tmp_path, 1, 9)
    after = running.bind(1)
    assert (after.plan.version, after.is_replay) == (2, False)


def test_after_a_crash_the_version_to_replay_is_that_of_the_batch_that_was_not_committed(tmp_path: Path) -> None:
    crashed = started_plan(tmp_path)
    assert crashed.version_to_replay is None
    crashed.replace(compiled(1))
    spark_plans(tmp_path, 0, 7)
    crashed.bind(0)
    started = started_plan(tmp_path)
    assert started.version_to_replay == 1
    started.replace(compiled(5))
    old = compiled(1)
    started.replay_with(old)
    # A registration comes before the batch does.
    started.replace(compiled(6))
    again = started.bind(0)
    assert (again.plan, again.is_replay) == (old, True)
    spark_commits(tmp_path, 0)
    assert started_plan(tmp_path).version_to_replay is None


def test_what_is_done_is_before_the_batch_that_is_not(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    running.replace(compiled(1))
    starting = running.done_offsets()
    spark_plans(tmp_path, 0, 7)
    running.bind(0)
    assert started_plan(tmp_path).done_offsets() == starting
    spark_commits(tmp_path, 0)
    assert started_plan(tmp_path).done_offsets() == {0: 7}
    spark_plans(tmp_path, 1, 9)
    running.bind(1)
    assert started_plan(tmp_path).done_offsets() == {0: 7}
    (tmp_path / "spark" / "offsets" / "0").write_text("damaged", "utf-8")
    assert started_plan(tmp_path).done_offsets() == {0: 7}
    # A version before wrote no first offsets: Spark's log alone says them.
    (tmp_path / "bindings" / "0").unlink()
    (tmp_path / "bindings" / "1").write_text('{"version": 1, "end_offsets": {"0": 9}}', "utf-8")
    assert started_plan(tmp_path).done_offsets() == {0: 9}


def test_a_batch_knows_its_offsets_of_partitions_that_are_new_as_well(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    running.replace(compiled(1))
    spark_plans(tmp_path, 0, 7)
    bound = running.bind(0)
    assert (bound.first, bound.end) == ({0: 3}, {0: 7})
    (tmp_path / "spark" / "offsets" / "1").write_text('v1\n{}\n{"t": {"0": 7, "1": 4}}', "utf-8")
    bound = running.bind(1)
    assert (bound.first, bound.end) == ({0: 7, 1: 0}, {0: 7, 1: 4})
    started = started_plan(tmp_path)
    started.replace(compiled(2))
    started.replay_with(bound.plan)
    again = started.bind(1)
    assert again == replace(bound, is_replay=True)


def test_a_batch_of_a_version_that_nobody_knows_is_one_line(tmp_path: Path) -> None:
    crashed = started_plan(tmp_path)
    crashed.replace(compiled(1))
    spark_plans(tmp_path, 0, 7)
    crashed.bind(0)
    started = started_plan(tmp_path)
    started.replace(compiled(5))
    with pytest.raises(BrokerError, match="batch 0: was begun with version 1, whose plan is not known"):
        started.bind(0)


def block_of_the_first(plan: Plan) -> int:
    """Which block the first query stands in."""
    ordinal = plan.ordinal(QUERIES[0].id)
    handle = int(plan.handles[ordinal])
    return next(number for number, block in enumerate(plan.blocks) if handle in block.table.owner)


def test_an_order_that_was_found_while_a_change_was_made_is_kept(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    running.replace(compiled(1))
    read = running.plan
    changed = change_plan(read, remove=[QUERIES[0].id], version=2)
    own = block_of_the_first(read)
    other = own - 1 if own else 1
    assert changed.blocks[other] is read.blocks[other]
    found = reversed_order(read, other)
    running.arrange(read, {other: found, own: reversed_order(read, own)})
    running.replace(changed, read)
    assert running.plan.version == 2
    assert running.plan.blocks[other].order is found
    # One block lost a query: it is another one, and what was found for it does not hold for it.
    assert running.plan.blocks[own].sequence.tolist() == changed.blocks[own].sequence.tolist()


def test_orders_for_a_block_that_has_changed_meanwhile_change_nothing(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    running.replace(compiled(1))
    read = running.plan
    changed = change_plan(read, remove=[QUERIES[0].id], version=2)
    running.replace(changed, read)
    own = block_of_the_first(read)
    assert running.arrange(read, {own: reversed_order(read, own)}) is running.plan
    assert running.plan.blocks[own].sequence.tolist() == changed.blocks[own].sequence.tolist()


def test_a_batch_that_is_not_done_is_told_with_its_plan_and_records(tmp_path: Path) -> None:
    running = started_plan(tmp_path)
    running.replace(compiled(1))
    assert running.unfinished() is None
    spark_plans(tmp_path, 0, 7)
    first = running.bind(0).plan
    found = running.unfinished()
    assert found == UnfinishedBatch(0, first, {0: 3}, {0: 7}, 1)
    running.replace(compiled(2))
    running.bind(0)
    assert running.unfinished() == UnfinishedBatch(0, first, {0: 3}, {0: 7}, 2)
    running.excuse()
    found = running.unfinished()
    assert found is not None
    assert found.start_count == 1
    # What takes the place of its plan: the same version, without what cannot be gone on with.
    without = compiled(1, QUERIES[1:])
    running.replay_with(without)
    assert running.bind(0).plan is without
    spark_commits(tmp_path, 0)
    assert running.unfinished() is None
    running.excuse()
    spark_plans(tmp_path, 1, 9)
    running.bind(1)
    found = running.unfinished()
    assert found is not None
    assert (found.first, found.end, found.start_count) == ({0: 7}, {0: 9}, 1)


class Batches(RuleBasedStateMachine):
    """Changes, crashes, failures and batches in any order, against a dictionary of what each batch was bound to."""

    @initialize()
    def start(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="running-"))
        self.versions = {0: compiled(0, QUERIES[:2])}
        self.running = started_plan(self.folder)
        self.running.replace(self.versions[0])
        self.bound: dict[int, int] = {}
        self.batch_id = 0

    @rule()
    def change(self) -> None:
        version = max(self.versions) + 1
        self.versions[version] = compiled(version, QUERIES[: 2 + version % 3])
        self.running.replace(self.versions[version])

    @rule(commits=st.booleans())
    def batch(self, commits: bool) -> None:
        spark_plans(self.folder, self.batch_id, 10 * self.batch_id)
        found = self.running.bind(self.batch_id)
        expected = self.bound.setdefault(self.batch_id, self.running.plan.version)
        assert found.plan.version == expected
        assert found.plan.query_ids == self.versions[expected].query_ids
        assert found.is_replay == (expected != self.running.plan.version)
        first = 10 * (self.batch_id - 1) if self.batch_id else 3
        assert (found.first, found.end) == ({0: first}, {0: 10 * self.batch_id})
        if commits:
            spark_commits(self.folder, self.batch_id)
            self.batch_id += 1

    @rule(written=st.booleans())
    def binding_fails(self, written: bool) -> None:
        """The disk is full, before the binding is in place or after it."""
        spark_plans(self.folder, self.batch_id, 10 * self.batch_id)
        whole = self.running._bindings

        class Failing(BatchBindings):
            def bind(self, batch_id: int, version: int) -> Binding:
                if written:
                    super().bind(batch_id, version)
                raise OSError("no space left")

        self.running._bindings = Failing(self.folder / "bindings", self.folder / "spark")
        with pytest.raises(OSError, match="no space left"):
            self.running.bind(self.batch_id)
        self.running._bindings = whole
        if written:
            self.bound.setdefault(self.batch_id, self.running.plan.version)

    @rule()
    def crash(self) -> None:
        latest = self.running.plan
        self.running = started_plan(self.folder)
        self.running.replace(latest)
        version = self.running.version_to_replay
        assert version == self.bound.get(self.batch_id)
        if version is not None:
            self.running.replay_with(self.versions[version])

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @invariant()
    def effective_offsets_are_those_after_the_last_batch(self) -> None:
        if getattr(self, "bound", None):
            assert self.running.effective_offsets() == {0: 10 * max(self.bound)}


TestBatches = Batches.TestCase
TestBatches.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
