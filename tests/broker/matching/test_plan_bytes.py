"""A plan as it is broadcast: bytes in every process, read once where they are used."""

from __future__ import annotations

import pickle

import pytest

from asc.errors import PlanError
from asc.plan.compiler import compile_plan
from asc.plan.format import to_bytes
from broker.matching.plan_bytes import PlanBytes
from workloads.synthetic import d1_workload

CONTENT = to_bytes(compile_plan(d1_workload(20).standing_queries()))


def test_a_process_reads_the_plan_once() -> None:
    arrived: PlanBytes = pickle.loads(pickle.dumps(PlanBytes(CONTENT)))
    assert len(arrived.plan) == 20
    assert arrived.plan is arrived.plan


def test_what_was_read_does_not_travel() -> None:
    read = PlanBytes(CONTENT)
    before = pickle.dumps(read)
    assert len(read.plan) == 20
    assert pickle.dumps(read) == before


def test_bytes_that_are_no_plan_are_refused_where_they_are_read() -> None:
    with pytest.raises(PlanError):
        _ = PlanBytes(CONTENT[:-1]).plan
