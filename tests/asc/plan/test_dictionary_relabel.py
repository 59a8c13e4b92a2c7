"""Labels spread anew; what becomes of plans by it is in ``test_compiler``."""

from __future__ import annotations

import pytest

from asc.plan.compiler import compile_plan
from asc.plan.dictionary_relabel import with_free_labels
from asc.plan.plan import CompileOptions
from workloads.mixed import mixed_workload


def test_where_there_is_room_nothing_changes() -> None:
    plan = compile_plan(mixed_workload(50).standing_queries())
    slot = next(iter(plan.dictionaries))
    assert with_free_labels(plan, {slot: [b"one more"]}) is plan
    assert with_free_labels(plan, {}) is plan


def test_constants_keep_their_order_and_their_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asc.keys.dictionary._LABELS", 1_024)
    monkeypatch.setattr("asc.keys.dictionary._SPREAD", 768)
    plan = compile_plan(mixed_workload(50).standing_queries())
    slot = next(iter(plan.dictionaries))
    before = plan.dictionaries[slot]
    between = [before.constants()[0] + b"-%03d" % i for i in range(99)]
    after = with_free_labels(plan, {slot: between})
    assert after is not plan
    assert after.dictionaries[slot].constants() == sorted([*before.constants(), *between])
    for each in range(len(plan.p_attributes)):
        assert after.cuts(each) == plan.cuts(each)
    for number, block in enumerate(plan.blocks):
        for bit in range(block.conjunct_count):
            assert list(after.constraints(number, bit)) == list(plan.constraints(number, bit))


def test_lines_are_at_home_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    options = CompileOptions(exact_bytes=0, block_conjuncts=1_024)
    monkeypatch.setattr("asc.keys.dictionary._LABELS", 4_096)
    monkeypatch.setattr("asc.keys.dictionary._SPREAD", 3_072)
    plan = compile_plan(mixed_workload(3_000).standing_queries(), options)
    slot = max(plan.dictionaries, key=lambda own: sum((block.homes.slots == own).sum() for block in plan.blocks))
    before = plan.dictionaries[slot]
    after = with_free_labels(plan, {slot: [before.constants()[0] + b"-%03d" % i for i in range(99)]})
    assert after is not plan
    lines = 0
    for old, new in zip(plan.blocks, after.blocks, strict=True):
        for home, was, key in zip(
            old.homes.slots.tolist(), old.homes.keys.tolist(), new.homes.keys.tolist(), strict=True
        ):
            if home == slot and was in before.labels:
                lines += 1
                assert after.dictionaries[slot].value(key) == before.value(was)
            elif home != slot:
                assert key == was
    assert lines
