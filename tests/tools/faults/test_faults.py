"""A broker under load with real faults in it: nothing is lost, and nothing comes that should not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.faults.faults import FAULTS
from tools.faults.rig import Rig
from tools.faults.soak import settled, suffer

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(1_800)]

CHOSEN = (
    "daemon killed between write and commit",
    "JVM killed",
    "Python workers killed",
    "Kafka killed",
    "checkpoint's disk full",
)
"""Those that no other test makes; ``make soak`` makes all of them."""

COMPARED_AFTER = "Python workers killed"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path, seed=1, per_s=150)
    try:
        rig.start()
        yield rig
    finally:
        rig.close()


def test_each_record_comes_once_and_in_order_until_a_fault_and_none_is_lost_by_one(rig: Rig) -> None:
    chosen = {fault.name: fault for fault in FAULTS if fault.name in CHOSEN and fault.possible(rig)}
    assert len(chosen) >= len(CHOSEN) - 1
    for fault in chosen.values():
        print(suffer(rig, fault))
        if fault.name == COMPARED_AFTER:
            rig.rest_cube()
            print(rig.compare_cubes())
    audit, outputs, cubes = settled(rig)
    print(audit)
    print(outputs)
    print(cubes)
    assert audit.sound, str(audit)
    assert outputs.sound, str(outputs)
    assert cubes.sound, str(cubes)
    assert min(cubes.late, cubes.missed, cubes.windows) > 0
    assert cubes.values > 10_000
    assert outputs.outputs > 50
    assert audit.pairs > 10 * len(rig.subscribers.lives) > 1_000
