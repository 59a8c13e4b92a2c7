"""The stream whose best order turns round: matched alike before and after, by the other half of the attributes."""

from __future__ import annotations

import numpy as np
import pytest

from bench.recorded_stream import RecordedStream
from monitor.macro import macro_sequence
from monitor.statistics import dropping_ratio
from workloads.errors import WorkloadError
from workloads.mirrored import lopsided_tuples, mirror_image, mirrored_workload


def first_six(stream: RecordedStream) -> list[int]:
    """The numbers of the attributes that the macro-sequence begins with."""
    slots = stream.block.slots[list(macro_sequence(stream.block, stream.whole).sequence[:6])]
    return [int(stream.plan.p_attributes[slot].sql.removeprefix("a")) for slot in slots.tolist()]


def test_the_share_of_unmatched_tuples_stays_and_the_order_turns_round() -> None:
    workload, tuples = mirrored_workload(20), lopsided_tuples(3_000)
    before, after = RecordedStream.of(workload, tuples), RecordedStream.of(workload, mirror_image(tuples))
    every = range(20)
    share = dropping_ratio(before.block, before.whole, every)
    assert share == dropping_ratio(after.block, after.whole, every)
    assert 0.05 < share < 0.95
    assert np.mean([number < 10 for number in first_six(before)]) > 0.8
    assert np.mean([number >= 10 for number in first_six(after)]) > 0.8


def test_every_query_has_its_mirror_image() -> None:
    workload = mirrored_workload(5, attributes=6)
    sets = [
        {
            (int(attribute), int(high))
            for own, attribute, high in zip(workload.owner, workload.attribute, workload.high, strict=True)
            if own == query
        }
        for query in range(workload.queries)
    ]
    assert len(sets) == 10
    assert [{(5 - attribute, high) for attribute, high in own} for own in sets[:5]] == sets[5:]


def test_what_cannot_be_mirrored_is_refused() -> None:
    with pytest.raises(WorkloadError):
        mirrored_workload(0)
    with pytest.raises(WorkloadError):
        mirrored_workload(3, attributes=2)
