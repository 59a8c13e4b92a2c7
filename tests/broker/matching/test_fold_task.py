"""Partial states of one task: whole for any slices and batches, handed over once, each query's failure its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.accumulators import Accumulator

import tests.broker.fold_echo as echo
from asc.keys.attribute import PAttribute
from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching import worker
from broker.matching.destinations import Destinations
from broker.matching.fold_task import (
    PROPERTY,
    FoldCounts,
    Folding,
    FoldParam,
    FoldQuery,
    HandedOver,
    TaskPartials,
)
from broker.matching.plan_ids import RegisteredIds
from broker.matching.tally import REASON_BITS, Tally, Tallying, TallyParam
from broker.matching.transport import Transport

SCHEMA = Schema.from_ddl("n BIGINT")
CARRIED = (PAttribute("t_us", pa.int64()), PAttribute("n", pa.int64(), ("n",)))
STAMP_MS = 1_000_000


def plan_of(queries: Mapping[str, tuple[str, bool]]) -> Plan:
    """Queries by name: the predicate, and whether it is folded; others are routed."""
    return compile_plan(
        [
            Query(name, normalise(where, SCHEMA), "t", Destination(name, echo.OP, 1, "", "", "{}") if folded else None)
            for name, (where, folded) in queries.items()
        ]
    )


class Task:
    """A task over batches of numbers, in this process."""

    def __init__(self, plan: Plan, *, bytes_max: int = 1_000_000) -> None:
        self.arrived: Accumulator[HandedOver] = Accumulator(-1, {}, FoldParam())
        self.tally: Accumulator[Tally | None] = Accumulator(-2, None, TallyParam(0))
        names = [own.name for own in plan.destinations.entries]
        folding = Folding(
            self.arrived,
            folds={echo.OP: echo.EchoFold()},
            queries={name: FoldQuery(echo.OP, "t_us", ("n", "")) for name in names},
            carried=CARRIED,
            times={"t_us": 0},
            columns={echo.OP: {"n": 1}},
            future_us=0,
            bytes_max={echo.OP: bytes_max},
            limits={echo.OP: "most"},
        )
        crossing = (*plan.p_attributes, *CARRIED)
        self.transport = Transport.of(crossing, [False] * len(crossing))
        parts: Any = SimpleNamespace(
            plan=plan,
            evaluated=(plan, None),
            registered=RegisteredIds.of(plan.query_ids),
            destinations=Destinations.of(plan),
        )
        tallying = Tallying(self.tally, 1, None, counts_records=True)
        self._run = worker.matching_task(self.transport, parts, "deliveries", tallying, folding)

    def run(self, *batches: list[int], dead: int | None = None) -> list[Any]:
        """The texts of batches, of which a number that is ``dead`` is a dead letter."""

        def arrived() -> Iterator[tuple[pd.Series, ...]]:
            for batch in batches:
                numbers = np.array(batch, dtype=np.int64)
                values = {"n": pd.Series(numbers), "t_us": pd.Series(numbers)}
                numbered = STAMP_MS << REASON_BITS | (numbers == dead)
                own = [values[text] for text in self.transport.arguments]
                yield (*own, pd.Series(numbers % 2), pd.Series(numbered))

        return [text for texts in self._run(arrived()) for text in pa.array(texts).to_pylist()]

    @property
    def partials(self) -> TaskPartials:
        ((place, content),) = self.arrived.value.items()
        assert place == ("nonce", 3)
        return TaskPartials.of_bytes(content)

    def counted(self, name: str) -> dict[str, int]:
        found: dict[str, int] = json.loads(self.partials.partials[name].state)
        return found


@pytest.fixture(autouse=True)
def _context(monkeypatch: pytest.MonkeyPatch) -> None:
    context: Any = SimpleNamespace(partitionId=lambda: 3, getLocalProperty={PROPERTY: "nonce 2"}.get)
    monkeypatch.setattr(TaskContext, "get", lambda: context)


def test_slices_and_batches_are_folded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = {"all": ("true", True), "odd": ("n >= 7", True), "routed": ("n < 2", False)}
    # Every slice of the executor's has a few rows.
    monkeypatch.setattr(worker, "_PAIRS", 64)
    task = Task(plan_of(queries))
    texts = task.run(list(range(1, 1_000)), list(range(500, 700)), [])
    assert task.counted("all") == {str(n): 1 + (500 <= n < 700) for n in range(1, 1_000)}
    assert task.counted("odd") == {str(n): 1 + (500 <= n < 700) for n in range(7, 1_000)}
    # A record that is folded alone has no text, and another one none of the queries that fold it.
    assert [text for text in texts if text is not None] == ["t\x1erouted"]
    assert len(texts) == 1_199
    tally = task.tally.value
    assert tally is not None
    assert (tally.tuples, tally.accepted, tally.written) == (1_199, 1_199, 1)
    assert tally.by_query.counts.tolist() == [1_199, 1_193, 1]
    assert task.partials.newest == {("t_us", 0): 998, ("t_us", 1): 999}
    assert task.partials.partials["odd"].counts == FoldCounts(counted=1_193)


def test_a_task_without_batches_hands_over() -> None:
    task = Task(plan_of({"all": ("true", True)}))
    assert task.run() == []
    assert task.partials == TaskPartials()


def test_a_dead_letter_is_folded_nowhere_and_moves_no_time() -> None:
    task = Task(plan_of({"all": ("true", True)}))
    task.run([4, 8, 6], dead=8)
    assert task.counted("all") == {"4": 1, "6": 1}
    assert task.partials.newest == {("t_us", 0): 6}


def test_a_time_after_its_record_is_excluded() -> None:
    task = Task(plan_of({"all": ("true", True)}))
    last = STAMP_MS * 1_000
    task.run([last, last + 1, -(2**63)])
    assert task.counted("all") == {str(last): 1}
    assert task.partials.partials["all"].counts == FoldCounts(1, time=1, future_timestamp=1)


def test_the_widest_state_past_the_share_fails_alone_in_any_batch() -> None:
    queries = {"narrow": ("n = 5", True), "wide": ("true", True)}
    task = Task(plan_of(queries), bytes_max=2 * 100)
    task.run([5], list(range(50)), [5, 6])
    assert task.counted("narrow") == {"5": 3}
    assert task.partials.failed["wide"].startswith("its state of 490 bytes in one task is the widest")
    assert set(task.partials.partials) == {"narrow"}


def test_a_state_whose_equal_groups_fit_the_share_once_merged_does_not_fail() -> None:
    task = Task(plan_of({"narrow": ("n = 5", True), "other": ("n = 6", True)}), bytes_max=2 * 100)
    task.run([5] * 50, [6] * 50 + [5] * 50)
    assert (task.counted("narrow"), task.counted("other")) == ({"5": 100}, {"6": 50})
    assert task.partials.failed == {}


def test_a_plan_without_folded_queries_has_none() -> None:
    plan = plan_of({"routed": ("n < 2", False)})
    assert Destinations.of(plan).folded is None
    task = Task(plan)
    task.run([1, 5])
    assert task.arrived.value == {}
