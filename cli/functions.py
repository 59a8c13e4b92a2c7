"""``asc functions``."""

from __future__ import annotations

import click

from cli.command import Command, examples
from cli.output import json_option, print_json, print_table


@click.command(
    cls=Command,
    epilog=examples(
        "asc functions",
        "asc functions date_trunc",
        "asc functions regexp_replace --json",
    ),
)
@click.argument("name", required=False)
@json_option
def functions(name: str | None, as_json: bool) -> None:
    """Print the functions of Spark: those a predicate may call, and why not the others.

    With a NAME, that one alone, with an example.
    """
    from asc.errors import AscError
    from asc.predicate.builtins import builtins
    from asc.predicate.refusals import refusal

    found = [builtin for builtin in builtins() if name is None or builtin.name == name.lower()]
    if not found:
        problem, remedy = refusal(str(name).lower())
        raise AscError(problem, name, remedy)
    if as_json:
        rows = [
            {
                "name": builtin.name,
                "allowed": builtin.allowed,
                "arguments": builtin.arguments,
                "verdict": builtin.verdict,
                "example": builtin.example,
            }
            for builtin in found
        ]
        print_json(rows if name is None else rows[0])
    elif name is None:
        verdicts = {True: "allowed", False: "refused"}
        rows_of_text = [(b.name, verdicts[b.allowed], b.arguments or b.verdict) for b in found]
        print_table(["function", "", "arguments, or why not"], rows_of_text, fitted=True)
    else:
        (builtin,) = found
        called = f"{builtin.name}({builtin.arguments})" if builtin.example else builtin.name
        click.echo(f"{called}: {'allowed' if builtin.allowed else 'refused'}, {builtin.verdict}")
        if builtin.example:
            click.echo(f"for example: {builtin.example}")
