"""Plans and samples: those of the worked example, which the paper's Examples 4 to 7 are measured on, and small ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from asc.evaluation.regions import region_ids
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint
from asc.plan.block import Block
from asc.plan.compiler import compile_plan
from asc.plan.plan import Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate
from monitor.sample import Sample

PlanOf = Callable[..., Plan]
Sampled = Callable[..., tuple[Block, Sample]]
SampleOf = Callable[[Sequence[str]], Sample]


@pytest.fixture(scope="session")
def example(worked_example: Any) -> Plan:
    plan: Plan = worked_example.plan
    return plan


@pytest.fixture(scope="session")
def sample_of(worked_example: Any) -> Callable[[Sequence[str]], Sample]:
    """The sample of some of the example's tuples, by name."""

    def sample(names: Sequence[str]) -> Sample:
        plan = worked_example.plan
        return Sample.of(plan.blocks[0], region_ids(plan, worked_example.columns(names), len(names)))

    return sample


def _plan_of(*conjuncts: Mapping[str, int]) -> Plan:
    def term(name: str, low: int) -> tuple[PAttribute, Constraint]:
        return PAttribute(name, pa.int32(), (name,)), Constraint((((low, 1), None),))

    predicates = (Predicate("", (tuple(term(*own) for own in conjunct.items()),)) for conjunct in conjuncts)
    return compile_plan([Query(f"q{i}", predicate) for i, predicate in enumerate(predicates)])


@pytest.fixture(scope="session")
def plan_of() -> PlanOf:
    """Makes a plan of queries of one conjunct: p-attributes that are to be above a constant."""
    return _plan_of


@pytest.fixture(scope="session")
def three() -> Plan:
    """Three constructs; a and b are a cover set, c alone covers one conjunct."""
    return _plan_of({"a": 5, "b": 5}, {"b": 3, "c": 7})


@pytest.fixture(scope="session")
def sampled() -> Sampled:
    """Makes the first block of a plan and the sample of it that some columns give."""

    def sample(plan: Plan, *columns: Sequence[int | None], known: Sequence[int] | None = None) -> tuple[Block, Sample]:
        arrays = [pa.array(column, pa.int32()) for column in columns]
        return plan.blocks[0], Sample.of(plan.blocks[0], region_ids(plan, arrays, len(arrays[0])), known)

    return sample
