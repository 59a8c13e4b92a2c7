"""Kernels compiled ahead: when the first record comes there is nothing left to compile."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

import asc.evaluation.block_kernels
import asc.evaluation.initial_bitmaps
import asc.evaluation.listed_errors
import asc.evaluation.listed_sweep
import asc.evaluation.listed_values
import asc.keys.key_kernels
import asc.keys.pattern_kernels
import asc.plan.region_kernels
import asc.spatial.cell_edges
import asc.spatial.cover
import asc.spatial.index
import asc.spatial.location
import asc.spatial.validity_effort
import monitor.sample_kernels
from asc import Matcher, Schema
from asc.evaluation.evaluation_errors import queries_with_errors
from asc.plan.plan import CompileOptions
from broker.runtime.warm_up import compile_kernels

ROOT = Path(asc.__file__).parent.parent
KERNELS: list[ModuleType] = [
    asc.evaluation.initial_bitmaps,
    asc.evaluation.block_kernels,
    asc.evaluation.listed_values,
    asc.keys.key_kernels,
    asc.keys.pattern_kernels,
    asc.plan.region_kernels,
    monitor.sample_kernels,
]


OF_SHAPES: list[ModuleType] = [
    asc.evaluation.listed_sweep,
    asc.evaluation.listed_errors,
    asc.spatial.cover,
    asc.spatial.index,
    asc.spatial.location,
    asc.spatial.cell_edges,
    asc.spatial.validity_effort,
]


def signatures(modules: list[ModuleType]) -> dict[str, set[Any]]:
    """What each compiled function of some modules has been compiled for."""
    found = {}
    for module in modules:
        for name, kernel in vars(module).items():
            if hasattr(kernel, "py_func") and kernel.py_func.__module__ == module.__name__:
                found[f"{module.__name__}.{name}"] = set(kernel.signatures)
    return found


def test_every_kernel_is_compiled_and_the_first_records_need_no_other() -> None:
    compile_kernels()
    before = signatures(KERNELS)
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
    assert signatures(KERNELS) == before


@pytest.mark.parametrize("pairs", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["terms", "pairs"])
def test_a_catalogue_of_predicates_and_operators_compiles_nothing_after_set_up(pairs: bool) -> None:
    """A process of its own: in this one, other tests compile functions for their own arguments."""
    command = [sys.executable, "-m", "tests.broker.runtime.kernel_catalogue", *(["--pairs"] if pairs else [])]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["predicates"] > 900
    assert found["outputs"]["dbscan"] > 1_000
    # The groups of a cube: three, and all records together.
    assert found["outputs"]["cube"] == 4
    assert found["compiled"] == {}


@pytest.mark.parametrize("crs", ["wgs84", "planar"])
def test_the_first_shapes_need_no_other(crs: str) -> None:
    compile_kernels()
    before = signatures(OF_SHAPES)
    matcher = Matcher("lon DOUBLE, lat DOUBLE, alt INT, tag STRING", crs=crs)
    point = "ST_Point(lon, lat)"
    circle = shapely.to_wkt(shapely.Point(7, 46).buffer(1, quad_segs=150), rounding_precision=5)
    for number, where in enumerate(
        [
            f"ST_Contains(ST_PolygonFromEnvelope(6, 45, 8, 47), {point}) AND alt < 3000",
            f"NOT ST_Covers(ST_GeomFromText('{circle}'), {point}) AND tag = 'a'",
            f"ST_DWithin(ST_GeomFromText('LINESTRING (6 45, 8 47)'), {point}, 0.1)",
            *([f"ST_DistanceSphere(ST_Point(7, 46), {point}) <= 5000"] if crs == "wgs84" else []),
        ]
    ):
        matcher.add(f"q{number}", where)
    plan = matcher.plan
    table = pa.table(
        {"lon": [7.0, None], "lat": [46.0, 1.0], "alt": pa.array([5, None], pa.int32()), "tag": ["a", None]}
    )
    matcher.match(table)
    lon, lat = (table[name].combine_chunks() for name in ("lon", "lat"))
    columns = [
        pa.StructArray.from_arrays([lon, lat], fields=list(own.type)) if own.parts else table[own.sql].combine_chunks()
        for own in plan.p_attributes
    ]
    queries_with_errors(plan, columns, {0: np.ones(2, dtype=np.bool_)})
    assert signatures(OF_SHAPES) == before
