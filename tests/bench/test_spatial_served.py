"""One fence more over HTTP, at a size that measures nothing."""

from __future__ import annotations

import pytest

from bench.spatial_served import one_more
from workloads.fences import fences


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.kafka
def test_fences_stand_and_more_come() -> None:
    drawn = fences(60, None)
    found = one_more(drawn.shapes, 5, quick=True)
    assert (found["fences"], found["changes"]) == (len(drawn.shapes) - 5, 5)
    assert 0 < found["change_p50_s"] <= found["change_worst_s"]
