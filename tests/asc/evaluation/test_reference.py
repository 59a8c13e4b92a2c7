"""The worked example: four queries, four attributes, seven tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from asc.evaluation.executor import match
from asc.evaluation.reference import Evaluation, accepted_by, evaluate
from asc.plan.compiler import compile_plan
from asc.plan.construct import bits_of
from asc.plan.plan import CompileOptions, Plan

if TYPE_CHECKING:
    from conftest import ListsOf, WorkedExample

ARROWS = {(0, 4): 1, (1, 4): 3, (3, 4): 2}
"""Example 7 with regions counted from 0: A1.ra[5] -> A2, A2.ra[5] -> A4, A4.ra[5] -> A3."""


@pytest.fixture(scope="module")
def plan(worked_example: WorkedExample) -> Plan:
    return worked_example.plan


Walked = Callable[..., Evaluation]


@pytest.fixture
def walked(worked_example: WorkedExample, plan: Plan) -> Walked:
    """Walks along a sequence, and along micro-arrows where it is given some."""

    def walk(
        name: str, sequence: Sequence[int] = (0, 1, 2, 3), arrows: Mapping[tuple[int, int], int] | None = None
    ) -> Evaluation:
        return evaluate(plan.constructs(0), bits_of(plan.blocks[0].live), worked_example.tuples[name], sequence, arrows)

    return walk


def grbs(evaluation: Evaluation) -> list[str]:
    return [step.grb[:4].to01() for step in evaluation.steps]


@pytest.mark.parametrize(
    ("name", "expected", "result"),
    [
        ("t1", ["1101", "1000", "0000"], []),
        ("t2", ["0101", "0001", "0001", "0001"], ["q4"]),
        ("t3", ["1111", "1010", "0000"], []),
    ],
)
def test_example_2_grb_along_the_sequence(
    worked_example: WorkedExample, walked: Walked, name: str, expected: list[str], result: list[str]
) -> None:
    evaluation = walked(name)
    assert grbs(evaluation) == expected
    assert evaluation.cost == len(expected)
    assert evaluation.dropped is (not result)
    assert accepted_by(worked_example.plan, worked_example.tuples[name]) == result


def test_example_4_dropping_ratio(walked: Walked) -> None:
    dropped = [walked(name).cost <= 3 and walked(name).dropped for name in ("t1", "t2", "t3")]
    assert sum(dropped) / len(dropped) == 2 / 3


@pytest.mark.parametrize(
    ("name", "path", "result"),
    [("t6", [0, 1, 3], []), ("t7", [0, 1, 2, 3], ["q2"]), ("t2", [0, 1, 3, 2], ["q4"])],
)
def test_example_7_hybrid_sequence(
    worked_example: WorkedExample, walked: Walked, name: str, path: list[int], result: list[str]
) -> None:
    evaluation = walked(name, arrows=ARROWS)
    assert [step.construct for step in evaluation.steps] == path
    assert evaluation.dropped is (not result)
    arrows = ((construct, region, target) for (construct, region), target in ARROWS.items())
    hybrid = worked_example.plan.with_orders({0: worked_example.plan.blocks[0].order_of([0, 1, 2, 3], arrows)})
    assert accepted_by(hybrid, worked_example.tuples[name]) == result
    matches = match(hybrid, worked_example.columns([name]), 1)
    assert matches.evaluated == len(path)
    assert [hybrid.query_ids[ordinal].as_py() for ordinal in matches.queries.tolist()] == result


def test_a_micro_arrow_to_an_evaluated_construct_is_ignored(walked: Walked) -> None:
    evaluation = walked("t2", arrows={(0, 4): 1, (1, 4): 0})
    assert [step.construct for step in evaluation.steps] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "options", [CompileOptions(), CompileOptions(exact_bytes=0, bounded_regions=2, bounded_rows=0, exact_regions=0)]
)
def test_kernels_agree_with_the_example(
    worked_example: WorkedExample, lists_of: ListsOf, options: CompileOptions
) -> None:
    plan = compile_plan(worked_example.queries, options)
    names, tuples = list(worked_example.tuples), worked_example.tuples.values()
    expected = [accepted_by(plan, values) for values in tuples]
    assert expected == [[], ["q4"], [], [], [], [], ["q2"]]
    found = match(plan, worked_example.columns(names), len(names))
    assert lists_of(found, plan.query_ids) == expected


def test_exact_cost_of_the_kernels_is_the_papers(worked_example: WorkedExample, walked: Walked) -> None:
    names = list(worked_example.tuples)
    in_order = worked_example.plan.with_orders({0: worked_example.plan.blocks[0].order_of([0, 1, 2, 3])})
    costs = [match(in_order, worked_example.columns([name]), 1, count_cost=True).evaluated for name in names]
    assert costs == [walked(name).cost for name in names]
    assert match(in_order, worked_example.columns(names), len(names), count_cost=True).evaluated == sum(costs)
