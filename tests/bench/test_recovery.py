"""The benchmark of kills, once at a size that measures nothing; what it makes of deliveries."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bench.recovery
from bench.recovery import METHODS, recovery
from bench.traffic import Received


def received(*deliveries: tuple[float, float]) -> Received:
    sent, came = zip(*deliveries, strict=True)
    return Received(np.array(sent), np.array(came))


BEFORE = ((99.0, 99.4), (99.9, 100.2))
BACKLOG = ((100.0, 118.5), (101.0, 118.0), (110.0, 119.0))


def test_a_backlog_is_no_recovery_until_a_record_comes_as_soon_as_it_was_sent() -> None:
    assert recovery(received(*BEFORE), 100.0) is None
    assert recovery(received(*BEFORE, *BACKLOG), 100.0) is None
    found = recovery(received((125.0, 125.3), *BEFORE, *BACKLOG, (119.2, 120.0)), 100.0)
    assert found == {"delivered_s": 18.0, "caught_up_s": 20.0}


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.kafka
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_standby_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The other way has one start of a daemon more, and nothing that this one has not.
    monkeypatch.setattr(bench.recovery, "QUICK", replace(bench.recovery.QUICK, methods=METHODS[1:]))
    result = bench.recovery.run(quick=True, output_dir=tmp_path)
    assert result == json.loads((tmp_path / "recovery.json").read_text("utf-8"))
    (each,) = result["results"]
    (kill,) = each["kills"]
    assert 0 < kill["delivered_s"] <= kill["caught_up_s"]
    assert METHODS[1] in bench.recovery.table(result)
