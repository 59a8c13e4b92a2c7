"""``asc cube check``: the check of a cube, and the output of the result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from broker.files.schema_file import read_schema
from broker.visible_text import visible
from cli.client import Json
from cli.output import counted, print_json

if TYPE_CHECKING:
    from asc.operators.cube.operand import Operand

_CUBOIDS_SHOWN = 32


def checked_cube(where: str, operator: Json, schema_file: Path, time_zone: str) -> Json:
    """Check a cube without a daemon. Return the normal form of its predicate, its expressions, cuboids and measures,
    and warnings.

    Raise AscError if a part of the cube is refused.
    """
    from asc.operators.cube.budget import budget_of
    from asc.operators.cube.definition import CubeDefinition
    from asc.operators.cube.keep import plain_bands
    from asc.operators.cube.layout import Layout
    from asc.operators.cube.output import NO_OUTPUT, Output
    from asc.operators.cube.pins import pins_of, plain_pins
    from asc.predicate import normalise
    from asc.predicate.normal_form.describe import plain_form
    from broker.formats.record_attributes import attributes_of
    from broker.operators.cube.definition import (
        STANDING_FIELDS,
        StandingCube,
        bands_with,
        begin_of,
        late_of,
    )

    definition = CubeDefinition.parse({name: own for name, own in operator.items() if name not in STANDING_FIELDS})
    budget_of(operator)
    output, late, begin = Output.parse(operator, definition), late_of(operator), begin_of(operator)
    pins = pins_of(operator.get("materialise"), definition)
    bands = bands_with(operator.get("keep"), definition, output, late)
    # Add the metadata attributes of records, which each stream has.
    attributes = attributes_of(read_schema(schema_file))
    form = plain_form(normalise(where, attributes, time_zone=time_zone))
    layout = Layout.of(definition, attributes, time_zone)
    dimensions = definition.dimensions
    by = [[dimensions.names[place] for place in dimensions.columns(cuboid)] for cuboid in dimensions.cuboids()]
    return {
        "text": form["text"],
        "summary": StandingCube(definition, output, late, begin, pins, bands).summary(),
        "expressions": [{"sql": operand.sql, "type": _type(operand)} for operand in layout.operands],
        "cuboids": by,
        **(NO_OUTPUT if output is None else output.plain(definition)),
        "late": late,
        "from": begin,
        "materialise": plain_pins(pins, definition),
        "keep": plain_bands(bands, definition),
        "measures": [{"name": measure.name, "type": _name(measure.type)} for measure in layout.measures],
        "warnings": [*form["warnings"], *layout.warnings],
    }


def sampled_cube(where: str, operator: Json, sample: Path, schema_file: Path, time_zone: str) -> tuple[Json, list[str]]:
    """Return the size of a cube over the records of a file, and warnings. Raise AscError if an input is refused."""
    from broker.files.input_checks import format_of
    from broker.operators.cube.definition import STANDING_FIELDS
    from cli.decoding import decoding_of
    from cli.operators.cube.run import run_cube

    format_name = format_of([sample])
    decoding = decoding_of(
        format_name, schema_file=schema_file, config_file=None, stream=None, options={}, time_zone=time_zone
    )
    cube = {name: own for name, own in operator.items() if name not in STANDING_FIELDS}
    rolled = run_cube([sample], format_name, decoding, operator=cube, where=where, question={})
    found = {**rolled.held.plain(), "undecodable": rolled.undecodable}
    warnings = [] if rolled.held.warning is None else [rolled.held.warning]
    if rolled.undecodable:
        rows = counted(rolled.undecodable, "row")
        warnings.append(f"{rows} of the sample cannot be decoded; the first: {rolled.first_undecodable}")
    return found, warnings


def show_check(result: Json, *, as_json: bool) -> None:
    """Print the result of a check."""
    if as_json:
        print_json(result)
        return
    click.echo(visible(result["text"], kept="\n"))
    click.echo("the cube reads")
    for read in result["expressions"]:
        click.echo(visible(f"  {read['sql']}  {read['type']}"))
    click.echo("its measures are")
    for measure in result["measures"]:
        click.echo(visible(f"  {measure['name']}  {measure['type']}"))
    cuboids = result["cuboids"]
    click.echo(f"it has {counted(len(cuboids), 'cuboid')}")
    for names in cuboids[:_CUBOIDS_SHOWN]:
        click.echo(visible(f"  {', '.join(names) or '()'}"))
    if len(cuboids) > _CUBOIDS_SHOWN:
        click.echo(f"  and {len(cuboids) - _CUBOIDS_SHOWN:,} more")
    if result["output"]:
        from asc.operators.cube.view import grain_text

        cuboids = "; ".join(", ".join(names) or "()" for names in result["output"])
        lengths = [grain_text(result[name]) for name in ("window_s", "slide_s")]
        click.echo(visible(f"it writes windows of {lengths[0]} every {lengths[1]}, by {cuboids}"))
    if result.get("sample") is not None:
        from broker.operators.cube.estimating import size_text

        click.echo(size_text(result["sample"]))
    for warning in result["warnings"]:
        click.echo(visible(f"warning: {warning}"))


def _type(operand: Operand) -> str:
    return "ANY" if operand.type is None else _name(operand.type)


def _name(data_type: object) -> str:
    from asc.spark_types import ddl_of_type

    return ddl_of_type(data_type)
