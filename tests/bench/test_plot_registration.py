"""The plot of what a change of the standing queries takes, and its times in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.plot_registration import plot_registration, time_text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0, "0.0 ms"), (0.0999, "99.9 ms"), (0.1, "100 ms"), (0.9994, "999 ms"), (1, "1.00 s"), (75.0, "75.00 s")],
)
def test_a_time_has_its_unit(seconds: float, said: str) -> None:
    assert time_text(seconds) == said


def test_a_row_for_each_kind_of_change_with_its_median(tmp_path: Path) -> None:
    results = {
        "register": {"median_s": 0.25, "runs_s": [0.2, 0.25, 0.3]},
        "bulk load": {"median_s": 12.5, "runs_s": [12.5]},
    }
    assert plot_registration({"queries": 10_000, "results": results}, tmp_path / "registration")
    drawn = (tmp_path / "registration.svg").read_text("utf-8")
    for text in ("register", "bulk load", "250 ms", "12.50 s", "10,000 standing queries, the stream idle"):
        assert f"<!-- {text} -->" in drawn
