"""Traces as lines: what they say, and that they fit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from asc.evaluation.trace import plain
from asc.evaluation.tracing import traced
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Query
from asc.predicate import normalise
from asc.schema import Schema
from cli.trace_text import trace_lines, verdict_lines

SCHEMA = Schema.from_ddl("delay INT, city STRING")
WHERES = {"late": "delay > 30 AND city = 'Oslo'", "early": "delay < 0", "port": "city LIKE '%a%b%'", "any": "delay > 1"}


def answer_of(query: str | None, delay: int | None, city: str, options: CompileOptions | None = None) -> Any:
    plan = compile_plan(
        [Query(name, normalise(where, SCHEMA)) for name, where in WHERES.items()], options or CompileOptions()
    )
    row = {"delay": delay, "city": city}
    trace = dict(plain(traced(plan, [pa.scalar(row[a.path[0]], a.type) for a in plan.p_attributes], query_id=query)))
    return {"dead_letter": None, "warnings": [], "verdict": trace.pop("verdict"), "trace": trace}


def test_the_way_in_a_table() -> None:
    lines = list(trace_lines(answer_of(None, 45, "Bergen"), way=True, width=None))
    assert lines[0] == "accepted by 1 of 4 queries: any"
    assert lines[2].startswith(
        "block 0 (of 1, from 0 on): 3 of 4 conjuncts to begin with, 3 constructs visited, accepted by 1 query"
    )
    assert lines[3].split() == ["step", "value", "region", "left", "ruled", "out"]
    table = "\n".join(lines[4:])
    assert "its patterns" in table
    assert "port: (city LIKE '%a%b%')" in table
    assert "late: city = 'Oslo'" in table
    assert "early: delay < 0" in table


def test_the_verdict_alone() -> None:
    answer = answer_of("late", None, "Oslo")
    expected = ["not accepted because delay > 30 fails (delay = NULL)"]
    lines = list(trace_lines({**answer, "trace": None}, way=True, width=None))
    assert lines[:1] == expected
    assert sorted(lines[1:]) == ["  fails  delay > 30   (delay = NULL)", "  holds  city = 'Oslo'   (city = 'Oslo')"]
    assert list(trace_lines(answer, way=False, width=None)) == lines
    assert list(verdict_lines(answer["verdict"])) == lines


@pytest.mark.parametrize("width", [40, 80])
def test_a_table_fits_the_terminal(width: int) -> None:
    answer = answer_of("late", 45, "x" * 500)
    block = list(trace_lines(answer, way=True, width=width))
    table = block[next(i for i, line in enumerate(block) if line.startswith("step")) :]
    assert len(table) > 2
    assert max(map(len, table)) <= width


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    text = "\n".join(trace_lines(answer_of("late", 45, "\x1b[31m\u202e"), way=True, width=None))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_blocks_that_are_not_told() -> None:
    answer = answer_of(None, 45, "Oslo")
    answer["trace"] |= {"told": (), "blocks": 60}
    assert list(trace_lines(answer, way=True, width=None))[-1] == "60 more blocks not told"


def test_verification_has_a_row() -> None:
    options = CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=1, bounded_rows=0)
    text = "\n".join(trace_lines(answer_of(None, 5, "Oslo", options), way=True, width=None))
    assert "exact constraints" in text
