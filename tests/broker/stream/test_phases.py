"""Medians of what the phases of batches took."""

from __future__ import annotations

import pytest

from broker.stream.phases import PHASES, BatchPhases


def test_phases_are_medians_of_the_last_batches_in_their_order() -> None:
    phases = BatchPhases()
    for seconds in (9.0, *[0.2] * 15, *[0.4] * 5):
        phases.add("run", seconds)
    phases.add("bind", 0.001)
    told = [{"latestOffset": 7, "addBatch": 400}] * 3 + [{"latestOffset": 5, "commitOffsets": 30}] * 20
    found = phases.medians(told)
    assert found == {"offsets": 0.005, "bind": 0.001, "run": 0.2, "commit": 0.03}
    assert list(found) == [phase for phase in PHASES if phase in found]


def test_what_fails_is_not_counted() -> None:
    phases = BatchPhases()
    with phases.timed("build"):
        pass
    with pytest.raises(ValueError, match="no"), phases.timed("run"):
        raise ValueError("no")
    assert list(phases.medians([])) == ["build"]
