"""Labels spread anew; what becomes of plans by it is in ``test_compiler``."""

from __future__ import annotations

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.relabelling import with_room
from workloads.mixed import mixed_workload


def test_where_there_is_room_nothing_changes() -> None:
    plan = compile_plan(mixed_workload(50).standing_queries())
    slot = next(iter(plan.dictionaries))
    assert with_room(plan, {slot: [b"one more"]}) is plan
    assert with_room(plan, {}) is plan


def test_constants_keep_their_order_and_their_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asc.keys.dictionary._LABELS", 1_024)
    monkeypatch.setattr("asc.keys.dictionary._SPREAD", 768)
    plan = compile_plan(mixed_workload(50).standing_queries())
    slot = next(iter(plan.dictionaries))
    before = plan.dictionaries[slot]
    between = [before.constants()[0] + b"-%03d" % i for i in range(99)]
    after = with_room(plan, {slot: between})
    assert after is not plan
    assert after.dictionaries[slot].constants() == sorted([*before.constants(), *between])
    for each in range(len(plan.p_attributes)):
        assert after.cuts(each) == plan.cuts(each)
    for number, block in enumerate(plan.blocks):
        for bit in range(block.conjunct_count):
            assert list(after.constraints(number, bit)) == list(plan.constraints(number, bit))
