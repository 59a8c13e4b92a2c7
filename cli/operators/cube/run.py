"""``asc cube run``: a cube over files of records, and the output of its answer to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broker.files.decoding import Decoding
from broker.files.input_checks import check_columns
from broker.files.input_files import check_line_lengths
from cli.client import Json
from cli.operators.cube.rows import print_rows
from cli.operators.divided import divided
from cli.output import counted, print_json

if TYPE_CHECKING:
    from asc.operators.cube.cube import Cube
    from asc.operators.cube.estimate import Estimate
    from asc.operators.cube.layout import Layout
    from asc.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Rolled:
    """The result of a cube over files: the answer to a query of the cube, and the number of rows by outcome.

    ``held``: the numbers of rows, cells and bytes of the cube. ``excluded``: the number of excluded rows by reason.
    ``engine``: ``arrow`` or ``spark``. ``warnings``: the warnings that do not depend on the rows.
    """

    answer: Mapping[str, Any]
    held: Estimate
    excluded: Mapping[str, int]
    engine: str
    undecodable: int = 0
    first_undecodable: str | None = None
    warnings: tuple[str, ...] = ()


def question_of(
    operator: Json,
    cuboids: Sequence[str],
    *,
    total: bool,
    begin: str | None,
    end: str | None,
    every: Json | None = None,
    hours: str | None = None,
    order: str | None,
    limit: int | None,
) -> Json:
    """Return the request body of a cube query, from the options of the command."""
    from asc.operators.cube.definition import CubeDefinition

    everything = [list(CubeDefinition.parse(operator, needs_time=False).dimensions.names)]
    question = {
        "by": [*([divided(names, ",") for names in cuboids] or everything), *([[]] if total else [])],
        "from": begin,
        "to": end,
        **(every or {}),
        "hours": hours,
        "order": None if order is None else divided(order, ","),
        "limit": limit,
    }
    return {name: value for name, value in question.items() if value is not None}


def run_cube(
    inputs: Sequence[Path], format_name: str, decoding: Decoding, *, operator: Json, where: str, question: Json
) -> Rolled:
    """Roll up the rows that ``where`` accepts into a cube, and answer the query ``question``. All files have the format
    ``format_name``.
    """
    from asc.operators.cube.cube import Cube
    from asc.operators.cube.definition import CubeDefinition
    from asc.operators.cube.question import Question
    from asc.predicate import normalise
    from broker.files.plain_rows import DoubtError
    from cli.operators.cube.file_sample import calibrated_operator

    operator = calibrated_operator(operator, inputs, format_name, decoding, where)
    definition = CubeDefinition.parse(operator, needs_time=False)
    Question.parse(question, definition, decoding.time_zone)
    cube = Cube(definition, decoding.schema, time_zone=decoding.time_zone)
    predicate = normalise(where, decoding.schema, time_zone=decoding.time_zone)
    check_columns(inputs, format_name, decoding.schema, decoding.options)
    warnings = (*predicate.warnings, *cube.layout.warnings)
    why = why_spark(cube.layout, predicate)
    if why is None:
        try:
            rows = _fold_plainly(cube, inputs, format_name, decoding, predicate)
            return replace(_rolled(cube, question, rows, "arrow"), warnings=warnings)
        except DoubtError as doubt:
            why = str(doubt)
    if format_name != "parquet":
        check_line_lengths(inputs)
    click.echo(f"starting Spark: {why}", err=True)
    from cli.operators.cube.by_spark import fold_by_spark

    # A new cube, because the former one may contain rows of files that were read before the doubt arose.
    cube = Cube(definition, decoding.schema, time_zone=decoding.time_zone)
    found = fold_by_spark(cube, inputs, format_name, decoding, where)
    rolled = _rolled(cube, question, found.rows, "spark")
    return replace(
        rolled,
        undecodable=found.undecodable,
        first_undecodable=found.first_undecodable,
        warnings=warnings,
    )


def _rolled(cube: Cube, question: Json, rows: int, engine: str) -> Rolled:
    from asc.operators.cube.estimate import Estimate

    held = Estimate.of(cube.layout, cube.cells, records=rows, counted=cube.counted)
    return Rolled(cube.query(question), held, cube.excluded, engine)


def why_spark(layout: Layout, predicate: Predicate) -> str | None:
    """Return the reason why a cube needs Spark, with the first expression that only Spark can compute. Return None if
    the cube does not need Spark.
    """
    import pyarrow as pa

    from asc.predicate import normalise

    for attribute in predicate.p_attributes:
        if attribute.is_computed:
            return f"WHERE has Spark compute {attribute.as_written}"
    for operand in layout.operands:
        if operand.where is not None:
            for attribute in normalise(operand.where, layout.schema, time_zone=layout.time_zone).p_attributes:
                if attribute.is_computed:
                    return f"FILTER has Spark compute {attribute.as_written}"
        plain = operand if operand.where is None else operand.argument
        if plain is not None and plain.path is None:
            return f"the cube has Spark compute {plain.sql}"
        if plain is not None and (plain.type is None or pa.types.is_nested(plain.type)):
            return f"Spark alone reads {plain.sql}"
    return None


def _fold_plainly(
    cube: Cube, inputs: Sequence[Path], format_name: str, decoding: Decoding, predicate: Predicate
) -> int:
    """Fold the rows that a predicate accepts into a cube, without Spark. Return the number of all rows, accepted or
    not.
    """
    from tqdm import tqdm

    from asc.matcher import Matcher
    from asc.operators.cube.columns import Columns
    from asc.operators.cube.fold import folded
    from broker.files.plain_rows import plain_tables

    matcher = Matcher(decoding.schema, {"where": predicate.text}, time_zone=decoding.time_zone)
    needed = _needed(cube.layout, predicate)
    rows, done, total = 0, 0, sum(path.stat().st_size for path in inputs)
    with tqdm(total=total, unit="B", unit_scale=True, desc="folding", disable=None) as bar:

        def advance(read: int) -> None:
            bar.update(done + read - bar.n)

        for path in inputs:
            for table in plain_tables(path, format_name, decoding, needed, advance):
                accepted = None if predicate.match_all else matcher.match(table)["row"].to_numpy().astype("int64")
                columns = Columns(table, decoding.schema, decoding.time_zone)
                cube.add(folded(cube.layout, columns, accepted))
                rows += table.num_rows
            done += path.stat().st_size
    return rows


def _needed(layout: Layout, predicate: Predicate) -> set[str]:
    """Return the names of the columns that a cube or a predicate reads."""
    from asc.predicate import normalise

    paths = set(predicate.columns)
    for operand in layout.operands:
        paths |= {own.path for own in (operand, operand.argument) if own is not None and own.path is not None}
        if operand.where is not None:
            paths |= normalise(operand.where, layout.schema, time_zone=layout.time_zone).columns
    return {path[0] for path in paths}


def show_rolled(rolled: Rolled, *, as_json: bool) -> None:
    """Print the answer of a cube as a table with the numbers of rows, or as JSON. Raise CommandError if no row could be
    decoded.
    """
    from cli.failure import CommandError

    for warning in rolled.warnings:
        click.echo(f"warning: {warning}", err=True)
    held = rolled.held
    nothing_decoded = 0 < held.records == rolled.undecodable
    if rolled.undecodable and not nothing_decoded:
        rows = counted(rolled.undecodable, "row")
        click.echo(f"warning: {rows} cannot be decoded, excluded; the first: {rolled.first_undecodable}", err=True)
    if held.warning is not None:
        click.echo(f"warning: {held.warning}", err=True)
    if nothing_decoded:
        remedy = f"the first: {rolled.first_undecodable}; name the stream's options with --config or --option"
        raise CommandError("none could be decoded, rows", held.records, remedy)
    if as_json:
        counts = {"read": held.records, "counted": held.counted, "undecodable": rolled.undecodable}
        records = {**counts, **rolled.excluded}
        print_json(
            {
                **rolled.answer,
                "cells": held.cells,
                "bytes": held.size_bytes,
                "records": records,
                "engine": rolled.engine,
            }
        )
        return
    print_rows(rolled.answer["rows"])
    shown, groups = len(rolled.answer["rows"]), rolled.answer["groups"]
    cut = f", the first {shown:,} shown" if shown < groups else ""
    how = " (without Spark)" if rolled.engine == "arrow" else ""
    excluded = "".join(f", {count:,} {name}" for name, count in _named_reasons(rolled.excluded).items())
    click.echo(
        f"{counted(held.records, 'row')} read, {held.counted:,} counted{excluded}, {counted(held.cells, 'cell')}, "
        f"{counted(groups, 'group')}{cut}{how}"
    )


def _named_reasons(excluded: Mapping[str, int]) -> dict[str, int]:
    words = {"time": "without a usable time", "too_large": "with a group of over 4 KiB"}
    return {words[name]: count for name, count in excluded.items() if count}
