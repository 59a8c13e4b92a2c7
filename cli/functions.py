"""``asc functions``: print the functions that a predicate may call."""

from __future__ import annotations

import click

from cli.command import Command, examples
from cli.output import json_option, print_json, print_table


@click.command(
    cls=Command,
    epilog=examples(
        "asc functions",
        "asc functions date_trunc",
        "asc functions ST_Contains",
        "asc functions regexp_replace --json",
    ),
)
@click.argument("name", required=False)
@json_option
def functions(name: str | None, as_json: bool) -> None:
    """Print the functions: those of Spark that a predicate may call, why not the others, and those of shapes.

    With a NAME, that one alone, with an example.
    """
    from asc.errors import AscError
    from asc.predicate.catalogue.builtins import builtins
    from asc.predicate.catalogue.refusals import refusal
    from asc.predicate.catalogue.spatial_builtins import spatial_builtins

    every = [*builtins(), *spatial_builtins()]
    chosen = [builtin for builtin in every if name is None or builtin.name == name.lower()]
    if not chosen:
        problem, remedy = refusal(str(name).lower())
        raise AscError(problem, name, remedy)
    if as_json:
        rows = [
            {
                "name": builtin.name,
                "allowed": builtin.allowed,
                "arguments": builtin.arguments,
                "verdict": builtin.verdict,
                "of_null": builtin.of_null,
                "example": builtin.example,
            }
            for builtin in chosen
        ]
        print_json(rows if name is None else rows[0])
    elif name is None:
        verdicts = {True: "allowed", False: "refused"}
        rows_of_text = [(b.name, verdicts[b.allowed], b.arguments or b.verdict) for b in chosen]
        print_table(["function", "", "arguments, or reason for the refusal"], rows_of_text, fitted=True)
    else:
        (builtin,) = chosen
        called = f"{builtin.name}({builtin.arguments})" if builtin.example else builtin.name
        click.echo(f"{called}: {'allowed' if builtin.allowed else 'refused'}, {builtin.verdict}")
        if builtin.of_null:
            click.echo(f"result if an argument is NULL: {builtin.of_null.replace('`', chr(39))}")
        if builtin.example:
            click.echo(f"for example: {builtin.example}")
