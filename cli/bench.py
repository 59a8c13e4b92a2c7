"""``asc bench``: the benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from cli.command import Group, examples
from cli.output import json_option, print_json

RESULTS = Path("bench") / "results"


def bench_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every benchmark takes: how large, where to, and how to print."""
    quick = click.option("--quick", is_flag=True, help="Small sizes: to see that it runs, not to measure.")
    output = click.option(
        "--output",
        "output_dir",
        type=click.Path(file_okay=False, path_type=Path),
        default=RESULTS,
        show_default=True,
        help="Folder for the result as JSON, and its plot.",
    )
    return quick(output(json_option(command)))


@click.group(
    cls=Group,
    epilog=examples(
        "asc bench match",
        "asc bench spark --quick",
    ),
)
def bench() -> None:
    """Measure on this machine.

    Every figure is written as JSON with the machine beside it.
    """


@bench.command(
    epilog=examples(
        "asc bench match",
        "asc bench match --quick --json",
    )
)
@bench_options
def match(quick: bool, output_dir: Path, as_json: bool) -> None:
    """The executor alone: tuples a second, bytes a query and build time for 10 to 10,000 queries."""
    import bench.match as benchmark

    _report(benchmark.run(quick=quick, output_dir=output_dir), benchmark.table, as_json)


@bench.command(
    epilog=examples(
        "asc bench spark",
        "asc bench spark --quick --output /tmp/results",
    )
)
@bench_options
def spark(quick: bool, output_dir: Path, as_json: bool) -> None:
    """A Parquet input through broker.match, beside what Spark alone would do and the bare transport."""
    import bench.spark as benchmark

    _report(benchmark.run(quick=quick, output_dir=output_dir), benchmark.table, as_json)


def _report(result: Any, table: Callable[[Any], str], as_json: bool) -> None:
    if as_json:
        print_json(result)
    else:
        click.echo(table(result))
