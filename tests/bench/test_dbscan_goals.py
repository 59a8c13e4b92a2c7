"""The goals of DBSCAN queries: the list as it was agreed on before a measurement, and its verdicts."""

from __future__ import annotations

from bench.dbscan_goals import GOALS, NOT_RUN, goals_table

AGREED = {
    **{"thousand-sklearn": 30, "thousand-dbscan": 12, "large-sklearn": 25, "large-dbscan": 10},
    **{"settings-sklearn": 100, "settings-dbscan": 30, "settings-hdbscan": None},
    **{"one-sklearn": 1, "one-dbscan": 1, "dense-sklearn": 1, "dense-dbscan": 1},
    **{"short-incdbscan": 10, "long-incdbscan": None, "long-extra-n": None},
    **{"heaps-dbscan": 1, "heaps-bytes": 300, "message": 200, "state": 2, "later-cost": 1.1, "later-state": 1.01},
    **{"general-20": 3.3, "general-20-bytes": 0.15, "general-20-alone": 1, "general-20-saved": None},
    **{"general-40": 4.2, "general-40-bytes": 0.15, "general-40-alone": 1, "general-40-saved": None},
    **{"general-60": 6.7, "general-60-bytes": 0.15, "general-60-alone": 1, "general-60-saved": None},
    **{"scale-10": 20, "scale-100": 50, "scale-1000": 200, "scale-cpu": 33, "scale-bytes": 2},
    **{"served-rate": 5_000, "served-routing": 0.9},
}
"""The goals as they were set before any measurement: a goal is never moved to where the measurement is."""

AT_MOST = {"heaps-bytes", "message", "state", "later-cost", "later-state", "scale-cpu", "scale-bytes"} | {
    *(f"general-{count}-bytes" for count in (20, 40, 60)),
    *(f"scale-{count}" for count in (10, 100, 1_000)),
}


def test_the_goals_are_those_agreed_on() -> None:
    assert {name: goal.value for name, goal in GOALS.items()} == AGREED
    assert {name for name, goal in GOALS.items() if not goal.is_least} == AT_MOST


def test_a_goal_that_is_missed_or_not_measured_stays_in_the_table() -> None:
    measured = {"thousand-sklearn": 29.9, "one-dbscan": 1.0, "long-extra-n": 0.5, "heaps-bytes": 301.0}
    lines = goals_table({**measured, "settings-hdbscan": "hdbscan is not installed"}).splitlines()[2:]
    assert len(lines) == len(GOALS)
    cells = dict(zip(GOALS, (line.strip("| ").split(" | ")[2:] for line in lines), strict=True))
    assert cells["thousand-sklearn"] == [">= 30.00 x", "29.90 x", "missed"]
    assert cells["one-dbscan"] == [">= 1.00 x", "1.00 x", "met"]
    assert cells["long-extra-n"] == ["-", "0.50 x", "reported"]
    assert cells["heaps-bytes"] == ["<= 300.0 MB", "301.0 MB", "missed"]
    assert cells["settings-hdbscan"] == ["-", "hdbscan is not installed", "not measured"]
    assert cells["served-rate"] == [">= 5,000 records/s", NOT_RUN, "not measured"]
