"""Kernels compiled ahead: when the first record comes there is nothing left to compile."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyarrow as pa

import asc.evaluation.beginnings
import asc.evaluation.kernels
import asc.evaluation.listed_values
import asc.keys.kernels
import asc.keys.pattern_kernels
import asc.plan.kernels
import monitor.kernels
from asc import Matcher, Schema
from asc.plan.plan import CompileOptions
from broker.runtime.warm_up import compile_kernels

KERNELS: list[ModuleType] = [
    asc.evaluation.beginnings,
    asc.evaluation.kernels,
    asc.evaluation.listed_values,
    asc.keys.kernels,
    asc.keys.pattern_kernels,
    asc.plan.kernels,
    monitor.kernels,
]


def signatures() -> dict[str, set[Any]]:
    """What each compiled function of the project has been compiled for."""
    found = {}
    for module in KERNELS:
        for name, kernel in vars(module).items():
            if hasattr(kernel, "py_func") and kernel.py_func.__module__ == module.__name__:
                found[f"{module.__name__}.{name}"] = set(kernel.signatures)
    return found


def test_every_kernel_is_compiled_and_the_first_records_need_no_other() -> None:
    compile_kernels()
    before = signatures()
    assert len(before) > 10
    # Those that are inlined into others are compiled as part of them.
    called = {name for name in before if not name.rpartition(".")[2].startswith("_")}
    assert {name for name in called if not before[name]} == set()
    matcher = Matcher(Schema.from_ddl("n INT, x DOUBLE, s STRING, p DECIMAL(9,2), t TIMESTAMP, b BOOLEAN"))
    where = "n > {0} AND x < {0}.5 AND s >= '{0}' AND p > {0} AND b AND NOT s LIKE '%{0}%x'"
    matcher.add_many((f"q{i}", where.format(i)) for i in range(200))
    table = pa.table(
        {
            "n": pa.array([5, None, 7], pa.int32()),
            "x": pa.array([0.5, float("nan"), None]),
            "s": ["a", None, ""],
            "p": pa.array([None, None, None], pa.decimal128(9, 2)),
            "t": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
            "b": [True, False, None],
        }
    )
    matcher.match(table)
    listed = Matcher(matcher.schema, options=CompileOptions(listed_conjuncts=1))
    listed.add_many((f"q{i}", f"s = '{i}' AND n > {i}") for i in range(20))
    listed.match(table)
    assert signatures() == before
