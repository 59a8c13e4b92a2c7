"""Blocks laid out for a reader: the worked example by hand, larger ones by their constructs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from asc.errors import PlanError
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.compiler import compile_plan
from asc.plan.layout import ARROWS_SHOWN, REGIONS_SHOWN, Arrow, laid_out
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate

if TYPE_CHECKING:
    from conftest import WorkedExample

DELAY = PAttribute("delay", pa.int32(), ("delay",))


def test_the_worked_example(worked_example: WorkedExample) -> None:
    layout = laid_out(worked_example.plan, 0)
    assert (layout.number, layout.blocks, layout.conjuncts, sorted(layout.sequence)) == (0, 1, 4, [0, 1, 2, 3])
    first = layout.constructs[0]
    assert (first.attribute, first.type, first.spark, first.exact) == ("A1", "int32", False, True)
    assert (first.constrained, first.region_count) == (2, 5)
    assert [
        (region.text, region.satisfied, region.constrained, region.next_constructs) for region in first.regions
    ] == [
        ("A1 < 30", 4, 2, 3),
        ("A1 = 30", 3, 1, 3),
        ("30 < A1 < 50", 3, 1, 3),
        ("A1 = 50", 3, 1, 3),
        ("A1 > 50", 2, 0, 2),
    ]
    assert (first.null.region, first.null.text, first.null.satisfied) == (5, "NULL", 2)


def test_regions_are_those_of_definition_1(worked_example: WorkedExample) -> None:
    plan = worked_example.plan
    layout, live = laid_out(plan, 0), plan.blocks[0].conjunct_count
    for described, construct in zip(layout.constructs, plan.constructs(0), strict=True):
        for region in [*described.regions, described.null]:
            entry = construct.ra[region.region]
            assert region.satisfied == entry.qrb[:live].count()
            assert region.constrained == (entry.qrb & construct.qub).count()
            assert region.next_constructs == entry.cab.count()


def test_micro_arrows(worked_example: WorkedExample) -> None:
    block = worked_example.plan.blocks[0]
    plan = worked_example.plan.with_orders({0: block.order_of([2, 0, 3, 1], [(0, 4, 3), (2, 0, 1)])})
    layout = laid_out(plan, 0)
    assert (layout.sequence, layout.arrow_count) == ((2, 0, 3, 1), 2)
    assert layout.micro_arrows == (Arrow(0, 4, "A1 > 50", 3), Arrow(2, 0, "A3 < 40", 1))
    assert [region.arrow for region in layout.constructs[0].regions] == [None, None, None, None, 3]


def points(count: int) -> Plan:
    each = [Constraint((((number, 0), (number, 1)),)) for number in range(count)]
    queries = [Query(f"q{number:05}", Predicate("", (((DELAY, own),),))) for number, own in enumerate(each)]
    return compile_plan(queries, CompileOptions(always_exact=True))


def test_what_is_told_is_bounded() -> None:
    plan = points(600)
    block = plan.blocks[0]
    plan = plan.with_orders({0: block.order_of([0], [(0, region, 0) for region in range(1_000)])})
    (construct,) = laid_out(plan, 0).constructs
    places = [region.region for region in construct.regions]
    assert (len(places), places[0], places[-1], construct.region_count) == (REGIONS_SHOWN, 0, 1_200, 1_201)
    assert places == sorted(set(places))
    layout = laid_out(plan, 0)
    assert (len(layout.micro_arrows), layout.arrow_count) == (ARROWS_SHOWN, 1_000)


def test_a_number_that_no_block_has() -> None:
    with pytest.raises(PlanError, match="block 1: the plan has 0 to 0"):
        laid_out(points(1), 1)
    with pytest.raises(PlanError, match="none, for no query has a conjunct"):
        laid_out(compile_plan(()), 0)
