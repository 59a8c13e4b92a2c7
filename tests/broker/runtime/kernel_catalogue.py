"""A process that compiles the kernels as set-up does, then evaluates a catalogue of predicates, as streams do, and
outputs of the operators that have kernels.

It prints, as JSON, the compiled functions that the catalogue had to compile besides: there should be none. The
catalogue has each type of column in each form of term, shapes of every kind, and pairs of these terms. They are
evaluated in every kind of block, with and without NULLs, along micro-arrows, over arrays that were made in Python and
over arrays that came by IPC, which are read-only.
"""

from __future__ import annotations

import datetime as dt
import io
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pyarrow as pa

import asc.operators
from asc.evaluation.evaluation_errors import queries_with_errors
from asc.evaluation.executor import match
from asc.evaluation.regions import region_ids
from asc.plan.compiler import compile_plan
from asc.plan.parts import Part, parts_of, plan_of
from asc.plan.plan import CompileOptions, Plan, Query
from asc.predicate import normalise
from asc.schema import Schema
from broker.runtime.warm_up import compile_kernels
from monitor.hybrid import hybrid_sequence
from monitor.macro import macro_sequence
from monitor.refinement import refined
from monitor.sample import Sample
from monitor.statistics import dropping_ratio, walked

UTC = dt.timezone.utc

COLUMNS: dict[str, tuple[str, list[Any], list[str]]] = {
    "b": ("BOOLEAN", [True, False], ["true"]),
    "t": ("TINYINT", [1, -5], ["1", "-3"]),
    "s": ("SMALLINT", [300, -300], ["200", "-1"]),
    "i": ("INT", [5, 70_000], ["5", "69999"]),
    "l": ("BIGINT", [1 << 40, -3], ["3", str(1 << 41)]),
    "f": ("FLOAT", [0.5, float("nan")], ["0.5F", "1F"]),
    "d": ("DOUBLE", [0.25, -0.0], ["0.25D", "7D"]),
    "p": ("DECIMAL(9,2)", [Decimal("1.25"), Decimal("-7.00")], ["1.25", "3"]),
    "q": ("DECIMAL(38,10)", [Decimal("1.25"), Decimal("-7.00")], ["1.25", "-7"]),
    "x": ("STRING", ["abc", "Ø"], ["'abc'", "'b'"]),
    "y": ("BINARY", [b"\x80", b""], ["X'80'", "X''"]),
    "u": ("DATE", [dt.date(2020, 1, 1), dt.date(1960, 1, 1)], ["DATE '2019-01-01'", "DATE '2020-01-01'"]),
    "v": (
        "TIMESTAMP",
        [dt.datetime(2020, 1, 1, tzinfo=UTC), dt.datetime(1960, 1, 1, tzinfo=UTC)],
        ["TIMESTAMP '2019-01-01 00:00:00'", "TIMESTAMP '2020-01-01 00:00:00'"],
    ),
    "w": (
        "TIMESTAMP_NTZ",
        [dt.datetime(2020, 1, 1), dt.datetime(1960, 1, 1)],
        ["TIMESTAMP_NTZ '2019-01-01 00:00:00'", "TIMESTAMP_NTZ '2020-01-01 00:00:00'"],
    ),
    "g": ("ARRAY<STRING>", [], []),
}
"""The columns by name: their type, two values, and constants."""

SCHEMA = Schema.from_ddl(", ".join(f"{name} {kind}" for name, (kind, _, _) in COLUMNS.items()))
VALUES = {SCHEMA.arrow.field(name).type: values for name, (_, values, _) in COLUMNS.items()}

POINT, BOX = "ST_Point(d, f)", "ST_PolygonFromEnvelope(d, f, d, f)"
CIRCLE = ", ".join(f"{np.cos(turn):.3f} {np.sin(turn):.3f}" for turn in [*np.linspace(0, 6.2, 540), 0.0])
SHAPES = [
    f"ST_GeomFromText('{text}')"
    for text in (
        "POLYGON ((0 0, 1 0, 1 1, 0 0))",
        f"POLYGON (({CIRCLE}))",
        "LINESTRING (0 0, 1 1)",
        "MULTIPOINT (0 0, 1 1)",
        "POINT (0.25 0.5)",
    )
]

OPTIONS = (
    CompileOptions(),
    CompileOptions(exact_bytes=0, exact_regions=2, bounded_regions=2, bounded_rows=0),
    CompileOptions(listed_conjuncts=1),
    CompileOptions(listed_conjuncts=1, exact_bytes=0, exact_regions=2, bounded_regions=2),
)


def terms(*, planar: bool) -> Iterator[str]:
    """Yield each type of column in each form of term, and every relation to a shape of each kind."""
    for name, (_, _, constants) in COLUMNS.items():
        for constant in constants:
            yield from (f"{name} {sign} {constant}" for sign in ("=", "<>", "<=>"))
            if name != "b":
                yield from (f"{name} {sign} {constant}" for sign in (">", "<="))
        yield from (f"{name} IS NULL", f"{name} IS NOT NULL")
        if len(constants) > 1:
            both = ", ".join(constants)
            yield from (
                f"{name} IN ({both})",
                f"{name} NOT IN ({both})",
                f"{name} BETWEEN {both.replace(', ', ' AND ')}",
            )
    yield from ("x LIKE 'a%'", "x LIKE '%b%'", "x NOT LIKE '%b_c'", "x LIKE '_b%'", "startswith(x, 'a')")
    yield from ("array_contains(g, 'a')", "NOT array_contains(g, 'b')", "length(x) + i > 3", "true", "false")
    relations = ("ST_Contains", "ST_Covers", "ST_Intersects", "ST_Touches", "ST_Disjoint")
    for shape in SHAPES:
        yield from (f"{relation}({shape}, {at})" for relation in relations for at in (POINT, BOX))
        yield from (f"ST_DWithin({shape}, {POINT}, 0.5)", f"NOT ST_Covers({shape}, {POINT})")
    if not planar:
        yield from (f"ST_DistanceSphere(ST_Point(0, 0), {POINT}) {sign} 50000" for sign in ("<", "<=", ">"))


def plans(*, pairs: bool) -> Iterator[Plan]:
    """Yield plans as drivers compile them, and as workers receive them: of the terms, and of ``pairs`` of them."""
    for planar in (False, True):
        schema = replace(SCHEMA, crs="planar" if planar else "wgs84")
        texts = list(terms(planar=planar))
        short = [text for text in texts if len(text) < 200]
        some = list(itertools.combinations(short[::23], 2)) if pairs else []
        texts += [form.format(*pair) for pair in some for form in ("({0}) AND ({1})", "({0}) OR NOT ({1})")]
        queries = [Query(f"q{number}", normalise(text, schema)) for number, text in enumerate(texts)]
        for options in OPTIONS:
            plan = compile_plan(queries, options)
            yield plan
            yield plan_of([Part.from_bytes(part.to_bytes()) for part in parts_of(plan)])


def column(kind: pa.DataType, rows: int, *, nulls: bool) -> pa.Array:
    """Return a column of some rows, every third of them NULL."""
    if pa.types.is_struct(kind):
        return pa.StructArray.from_arrays([column(field.type, rows, nulls=nulls) for field in kind], fields=list(kind))
    values = (VALUES.get(kind, [None]) * rows)[:rows]
    return pa.array([None if nulls and row % 3 == 0 else value for row, value in enumerate(values)], kind)


def sent(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """Return columns as they come by IPC."""
    table = pa.table(dict(zip(map(str, range(len(columns))), columns, strict=True)))
    content = io.BytesIO()
    with pa.ipc.new_stream(content, table.schema) as writer:
        writer.write_table(table)
    return [one.combine_chunks() for one in pa.ipc.open_stream(content.getvalue()).read_all().columns]


def evaluate(plan: Plan) -> None:
    """Match, count errors, and search and follow sequences, over columns with and without NULLs."""
    for nulls, rows in itertools.product((False, True), (0, 1, 12)):
        made = [column(attribute.type, rows, nulls=nulls) for attribute in plan.p_attributes]
        for columns in (made, sent(made), [one.slice(rows // 2) for one in made]):
            count = len(columns[0])
            match(plan, columns, count)
            match(plan, columns, count, count_cost=True)
            if count:
                queries_with_errors(plan, columns, {0: np.ones(count, dtype=np.bool_)})
        if rows > 1:
            _adapt(plan, made, rows)


def _adapt(plan: Plan, columns: Sequence[pa.Array], rows: int) -> None:
    regions = region_ids(plan, columns, rows)
    for number, block in enumerate(plan.blocks[:4]):
        sample = Sample.of(block, regions)
        sequence = macro_sequence(block, sample).sequence
        refined(block, sample, hybrid_sequence(block, sample, sequence, min_visitors=1))
        order = block.order_of(sequence, [(sequence[0], 0, sequence[-1])] if len(sequence) > 1 else [])
        walked(block, sample, order)
        dropping_ratio(block, sample, sequence)
        match(plan.with_orders({number: order}), columns, rows)


def signatures() -> dict[str, set[str]]:
    """Return the argument types for which each compiled function of the loaded modules was compiled."""
    return {
        f"{name}.{own}": set(map(str, function.signatures))
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("asc", "broker", "monitor")
        for own, function in list(vars(module).items())
        if hasattr(function, "signatures") and hasattr(function, "py_func")
    }


def catalogues_of_operators() -> Iterator[tuple[str, Any]]:
    """Yield the operators whose kernels are compiled at set-up, each with the catalogue among the tests of its kind."""
    for package in iter_modules(asc.operators.__path__):
        if package.ispkg and find_spec(f"{asc.operators.__name__}.{package.name}.warm_up") is not None:
            yield package.name, import_module(f"tests.asc.operators.{package.name}.kernel_catalogue")


def main(*, pairs: bool) -> None:
    """Print the functions that the catalogue compiled after set-up."""
    compile_kernels()
    before = signatures()
    count = 0
    for plan in plans(pairs=pairs):
        evaluate(plan)
        count += len(plan.query_ids)
    outputs = {name: catalogue.evaluate_kernels() for name, catalogue in catalogues_of_operators()}
    now = signatures()
    new = {name: len(types - before.get(name, set())) for name, types in now.items()}
    compiled = {name: number for name, number in new.items() if number}
    print(json.dumps({"predicates": count, "outputs": outputs, "compiled": compiled}))


if __name__ == "__main__":
    main(pairs="--pairs" in sys.argv)
