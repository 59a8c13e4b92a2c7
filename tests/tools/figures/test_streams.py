"""Tables of the stream: computed columns."""

from __future__ import annotations

from typing import Any

from bench.stream import BARE as MEASURED_BARE
from bench.stream import LOOP as MEASURED_LOOP
from tools.figures.streams import BARE, LOOP, TABLES, stream_rows


def test_names_are_those_of_the_benchmark() -> None:
    assert (BARE, LOOP) == (MEASURED_BARE, MEASURED_LOOP)


def rows(name: str, result: dict[str, Any]) -> list[str]:
    return TABLES[name]({name: result}).splitlines()[2:]


def test_rivals_are_beside_the_backlog_that_they_drained() -> None:
    result = {
        "records": {"count": 1_000},
        BARE: {"records_a_s": 200.0},
        LOOP: [{"queries": 10, "records_a_s": 5.0}],
        "results": [{"queries": 10, "backlog": backlog, "records_a_s": 150.0} for backlog in (1_000, 5_000)],
    }
    own, longer, bare = stream_rows(result)
    assert (own["of_bare"], own["loop"]) == (0.75, 5.0)
    assert "of_bare" not in longer
    assert (bare["name"], bare["records_a_s"]) == ("the bare job", 200.0)


def test_a_recovery_is_the_median_and_the_worst_of_its_kills() -> None:
    kills = [{"ready_s": s, "delivered_s": s + 1, "caught_up_s": s + 2} for s in (18.0, 14.0, 15.0)]
    assert rows("recovery", {"results": [{"queries": 1_000, "way": "started again", "kills": kills}]}) == [
        "| 1,000 | started again | 15.0, 18.0 s | 16.0, 19.0 s | 17.0, 20.0 s |"
    ]


def test_a_rate_of_publishing_is_of_the_median() -> None:
    result = {"rows": 1_000, "results": [{"contender": "a", "seconds": [1.0, 4.0, 2.0]}]}
    assert rows("publish", result) == ["| a | 2.0 s | 4.0 s | 500 |"]


def test_latency_has_the_changes_and_the_floor() -> None:
    row = {"queries": 1_000, "rate": 2_000, "ready_s": 20.0, "p50_s": 0.3, "changes": 971, "change_p50_s": 0.045}
    floor = {"variant": "sink", "rate": 100, "p50_s": 0.2}
    assert rows("latency", {"results": [row], "floor": [floor]}) == [
        "| 1,000 | 2,000 | 971, median 45 ms | 20 s | 300 ms |",
        "| the smallest Spark job that writes by Spark's Kafka sink | 100 | - | - | 200 ms |",
    ]


def test_a_search_of_one_part_has_no_whole() -> None:
    page = {"first_s": 0.05, "median_s": 0.002, "worst_s": 0.05, "whole_s": 0.3}
    result = {"pages": [{**page, "page": "plan", "parts": 1}, {**page, "page": "search", "parts": 2}]}
    assert rows("console", result) == [
        "| plan | 50 ms | 2 ms | 50 ms | - |",
        "| search | 50 ms | 2 ms | 50 ms | 300 ms |",
    ]
