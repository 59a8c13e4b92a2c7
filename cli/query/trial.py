"""``asc query test``: test a predicate on the last records."""

from __future__ import annotations

import click

from broker.client.client import Client
from broker.time_text import time_text
from broker.visible_text import visible
from cli.arguments import stream_option, where_option
from cli.client import Json, server_options
from cli.command import Command, examples
from cli.output import counted, json_option, print_json, print_table

_LAST = 10_000
_SHOWN = 5


@click.command(
    "test",
    cls=Command,
    epilog=examples(
        'asc query test --where "arr_delay > 60"',
        "asc query test --where \"dest = 'SFO' AND arr_delay > 60\" --stream flights --last 100000 --show 20",
        'asc query test --where "arr_delay > 60" --json',
    ),
)
@where_option
@stream_option("The stream, where more than one is configured.")
@click.option(
    "--last",
    type=click.IntRange(1, 100_000),
    default=_LAST,
    metavar="N",
    help=f"Of so many records, the last ones.  [default: {_LAST}]",
)
@click.option(
    "--show",
    type=click.IntRange(0, 100),
    default=_SHOWN,
    metavar="N",
    help=f"Print so many of those it accepts, the latest.  [default: {_SHOWN}]",
)
@server_options
@json_option
def trial(*, client: Client, where: str, stream: str | None, last: int, show: int, as_json: bool) -> None:
    """Say how many of the last records a predicate would have accepted.

    Nothing is registered, and nothing delivered. The daemon reads the records from the stream's source topic, at most
    32 MiB of them, and evaluates the predicate as it would in the stream.
    """
    answer = client.test(where, stream=stream, last=last, show=show)
    if as_json:
        print_json(answer)
        return
    records, accepted = answer["records"], answer["accepted"]
    share = f" ({accepted / records:.2%})" if records else ""
    dead = f"; {counted(answer['dead_letters'], 'dead letter')} among them" if answer["dead_letters"] else ""
    click.echo(f"would have accepted {accepted:,} of the last {counted(records, 'record')}{share}{dead}")
    if answer["shown"]:
        print_table(["place", "time", "value"], [_row(record) for record in answer["shown"]], fitted=True)


def _row(record: Json) -> list[str]:
    from cli.record_output import plain_text

    value = visible(plain_text(record, "value"))
    return [f"{record['partition']}-{record['offset']}", time_text(record["timestamp_ms"]), value]
