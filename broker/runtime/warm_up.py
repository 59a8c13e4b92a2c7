"""Compilation of the kernels before the first record. Numba caches the compiled code on disk for later processes."""

from __future__ import annotations

import math
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from asc.plan.plan import Plan, Query

_MANY_VERTICES = 600
"""The number of vertices of a shape for which the index of shapes uses divided cells. Shapes have divided cells from
512 vertices on.
"""

_RELATIONS = ("ST_Contains", "ST_Covers", "ST_Intersects", "ST_Touches", "ST_Disjoint")


def compile_kernels() -> None:
    """Match a few tuples of every kind of column, with exact and with verified regions, and in listed blocks with an
    index of values or of shapes. Also compute some outputs of each operator that has compiled loops.

    The first call on a machine costs seconds, a later call a fraction of a second.
    """
    from asc import Matcher, Schema
    from asc.plan.plan import CompileOptions, Query
    from asc.predicate import normalise

    _warm_up_operators()
    schema = Schema.from_ddl(
        "b BOOLEAN, t TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, x STRING, y DATE, z TIMESTAMP"
    )
    rows = {"b": [True], "t": [1], "s": [1], "i": [1], "l": [1], "f": [1.0], "d": [1.0], "x": ["a"], "y": [0], "z": [0]}
    types = {field.name: field.type for field in schema.arrow}
    batches = [
        pa.table({name: pa.array(values if full else [None], types[name]) for name, values in rows.items()})
        for full in (True, False)
    ]
    where = (
        "b AND t > 0 AND s > 0 AND i > 0 AND l > {0} AND f > 0 AND d > 0 AND x > 'A{0}' "
        "AND y >= DATE '1970-01-01' AND z >= TIMESTAMP '1970-01-01 00:00:00' AND x LIKE '%a%{0}'"
    )
    verified = CompileOptions(exact_bytes=0, exact_regions=2, bounded_regions=2, bounded_rows=0)
    for options in (CompileOptions(), verified):
        for wide in (0, 1 << 40):
            matcher = Matcher(schema, options=options)
            matcher.add_many((f"q{n}", where.format(n - wide)) for n in range(-3, 1))
            for batch in batches:
                matcher.match(batch)
    for wide in (0, 1 << 40):
        listed = Matcher(schema, options=CompileOptions(listed_conjuncts=1))
        listed.add_many((f"q{n}", f"x = 'A{n}' AND l > {n + wide}") for n in range(4))
        for batch in batches:
            listed.match(batch)
        _count_errors(listed.plan)
    _compile_shapes()
    # Tables of constants have 32 bits where all of them fit, else 64.
    for wide in (0, 1 << 40):
        _compile_measuring([Query(f"q{n}", normalise(f"i > {n} AND l > {n + wide}", schema)) for n in range(40)])


def _warm_up_operators() -> None:
    """Call ``warm_up`` of each package ``asc.operators.NAME`` that has a module of this name."""
    import asc.operators

    for package in iter_modules(asc.operators.__path__, f"{asc.operators.__name__}."):
        if package.ispkg and find_spec(f"{package.name}.warm_up") is not None:
            import_module(f"{package.name}.warm_up").warm_up()


def _compile_shapes() -> None:
    """Compile every relation to a shape of each kind, small and of many vertices, in degrees and in a plane."""
    from asc import Matcher

    turn = np.linspace(0, 2 * np.pi, _MANY_VERTICES)
    many = ", ".join(f"{math.cos(angle):.5f} {math.sin(angle):.5f}" for angle in [*turn[:-1].tolist(), 0.0])
    shapes = [
        "POLYGON ((0 0, 1 0, 1.5 1.2, 0 0))",
        f"POLYGON (({many}))",
        "LINESTRING (0 0, 1 1.5, 2 0)",
        f"LINESTRING ({many})",
        "POINT (1 1)",
        f"MULTIPOINT ({many})",
    ]
    point, box = "ST_Point(x, y)", "ST_PolygonFromEnvelope(x, y, w, h)"
    texts = [f"ST_GeomFromText('{shape}')" for shape in shapes]
    wheres = [
        *(f"{relation}({text}, {at})" for text in texts for relation in _RELATIONS for at in (point, box)),
        *(f"ST_DWithin({text}, {point}, 0.5)" for text in texts),
        f"NOT ST_Covers({texts[0]}, {point}) AND n > 1",
        f"ST_Contains({texts[0]}, {point}) AND n > 1",
    ]
    sphere = f"ST_DistanceSphere(ST_Point(0, 0), {point})"
    near, far = [0.5, 1.0, None, 3.0], [0.75, 2.0, 3.0, 4.0]
    places = pa.table({"x": near, "y": near, "w": far, "h": far, "n": pa.array([1, 2, 3, 4], pa.int64())})
    for crs, more in (("wgs84", [f"{sphere} <= 100000", f"{sphere} < 100000"]), ("planar", [])):
        # Tables of constants have 32 bits where all of them fit, else 64.
        for wide in ([], [f"ST_Covers({texts[0]}, {point}) AND n > {1 << 40}"]):
            matcher = Matcher("x DOUBLE, y DOUBLE, w DOUBLE, h DOUBLE, n BIGINT", crs=crs)
            matcher.add_many((f"q{number}", where) for number, where in enumerate([*wheres, *more, *wide]))
            matcher.match(places)
            _count_errors(matcher.plan)


def _count_errors(plan: Plan) -> None:
    """Compile the kernels that count evaluation errors. They run with a plan in which an expression of the first tuple
    fails.
    """
    from asc.evaluation.evaluation_errors import queries_with_errors

    def one(kind: pa.DataType) -> Any:
        return {field.name: 0.5 for field in kind} if pa.types.is_struct(kind) else None

    columns = [pa.array([one(own.type)], own.type) for own in plan.p_attributes]
    queries_with_errors(plan, columns, {0: np.ones(1, dtype=np.bool_)})


def _compile_measuring(queries: list[Query]) -> None:
    """Compile the kernels besides matching: the search for both kinds of sequences, the executor along micro-arrows,
    and the count of errors.
    """
    from asc.evaluation.evaluation_errors import queries_with_errors
    from asc.evaluation.executor import match
    from asc.evaluation.regions import region_ids
    from asc.plan.compiler import compile_plan
    from monitor.hybrid import hybrid_sequence
    from monitor.macro import macro_sequence
    from monitor.refinement import refined
    from monitor.sample import Sample
    from monitor.statistics import dropping_ratio, walked

    plan = compile_plan(queries)
    values = list(range(40))
    columns = [pa.array(values, attribute.type) for attribute in plan.p_attributes]
    block = plan.blocks[0]
    sample = Sample.of(block, region_ids(plan, columns, len(values)))
    sequence = macro_sequence(block, sample).sequence
    refined(block, sample, hybrid_sequence(block, sample, sequence, min_visitors=1))
    order = block.order_of(sequence, [(sequence[0], 0, sequence[-1])])
    walked(block, sample, order)
    dropping_ratio(block, sample, sequence)
    match(plan.with_orders({0: order}), columns, len(values))
    queries_with_errors(plan, columns, {0: np.ones(len(values), dtype=np.bool_)})
