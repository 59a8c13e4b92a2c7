"""Which queries an evaluation error concerns, held against the definition on random queries."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from asc.evaluation.evaluation_errors import queries_with_errors
from asc.keys.attribute import PAttribute
from asc.keys.constraint import Constraint, Interval
from asc.plan.compiler import change_plan, compile_plan
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate.normal_form.disjunctive_form import Predicate

NAMES = "abcd"
ATTRIBUTES = {name: PAttribute(name, pa.int32(), (name,)) for name in NAMES}
ONE_BLOCK = CompileOptions()
MANY_BLOCKS = CompileOptions(exact_bytes=0, block_conjuncts=64, bounded_rows=0, rebuild_share=1.0)
Conjuncts = list[dict[str, Interval]]


def random_conjuncts(random: Random) -> Conjuncts:
    def interval() -> Interval:
        low = random.randrange(90)
        return (low, 0), (low + random.randrange(60), 1)

    return [
        {name: interval() for name in random.sample(NAMES, random.randint(1, 3))} for _ in range(random.randint(1, 3))
    ]


def query(query_id: str, conjuncts: Conjuncts) -> Query:
    constrained = tuple(
        tuple((ATTRIBUTES[name], Constraint((interval,))) for name, interval in sorted(conjunct.items()))
        for conjunct in conjuncts
    )
    return Query(query_id, Predicate("", constrained))


def counted(plan: Plan, values: dict[str, list[int | None]], errors: dict[str, np.ndarray]) -> dict[str, int]:
    slots = {attribute.sql: slot for slot, attribute in enumerate(plan.p_attributes)}
    columns = [pa.array(values[attribute.sql], pa.int32()) for attribute in plan.p_attributes]
    handles, counts = queries_with_errors(plan, columns, {slots[name]: mask for name, mask in errors.items()})
    assert (np.diff(handles) > 0).all()
    ids = plan.query_ids.take(pa.array(plan.ranks[handles])).to_pylist()
    return dict(zip(ids, counts.tolist(), strict=True))


def by_definition(
    queries: dict[str, Conjuncts], values: dict[str, list[int | None]], errors: dict[str, np.ndarray]
) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in range(len(values["a"])):
        broken = {name for name, mask in errors.items() if mask[row]}
        for query_id, conjuncts in queries.items():
            for conjunct in conjuncts:
                others = {name: interval for name, interval in conjunct.items() if name not in broken}
                admitted = all(
                    (value := values[name][row]) is not None and low[0] <= value <= high[0]
                    for name, (low, high) in others.items()
                )
                if len(others) < len(conjunct) and admitted:
                    found[query_id] += 1
                    break
    return dict(found)


@pytest.mark.parametrize("options", [ONE_BLOCK, MANY_BLOCKS], ids=["one block", "many blocks"])
@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_definition(options: CompileOptions, seed: int) -> None:
    random = Random(seed)
    rows = 200
    queries = {f"q{number}": random_conjuncts(random) for number in range(150)}
    plan = compile_plan([query(query_id, conjuncts) for query_id, conjuncts in queries.items()], options)
    # As after a day of changes: bits that are free, queries of a later change.
    for query_id in list(queries)[::7]:
        del queries[query_id]
        plan = change_plan(plan, remove=[query_id])
    queries["late"] = random_conjuncts(random)
    plan = change_plan(plan, add=[query("late", queries["late"])])
    values = {name: [random.choice([None, *range(100)]) for _ in range(rows)] for name in NAMES}
    errors = {name: np.array([random.random() < 0.3 for _ in range(rows)]) for name in "ac"}
    for name, mask in errors.items():
        values[name] = [None if gone else value for gone, value in zip(mask, values[name], strict=True)]
    assert counted(plan, values, errors) == by_definition(queries, values, errors)


def test_queries_that_do_not_use_what_failed_are_not_concerned() -> None:
    plan = compile_plan([query("q", [{"a": ((0, 0), (9, 1))}]), query("r", [{"b": ((5, 0), (5, 1))}])])
    assert counted(plan, {"a": [1], "b": [None]}, {"b": np.ones(1, bool)}) == {"r": 1}
