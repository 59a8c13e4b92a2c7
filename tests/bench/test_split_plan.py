"""Plans of half the queries each: what they find together, and that a part which finds something else is noticed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import bench.split_plan
from asc.plan.plan import Plan, Query
from bench.split_plan import PARTS, QUICK, WORKLOADS, measured, table


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_parts_find_what_the_whole_plan_finds(name: str) -> None:
    result = measured(name, 400, QUICK)
    assert result["pairs_compared"] > 0
    assert len(result["parts"]) == PARTS
    assert all(0 < part["bytes"] < result["whole"]["bytes"] for part in result["parts"])
    assert name in table([result])


def test_a_part_that_lacks_a_query_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = bench.split_plan._compiled

    def without_some(queries: Sequence[Query]) -> tuple[Plan, float]:
        return compiled(queries if len(queries) == 400 else queries[100:])

    monkeypatch.setattr(bench.split_plan, "_compiled", without_some)
    with pytest.raises(RuntimeError, match="mixed, 400 queries: the parts find"):
        measured("mixed", 400, QUICK)
