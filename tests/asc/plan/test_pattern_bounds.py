"""The bound on the length of patterns: of those that stand, not of those that stood."""

from __future__ import annotations

import pytest

from asc.errors import PlanError
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Query
from asc.predicate import normalise
from asc.schema import Schema


@pytest.mark.parametrize("exact_bytes", [0, 1 << 20])
def test_the_length_of_all_patterns_is_bounded(exact_bytes: int) -> None:
    def like(number: int) -> Query:
        where = f"s LIKE '%{number:08}%' AND a > {number}"
        return Query(f"q{number}", normalise(where, Schema.from_ddl("s STRING, a INT")))

    # Eight characters, and what stands for % at each end.
    options = CompileOptions(exact_bytes=exact_bytes, pattern_bytes=40)
    plan = compile_plan([like(number) for number in range(4)], options)
    with pytest.raises(PlanError, match="in bytes 50: at most 40"):
        change_plan(plan, add=[like(4)])
    # Those of queries that are gone do not count, though a plan that is changed still has them.
    moved = change_plan(plan, add=[like(4)], remove=["q0"])
    assert sorted(moved.query_ids.to_pylist()) == ["q1", "q2", "q3", "q4"]
    with pytest.raises(PlanError, match="in bytes 50"):
        compile_plan([like(number) for number in range(5)], options)
