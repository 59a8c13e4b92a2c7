"""Queries that another one stands for: what leaves the workers, and every count, is as though each were evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark import Accumulator

from asc.evaluation.executor import match
from asc.plan.compiler import compile_plan
from asc.plan.destination import Destination
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.matching.alike import Alike
from broker.matching.destinations import Destinations
from broker.matching.plan_ids import RegisteredIds
from broker.matching.query_counts import QueryCounts
from broker.matching.tally import REASON_BITS, Tally, Tallying, TallyParam
from broker.matching.worker import matching_task, pairs_a_piece, texts_of

_SCHEMA = Schema.from_ddl("n BIGINT")
_VALUES = [5, 50, None, 500, 5, -1, 50, 50, 5000]
_WHERES = {"every": "true", "some": "n > 10", "two": "n < 0 OR n > 100", "none": "n > 5 AND n < 3", "one": "n = 50"}


def _operated(name: str, target: str, selection: str) -> Destination:
    return Destination(name.split("/", maxsplit=1)[0], "dbscan", 2, target, selection, "{}")


def _plan(*, joins: bool, options: CompileOptions | None = None) -> Plan:
    queries = []
    for number in range(40):
        name, where = list(_WHERES.items())[number % len(_WHERES)]
        own = None if number % 7 == 0 else _operated(f"q{number:02}", f"t{number % 3}", name)
        queries.append(Query(f"q{number:02}", normalise(where, _SCHEMA), f"topic{number % 2}", own))
    if joins:
        for name in ("over", "pass"):
            own = _operated(name, "t1", "join")
            queries += [Query(f"{name}/{shape}", normalise("n > 10", _SCHEMA), "topic0", own) for shape in "ab"]
        queries += [Query(f"routed/{shape}", normalise("n > 10", _SCHEMA), "topic1") for shape in "ab"]
    return compile_plan(queries, options)


class _Arrived:
    """A transport, and the parts of a plan, that hand on what they are given."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.registered = plan, RegisteredIds.of(plan.query_ids)
        self.destinations = Destinations.of(plan)
        alike = Alike.of(plan, self.destinations.operated, self.registered)
        self.evaluated = (plan if alike is None else alike.pruned(plan), alike)

    arguments = ("n",)

    @staticmethod
    def read(arrived: tuple[pd.Series, ...]) -> list[pa.Array]:
        return [pa.array(arrived[0], pa.int64(), from_pandas=True)]

    @staticmethod
    def errors(_arrived: tuple[pd.Series, ...]) -> dict[int, Any]:
        return {}


@pytest.mark.parametrize("joins", [False, True])
@pytest.mark.parametrize("options", [None, CompileOptions(exact_bytes=0, block_conjuncts=8), CompileOptions()])
def test_texts_and_counts_are_as_though_each_query_were_evaluated(joins: bool, options: CompileOptions | None) -> None:
    plan = _plan(joins=joins, options=options)
    own: Any = _Arrived(plan)
    assert own.evaluated[1] is not None
    columns = [pa.array(_VALUES, pa.int64())]
    each = match(plan, columns, len(_VALUES))
    once = match(own.evaluated[0], columns, len(_VALUES))
    assert len(once) < len(each)

    registered, pairs = own.registered, pairs_a_piece(plan, "deliveries")
    wanted = [text for piece in texts_of(plan, registered, each, "deliveries", pairs) for text in piece.to_pylist()]
    accumulator: Accumulator[Tally | None] = Accumulator(-1, None, TallyParam(10))
    task = matching_task(own, own, "deliveries", Tallying(accumulator, 1, None, counts_records=True))
    batch = (pd.Series(_VALUES, dtype="Int64"), pd.Series(np.full(len(_VALUES), -1 << REASON_BITS)))
    assert [text for piece in task(iter([batch])) for text in piece.tolist()] == wanted

    tally = accumulator.value
    assert tally is not None
    counts = np.bincount(registered.accepted(each.rows, each.queries), minlength=len(registered.ids))
    assert dict(zip(tally.by_query.ordinals.tolist(), tally.by_query.counts.tolist(), strict=True)) == {
        place: count for place, count in enumerate(counts.tolist()) if count
    }


def test_a_thousand_queries_of_one_selection_cost_a_pair_a_record() -> None:
    predicate = normalise("n > 10", _SCHEMA)
    queries = [Query(f"q{i:04}", predicate, "t", _operated(f"q{i:04}", "t1", "s1")) for i in range(1_000)]
    own: Any = _Arrived(compile_plan(queries))
    once = match(own.evaluated[0], [pa.array(_VALUES, pa.int64())], len(_VALUES))
    assert (once.rows.tolist(), once.queries.tolist()) == ([1, 3, 6, 7, 8], [0] * 5)


def test_queries_without_an_operator_are_all_evaluated() -> None:
    predicate = normalise("n > 10", _SCHEMA)
    plan = compile_plan([Query(f"q{i}", predicate, "t") for i in range(5)])
    assert Alike.of(plan, Destinations.of(plan).operated, RegisteredIds.of(plan.query_ids)) is None
    plan = compile_plan([Query(f"q{i}", predicate, "t", _operated(f"q{i}", f"t{i}", "s")) for i in range(5)])
    assert Alike.of(plan, Destinations.of(plan).operated, RegisteredIds.of(plan.query_ids)) is None


def test_a_block_is_copied_for_many_of_its_queries_alone() -> None:
    def evaluated(routed: int) -> Plan:
        queries = [Query(f"r{i}", normalise(f"n > {i}", _SCHEMA), "t") for i in range(routed)]
        alike = [Query(f"q{i}", normalise("n > 10", _SCHEMA), "t", _operated(f"q{i}", "t1", "s1")) for i in range(5)]
        plan = compile_plan([*queries, *alike])
        own: Any = _Arrived(plan)
        return plan if own.evaluated[1] is None else own.evaluated[0]

    counts = [len(match(evaluated(routed), [pa.array([100], pa.int64())], 1)) for routed in (20, 40)]
    # Four of 25 conjuncts are left out, and none of 45.
    assert counts == [21, 45]


def test_queries_whose_first_one_accepted_nothing_have_no_count() -> None:
    alike = Alike(np.array([1, 3]), np.array([1, 3]), np.array([0, 2]))
    counts = alike.counted(QueryCounts(np.array([2]), np.array([7])))
    assert (counts.ordinals.tolist(), counts.counts.tolist()) == ([2, 3], [7, 7])
    assert not len(alike.counted(QueryCounts.none()).ordinals)
