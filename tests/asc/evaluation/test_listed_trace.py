"""The way of a tuple through a listed block, told."""

from __future__ import annotations

from asc.evaluation.explain import explain
from asc.evaluation.trace_walk import traced
from asc.plan.compiler import compile_plan
from asc.plan.plan import Query
from asc.predicate import normalise
from workloads.drawn_fences import SCHEMA, Drawn, accepted, columns_of


def test_a_trace_tells_what_was_listed_and_which_term_failed() -> None:
    drawn = Drawn(5)
    standing = {f"q{n:02}": drawn.predicate() for n in range(60)}
    plan = compile_plan(Query(i, normalise(asks.sql, SCHEMA)) for i, asks in standing.items())
    table = drawn.rows(12)
    columns, found = columns_of(plan, table), accepted(plan, table)
    listed_ids = [i for i in standing if plan.conjuncts_of(i) and plan.conjuncts_of(i)[0][0] >= len(plan.blocks)]
    for row, query_id in zip(range(12), listed_ids, strict=False):
        values = [column[row] for column in columns]
        trace = traced(plan, values, query_id=query_id, listed=1_000)
        assert list(trace.accepted) == found[row]
        assert trace.verdict is not None
        assert trace.verdict.accepted == (query_id in found[row])
        block = trace.blocks_shown[0]
        assert block.number >= len(plan.blocks)
        (visit,) = block.visits
        assert visit.before - visit.after == visit.eliminated.conjuncts
        assert block.visits[0].after - block.satisfied_conjuncts == block.verification.conjuncts
        assert all(
            conjunct.holds or conjunct.eliminated_by in ("construct", "verification")
            for conjunct in trace.verdict.conjuncts
        )
        text = explain(plan, query_id, values, whole=True).text
        assert "listed under it" in text
        assert ("accepted by conjunct" in text) == (query_id in found[row])
