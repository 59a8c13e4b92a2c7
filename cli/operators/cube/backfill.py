"""``asc cube backfill``: the past records that a cube lacks, counted from the source topic."""

from __future__ import annotations

import time

import click

from broker.answers.cube import CubeBackfillOffsets, CubeBackfillProgress
from broker.client.client import Client
from broker.visible_text import visible
from cli.client import server_options
from cli.command import Command, examples
from cli.failure import CommandError
from cli.output import json_option, print_json

_LOOK_S = 0.5
"""The seconds between two requests for the progress."""


@click.command(
    "backfill",
    cls=Command,
    epilog=examples("asc cube backfill late", "asc cube backfill late --no-wait", "asc cube backfill late --status"),
)
@click.argument("query_id", metavar="ID")
@click.option("--no-wait", is_flag=True, help="Request the backfill, and do not wait until it is done.")
@click.option("--status", is_flag=True, help="Only print the progress; request nothing.")
@server_options
@json_option
def backfill(*, client: Client, query_id: str, no_wait: bool, status: bool, as_json: bool) -> None:
    """Count the past records that a cube lacks, and print its offsets.

    The daemon reads the records from before the first batch of the cube, and those of its gaps, from the source topic,
    as far as the topic still has them. It does so beside new records, also after this command has ended, and after a
    restart. Each record is counted once.

    The offsets of each partition are printed, how many of them the cube has counted, and from when on it is whole.
    """
    if no_wait and status:
        raise click.UsageError("give --no-wait or --status, not both: --status requests nothing")
    progress = client.cubes.backfill_progress(query_id) if status else client.cubes.backfill(query_id)
    if not (no_wait or status):
        progress = _awaited(client, query_id, progress)
    if as_json:
        print_json(progress)
    else:
        for line in lines_of(progress):
            click.echo(visible(line))
    if progress["phase"] == "stopped" and not status:
        raise CommandError("backfill of cube", query_id, f"does not go on: {progress['problem']}")


def lines_of(progress: CubeBackfillProgress) -> list[str]:
    """Return the progress of a backfill as lines: a line for each partition with records, then the state of the
    backfill. If it is done, the remaining gaps follow instead of the state.
    """
    begin = progress["whole_from"]
    whole = "" if begin is None else f", whole from {begin.removesuffix('T00:00:00Z')}"
    lines = [f"{_of_partition(own)}{whole}" for own in progress["offsets"] if own["to"]]
    if progress["phase"] == "off":
        lines.append("not requested: the other records are not counted; 'asc cube backfill' requests that")
    elif progress["phase"] == "running":
        again = "" if progress["problem"] is None else f"; its last batch {progress['problem']}"
        lines.append(f"running: {progress['left']:,} offsets are left{again}")
    elif progress["phase"] == "stopped":
        lines.append(f"stopped: {progress['problem']}")
    else:
        for gap in progress["gaps"]:
            begins, ends = gap["from"] or "the beginning", gap["to"] or "now"
            lines.append(f"not whole from {begins} to {ends}: {gap['reason']}")
    return lines or ["the topic has no records yet"]


def _of_partition(own: CubeBackfillOffsets) -> str:
    expired = f", {own['expired']:,} expired" if own["expired"] else ""
    offsets = f"offsets {own['from']}-{own['to'] - 1} of partition {own['partition']}"
    return f"{offsets}: {own['folded']:,} of {own['to'] - own['from']:,}{expired}"


def _awaited(client: Client, query_id: str, progress: CubeBackfillProgress) -> CubeBackfillProgress:
    """Wait until the backfill is done or stopped, with a progress bar, and return the last progress."""
    from tqdm import tqdm

    most = progress["left"]
    with tqdm(total=most, unit=" offsets", unit_scale=True, desc="backfill", disable=None, leave=False) as bar:
        while progress["phase"] == "running":
            time.sleep(_LOOK_S)
            progress = client.cubes.backfill_progress(query_id)
            # New gaps may increase the number of offsets that are left.
            bar.total = most = max(most, progress["left"])
            bar.update(most - progress["left"] - bar.n)
    return progress
