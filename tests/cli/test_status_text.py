"""What is said of a daemon: what is looked for first stands first, and nothing is wider than the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from cli.status_text import HEADINGS, status_lines

STREAM = {"name": "s", "topic": "t", "format": "json", "queries": 7, "not_served": 2}
REASONS = [
    {"reason": "value is not a JSON record", "column": "n", "count": 1_200},
    {"reason": "value is empty", "column": None, "count": 1},
    *({"reason": f"reason {number}", "column": None, "count": number} for number in (9, 8, 7, 6, 5)),
]
EVENT = {
    **{"at": "2026-01-31T12:00:00Z", "stream": "s", "block": 0, "trigger": "cost", "dropping_ratio_before": None},
    **{"dropping_ratio_now": 0.5, "cost_before": 4.0, "cost_after": 2.0, "old_sequence": list("abcde")},
    **{"kind": "macro", "new_sequence": list("ba"), "new_micro_arrows": 3, "spent_s": 0.25},
}
PLAN: dict[str, Any] = {
    "flow": {
        **{"records_per_s": 1_234.56, "accepted_per_s": 9.0, "written_per_s": 0.25, "lag_records": 1_700},
        **{"latency_p50_s": 0.0831, "latency_p99_s": 2.468},
    },
    "delivered": {"total": 6_000, "most": [{"query": "late", "records": 5_000}, {"query": "oslo", "records": 1_000}]},
    "dead_letters": {"total": 1_234, "reasons": REASONS},
    "monitor": {"tuples": 5_000, "evaluated": 5_000, "rearrangement_counts": {"cost": 2}, "rearrangements": [EVENT]},
    "phases": {"bind": 0.002, "run": 0.1504},
    "evaluation_errors": 1_300,
    "conjuncts": 9,
    "p_attributes": [{}, {}],
    "version": 12_345,
}


def found(plan: dict[str, Any], **stream: Any) -> dict[str, Any]:
    ready = {"server": "http://b", "ready": True, "kafka": {"bootstrap_servers": "k:9"}}
    return {**ready, "streams": [{**STREAM, **stream, "plan": plan}]}


def test_a_stream_is_told_in_full() -> None:
    lines = status_lines(found(PLAN))
    assert lines[0] == "ready at http://b, Kafka at k:9"
    assert lines[1].split("  ")[0] == HEADINGS[0]
    assert " ".join(lines[2].split()) == "s 7 2 1,235 0.2 1,700 5,000 1,234 t json 1.00 2 9 2 12,345"
    assert lines[3:] == [
        "s: 2 queries are not served: 'asc query list --stream s' says why",
        "s: 1,200 dead letters: value is not a JSON record, column 'n'",
        "s: 1 dead letter: value is empty",
        *(f"s: {number} dead letters: reason {number}" for number in (9, 8, 7)),
        "s: 11 dead letters of 2 other reasons: --json has them",
        "s: 1,300 evaluation errors, each NULL to its query: 'asc query show ID' has the query's",
        "s: latency of the last minute: half within 83 ms, 99 of 100 within 2.5 s",
        "s: 6,000 matches, one for each record and query; the most: late 5,000, oslo 1,000",
        "s: ms of a batch by phase: bind 2, run 150",
        "2026-01-31T12:00:00Z  s block 0: cost, dropping ratio - -> 0.500, cost 4.00 -> 2.00, a, b, c, d, ... -> "
        "macro b, a (3 micro-arrows), 0.25 s",
    ]


@pytest.mark.parametrize(
    ("half_s", "most_s", "said"),
    [
        (0.0004, 0.9994, "half within 0 ms, 99 of 100 within 999 ms"),
        (59.96, 119.9, "half within 60.0 s, 99 of 100 within 119.9 s"),
        (121.0, 3_599.0, "half within 2 min, 99 of 100 within 60 min"),
        (300.0, 3_600.0, "half within 5 min, 1 of 100 more than 1 h"),
        (3_600.0, 1e7, "half more than 1 h, 1 of 100 more than 1 h"),
    ],
)
def test_latency_is_told_in_the_unit_that_suits_it(half_s: float, most_s: float, said: str) -> None:
    lines = status_lines(found({"flow": {"latency_p50_s": half_s, "latency_p99_s": most_s}}))
    assert lines[-1] == f"s: latency of the last minute: {said}"


@pytest.mark.parametrize(
    ("plan", "cells"),
    [({}, list("----0--")), ({"monitor": {"enabled": False, "tuples": 0}}, [*"---", *"00-", "off"])],
    ids=["unseen", "off"],
)
def test_what_is_not_known_is_a_dash(plan: dict[str, Any], cells: list[str]) -> None:
    row = status_lines(found(plan, not_served=0))[2].split()
    assert [*row[3:8], row[10], row[11]] == cells


def test_on_a_narrow_terminal_what_is_wider_goes_on_below() -> None:
    plan = {**PLAN, "dead_letters": {"total": 1, "reasons": [{"reason": "\x1b[31mred", "column": None, "count": 1}]}}
    lines = status_lines(found(plan), 80)
    assert max(map(len, lines)) <= 80
    assert [" ".join(line.split()) for line in lines[1:5]] == [
        "stream queries not served in/s out/s lag records dead letters topic",
        "s 7 2 1,235 0.2 1,700 5,000 1 t",
        "stream format cost rearranged conjuncts p-attributes version",
        "s json 1.00 2 9 2 12,345",
    ]
    assert lines[6] == "s: 1 dead letter: ·[31mred"
    assert lines[-2:] == [
        "2026-01-31T12:00:00Z  s block 0: cost, dropping ratio - -> 0.500, cost 4.00 ->",
        "  2.00, a, b, c, d, ... -> macro b, a (3 micro-arrows), 0.25 s",
    ]
    narrow = status_lines(found(PLAN), 20)
    assert max(map(len, narrow[1:])) <= 20
    assert "12,345" in "".join(narrow)


def test_why_it_is_not_ready_is_never_cut() -> None:
    reason = "stream 's': " + "x" * 200
    lines = status_lines({"server": "http://b", "ready": False, "reason": reason}, 40)
    assert lines == [f"not ready at http://b: {reason}"]


def test_a_plan_without_a_change_has_no_version() -> None:
    assert status_lines(found({**PLAN, "version": -1}))[2].split()[-1] == "-"


def test_each_kind_of_operator_has_its_lines() -> None:
    status = {
        "queries": 3,
        "held": 1_200,
        "held_noun": "objects",
        "observations": 90,
        "outputs": {},
        "excluded": {},
        "watermarks": {},
        "lateness_s": 2.5,
    }
    status |= {"lag_records": None, "failures": 0, "problem": None}
    lines = status_lines(found({"operators": {"events": status}}))
    assert lines[-1] == "s: events: 3 queries, objects held: 1,200; outputs: none"
    lines = status_lines(found({"operators": {"events": {**status, "held": None}}}))
    assert lines[-1] == "s: events: 3 queries, objects held: not counted yet; outputs: none"
    more = {"excluded": {"stale": 9, "key": 1}, "outputs": {"exit": 2, "enter": 3_000}, "lag_records": 7}
    more["watermarks"] = {"unix_micros(ts)": "2026-01-01T00:00:00.000000Z"}
    assert status_lines(found({"operators": {"events": {**status, **more}, "near": status}}))[-4:] == [
        "s: events: 3 queries, objects held: 1,200; outputs: 3,000 enter, 2 exit, 7 records of the feed behind",
        "s: events: watermark of unix_micros(ts): 2026-01-01T00:00:00.000000Z; "
        "results up to it are complete with the next batch, "
        "later ones after a record past 2026-01-01T00:00:00.000000Z + 2.5 s (lateness_s)",
        "s: events: observations excluded, of 100: 1 key, 9 stale",
        "s: near: 3 queries, objects held: 1,200; outputs: none",
    ]


def test_ticks_messages_and_outputs_that_are_excluded_are_no_records() -> None:
    status = {"queries": 1, "held": 1, "held_noun": "observations", "observations": 100, "outputs": {}}
    excluded = {"unreadable": 2, "too_many_pairs": 1, "output_too_large": 3}
    status |= {"watermarks": {}, "lateness_s": 0, "lag_records": None, "failures": 0, "problem": None}
    beside = (
        "s: near: excluded beside records: 3 outputs output_too_large, 1 tick too_many_pairs, 2 messages unreadable"
    )
    assert status_lines(found({"operators": {"near": {**status, "excluded": excluded}}}))[-1] == beside
    lines = status_lines(found({"operators": {"near": {**status, "excluded": {**excluded, "late": 7}}}}))
    assert lines[-2:] == ["s: near: observations excluded, of 107: 7 late", beside]
