"""Tables beside others: stopped runs, ratios, and contenders."""

from __future__ import annotations

from typing import Any

from bench.peers import CONTENDERS
from bench.spark import BARE as MEASURED_BARE
from bench.spark import FILTER
from bench.spark import MATCH as MEASURED_MATCH
from tools.figures.rivals import BARE, MATCH, PEERS, TABLES


def test_names_are_those_of_the_benchmarks() -> None:
    assert list(PEERS) == list(CONTENDERS)
    assert (MATCH, BARE) == (MEASURED_MATCH, MEASURED_BARE)


def run(seconds: float) -> dict[str, Any]:
    ratio = {"ratio": 1.05, "low": 0.99, "high": 1.1}
    return {"median_s": seconds, "stopped_after_s": None, "pairs": 5, "to_bare": ratio}


def test_a_stopped_run_has_the_time_at_which_it_was_stopped() -> None:
    stopped = {"stopped_after_s": 60.0, "pairs": None}
    result = {"results": {"1000": {MATCH: run(0.8), FILTER: stopped}}, "compiling_s": {"1000": 0.15}}
    assert TABLES["spark"]({"spark": result}).splitlines() == [
        (
            "| predicates | `broker.match` | time of `broker.match` / identity `mapInArrow` "
            "| `filter(transform(...))` | compile from text |"
        ),
        "|---|---|---|---|---|",
        "| 1,000 | 0.80 s | 1.05 (0.99 .. 1.10) | stopped at 60 s | 0.15 s |",
    ]


def test_a_goal_is_beside_its_number_of_alerts() -> None:
    result = {
        "many": {"1000": {MATCH: run(1.0)}, "10000": {MATCH: run(2.0)}},
        "many_ratios": [{"predicates": 1_000, "goal": 1.1}, {"predicates": 10_000, "goal": None}],
        "compiling_many_s": {"1000": 0.2, "10000": 2.0},
    }
    assert [line.split(" | ")[3] for line in TABLES["spark-many"]({"spark": result}).splitlines()[2:]] == ["1.1", "-"]


def test_a_peer_without_a_time_has_none() -> None:
    case = {"workload": "alerts", "queries": 10}
    rows = [{**case, "contender": "asc", "us": 0.5}, {**case, "contender": "scan"}]
    assert TABLES["peers"]({"peers": {"results": rows}}).splitlines()[2:] == ["| alerts | 10 | 0.5 |"]
