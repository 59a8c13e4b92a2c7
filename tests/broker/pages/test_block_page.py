"""Blocks as pieces of pages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.pages.block_page import block_fragment, constructs_fragment, sequence_fragment

if TYPE_CHECKING:
    from conftest import WorkedExample

BlockAnswer = Callable[[Plan], dict[str, Any]]


def test_constructs_with_their_regions_and_measures(worked_example: WorkedExample, block_answers: BlockAnswer) -> None:
    answer = block_answers(worked_example.plan)
    fragment = constructs_fragment(answer)
    for name in ("A1", "A2", "A3", "A4"):
        assert f"<code>{name}</code>" in fragment
    assert fragment.count('role="img"') == 4
    assert "5 exact regions and NULL; 2 of 4 left in A1 &gt; 50, 2 in NULL" in fragment
    # Five regions and NULL's of A1: all four conjuncts, three, three, three, two; two.
    bar = re.search(r'aria-label="A1: .*?</svg>', fragment)
    assert bar is not None
    heights = [float(own) for own in re.findall(r'class="region"[^>]* height="([0-9.]+)"', bar[0])]
    assert heights == [22, 16.5, 16.5, 16.5, 11, 11]
    assert fragment.count("25.0 %") == 1
    assert fragment.count("12.5 %") == 1
    assert fragment.count("–") == 6


def test_the_sequence_and_its_micro_arrows(worked_example: WorkedExample, block_answers: BlockAnswer) -> None:
    block = worked_example.plan.blocks[0]
    order = block.order_of([2, 0, 3, 1], [(0, 4, 3), (0, 3, 3), (2, 0, 1)])
    answer = block_answers(worked_example.plan.with_orders({0: order}))
    fragment = sequence_fragment(answer)
    assert 'aria-label="macro-sequence: A3, A1, A4, A2; 3 micro-arrows"' in fragment
    assert "<title>A1 → A4: 2 regions</title>" in fragment
    assert fragment.count('class="micro"') == 2
    assert fragment.count('class="macro"') == 3
    assert "<code>A1 → A4</code>, from 2 of its regions" in fragment


def test_all_of_a_block_without_what_was_measured(worked_example: WorkedExample, block_answers: BlockAnswer) -> None:
    answer = {**block_answers(worked_example.plan), "monitor": None}
    fragment = block_fragment(json.loads(json.dumps(answer)))
    assert fragment.startswith('<section class="asc"><h2>Block 0 (of 1, from 0 on)</h2>')
    assert "%" not in re.sub("<svg.*?</svg>", "", fragment)
    assert "The micro-arrows as a list" not in fragment


def test_constants_and_names_are_text(block_answers: BlockAnswer) -> None:
    schema = Schema.from_ddl('`<script>` STRING, `"><img src=x>` STRING')
    wheres = ["`<script>` = '<script>alert(1)</script>'", "`\"><img src=x>` > '<b>'"]
    plan = compile_plan([Query(f"q{place}", normalise(where, schema)) for place, where in enumerate(wheres)])
    block = plan.blocks[0]
    plan = plan.with_orders({0: block.order_of([0, 1], [(0, 1, 1)])})
    fragment = block_fragment(block_answers(plan))
    assert "<script" not in fragment
    assert "<img" not in fragment
    assert "&lt;script&gt;" in fragment
