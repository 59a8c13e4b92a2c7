"""Traces as lines: what they say, and that they fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from asc.evaluation.trace import plain
from asc.evaluation.trace_walk import traced
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from cli.trace_text import trace_lines, verdict_lines

SCHEMA = Schema.from_ddl("delay INT, city STRING")
WHERES = {"late": "delay > 30 AND city = 'Oslo'", "early": "delay < 0", "port": "city LIKE '%a%b%'", "any": "delay > 1"}

BOUNDED = CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=1, bounded_rows=0)


def answer_of(
    query: str | None,
    delay: int | None,
    city: str,
    options: CompileOptions | None = None,
    wheres: Mapping[str, str] = WHERES,
) -> Any:
    return through(plan_of(wheres, options), query, delay, city)


def plan_of(wheres: Mapping[str, str], options: CompileOptions | None = None) -> Plan:
    queries = [Query(name, normalise(where, SCHEMA)) for name, where in wheres.items()]
    return compile_plan(queries, options or CompileOptions())


def through(plan: Plan, query: str | None, delay: int | None, city: str) -> Any:
    row = {"delay": delay, "city": city}
    values = [pa.scalar(row[a.path[0]], a.type) for a in plan.p_attributes]
    trace = json.loads(json.dumps(plain(traced(plan, values, query_id=query))))
    return {"dead_letter": None, "warnings": [], "verdict": trace.pop("verdict"), "trace": trace}


def test_the_way_in_a_table() -> None:
    answer = answer_of(None, 45, "Bergen")
    lines = list(trace_lines(answer, with_path=True, width=None))
    assert lines[0] == "accepted by 1 of 4 queries: any"
    joins = {**answer, "trace": {**answer["trace"], "join_shapes": 3}}
    assert (
        next(trace_lines(joins, with_path=True, width=None))
        == "accepted by 1 of 4 queries (3 of them shapes of joins): any"
    )
    assert lines[2].startswith(
        "block 0 (of 1, from 0 on): 3 of 4 conjuncts to begin with, 3 constructs visited, accepted by 1 query"
    )
    assert lines[3] == "sequence: delay -> city -> city LIKE"
    assert lines[4].split() == ["step", "value", "region", "left", "ruled", "out"]
    table = "\n".join(lines[5:])
    assert "its patterns" in table
    assert "port: (city LIKE '%a%b%')" in table
    assert "late: city = 'Oslo'" in table
    assert "early: delay < 0" in table


def test_the_verdict_alone() -> None:
    answer = answer_of("late", None, "Oslo")
    expected = ["not accepted because delay > 30 fails (delay = NULL)"]
    lines = list(trace_lines({**answer, "trace": None}, with_path=True, width=None))
    assert lines[:1] == expected
    assert sorted(lines[1:]) == ["  fails  delay > 30   (delay = NULL)", "  holds  city = 'Oslo'   (city = 'Oslo')"]
    assert list(trace_lines(answer, with_path=False, width=None)) == lines
    assert list(verdict_lines(answer["verdict"])) == lines


def test_regions_are_exact_or_bounded() -> None:
    exact = "\n".join(trace_lines(answer_of(None, 45, "Bergen"), with_path=True, width=None))
    assert "7 of 7 exact: delay > 30" in exact
    assert "bounded" not in exact
    bounded = "\n".join(trace_lines(answer_of(None, 45, "Bergen", BOUNDED), with_path=True, width=None))
    assert "1 of 1 bounded: delay IS NOT NULL" in bounded
    assert "exact:" not in bounded
    of_null = list(trace_lines(answer_of(None, None, "Oslo"), with_path=True, width=None))
    assert any(line.startswith("1     delay = NULL  NULL ") for line in of_null)


def test_a_step_that_a_micro_arrow_led_to_is_marked() -> None:
    plan = plan_of(WHERES)
    assert "micro-arrow" not in "\n".join(trace_lines(through(plan, None, 45, "Bergen"), with_path=True, width=None))
    block = plan.blocks[0]
    first, second, third = block.sequence.tolist()
    arrows = [(first, region, third) for region in range(block.region_count(first))]
    led = plan.with_orders({0: block.order_of((first, second, third), arrows)})
    lines = list(trace_lines(through(led, None, 45, "Bergen"), with_path=True, width=None))
    assert "sequence: delay -> city -> city LIKE" in lines
    steps = [line.split()[:2] for line in lines if line[:1].isdigit()]
    assert steps == [["1", "delay"], ["2*", "city"], ["3", "city"]]
    assert "* a micro-arrow led there, not the sequence" in lines


@pytest.mark.parametrize(("count", "more"), [(1, ""), (10, ""), (25, " and 15 more")])
def test_who_remains_after_the_last_construct_is_named(count: int, more: str) -> None:
    ids = [f"q{number:03}" for number in range(count)]
    answer = answer_of(None, 45, "Bergen", BOUNDED, dict.fromkeys(ids, "delay > 60"))
    lines = list(trace_lines(answer, with_path=True, width=None))
    assert lines[-1] == f"after the last construct remain: {', '.join(ids[:10])}{more}"
    # They are candidates: the exact constraints come after it.
    assert lines[0].startswith("accepted by 0 of ")


def test_nobody_remains_of_a_block_that_is_left() -> None:
    answer = answer_of(None, 45, "Bergen", None, {"early": "delay < 0"})
    assert "remain" not in "\n".join(trace_lines(answer, with_path=True, width=None))


@pytest.mark.parametrize("width", [40, 80])
def test_a_block_fits_the_terminal(width: int) -> None:
    wheres = WHERES | {f"a-query-of-a-long-name-{number}": "delay > 1" for number in range(20)}
    answer = answer_of("late", 45, "x" * 500, None, wheres)
    answer["trace"]["blocks_shown"][0]["visits"][0]["by_arrow"] = True
    answer["trace"]["blocks_shown"][0]["sequence"] = [f"attribute_{number}" for number in range(40)]
    lines = list(trace_lines(answer, with_path=True, width=width))
    block = lines[next(i for i, line in enumerate(lines) if line.startswith("sequence: ")) :]
    assert len(block) > 10
    assert max(map(len, block)) <= width
    assert " ".join(line.strip() for line in block).count("attribute_") == 40
    assert "and 11 more" in " ".join(line.strip() for line in block)


def test_what_was_ruled_out_has_room_on_a_terminal() -> None:
    lines = list(trace_lines(answer_of(None, 45, "Bergen" * 20), with_path=True, width=80))
    assert next(line for line in lines if line.startswith("step")).endswith("ruled out")
    assert any(line.endswith("late: city = 'Oslo'") for line in lines)


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    text = "\n".join(trace_lines(answer_of("late", 45, "\x1b[31m\u202e"), with_path=True, width=None))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_blocks_that_are_not_told() -> None:
    answer = answer_of(None, 45, "Oslo")
    answer["trace"] |= {"blocks_shown": (), "blocks": 60}
    assert list(trace_lines(answer, with_path=True, width=None))[-1] == "60 more blocks not told"


def test_verification_has_a_row() -> None:
    text = "\n".join(trace_lines(answer_of(None, 5, "Oslo", BOUNDED), with_path=True, width=None))
    assert "exact constraints" in text
