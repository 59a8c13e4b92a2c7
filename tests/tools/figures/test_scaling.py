"""Tables of capacity and scaling: a line for each figure, and computed capacities."""

from __future__ import annotations

from typing import Any

from tools.figures.scaling import TABLES

STREAM = {
    "machine": {"cores": 2},
    "results": [
        {"queries": 10, "backlog": 1_000_000, "records_a_s": 50_000.0},
        {"queries": 1_000, "backlog": 5_000_000, "records_a_s": 100_000.0},
    ],
}


def test_a_machine_carries_what_records_and_predicates_leave() -> None:
    row = {"workload": "mixed", "queries": 100_000, "pairs_us": 30.0, "matches_a_tuple": 906.4, "bytes_a_query": 345.0}
    scale = {"results": [row, {**row, "queries": 10_000}, {**row, "workload": "census"}]}
    assert TABLES["capacity-predicates"]({"stream": STREAM, "scale": scale}).splitlines()[2:] == [
        "| mixed | 100,000 | 30.00 | 906 | 345 | 40,000 |"
    ]


STANDING = {
    "queries": 1_000_000,
    "ready_s": 26.0,
    "ready_without_s": 68.5,
    "empty_ready_s": 16.0,
    "memory_a_query_bytes": 1_600,
    "plan_a_query_bytes": 264,
}


def test_each_figure_is_below_its_number_of_queries() -> None:
    latency: dict[str, Any] = {"queries": 10, "rate": 2_000, "changes": 0, "p50_s": 0.3, "p99_s": 0.5}
    others = [{**latency, "rate": 100, "p50_s": 9.0}, {**latency, "changes": 5, "p50_s": 9.0}]
    results = {
        "stream": STREAM,
        "latency": {"results": [latency, *others]},
        "standing": {"results": [STANDING]},
    }
    assert TABLES["capacity"](results).splitlines()[2:] == [
        "| a backlog of 1,000,000, records/s | 50,000 | - | - | - |",
        "| a backlog of 5,000,000, records/s | - | 100,000 | - | - |",
        "| median latency at 2,000 records/s | 300 ms | - | - | - |",
        "| 99th percentile of the latency at 2,000 records/s | 500 ms | - | - | - |",
        "| start of the daemon | - | - | - | 26.0 s |",
        "| start of the daemon without a snapshot | - | - | - | 68.5 s |",
        "| start of the daemon without queries | - | - | - | 16.0 s |",
        "| memory of the daemon's process for each query, including the plan | - | - | - | 1,600 bytes |",
        "| size of the plan for each query, one copy for each host | - | - | - | 264 bytes |",
        "| *T*: processor time for each record, of all cores | - | 20.0 us | - | - |",
    ]


def test_a_start_grows_with_the_queries() -> None:
    rows = [{**STANDING, "queries": 10_000, "ready_s": 99.0}, STANDING]
    assert TABLES["first-limit"]({"standing": {"results": rows}}).splitlines()[2:] == [
        "| a start without queries | 16.0 s |",
        "| additional start time with a million queries | 10.0 s |",
        "| additional start time with a million queries, without a snapshot | 52.5 s |",
        "| number of queries with which a start takes 30 s | 1.4 million |",
        "| number of queries with which a start without a snapshot takes 30 s | 0.27 million |",
        "| memory of the driver's process with that number of queries and a snapshot | 2.2 GB |",
        "| memory of the plan on an executor's host | 370 MB |",
    ]


def test_half_of_the_cores_are_wasted_where_the_driver_works_as_long_as_they_do() -> None:
    phases = {"offsets": 0.02, "run": 2.0, "match": 0.5, "commit": 0.03}
    stream = {"results": [{"backlog": 5, "phases": phases}, {"backlog": 1, "phases": {"offsets": 9.0}}]}
    spent = {"executors, JVM": 15.0, "executors, Python": 5.0, "driver, JVM": 3.0, "driver, Python": 1.0, "Kafka": 2.0}
    results = [{"workers": 0}, {"workers": 1, "records": 1_000_000, "cpu_s": spent}]
    cluster = {"records": {"batch": 200_000}, "results": results}
    assert TABLES["growth"]({"stream": stream, "cluster": cluster}).splitlines()[2:] == [
        "| *G*: the driver's time of a batch while executors wait | 50 ms |",
        "| *E*: records/s of an executor's core, one worker | 50,000 |",
        "| cores of the driver's host for each executor's core | 0.20 |",
        "| cores of Kafka's host for each executor's core | 0.10 |",
        "| number of executor cores at which half of their capacity is wasted, *b* / (*G* x *E*) | 80 |",
    ]


def test_matching_outweighs_the_rest_from_a_number_of_queries_on() -> None:
    sizes = {10_000: 5.0, 100_000: 25.0, 1_000_000: 300.0}
    rows = [
        {"workload": workload, "queries": queries, "pairs_us": us}
        for workload in ("HEM-like", "alerts", "mixed")
        for queries, us in sizes.items()
    ]
    table = TABLES["balance"]({"stream": STREAM, "scale": {"results": rows}})
    assert table.splitlines()[-1] == "| mixed | 78,000 |"
