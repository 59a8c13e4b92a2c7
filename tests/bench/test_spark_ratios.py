"""The ratios under the table of ``asc bench spark``: from the figures alone."""

from __future__ import annotations

from typing import Any

import pytest

from bench.spark import BARE, FILTER, MATCH, ratios, table


def measured(seconds: float | None) -> dict[str, Any]:
    """A contender that took so long, or was stopped."""
    taken = {"stopped_after_s": 60.0} if seconds is None else {"stopped_after_s": None, "median_s": seconds}
    return {"pairs": None, **taken}


@pytest.mark.parametrize(
    ("ours", "bare", "spark", "said"),
    [
        (1.31, 1.2, None, "broker.match / bare transport at 1,000: 1.09; filter(transform) / broker.match: over 45"),
        (1.2, 1.5, 30.0, "broker.match / bare transport at 1,000: 0.80; filter(transform) / broker.match: 25"),
        (2.0, None, 30.0, "broker.match / bare transport at 1,000: stopped; filter(transform) / broker.match: 15"),
        (None, 1.5, 30.0, "broker.match / bare transport at 1,000: stopped; filter(transform) / broker.match: stopped"),
    ],
)
def test_the_last_line_holds_them(ours: float | None, bare: float | None, spark: float | None, said: str) -> None:
    results = {
        "1000": {MATCH: measured(ours), BARE: measured(bare), FILTER: measured(spark)},
        "100": {MATCH: measured(9.0), BARE: measured(1.0), FILTER: measured(1.0)},
    }
    result: dict[str, Any] = {"input": {"rows": 5, "columns": 20}, "results": results, "ratios": ratios(results)}
    assert result["ratios"]["predicates"] == 1_000
    assert table(result).splitlines()[-1] == said
