"""``asc demo``."""

from __future__ import annotations

import click

from cli.command import Command, examples
from cli.output import json_option, print_json


@click.command(
    cls=Command,
    epilog=examples(
        "asc demo",
        "asc demo --json",
    ),
)
@json_option
def demo(as_json: bool) -> None:
    """Run the whole path on a packaged sample of flights.

    Starts a Kafka broker of its own, registers fourteen predicates through the HTTP API, publishes 20,000
    flights, receives from every topic and compares each with what DataFrame.filter accepts. Then it publishes them
    again and again for some seconds, and says how many records a second went through. Ends with 1 if any topic
    differs.
    """
    from cli.demo_run import report_text, run_demo

    report = run_demo()
    if as_json:
        print_json(report)
    else:
        click.echo(report_text(report))
    if not report["agrees"]:
        click.get_current_context().exit(1)
