"""Compile the kernels ahead of the first record: Numba keeps what it compiled on disk, for every later process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from asc.plan.plan import Query


def compile_kernels() -> None:
    """Match a few tuples of every kind of column, with exact and with verified regions, and listed by values.

    Costs seconds the first time on a machine, a fraction of one later.
    """
    from asc import Matcher, Schema
    from asc.plan.plan import CompileOptions, Query
    from asc.predicate import normalise

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
    _compile_measuring([Query(f"q{n}", normalise(f"i > {n} AND l > {n}", schema)) for n in range(40)])


def _compile_measuring(queries: list[Query]) -> None:
    """What runs beside matching: the search for both sequences, the executor along micro-arrows, evaluation errors."""
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
