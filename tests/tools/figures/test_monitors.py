"""Tables of the monitor: shares with their intervals."""

from __future__ import annotations

from bench.drifting_contest import CONTESTANTS
from tools.figures.monitors import ORDERS, TABLES


def test_orders_are_those_of_the_benchmark() -> None:
    assert set(ORDERS) == set(CONTESTANTS)


def test_with_the_monitor_off_nothing_is_lost() -> None:
    lost = {"share": 0.013, "low": -0.005, "high": 0.032}
    mode = {"median_s": 0.5, "cost": lost, "cpu_cost": lost, "rearrangements": 2, "monitor_s": 1.5}
    table = TABLES["monitor"]({"monitor": {"input": {"rows": 1_000}, "results": {"100": {"off": mode, "on": mode}}}})
    assert table.splitlines()[2:] == [
        "| 100 | off | 2,000 | - | - | 2 | 1.50 s |",
        "| 100 | on | 2,000 | 1.3 % (-0.5 .. 3.2) | 1.3 % (-0.5 .. 3.2) | 2 | 1.50 s |",
    ]


def test_a_gain_has_half_of_its_interval() -> None:
    interval = {"mean": 1.2, "low": 1.1, "high": 1.3}
    row = {"scenario": "any", "queries": 1_000, "gain": interval, "share": {"mean": 0.25}, "times_slower": None}
    assert TABLES["monitor-gain"]({"monitor-drifting": {"summary": [row]}}).splitlines()[2:] == [
        "| any | 1,000 | 1.200 ± 0.100 | 25.0 % |"
    ]
