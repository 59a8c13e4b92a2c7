"""The paper's test cases: their parameters, and one case measured by all contenders."""

from __future__ import annotations

import pytest

from bench.dbscan_goals import ALONE, EXTRA_N, EXTRA_N_SHARED, INCDBSCAN
from bench.dbscan_paper import CASES, OWN, OWN_LABELS, case_of, measured_case
from bench.dbscan_peers import missing
from bench.dbscan_sizes import PaperSize


def test_each_figure_has_a_case() -> None:
    assert [number for case in CASES.values() for number in case.figures] == list(range(18, 33))
    assert case_of(32) == "scale"


def test_a_case_varies_what_it_says() -> None:
    varied = {
        name: {field for field in ("eps", "min_samples", "window", "slide") if isinstance(getattr(own, field), tuple)}
        for name, own in ((name, case.ranges) for name, case in CASES.items())
    }
    assert varied["count"] == {"min_samples"}
    assert varied["range"] == {"eps"}
    assert varied["windows"] == {"window", "slide"}
    assert varied["general"] == varied["scale"] == {"eps", "min_samples", "window", "slide"}


@pytest.mark.nightly
def test_contenders_of_a_case() -> None:
    size = PaperSize(600, 150, 1, 1, 0.1, (6,), (2, 4), 2, is_quick=True)
    found = measured_case("scale", size, None)
    assert [own["queries"] for own in found["results"]] == [2, 4]
    known = {OWN, OWN_LABELS, ALONE, EXTRA_N, EXTRA_N_SHARED} | ({INCDBSCAN} if missing(INCDBSCAN) is None else set())
    for own in found["results"]:
        assert own["extra_n_queries"] == 2
        assert own["cpu_us"].keys() == own["bytes"].keys() == known
        # One search a point for all queries, and one for each: the half that was not run is extrapolated.
        assert own["searches"][EXTRA_N_SHARED] == 600
        assert own["searches"][EXTRA_N] == 600 * own["queries"]
        assert own["visits"][OWN_LABELS] > 0
