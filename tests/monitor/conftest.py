"""The worked example's plan: what the paper's Examples 4 to 7 are measured on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest

from asc.attribute import PAttribute
from asc.compiler import compile_plan
from asc.plan import Plan, Query
from asc.predicate.constraint import Constraint, Interval
from asc.predicate.normal_form import Predicate
from asc.regions import region_ids
from monitor.sample import Sample

TUPLES = {
    "t1": (40, 40, 20, 90),
    "t2": (80, 60, 10, 80),
    "t3": (10, 30, 40, 10),
    "t4": (80, 30, 10, 80),
    "t5": (80, 60, 10, 10),
    "t6": (90, 70, 20, 50),
    "t7": (80, 20, 10, 5),
}
AT_MOST_50: Interval = (None, (50, 1))
QUERIES: dict[str, dict[str, Interval]] = {
    "q1": {"A1": AT_MOST_50, "A3": ((60, 0), None)},
    "q2": {"A2": (None, (20, 1)), "A4": (None, (10, 0))},
    "q3": {"A1": (None, (30, 0)), "A3": (None, (40, 0))},
    "q4": {"A2": ((50, 1), None), "A4": ((80, 0), None)},
}


@pytest.fixture(scope="session")
def example() -> Plan:
    """The plan of the worked example: constructs 0 to 3 are A1 to A4, conjuncts 0 to 3 are q1 to q4."""
    queries = []
    for query_id, intervals in QUERIES.items():
        conjunct = tuple(
            (PAttribute(name, pa.int32(), (name,)), Constraint((interval,))) for name, interval in intervals.items()
        )
        queries.append(Query(query_id, Predicate("", (conjunct,))))
    return compile_plan(queries)


@pytest.fixture(scope="session")
def sample_of(example: Plan) -> Callable[[Sequence[str]], Sample]:
    """The sample of some of the example's tuples, by name."""

    def sample(names: Sequence[str]) -> Sample:
        columns = [pa.array([TUPLES[name][place] for name in names], pa.int32()) for place in range(4)]
        return Sample.of(example.blocks[0], region_ids(example, columns, len(names)))

    return sample
