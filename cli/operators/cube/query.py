"""``asc cube query``: a query over a standing cube."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from broker.client.client import Client
from broker.visible_text import visible
from cli.client import Json, server_options
from cli.command import Command, examples
from cli.duration import Duration
from cli.operators.cube.grain import RowGrain
from cli.operators.cube.options import hours_option
from cli.operators.cube.refusal import by_options
from cli.operators.cube.rows import print_rows
from cli.operators.cube.scope_text import ScopeText
from cli.operators.cube.view_name import ViewName
from cli.operators.divided import divided
from cli.output import counted, json_option, print_json


@click.command(
    "query",
    cls=Command,
    epilog=examples(
        "asc cube query late --by carrier",
        "asc cube query late --by carrier --total --where \"origin = 'JFK'\" --from 2013-07-10 --to 2013-07-11",
        'asc cube query weather --by station --measures "regression(temp, hum)" --order "corr(temp, hum) DESC"',
        'asc cube query late --by origin --last 1d --live --order "delay DESC" --limit 10',
        "asc cube query late --by carrier --last 1d --grain 1h",
        "asc cube query late --by carrier --grain 1M --hours 14-16",
        "asc cube query late --by carrier --where '`year(time_hour)` = 2013'",
        "asc cube query air --by geo:15 --within -75,40,-72,42",
        "asc cube query late --by carrier --answer-from 'origin, carrier at 1d'",
    ),
)
@click.argument("query_id", metavar="ID")
@click.option(
    "--by",
    "cuboids",
    metavar="NAMES",
    multiple=True,
    help="The dimensions to group by, or attributes of look-ups, as planes.manufacturer, separated by commas; "
    "repeatable. By default one row of all records.",
)
@click.option("--total", is_flag=True, help="Add the row of all records together.")
@click.option(
    "--where",
    metavar="SQL",
    help="A predicate over dimensions and attributes of look-ups. A dimension that is an expression stands in "
    "backquotes, and the shell needs single quotes around these: '`year(ts)` = 2013'.",
)
@click.option(
    "--within",
    type=ScopeText(),
    metavar="SCOPE",
    help="Only cells of geohashes inside a scope, or that touch it: west,south,east,north, geohashes as 'dr5,dr7', "
    "GeoJSON, or @ and its file; after NAME= for one of several geohash dimensions.",
)
@click.option("--from", "begin", metavar="TIME", help="The beginning of the interval, on the grain, as 2013-07-10.")
@click.option("--to", "end", metavar="TIME", help="The exclusive end of the interval, on the grain.")
@click.option(
    "--last",
    type=Duration(),
    metavar="TIME",
    help="In place of both: as long up to the last closed pane, or with --live up to the newest open one.",
)
@click.option(
    "--grain",
    type=RowGrain(),
    metavar="TIME",
    help="Rows for each interval of that length, as 15min or 1h; with 1d or 1M for each day or month of the time zone.",
)
@hours_option
@click.option("--live", is_flag=True, help="Count panes that are still open too.")
@click.option("--late", is_flag=True, help="Count late records too that the cube keeps apart.")
@click.option(
    "--measures",
    metavar="NAMES",
    help="The measures, separated by commas, or functions of their states, as 'n, corr(x, y) AS r'; by default all "
    "declared ones.",
)
@click.option(
    "--order",
    metavar="NAMES",
    help="Measures, dimensions, and with --grain pane, to order by, as 'flights DESC, carrier'.",
)
@click.option("--limit", type=int, metavar="N", help="The most rows; by default 1,000.")
@click.option("--cursor", metavar="TEXT", help="That of an answer, for the rows after it.")
@click.option(
    "--answer-from",
    type=ViewName(),
    metavar="VIEW",
    help="The pinned or chosen view to read in place of the nearest ones, as 'origin, carrier at 1d' or '() at 1h'; "
    "without at, in panes of the cube. 'asc cube lattice' lists them.",
)
@server_options
@json_option
def query(
    *,
    client: Client,
    query_id: str,
    cuboids: Sequence[str],
    total: bool,
    where: str | None,
    within: Any | None,
    begin: str | None,
    end: str | None,
    last: float | None,
    grain: Json | None,
    hours: str | None,
    live: bool,
    late: bool,
    measures: str | None,
    order: str | None,
    limit: int | None,
    cursor: str | None,
    answer_from: Json | None,
    as_json: bool,
) -> None:
    """Ask a cube for groups and their measures.

    The answer is that of the last committed batch, exactly, of panes that are closed; with --live of open ones too.
    With --json it also has the gaps, the cells that it was made of, and the questions beside it. A line under
    the table names the stored views that were read.
    """
    asked = {
        "by": [*([divided(names, ",") for names in cuboids] or ([] if total else [[]])), *([[]] if total else [])],
        "where": where,
        "within": within,
        "from": begin,
        "to": end,
        "last_s": last,
        **(grain or {}),
        "hours": hours,
        "live": live or None,
        "late": late or None,
        "measures": None if measures is None else divided(measures, ","),
        "order": None if order is None else divided(order, ","),
        "limit": limit,
        "cursor": cursor,
        "answer_from": answer_from,
    }
    with by_options():
        answer = client.cubes.query(query_id, {name: value for name, value in asked.items() if value is not None})
    if as_json:
        print_json(answer)
        return
    print_rows(answer["rows"])
    click.echo(visible(_summary(answer)))
    sources = [own for own in answer["answered_by"] if own["cells"]]
    if sources or answer_from is not None:
        click.echo(visible(_sources(sources)))
    # The answer of a daemon of version 0.2.0 has no number of open panes.
    open_panes = answer.get("open_panes", 0)
    if open_panes and not live:
        panes = f"{counted(open_panes, 'pane')} {'is' if open_panes == 1 else 'are'} open and not included"
        click.echo(f"warning: {panes}: add --live", err=True)
    for gap in answer["gaps"]:
        begins, ends = gap["from"] or "the beginning", gap["to"] or "now"
        click.echo(visible(f"warning: records may be missing from {begins} to {ends}: {gap['reason']}"), err=True)


def _sources(sources: Sequence[Mapping[str, Any]]) -> str:
    """Return one line with the stored views from which an answer was computed."""
    from asc.operators.cube.view import grain_text

    views = [
        f"{', '.join(own['cuboid']) or '()'} at {grain_text(own['grain_s'])} ({counted(own['cells'], 'cell')})"
        for own in sources
    ]
    return f"answered from {'; '.join(views) or 'no stored cell'}"


def _summary(answer: Mapping[str, Any]) -> str:
    """Return one line with the number of groups, the interval and the watermark of an answer."""
    shown, groups = len(answer["rows"]), answer["groups"]
    cut = f", {shown:,} shown" if shown < groups else ""
    more = f"; for more: --cursor {answer['cursor']}" if answer["cursor"] else ""
    interval = f", {answer['interval'][0]} to {answer['interval'][1]}" if answer["interval"] else ""
    watermark = answer["watermark"] or "none yet: no record with a time was counted"
    return f"{counted(groups, 'group')}{cut}{interval}, watermark {watermark}{more}"
