"""Queries as pages: their terms by construct, and the block that they stand in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from asc.evaluation.explain import explain
from asc.plan.compiler import compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.pages.query_page import query_page

BlockAnswer = Callable[[Plan], dict[str, Any]]

SCHEMA = Schema.from_ddl("delay INT, city STRING")
WHERES = {"late": "delay > 30 AND city = 'Oslo'", "either": "delay > 90 OR city LIKE '%ber%g%'", "all": "1 = 1"}


def page_of(
    query: str, block_answers: BlockAnswer, wheres: Mapping[str, str] = WHERES, options: CompileOptions | None = None
) -> str:
    queries = [Query(name, normalise(where, SCHEMA)) for name, where in wheres.items()]
    plan = compile_plan(queries, options or CompileOptions())
    own = {"id": query, "where": wheres[query], "stream": "flights", "topic": f"asc.{query}"}
    answer = {"query": own, "version": 7, **asdict(explain(plan, query)), "warnings": []}
    return query_page(answer, None if answer["block"] is None else block_answers(plan))


def cells(page: str) -> list[list[str]]:
    """Of the table of terms."""
    table = page.partition("<h2>Its terms</h2>")[2].partition("</table>")[0]
    rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
    return [[re.sub("<[^>]*>", "", cell) for cell in row] for row in rows]


def test_terms_stand_by_the_constructs_of_the_block(block_answers: BlockAnswer) -> None:
    page = page_of("late", block_answers)
    assert page.startswith("<!doctype html>")
    assert "<h1>late in stream flights</h1>" in page
    assert 'aria-label="predicate">delay &gt; 30 AND city = &#39;Oslo&#39;</pre>' in page
    heading, *rows = cells(page)
    assert heading == ["Term", "Construct", "Place in the sequence", "Regions"]
    assert sorted(row[1] for row in rows) == ["city", "delay"]
    assert sorted(row[2] for row in rows) <= ["1 of 3", "2 of 3", "3 of 3"]
    assert all(row[3].endswith(" exact and NULL") for row in rows)
    assert page.count("<h2>Block 0 (of 1, from 0 on)</h2>") == 1
    assert "<h3>Constructs</h3>" in page
    assert 'aria-label="macro-sequence: ' in page


def test_several_conjuncts_and_bounded_regions(block_answers: BlockAnswer) -> None:
    bounded = CompileOptions(exact_bytes=0, exact_regions=0, bounded_regions=1, bounded_rows=0)
    rows = cells(page_of("either", block_answers, options=bounded))
    assert [row[0] for row in rows if len(row) == 1] == ["conjunct 1", "conjunct 2"]
    assert len(rows) == 1 + 2 + 2
    assert {row[3] for row in rows[1:] if len(row) > 1} == {"1 bounded and NULL"}


def test_a_query_in_no_construct(block_answers: BlockAnswer) -> None:
    page = page_of("all", block_answers)
    assert '<pre tabindex="0">all accepts every record: it is in no construct</pre>' in page
    assert "Its terms" not in page


def test_predicates_are_text(block_answers: BlockAnswer) -> None:
    page = page_of("evil", block_answers, {"evil": "city = '<script>alert(1)</script>'"})
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
