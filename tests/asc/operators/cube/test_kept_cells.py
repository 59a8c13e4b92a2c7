"""The kept cells of the panes for which a view can be computed."""

from __future__ import annotations

from asc.operators.cube.kept_cells import KeptBand, KeptCells
from asc.operators.cube.view import View

HOURS, DAYS, COARSE = View((2, 1), 60), View((1, 1), 1_440), View((1, 0), 2_880)
KEPT = KeptCells(6_000, 60, (KeptBand(HOURS, 500, 600), KeptBand(DAYS, 90, 4_320), KeptBand(COARSE, 4, 5_760)))


def test_a_view_begins_after_the_newest_band_that_is_not_finer() -> None:
    spans = {
        View((2, 1), 1): 60,
        View((0, 0), 30): 60,
        HOURS: 660,
        # A band of the origin alone has no destinations.
        View((2, 0), 2_880): 660,
        DAYS: 4_980,
        COARSE: 10_740,
    }
    assert {view: KEPT.span(view) for view in spans} == spans
    assert [KEPT.cells(view) for view in spans] == [6_000, 6_000, 6_500, 6_500, 6_590, 6_594]


def test_cells_are_estimated_over_the_panes_of_the_view() -> None:
    # A tenth of 100 base cells in a pane.
    assert KEPT.estimated(View((0, 0), 30), 0.1) == 600
    assert KEPT.estimated(View((1, 1), 60), 0.01) == 660
    # No more than are kept.
    assert KEPT.estimated(View((1, 1), 60), 0.5) == 6_500
    assert KeptCells(0, 0).estimated(HOURS, 1.0) == 0
